def run(geohash: str) -> dict[str, float]:
    """Translate a geohash back into latitude and longitude.

    Args:
        geohash: Geohash such as "u4pruydqq".

    Returns:
        Centre of the cell, and how far off it can be in degrees either way.
    """
    alphabet = "0123456789bcdefghjkmnpqrstuvwxyz"
    spans = [[-180.0, 180.0], [-90.0, 90.0]]
    bits = "".join(f"{alphabet.index(character):05b}" for character in geohash.lower())
    for place, bit in enumerate(bits):
        span = spans[place % 2]
        span[0 if bit == "1" else 1] = sum(span) / 2
    (west, east), (south, north) = spans
    return {
        "latitude": (south + north) / 2,
        "longitude": (west + east) / 2,
        "latitude_error": (north - south) / 2,
        "longitude_error": (east - west) / 2,
    }
