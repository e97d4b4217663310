import zipfile
from pathlib import Path


def run(sources: list[str], archive: str, exclude: list[str] | None = None) -> dict:
    """Pack files and folders into a compressed ZIP archive.

    Args:
        sources: Files and folders to pack; folders are taken with all they contain.
        archive: Path of the .zip file to write. An existing one is not overwritten.
        exclude: Globs of names to leave out, such as "*.tmp".

    Returns:
        Path, number of packed files, and size in bytes.
    """
    count = 0
    with zipfile.ZipFile(archive, "x", zipfile.ZIP_DEFLATED) as packed:
        for source in map(Path, sources):
            for path in sorted(source.rglob("*")) if source.is_dir() else [source]:
                skip = any(path.match(glob) for glob in exclude or [])
                if path.is_dir() or skip or path.resolve() == Path(archive).resolve():
                    continue
                packed.write(path, path.relative_to(source.parent))
                count += 1
    return {"archive": archive, "files": count, "size": Path(archive).stat().st_size}
