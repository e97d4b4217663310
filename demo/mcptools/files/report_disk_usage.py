from pathlib import Path


def run(folder: str, top: int = 10) -> dict[str, int | dict[str, int]]:
    """Work out which subfolders and files take up the most space.

    Args:
        folder: Directory to measure, symbolic links not followed.
        top: How many of the largest entries to report.

    Returns:
        "total" bytes and "largest" with bytes per direct child, biggest first.
    """
    sizes = {child.name: _size(child) for child in Path(folder).iterdir()}
    ranked = sorted(sizes.items(), key=lambda item: -item[1])
    return {"total": sum(sizes.values()), "largest": dict(ranked[:top])}


def _size(path: Path) -> int:
    if path.is_symlink() or not path.is_dir():
        return path.lstat().st_size
    return sum(_size(child) for child in path.iterdir())
