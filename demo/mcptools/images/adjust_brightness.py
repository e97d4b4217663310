import re
from pathlib import Path


def run(source: str, target: str, brightness: float = 1.0, contrast: float = 1.0) -> str:
    """Make a picture lighter or darker, and its contrast stronger or softer.

    Args:
        source: Binary PPM picture (P6, 8 bit).
        target: Where to write the corrected picture.
        brightness: Factor for lightness; 1.2 brightens by a fifth, 0.8 darkens.
        contrast: Factor for the distance of each value from middle grey.

    Returns:
        Path of the result.
    """
    width, height, pixels = _read_ppm(source)
    table = bytes(
        max(0, min(255, round((value * brightness - 128) * contrast + 128))) for value in range(256)
    )
    body = pixels.translate(table)
    Path(target).write_bytes(f"P6 {width} {height} 255\n".encode() + body)
    return target


def _read_ppm(path: str) -> tuple[int, int, bytes]:
    data = Path(path).read_bytes()
    header = re.match(rb"P6\s(?:#[^\n]*\n)*(\d+)\s+(\d+)\s+255\s", data)
    if not header:
        raise ValueError(f"{path} is not an 8-bit binary PPM image")
    return int(header[1]), int(header[2]), data[header.end() :]
