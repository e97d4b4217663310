import re
from pathlib import Path


def run(source: str, target: str) -> str:
    """Drop the colours of a photo and keep brightness only.

    Uses the Rec. 601 luma weights.

    Args:
        source: Colour picture as binary PPM (P6, 8 bit).
        target: Where to write the black-and-white picture, as binary PGM (P5).

    Returns:
        Path of the result.
    """
    width, height, pixels = _read_ppm(source)
    channels = zip(pixels[0::3], pixels[1::3], pixels[2::3], strict=True)
    luma = bytes((299 * red + 587 * green + 114 * blue) // 1000 for red, green, blue in channels)
    Path(target).write_bytes(f"P5 {width} {height} 255\n".encode() + luma)
    return target


def _read_ppm(path: str) -> tuple[int, int, bytes]:
    data = Path(path).read_bytes()
    header = re.match(rb"P6\s(?:#[^\n]*\n)*(\d+)\s+(\d+)\s+255\s", data)
    if not header:
        raise ValueError(f"{path} is not an 8-bit binary PPM image")
    return int(header[1]), int(header[2]), data[header.end() :]
