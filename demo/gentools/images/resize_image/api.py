import re
from pathlib import Path


def run(
    source: str, target: str, width: int | None = None, height: int | None = None
) -> dict[str, str | int]:
    """Scale a picture to new dimensions, for instance to make a thumbnail.

    If only one side is given the proportions are preserved. Sampling is nearest-neighbour.

    Args:
        source: Binary PPM picture (P6, 8 bit).
        target: Where to write the scaled picture.
        width: Wanted width in pixels.
        height: Wanted height in pixels.

    Returns:
        Path, width and height of the result.
    """
    old_width, old_height, pixels = _read_ppm(source)
    if width is None and height is None:
        raise ValueError("give a width, a height or both")
    width = width or max(1, round(old_width * height / old_height))
    height = height or max(1, round(old_height * width / old_width))
    columns = [x * old_width // width * 3 for x in range(width)]
    lines = (y * old_height // height * old_width * 3 for y in range(height))
    body = b"".join(pixels[line + x : line + x + 3] for line in lines for x in columns)
    Path(target).write_bytes(f"P6 {width} {height} 255\n".encode() + body)
    return {"path": target, "width": width, "height": height}


def _read_ppm(path: str) -> tuple[int, int, bytes]:
    data = Path(path).read_bytes()
    header = re.match(rb"P6\s(?:#[^\n]*\n)*(\d+)\s+(\d+)\s+255\s", data)
    if not header:
        raise ValueError(f"{path} is not an 8-bit binary PPM image")
    return int(header[1]), int(header[2]), data[header.end() :]
