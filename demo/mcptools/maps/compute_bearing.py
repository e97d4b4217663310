import math


def run(
    from_latitude: float, from_longitude: float, to_latitude: float, to_longitude: float
) -> dict[str, float | str]:
    """Work out the compass direction in which to set off towards a destination.

    Args:
        from_latitude: Latitude of the origin in degrees.
        from_longitude: Longitude of the origin in degrees.
        to_latitude: Latitude of the destination in degrees.
        to_longitude: Longitude of the destination in degrees.

    Returns:
        "degrees" clockwise from north and a "compass" point such as "NE".
    """
    lat1, lat2 = math.radians(from_latitude), math.radians(to_latitude)
    turn = math.radians(to_longitude - from_longitude)
    east = math.sin(turn) * math.cos(lat2)
    north = math.cos(lat1) * math.sin(lat2) - math.sin(lat1) * math.cos(lat2) * math.cos(turn)
    degrees = math.degrees(math.atan2(east, north)) % 360
    compass = ("N", "NE", "E", "SE", "S", "SW", "W", "NW")[round(degrees / 45) % 8]
    return {"degrees": round(degrees, 2), "compass": compass}
