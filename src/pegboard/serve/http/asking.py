"""What a request says, read strictly: nothing is guessed, and nothing said twice."""

import json
import math
import re
import typing
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from types import UnionType
from typing import TypeVar
from urllib.parse import parse_qsl

from pydantic import ValidationError
from pydantic_core import ErrorDetails
from starlette.requests import Request

from pegboard.errors import UsageError
from pegboard.serve.http.problems import Declined
from pegboard.serve.http.table import Wanted
from pegboard.serve.threads import Threads
from pegboard.text import clipped

W = TypeVar("W", bound=Wanted)
Place = tuple[int | str, ...]

MEDIA = ("application/json", "application/merge-patch+json")
LARGE = 50_000
"""Bytes of a body from which on it is read in a thread: nobody else waits for it."""
LONGEST_NUMBER = 100
"""Digits, and more than any number that means something has."""
DEEPEST = 64
"""Objects and lists inside one another."""
MOST_PAIRS = 1_000
MOST_ERRORS = 10
LONGEST_SHOWN = 60
WANTED = "input should be "
NOTHING = object()

_WHOLE = re.compile(r"-?(0|[1-9][0-9]{0,17})", re.ASCII)
_NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?", re.ASCII)
_HALF = re.compile(r"\\u[dD][89a-fA-F]")


def read_query(request: Request, model: type[W]) -> W:
    """A field that takes several takes `?tag=a&tag=b`."""
    pairs = pairs_of(request.scope["query_string"])
    found: dict[str, object] = {}
    for name, count in Counter(name for name, _ in pairs).items():
        field = model.model_fields.get(name)
        values = [value for key, value in pairs if key == name]
        if field is None:
            found[name] = values[0]
        elif typing.get_origin(field.annotation) is tuple:
            found[name] = tuple(values)
        elif count > 1:
            raise UsageError(f"{name} is given {count} times", "give it once")
        else:
            found[name] = _value(name, values[0], _kinds(field.annotation))
    return checked(model, found, in_query=True)


def pairs_of(query: bytes) -> list[tuple[str, str]]:
    """The names and values of a query, in its order."""
    try:
        text = query.decode("utf-8")
        return parse_qsl(
            text, keep_blank_values=True, errors="strict", max_num_fields=MOST_PAIRS, separator="&"
        )
    except UnicodeDecodeError as error:
        raise Declined("malformed", "the query is not UTF-8", "encode it as UTF-8") from error
    except ValueError as error:
        raise Declined("malformed", f"the query has more than {MOST_PAIRS:,} fields") from error


def _kinds(annotation: object) -> set[object]:
    """The types that a field takes, None left out."""
    if typing.get_origin(annotation) in (typing.Union, UnionType):
        return set().union(*map(_kinds, typing.get_args(annotation)))
    return set() if annotation is type(None) else {annotation}


def _value(name: str, text: str, kinds: set[object]) -> object:
    """A text as what it is to be, in the words that JSON has for that."""
    if bool in kinds:
        if text not in ("true", "false"):
            raise UsageError(f"{name} is {_shown(text)}; it must be true or false")
        return text == "true"
    if int in kinds:
        if not _WHOLE.fullmatch(text):
            raise UsageError(f"{name} is {_shown(text)}; it must be a whole number")
        return int(text)
    if float in kinds:
        if not _NUMBER.fullmatch(text) or len(text) > LONGEST_NUMBER:
            raise UsageError(f"{name} is {_shown(text)}; it must be a number")
        return float(text)
    return text


async def read_body(request: Request, model: type[W], threads: Threads) -> W:
    """An object in JSON. Where nothing has to be said, nothing need be sent."""
    body = await request.body()
    if not body and not any(field.is_required() for field in model.model_fields.values()):
        return model()
    _refuse_other_media(request.headers.get("content-type", ""))
    work = partial(_read, body, model)
    return await threads.run(work) if len(body) > LARGE else work()


def _refuse_other_media(said: str) -> None:
    media, _, parameters = (part.strip().lower() for part in said.partition(";"))
    charset = re.search(r'charset="?([\w-]+)', parameters)
    if media not in MEDIA or (charset and charset[1] not in ("utf-8", "utf8")):
        shown = _shown(said) if said else "nothing"
        raise Declined(
            "unsupported_media_type",
            f"the content type is {shown}; it must be application/json in UTF-8",
            "send the header Content-Type: application/json",
        )


def _read(body: bytes, model: type[W]) -> W:
    said = parsed(body)
    if not isinstance(said, dict):
        raise UsageError(f"the body is {_shown(said)}; it must be an object")
    for name, field in model.model_fields.items():
        value = said.get(name)
        if isinstance(value, float) and value.is_integer() and int in _kinds(field.annotation):
            said[name] = int(value)  # in JSON 3.0 is the same whole number as 3
    return checked(model, said)


