import math


def run(
    latitude: float, longitude: float, places: dict[str, str], limit: int = 3
) -> list[dict[str, str | float]]:
    """Pick the closest places to a position out of a list.

    Args:
        latitude: Degrees north of the position.
        longitude: Degrees east of the position.
        places: Names and coordinates written as "latitude,longitude".
        limit: How many places to return.

    Returns:
        Names with their distance in kilometres, closest first.
    """
    here = (latitude, longitude)
    distances = {name: _kilometres(here, _point(text)) for name, text in places.items()}
    ranked = sorted(distances.items(), key=lambda item: item[1])[:limit]
    return [{"name": name, "kilometres": round(distance, 3)} for name, distance in ranked]


def _point(text: str) -> tuple[float, float]:
    latitude, longitude = (float(part) for part in text.split(","))
    return latitude, longitude


def _kilometres(first: tuple[float, float], second: tuple[float, float]) -> float:
    (lat1, lon1), (lat2, lon2) = (map(math.radians, point) for point in (first, second))
    half = math.sin((lat2 - lat1) / 2) ** 2
    half += math.cos(lat1) * math.cos(lat2) * math.sin((lon2 - lon1) / 2) ** 2
    return 2 * 6371.0088 * math.asin(math.sqrt(min(1.0, half)))
