import struct
from pathlib import Path


def run(path: str) -> dict[str, str | int]:
    """Tell the width, height and format of a picture without decoding it.

    Only the header is parsed. Handles PNG, GIF, BMP and JPEG.

    Args:
        path: Picture file.

    Returns:
        "format", "width" and "height" in pixels.
    """
    data = Path(path).read_bytes()
    if data.startswith(b"\x89PNG\r\n\x1a\n"):
        kind, (width, height) = "png", struct.unpack(">II", data[16:24])
    elif data[:6] in (b"GIF87a", b"GIF89a"):
        kind, (width, height) = "gif", struct.unpack("<HH", data[6:10])
    elif data.startswith(b"BM"):
        kind, (width, height) = "bmp", struct.unpack("<ii", data[18:26])
    elif data.startswith(b"\xff\xd8"):
        kind, (width, height) = "jpeg", _jpeg_size(data)
    else:
        raise ValueError(f"{path} is in no supported format")
    return {"format": kind, "width": width, "height": abs(height)}


def _jpeg_size(data: bytes) -> tuple[int, int]:
    place = 2
    while place + 9 <= len(data):
        marker, length = struct.unpack(">HH", data[place : place + 4])
        if 0xFFC0 <= marker <= 0xFFCF and marker not in (0xFFC4, 0xFFC8, 0xFFCC):
            height, width = struct.unpack(">HH", data[place + 5 : place + 9])
            return width, height
        place += 2 + length
    raise ValueError("no frame header in JPEG data")
