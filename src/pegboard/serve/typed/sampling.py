"""Arguments to show a call with: what a tool cannot do without, and nothing else."""

import json
from collections.abc import Callable

from pegboard.serve.typed.shapes import (
    NULL,
    Choice,
    Exactly,
    Listed,
    Named,
    Plain,
    Record,
    Row,
    Shape,
)

DEEPEST = 6

Resolve = Callable[[Shape], Shape]

_PLAIN: dict[Plain, object] = {
    Plain.ANY: None,
    Plain.NEVER: None,
    Plain.NULL: None,
    Plain.BOOLEAN: True,
    Plain.INTEGER: 1,
    Plain.NUMBER: 1.5,
}


def sample(shape: Shape, name: str, resolve: Resolve, depth: int = 0) -> object:
    """A value of this shape; a text says which one it stands for."""
    match resolve(shape):
        case Plain.STRING:
            return name.replace("_", " ")
        case Plain() as plain:
            return _PLAIN[plain]
        case Exactly(value):
            return json.loads(value)
        case Row(first, least):
            return [sample(each, name, resolve, depth + 1) for each in first[:least]]
        case Record(fields) if depth < DEEPEST:
            needed = (each for each in fields if each.required)
            return {f.name: sample(f.shape, f.name, resolve, depth + 1) for f in needed}
        case Choice(shapes):
            best = next((each for each in shapes if each is not NULL), NULL)
            return sample(best, name, resolve, depth + 1)
        case Listed():
            return []
        case Named() | Record():
            return {}
