import hashlib
from pathlib import Path
from typing import Literal


def run(
    path: str,
    algorithm: Literal["md5", "sha1", "sha256", "sha512", "blake2b"] = "sha256",
    expected: str | None = None,
) -> dict[str, str | bool]:
    """Compute a file's checksum and optionally verify it against a published one.

    Args:
        path: File to read.
        algorithm: Digest to use.
        expected: Hexadecimal digest to compare with.

    Returns:
        "digest", plus "matches" when there was something to compare.
    """
    with Path(path).open("rb") as stream:
        digest = hashlib.file_digest(stream, algorithm).hexdigest()
    if expected is None:
        return {"digest": digest}
    return {"digest": digest, "matches": digest == expected.strip().lower()}
