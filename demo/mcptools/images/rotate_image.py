import re
from pathlib import Path
from typing import Literal


def run(source: str, target: str, angle: Literal[90, 180, 270] = 90) -> dict[str, str | int]:
    """Turn a picture clockwise by a right angle.

    Args:
        source: Binary PPM picture (P6, 8 bit).
        target: Where to write the turned picture, in the same format.
        angle: Degrees clockwise.

    Returns:
        Path, width and height of the result.
    """
    width, height, pixels = _read_ppm(source)
    rows = [[pixels[(y * width + x) * 3 :][:3] for x in range(width)] for y in range(height)]
    for _ in range(angle // 90):
        rows = list(zip(*rows[::-1], strict=True))
    header = f"P6 {len(rows[0])} {len(rows)} 255\n".encode()
    Path(target).write_bytes(header + b"".join(map(b"".join, rows)))
    return {"path": target, "width": len(rows[0]), "height": len(rows)}


def _read_ppm(path: str) -> tuple[int, int, bytes]:
    data = Path(path).read_bytes()
    header = re.match(rb"P6\s(?:#[^\n]*\n)*(\d+)\s+(\d+)\s+255\s", data)
    if not header:
        raise ValueError(f"{path} is not an 8-bit binary PPM image")
    return int(header[1]), int(header[2]), data[header.end() :]
