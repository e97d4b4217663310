"""Values as JSON, in the same words as the commands' `--json`."""

import json
import math
from collections.abc import Mapping

from starlette.responses import Response

from pegboard.formats.plain import plain

MOST_BITS = 10_000
"""Of a number; Python writes down none that is much larger."""


def reply(value: object, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    return Response(as_json(value), status, dict(headers or {}), media_type="application/json")


def as_json(value: object) -> bytes:
    """What JSON has no word for, such as a number that is none, becomes null."""
    told = plain(value)
    try:
        text = _written(told)
    except ValueError:
        text = _written(_sayable(told))
    return text.encode("utf-8", "replace")


def _written(told: object) -> str:
    return json.dumps(told, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def _sayable(told: object) -> object:
    if isinstance(told, float):
        return told if math.isfinite(told) else None
    if isinstance(told, int):
        return told if told.bit_length() <= MOST_BITS else None
    if isinstance(told, dict):
        return {name: _sayable(each) for name, each in told.items()}
    return [_sayable(each) for each in told] if isinstance(told, list) else told
