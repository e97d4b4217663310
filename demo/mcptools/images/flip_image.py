import re
from pathlib import Path
from typing import Literal


def run(source: str, target: str, axis: Literal["horizontal", "vertical"] = "horizontal") -> str:
    """Mirror a picture left to right or upside down.

    Args:
        source: Binary PPM picture (P6, 8 bit).
        target: Where to write the mirrored picture.
        axis: "horizontal" swaps left and right, "vertical" swaps top and bottom.

    Returns:
        Path of the result.
    """
    width, height, pixels = _read_ppm(source)
    rows = [pixels[y * width * 3 : (y + 1) * width * 3] for y in range(height)]
    if axis == "vertical":
        rows.reverse()
    else:
        rows = [b"".join(row[x : x + 3] for x in range(len(row) - 3, -1, -3)) for row in rows]
    Path(target).write_bytes(f"P6 {width} {height} 255\n".encode() + b"".join(rows))
    return target


def _read_ppm(path: str) -> tuple[int, int, bytes]:
    data = Path(path).read_bytes()
    header = re.match(rb"P6\s(?:#[^\n]*\n)*(\d+)\s+(\d+)\s+255\s", data)
    if not header:
        raise ValueError(f"{path} is not an 8-bit binary PPM image")
    return int(header[1]), int(header[2]), data[header.end() :]
