import struct
import zlib
from pathlib import Path


def run(target: str, width: int = 640, height: int = 360, color: str = "#cccccc") -> str:
    """Generate a single-colour PNG of any size to stand in for missing artwork.

    Args:
        target: PNG file to write.
        width: Width in pixels.
        height: Height in pixels.
        color: Fill colour in hexadecimal notation, such as "#ff8800".

    Returns:
        Path of the file.
    """
    line = b"\0" + bytes.fromhex(color.lstrip("#")) * width
    if len(line) != 3 * width + 1:
        raise ValueError("the colour needs six hexadecimal digits")
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(line * height)), (b"IEND", b""))
    Path(target).write_bytes(b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(*chunk) for chunk in chunks))
    return target


def _chunk(kind: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
