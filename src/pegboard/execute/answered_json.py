"""JSON that a tool or a service gives back, read so that it can be handed on to anybody."""

import json
from collections.abc import Mapping

from pegboard.model.content import Json

TO_A_FILE = "let it write the result to the file that $PEGBOARD_ANSWER names"


def read_json(text: str) -> object:
    """Raises `ValueError`, also for NaN and its like, and for what is nested too deeply."""
    try:
        value = json.loads(text.removeprefix("\ufeff"), parse_constant=_refuse)
        if "\\ud" in text.lower():
            value = json.loads(_whole(json.dumps(value, ensure_ascii=False)))
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    return value


def as_object(value: object) -> Json:
    """A result is an object; anything else is put into one."""
    return value if isinstance(value, Mapping) else {"result": value}


def printed_object(text: str, *, promised: bool) -> Json | None:
    """What a tool printed: an object, or any JSON of one that promises a result; None for text."""
    try:
        value = read_json(text)
    except ValueError:
        return None
    return as_object(value) if promised or isinstance(value, Mapping) else None


def cut_short(most: int, instead: str = TO_A_FILE) -> str:
    """What is said of a promised result that was too long to be kept."""
    lost = f"it printed more than the {most:,} bytes that are kept, so that its result is lost"
    return f"{lost}: {instead}"


def _refuse(constant: str) -> object:
    raise ValueError(f"{constant} is no JSON")


def _whole(text: str) -> str:
    """Halves of characters, which can be escaped in JSON and written nowhere, are replaced."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
