def run(latitude: float, longitude: float, outline: list[str]) -> bool:
    """Decide whether a position lies inside a polygon such as a delivery zone.

    Args:
        latitude: Degrees north of the position.
        longitude: Degrees east of the position.
        outline: Corners of the polygon in order, written as "latitude,longitude".

    Returns:
        True if it lies inside.
    """
    corners = [_point(text) for text in outline]
    inside = False
    for (lat1, lon1), (lat2, lon2) in zip(corners, corners[1:] + corners[:1], strict=True):
        if (lat1 > latitude) != (lat2 > latitude):
            crossing = lon1 + (latitude - lat1) / (lat2 - lat1) * (lon2 - lon1)
            inside ^= longitude < crossing
    return inside


def _point(text: str) -> tuple[float, float]:
    latitude, longitude = (float(part) for part in text.split(","))
    return latitude, longitude
