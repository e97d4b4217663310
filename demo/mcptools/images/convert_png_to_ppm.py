import struct
import zlib
from pathlib import Path


def run(source: str, target: str) -> dict[str, str | int]:
    """Decode a PNG file into an uncompressed PPM that other image tools can edit.

    Handles 8-bit greyscale, RGB and RGBA without interlacing; transparency is discarded.

    Args:
        source: PNG file.
        target: PPM file to write.

    Returns:
        Path, width and height of the picture.
    """
    data, place, packed = Path(source).read_bytes(), 8, b""
    while place < len(data):
        length, kind = struct.unpack(">I4s", data[place : place + 8])
        packed += data[place + 8 : place + 8 + length] if kind == b"IDAT" else b""
        place += length + 12
    width, height, depth, colour, *_, interlace = struct.unpack(">IIBBBBB", data[16:29])
    channels = {0: 1, 2: 3, 4: 2, 6: 4}.get(colour)
    if depth != 8 or interlace or channels is None:
        raise ValueError("only plain 8-bit grey and RGB(A) PNG files can be decoded")
    raw, stride, body, above = zlib.decompress(packed), width * channels, b"", b""
    for start in range(0, height * (stride + 1), stride + 1):
        above = _unfilter(raw[start], raw[start + 1 : start + 1 + stride], above, channels)
        red, green, blue = (0, 1, 2) if channels > 2 else (0, 0, 0)
        planes = (above[red::channels], above[green::channels], above[blue::channels])
        body += bytes(value for pixel in zip(*planes, strict=True) for value in pixel)
    Path(target).write_bytes(f"P6 {width} {height} 255\n".encode() + body)
    return {"path": target, "width": width, "height": height}


def _unfilter(kind: int, line: bytes, above: bytes, step: int) -> bytes:
    row, above = bytearray(step) + line, bytes(step) + (above or bytes(len(line)))
    for i in range(step, len(row)):
        left, up, corner = row[i - step], above[i], above[i - step]
        ranked = sorted((left, up, corner), key=lambda v, p=left + up - corner: abs(p - v))
        row[i] = (row[i] + (0, left, up, (left + up) // 2, ranked[0])[kind]) & 255
    return bytes(row[step:])
