"""A tool in one file: what `run` takes and says of itself is what agents see."""

__tags__ = ["restaurant"]


def run(total: float, people: int, tip_percent: float = 0) -> dict[str, float]:
    """Split a restaurant bill evenly among friends.

    Args:
        total: What the bill says.
        people: How many pay.
        tip_percent: Tip on top of it, in percent.
    """
    whole = total * (1 + tip_percent / 100)
    return {"each": round(whole / people, 2), "whole": round(whole, 2)}
