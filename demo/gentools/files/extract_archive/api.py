import tarfile
import zipfile
from pathlib import Path


def run(archive: str, destination: str, max_bytes: int = 1_000_000_000) -> list[str]:
    """Unpack a .zip, .tar, .tar.gz, .tar.bz2 or .tar.xz file.

    Entries that would end up outside of the destination are refused, and so are archives that
    would expand beyond a size limit.

    Args:
        archive: Archive to open; its type is detected from the content.
        destination: Folder to unpack into, made if missing.
        max_bytes: Largest total size after unpacking.

    Returns:
        Names of the unpacked entries.
    """
    Path(destination).mkdir(parents=True, exist_ok=True)
    if zipfile.is_zipfile(archive):
        with zipfile.ZipFile(archive) as packed:
            _check(sum(info.file_size for info in packed.infolist()), max_bytes)
            packed.extractall(destination)
            return packed.namelist()
    with tarfile.open(archive) as packed:
        _check(sum(info.size for info in packed), max_bytes)
        packed.extractall(destination, filter="data")
        return packed.getnames()


def _check(size: int, limit: int) -> None:
    if size > limit:
        raise ValueError(f"archive expands to {size} bytes, more than {limit}")
