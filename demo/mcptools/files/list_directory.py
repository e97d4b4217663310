from pathlib import Path
from typing import Literal


def run(
    path: str,
    pattern: str = "*",
    sort_by: Literal["name", "size", "modified"] = "name",
    show_hidden: bool = False,
) -> list[dict[str, str | int]]:
    """List what a folder contains, with size and type of each entry.

    Args:
        path: Folder to look into.
        pattern: Glob to narrow the listing, such as "*.pdf" or "**/*.py".
        sort_by: Order of the listing; size and modified put the largest or newest first.
        show_hidden: Include entries whose name begins with a dot.

    Returns:
        Name relative to the folder, kind and size in bytes of each entry.
    """
    folder = Path(path)
    if not folder.is_dir():
        raise NotADirectoryError(path)
    found = [e for e in folder.glob(pattern) if show_hidden or not e.name.startswith(".")]
    keys = {
        "name": lambda entry: str(entry).lower(),
        "size": lambda entry: -entry.lstat().st_size,
        "modified": lambda entry: -entry.lstat().st_mtime,
    }
    return [
        {
            "name": str(entry.relative_to(folder)),
            "kind": "folder" if entry.is_dir() else "file",
            "size": entry.lstat().st_size,
        }
        for entry in sorted(found, key=keys[sort_by])
    ]
