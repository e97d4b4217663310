def run(latitude: float, longitude: float, precision: int = 9) -> str:
    """Encode a position as a geohash.

    Args:
        latitude: Degrees north.
        longitude: Degrees east.
        precision: Number of characters; 5 is about 5 km, 9 about 5 m.

    Returns:
        The geohash.
    """
    alphabet = "0123456789bcdefghjkmnpqrstuvwxyz"
    spans = [[-180.0, 180.0, longitude], [-90.0, 90.0, latitude]]
    number = 0
    for bit in range(precision * 5):
        low, high, value = span = spans[bit % 2]
        middle = (low + high) / 2
        upper = value >= middle
        span[0 if upper else 1] = middle
        number = number * 2 + upper
    digits = (number >> 5 * place & 31 for place in reversed(range(precision)))
    return "".join(alphabet[digit] for digit in digits)
