"""A part of an answer, named by `data.items.0.name`, `/data/items/0` or `$.data.items[*].name`."""

import re
from collections.abc import Sequence

from pegboard.execute.api.faults import failed

_STEP = re.compile(r"\[(\d+|\*)\]|\['([^']*)'\]|\[\"([^\"]*)\"\]|\.?([^.\[\]]+)")
_SHOWN = 10
_LONG = 40


def part_at(value: object, path: str) -> object:
    """Raises `Refused` if there is no such part."""
    return _walked(value, steps_of(path), path)


def steps_of(path: str) -> list[str]:
    if path.startswith("/"):
        return [each.replace("~1", "/").replace("~0", "~") for each in path[1:].split("/")]
    rest = path.removeprefix("$")
    steps, end = [], 0
    for found in _STEP.finditer(rest):
        if found.start() != end:
            break
        steps.append(next(each for each in found.groups() if each is not None))
        end = found.end()
    if end != len(rest):
        raise failed(f"response_path {path!a} cannot be read at {rest[end:][:40]!a}")
    return steps


def _walked(value: object, steps: Sequence[str], path: str) -> object:
    for number, step in enumerate(steps):
        if isinstance(value, dict) and step in value:
            value = value[step]
        elif isinstance(value, list) and step == "*":
            return [_walked(each, steps[number + 1 :], path) for each in value]
        elif isinstance(value, list) and step.isdecimal() and int(step) < len(value):
            value = value[int(step)]
        else:
            before = ".".join(steps[:number]) or "the answer"
            told = f"the answer has nothing at response_path {path}"
            raise failed(f"{told}: {before} has no {step!a}, but {_shown(value)}")
    return value


def _shown(value: object) -> str:
    if isinstance(value, dict):
        # Whole or not at all: a service may have repeated a secret.
        names = [name for name in value if len(name) <= _LONG]
        return f"only {', '.join(names[:_SHOWN])}" if names else "nothing"
    if isinstance(value, list):
        return f"{len(value)} entries"
    return f"is {type(value).__name__ if value is not None else 'null'}"
