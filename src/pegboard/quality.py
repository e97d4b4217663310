"""How good an item is, as far as a board can tell, and what of it counts in a search.

The formulas: docs/explanation/quality.md.
"""

from pegboard.model.items import Entry, Item, Kind
from pegboard.model.runs import RunCounts
from pegboard.text import parameters, prose

SUCCESS, DOCUMENTED, SIGNED = 0.6, 0.25, 0.15
"""What each part counts."""
EXPECTED, EXPECTED_RUNS = 0.8, 10
"""Before anything is known of an item, it is as if it had so many runs that go well so often."""
ENOUGH_WORDS = 20
ENOUGH_LETTERS = 60
"""Where words are not spaced."""
DEAREST = 99_999_999.99
"""More than this no call costs, and no database here takes."""
DEPRECATED = 0.5
"""What is left of the score of what should no longer be used."""


MERIT_OF_SIGNED, MERIT_OF_DEPRECATED = 0.25, -0.5


def quality(item: Item, success_rate: float | None, counted_runs: int) -> float:
    """From 0 to 1."""
    score = SUCCESS * smoothed(success_rate, counted_runs)
    score += DOCUMENTED * documented(item) + SIGNED * _is_signed(item)
    return round(score * (DEPRECATED if item.deprecated else 1.0), 4)


def merit(item: Item, rating: float | None, success_rate: float | None, counted_runs: int) -> float:
    """From -1 to 1: what it has over an item of which nothing is known.

    Documentation is not in it: that is text, and text is searched already. `rating` is what
    somebody gave it.
    """
    proved = (smoothed(success_rate, counted_runs) - EXPECTED) / (1 - EXPECTED)
    found = _unit(rating or 0.0) + proved + MERIT_OF_SIGNED * _is_signed(item)
    return min(max(found + MERIT_OF_DEPRECATED * item.deprecated, -1.0), 1.0)


def _is_signed(item: Item) -> bool:
    return item.signature is not None and item.signature.state == "trusted"


def _unit(value: float) -> float:
    return min(max(value, 0.0), 1.0)


def smoothed(success_rate: float | None, counted_runs: int) -> float:
    """Drawn towards what is to be expected, the more the fewer the runs: 5 of 5 are no proof."""
    if success_rate is None:
        return EXPECTED
    runs = counted_runs or EXPECTED_RUNS  # of a rate that somebody brought along
    return (_unit(success_rate) * runs + EXPECTED * EXPECTED_RUNS) / (runs + EXPECTED_RUNS)


def documented(item: Item) -> float:
    """How much of what a reader needs is there."""
    said = _said(prose(item.description))
    if item.kind is not Kind.TOOL:
        return (said + bool(item.body.strip())) / 2
    told = [bool(text.strip()) for _, text in parameters(item.input_schema)]
    share = sum(told) / len(told) if told else 1.0
    return 0.4 * said + 0.3 * share + 0.15 * bool(item.examples) + 0.15 * bool(item.output_schema)


def _said(text: str) -> float:
    enough = len(text.split()) / ENOUGH_WORDS
    return min(enough if text.isascii() else max(enough, len(text) / ENOUGH_LETTERS), 1.0)


def cost(item: Item) -> float | None:
    """What a call costs in US dollars, as its author says."""
    said = item.executor.get("estimated_cost_usd")
    if isinstance(said, bool) or not isinstance(said, int | float):
        return None
    return float(said) if 0 <= said <= DEAREST else None


UNKNOWN = "unknown"


def figures(entry: Entry, ran: RunCounts) -> dict[str, str]:
    """What is known of an item apart from what it says, in words for people."""
    rate, price = entry.success_rate, entry.estimated_cost_usd
    runs = f" of {entry.counted_runs} runs" if entry.counted_runs else ""
    of_tools = {
        "success": UNKNOWN if rate is None else f"{rate:.0%}{runs}",
        "duration": UNKNOWN if ran.median is None else f"{ran.median:.2f} s, as a rule",
        "cost": UNKNOWN if price is None else f"${price:.6f}".rstrip("0").rstrip(".") + " a call",
    }
    score = UNKNOWN if entry.quality_score is None else f"{entry.quality_score:.2f} of 1"
    return {
        **(of_tools if entry.item.kind is Kind.TOOL else {}),
        "quality": f"{score}, as somebody rated it" if entry.rating is not None else score,
        "downloads": str(entry.download_count),
    }
