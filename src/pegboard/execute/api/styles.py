"""Values as they are written in paths, queries, headers and cookies: the styles of OpenAPI.

What was given can be read from what is written. Where a style cannot tell a delimiter from the same
character in a value, the value is refused.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from urllib.parse import quote

from pegboard.execute.api.faults import brief, invalid
from pegboard.model.content import Json

Encode = Callable[[str], str]
Pair = tuple[str, str]
"""A name and a value, both as they are written."""

RESERVED = ":/?@!$'()*,;="
"""Those reserved characters that mean nothing in a query, so that they can stand for themselves."""
COOKIE = "!#$&'()*+-./:<=>?@[]^_`{|}~"
_DELIMITERS = {
    "spaceDelimited": (" ", "%20"),
    "pipeDelimited": ("|", "%7C"),
    "tabDelimited": ("\t", "%09"),
}
_COMMA = ("", ",")
"""Encoded values have no comma, so that it delimits them."""


def percent(text: str, safe: str = "") -> str:
    try:
        return quote(text, safe)
    except UnicodeEncodeError:
        raise invalid("there is half a character in it, which cannot be written") from None


def scalar(value: object) -> str:
    """A value that has no parts, as text; one that has some is written in JSON."""
    if isinstance(value, str):
        return value
    if value is None:
        raise invalid("null cannot be an entry of a list that is not written in JSON")
    return compact(value)


def compact(value: object) -> str:
    try:
        return json.dumps(_plain(value), ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    except (ValueError, TypeError) as error:
        raise invalid(f"the arguments cannot be written in JSON: {error}") from error


def _plain(value: object) -> object:
    """`json` knows no mapping but a dict."""
    if isinstance(value, Mapping):
        return {str(name): _plain(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    return value


def pairs(name: str, value: object, style: str, explode: bool, encode: Encode) -> list[Pair]:
    """In a query, a cookie or a form. An empty list and an object without members are nothing."""
    if style == "deepObject":
        return list(_deep(name, value, encode))
    plain, delimiter = _DELIMITERS.get(style, _COMMA)
    if isinstance(value, Mapping):
        members = _members(value)
        if explode:
            return [(percent(each), encode(scalar(part))) for each, part in members]
        texts = [text for each, part in members for text in (each, scalar(part))]
    elif isinstance(value, list | tuple):
        texts = [scalar(each) for each in value]
        if explode:
            return [(percent(name), encode(text)) for text in texts]
    else:
        return [(percent(name), encode(scalar(value)))]
    _refuse(texts, plain, name)
    return [(percent(name), delimiter.join(map(encode, texts)))] if texts else []


def in_path(name: str, value: object, style: str, explode: bool, encode: Encode) -> str:
    """As `simple`, `label` or `matrix`."""
    if style == "matrix":
        found = pairs(name, value, "form", explode, encode)
        return "".join(f";{each}={text}" if text else f";{each}" for each, text in found)
    if style != "label":
        return _joined(value, explode, ",", encode)
    if explode and isinstance(value, Mapping | list | tuple):
        return "." + _joined(value, True, ".", lambda text: encode(text).replace(".", "%2E"))
    return "." + _joined(value, explode, ",", encode)


def in_header(name: str, value: object, explode: bool) -> str:
    """As `simple`. Nothing is encoded in headers, so parts must have no delimiters in them."""
    if isinstance(value, Mapping):
        members = _members(value)
        _refuse([text for each, part in members for text in (each, scalar(part))], ",", name)
        _refuse([each for each, _ in members] if explode else [], "=", name)
    elif isinstance(value, list | tuple):
        _refuse([scalar(each) for each in value], ",", name)
    return _joined(value, explode, ",", lambda text: text)


def _joined(value: object, explode: bool, between: str, encode: Encode) -> str:
    if isinstance(value, Mapping):
        members = [(encode(each), encode(scalar(part))) for each, part in _members(value)]
        return between.join(("=" if explode else ",").join(each) for each in members)
    if isinstance(value, list | tuple):
        return between.join(encode(scalar(each)) for each in value)
    return encode(scalar(value))


def _members(value: Json) -> list[tuple[str, object]]:
    return [(str(name), each) for name, each in value.items() if each is not None]


def _deep(name: str, value: object, encode: Encode) -> Iterator[Pair]:
    """`name[member]`, to any depth; a list is `name[]` if its entries have no parts."""
    if isinstance(value, Mapping):
        for each, part in _members(value):
            if not each or "[" in each or "]" in each:
                raise invalid(f"{name}: {brief(each)} cannot be the name of a member there")
            yield from _deep(f"{name}[{each}]", part, encode)
    elif isinstance(value, list | tuple):
        apart = any(isinstance(each, Mapping | list | tuple) for each in value)
        for number, part in enumerate(value):
            yield from _deep(f"{name}[{number if apart else ''}]", part, encode)
    else:
        yield percent(name), encode(scalar(value))


def _refuse(texts: list[str], delimiter: str, name: str) -> None:
    if delimiter and (bad := next((each for each in texts if delimiter in each), None)):
        raise invalid(
            f"{name}: {brief(bad)} contains {delimiter!a}, which is what separates the values there"
        )
