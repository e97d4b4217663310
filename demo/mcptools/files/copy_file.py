import shutil
from pathlib import Path


def run(source: str, destination: str, overwrite: bool = False) -> str:
    """Duplicate a file or a whole folder tree at another location.

    Args:
        source: File or folder to copy.
        destination: New path; missing parent folders are made.
        overwrite: Replace a file that already exists there.

    Returns:
        Absolute path of the copy.
    """
    origin, target = Path(source), Path(destination)
    if target.is_dir() and origin.is_file():
        target = target / origin.name
    if target.exists() and not overwrite:
        raise FileExistsError(str(target))
    target.parent.mkdir(parents=True, exist_ok=True)
    if origin.is_dir():
        shutil.copytree(origin, target, dirs_exist_ok=overwrite)
    else:
        shutil.copy2(origin, target)
    return str(target.resolve())
