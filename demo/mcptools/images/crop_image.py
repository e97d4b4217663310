import re
from pathlib import Path


def run(
    source: str, target: str, left: int, top: int, width: int, height: int
) -> dict[str, str | int]:
    """Cut a rectangle out of a picture.

    Args:
        source: Binary PPM picture (P6, 8 bit).
        target: Where to write the cut-out.
        left: Distance of the rectangle from the left edge, in pixels.
        top: Distance of the rectangle from the upper edge, in pixels.
        width: Width of the rectangle.
        height: Height of the rectangle.

    Returns:
        Path, width and height of the result.
    """
    full_width, full_height, pixels = _read_ppm(source)
    inside = 0 <= left < left + width <= full_width and 0 <= top < top + height <= full_height
    if not inside:
        raise ValueError(f"rectangle exceeds the {full_width}x{full_height} picture")
    starts = (((top + row) * full_width + left) * 3 for row in range(height))
    body = b"".join(pixels[start : start + width * 3] for start in starts)
    Path(target).write_bytes(f"P6 {width} {height} 255\n".encode() + body)
    return {"path": target, "width": width, "height": height}


def _read_ppm(path: str) -> tuple[int, int, bytes]:
    data = Path(path).read_bytes()
    header = re.match(rb"P6\s(?:#[^\n]*\n)*(\d+)\s+(\d+)\s+255\s", data)
    if not header:
        raise ValueError(f"{path} is not an 8-bit binary PPM image")
    return int(header[1]), int(header[2]), data[header.end() :]
