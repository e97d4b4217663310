import re
from collections import Counter
from pathlib import Path


def run(source: str, colors: int = 5, coarseness: int = 32) -> list[dict[str, str | float]]:
    """Find the dominant colours of a picture.

    Similar shades are pooled before counting.

    Args:
        source: Binary PPM picture (P6, 8 bit).
        colors: How many colours to return.
        coarseness: Width of the pools per channel; larger values merge more shades.

    Returns:
        Hexadecimal colours with the share of pixels they cover, most common first.
    """
    width, height, pixels = _read_ppm(source)
    middle = coarseness // 2
    pooled = bytes(min(255, v // coarseness * coarseness + middle) for v in range(256))
    flat = pixels.translate(pooled)
    counts = Counter(flat[i : i + 3] for i in range(0, width * height * 3, 3))
    return [
        {"color": f"#{shade.hex()}", "share": round(count / (width * height), 4)}
        for shade, count in counts.most_common(colors)
    ]


def _read_ppm(path: str) -> tuple[int, int, bytes]:
    data = Path(path).read_bytes()
    header = re.match(rb"P6\s(?:#[^\n]*\n)*(\d+)\s+(\d+)\s+255\s", data)
    if not header:
        raise ValueError(f"{path} is not an 8-bit binary PPM image")
    return int(header[1]), int(header[2]), data[header.end() :]
