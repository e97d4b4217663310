import math
from typing import Literal


def run(
    latitude1: float,
    longitude1: float,
    latitude2: float,
    longitude2: float,
    unit: Literal["km", "mi", "nmi"] = "km",
) -> float:
    """Calculate the great-circle distance between two coordinates.

    As the crow flies, by the haversine formula; roads are not considered.

    Args:
        latitude1: Latitude of the first point in degrees.
        longitude1: Longitude of the first point in degrees.
        latitude2: Latitude of the second point in degrees.
        longitude2: Longitude of the second point in degrees.
        unit: Kilometres, statute miles or nautical miles.

    Returns:
        The distance in the chosen unit.
    """
    kilometres = _kilometres((latitude1, longitude1), (latitude2, longitude2))
    return round(kilometres / {"km": 1, "mi": 1.609344, "nmi": 1.852}[unit], 3)


def _kilometres(first: tuple[float, float], second: tuple[float, float]) -> float:
    (lat1, lon1), (lat2, lon2) = (map(math.radians, point) for point in (first, second))
    half = math.sin((lat2 - lat1) / 2) ** 2
    half += math.cos(lat1) * math.cos(lat2) * math.sin((lon2 - lon1) / 2) ** 2
    return 2 * 6371.0088 * math.asin(math.sqrt(min(1.0, half)))
