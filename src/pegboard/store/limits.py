"""How far the leg over words looks, the same in every store."""

FIRST = 1000
"""How many of the best are taken from the text index before filters are looked at."""
HELD_AGAINST = 20
"""Among so many of them the best score of all is looked for."""
COMMON_FROM = 2_000
"""A board with fewer items is quick without knowing its commonest terms."""
COMMON = 1_000
"""A term is common if one in this many items has it."""
LEAST_COMMON = 20


def least_common(items: int) -> int:
    """How many items must have a term for it to be common."""
    return max(items // COMMON, LEAST_COMMON)