def parsed(body: bytes) -> object:
    """JSON as it is written, or `Declined` for what others could read in another way."""
    try:
        text = body.decode("utf-8")
        found = json.loads(
            text,
            object_pairs_hook=_object,
            parse_constant=_no_number,
            parse_float=_float,
            parse_int=_int,
        )
        if text.count("{") + text.count("[") > DEEPEST and _depth(found) > DEEPEST:
            raise RecursionError
        if _HALF.search(text):
            json.dumps(found, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        message = "the body has half a character in it: a surrogate without its other half"
        raise Declined("malformed", message) from error
    except UnicodeDecodeError as error:
        message = f"the body is not UTF-8: byte {error.start} cannot be read"
        raise Declined("malformed", message, "encode it as UTF-8") from error
    except RecursionError as error:
        raise Declined("malformed", f"the body is nested more than {DEEPEST} deep") from error
    except ValueError as error:
        raise Declined("malformed", f"the body is not JSON: {error}") from error
    return found


def _depth(value: object) -> int:
    """How many objects and lists are inside one another, one more than the deepest at most."""
    depth, level = 0, [value]
    while level and depth <= DEEPEST:
        inside = [each for each in level if isinstance(each, dict | list)]
        depth += bool(inside)
        level = [
            part for each in inside for part in (each.values() if isinstance(each, dict) else each)
        ]
    return depth


def _object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) < len(pairs):
        counts = Counter(name for name, _ in pairs)
        raise ValueError(f"{_shown(counts.most_common(1)[0][0])} stands twice in one object")
    return found


def _no_number(text: str) -> object:
    raise ValueError(f"{text} is no number in JSON")


def _float(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"the number {clipped(text, LONGEST_SHOWN)} is too large")
    return number


def _int(text: str) -> int:
    if len(text) > LONGEST_NUMBER:
        raise ValueError(f"a number has {len(text):,} digits; at most {LONGEST_NUMBER} are allowed")
    return int(text)


def checked(model: type[W], said: Mapping[str, object], *, in_query: bool = False) -> W:
    try:
        return model.model_validate(said)
    except ValidationError as error:
        found: dict[Place, list[ErrorDetails]] = {}
        for each in error.errors(include_url=False):
            place = each["loc"][:1] if in_query else _place(each, said)
            found.setdefault(place, []).append(each)
        # Where more is wrong further inside, that was nearer to being what is asked for.
        outer = {place[:end] for place in found for end in range(len(place))}
        wrong = [_wrong(place, found[place], model) for place in found if place not in outer]
        raise UsageError("; ".join(wrong[:MOST_ERRORS])) from error


def _place(error: ErrorDetails, said: object) -> Place:
    """Where in the request it is: without the names of the types that were tried there."""
    place: list[int | str] = []
    for step in error["loc"]:
        if (inside := _inside(said, step)) is not NOTHING:
            said = inside
            place.append(step)
    return (*place, error["loc"][-1]) if error["type"] == "missing" else tuple(place)


def _inside(said: object, step: int | str) -> object:
    if isinstance(said, list) and isinstance(step, int):
        return said[step]
    return said.get(step, NOTHING) if isinstance(said, dict) else NOTHING


def _wrong(place: Place, errors: Sequence[ErrorDetails], model: type[Wanted]) -> str:
    """What is wrong in one place; several errors are of as many types that would have done."""
    where = ".".join(map(str, place)) or "the request"
    error = errors[0]
    if error["type"] == "missing":
        return f"{where} is missing"
    if error["type"] == "extra_forbidden":
        said = f"there is no {clipped(where, LONGEST_SHOWN)!r}"
        if len(place) > 1:
            return said
        known = ", ".join(model.model_fields)
        return f"{said}; there are: {known}" if known else f"{said}; nothing can be said here"
    first, *others = dict.fromkeys(map(_message, errors))
    said = " or ".join([first, *(each.removeprefix(WANTED) for each in others)])
    return f"{where} is {_shown(error['input'])}; {said}"


def _message(error: ErrorDetails) -> str:
    if error["type"] in ("dict_type", "model_type"):
        return f"{WANTED}an object"
    said = error["msg"].removeprefix("Value error, ").replace("tuple", "list")
    return f"{said[:1].lower()}{said[1:]}"


def _shown(value: object) -> str:
    """A value that somebody sent, short enough to be told of."""
    try:
        text = json.dumps(value, ensure_ascii=False, default=str)
    except (ValueError, RecursionError):
        text = type(value).__name__
    return clipped(text, LONGEST_SHOWN)
