import shutil
from pathlib import Path


def run(source: str, destination: str) -> str:
    """Move or rename a file or folder.

    Refuses to clobber anything that already exists at the new place.

    Args:
        source: Current path.
        destination: New path, or an existing folder to move into.

    Returns:
        Absolute path after the move.
    """
    target = Path(destination)
    if target.is_dir():
        target = target / Path(source).name
    if target.exists():
        raise FileExistsError(str(target))
    target.parent.mkdir(parents=True, exist_ok=True)
    return str(Path(shutil.move(source, target)).resolve())
