import math


def run(points: list[str], margin_km: float = 0.0) -> dict[str, float]:
    """Get the smallest rectangle on the map that encloses a set of points.

    Args:
        points: Coordinates written as "latitude,longitude".
        margin_km: Extra room on every side, in kilometres.

    Returns:
        The edges as "south", "west", "north" and "east" in degrees.
    """
    pairs = [_point(text) for text in points]
    latitudes, longitudes = zip(*pairs, strict=True)
    south, north = min(latitudes), max(latitudes)
    tall = margin_km / 111.195
    wide = tall / max(0.01, math.cos(math.radians(max(abs(south), abs(north)))))
    return {
        "south": max(-90.0, south - tall),
        "west": min(longitudes) - wide,
        "north": min(90.0, north + tall),
        "east": max(longitudes) + wide,
    }


def _point(text: str) -> tuple[float, float]:
    latitude, longitude = (float(part) for part in text.split(","))
    return latitude, longitude
