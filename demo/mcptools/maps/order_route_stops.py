import math
from itertools import pairwise


def run(stops: dict[str, str], start: str, round_trip: bool = False) -> dict:
    """Put delivery stops into an order that keeps the total trip short.

    Begins with the nearest-neighbour heuristic and then untangles crossings with 2-opt. The
    result is good but not guaranteed optimal, and distances are straight lines.

    Args:
        stops: Names and coordinates written as "latitude,longitude".
        start: Name of the stop to begin at.
        round_trip: Return to the beginning at the end.

    Returns:
        "order" of the names and length of the trip in "kilometres".
    """
    where = {name: tuple(map(float, text.split(","))) for name, text in stops.items()}
    order, left = [start], set(where) - {start}
    while left:
        order.append(min(sorted(left), key=lambda name: _kilometres(where[order[-1]], where[name])))
        left.remove(order[-1])
    improved = True
    while improved:
        improved = False
        for i in range(1, len(order) - 1):
            for j in range(i + 1, len(order)):
                trial = order[:i] + order[i : j + 1][::-1] + order[j + 1 :]
                if _length(trial, where, round_trip) < _length(order, where, round_trip) - 1e-9:
                    order, improved = trial, True
    return {"order": order, "kilometres": round(_length(order, where, round_trip), 3)}


def _length(order: list[str], where: dict, loop: bool) -> float:
    path = [where[name] for name in order + order[:1] * loop]
    return sum(_kilometres(a, b) for a, b in pairwise(path))


def _kilometres(first: tuple[float, float], second: tuple[float, float]) -> float:
    (lat1, lon1), (lat2, lon2) = (map(math.radians, point) for point in (first, second))
    half = math.sin((lat2 - lat1) / 2) ** 2
    half += math.cos(lat1) * math.cos(lat2) * math.sin((lon2 - lon1) / 2) ** 2
    return 2 * 6371.0088 * math.asin(math.sqrt(min(1.0, half)))
