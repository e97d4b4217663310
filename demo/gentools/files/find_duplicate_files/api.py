import hashlib
from collections import defaultdict
from pathlib import Path


def run(folder: str, min_size: int = 1) -> list[list[str]]:
    """Detect files with identical content anywhere below a folder.

    Sizes are compared first, so only candidates are actually read.

    Args:
        folder: Root of the tree to examine.
        min_size: Ignore files smaller than this many bytes.

    Returns:
        Groups of paths whose bytes are the same.
    """
    by_size = defaultdict(list)
    for path in sorted(Path(folder).rglob("*")):
        if path.is_file() and not path.is_symlink() and path.stat().st_size >= min_size:
            by_size[path.stat().st_size].append(path)
    by_digest = defaultdict(list)
    for path in (path for group in by_size.values() if len(group) > 1 for path in group):
        with path.open("rb") as stream:
            by_digest[hashlib.file_digest(stream, "sha256").digest()].append(str(path))
    return [group for group in by_digest.values() if len(group) > 1]
