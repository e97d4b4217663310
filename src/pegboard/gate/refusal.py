"""Why something is not let in: a code that stays, and a reason that says what to do."""

from collections.abc import Iterable

from pegboard.gate.characters import visible

LONGEST_REASON = 600


class Refused(Exception):
    """Carries code and reason from the check that failed to the rejection."""

    def __init__(self, code: str, reason: str) -> None:
        reason = visible(reason[:LONGEST_REASON])
        super().__init__(reason)
        self.code = code
        self.reason = reason


def shown(value: object) -> str:
    """A value that somebody else wrote, short and harmless."""
    if isinstance(value, int) and abs(value) >= 10**20:
        return "a huge number"
    known = isinstance(value, str | int | float | bool | None)
    text = ascii(value) if known else type(value).__name__
    return text if len(text) <= 60 else f"{text[:57]}..."


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """`; did you mean 'tags'?`, or nothing if no known word is near."""
    from difflib import get_close_matches  # only for what is refused

    near = get_close_matches(word[:60].lower(), list(known), n=1)
    return f"; did you mean {near[0]!r}?" if near else ""
