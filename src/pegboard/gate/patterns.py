"""Regular expressions that are none in any dialect. They are looked at, never tried."""

import re

LONGEST = 10_000
_PIECE = re.compile(r"\\.|\[\^?|\(\??|\)|\||[*+?]|[^\\[()|*+?]+|\\", re.DOTALL)
_CLASS_END = re.compile(r"(?:[^\]\\]|\\.)*\]", re.DOTALL)


def fault_of_pattern(pattern: str) -> str:
    """Why it is none, or nothing. Only what every dialect agrees on is a fault."""
    if len(pattern) > LONGEST:
        return f"it has more than {LONGEST:,} characters"
    at = opened = 0
    repeatable = False
    while at < len(pattern):
        piece = _PIECE.match(pattern, at)
        said = piece.group() if piece else ""
        at += max(len(said), 1)
        if said.startswith("["):
            end = _CLASS_END.match(pattern, at)
            if end is None:
                return "a [ is not closed"
            at = end.end()
        elif said.startswith("("):
            opened += 1
        elif said == ")":
            opened -= 1
            if opened < 0:
                return "a ) closes nothing"
        elif said == "\\":
            return "it ends with a single \\"
        elif said in ("*", "+", "?") and not repeatable:
            return f"nothing stands before a {said} that it could repeat"
        repeatable = not said.startswith(("(", "|")) or said == "(?"
    return "a ( is not closed" if opened else ""
