"""An operation of an OpenAPI document and its arguments, made into a request.

`docs/reference/openapi.md` says what is stored with an operation; this undoes it.
"""

import re
from http import HTTPMethod
from typing import NamedTuple

from pegboard.execute.api.bodies import JSON, Body, written
from pegboard.execute.api.faults import invalid, unavailable
from pegboard.execute.api.headers import Headers, checked, with_cookies
from pegboard.execute.api.styles import (
    COOKIE,
    RESERVED,
    Encode,
    Pair,
    compact,
    in_header,
    in_path,
    pairs,
    percent,
    scalar,
)
from pegboard.formats.shapes import mapping, mappings, text, texts
from pegboard.model.content import Json

METHODS = frozenset(str(each) for each in HTTPMethod if each is not HTTPMethod.CONNECT)
SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
"""Methods by which nothing is changed, so that they may be repeated."""
ANYTHING = "*/*;q=0.1"
MAX_ACCEPTED = 10
_TEMPLATE = re.compile(r"\{([^{}]+)\}")
_IN_PATH = "/:@!$'()*,;="


class Request(NamedTuple):
    method: str
    url: str
    """Whole, and percent-encoded."""
    headers: Headers = ()
    body: bytes | None = None


def built(executor: Json, arguments: Json, schema: Json, base: str) -> Request:
    """`schema` is the tool's input schema, `base` the address of the server. Raises `Refused`."""
    given = {name: value for name, value in arguments.items() if value is not None}
    sent = [each for each in mappings(executor.get("parameters")) if each.get("name") in given]
    path = _path(text(executor.get("path")), sent, given)
    query = [pair for each in _of(sent, "query") for pair in _pairs(each, given)]
    cookies = [pair for each in _of(sent, "cookie") for pair in _pairs(each, given)]
    said = tuple(_header(each, given) for each in _of(sent, "header"))
    body = _body(executor, arguments, schema)
    accept = texts(mapping(executor.get("responses")).get("media_types"))[:MAX_ACCEPTED]
    headers: Headers = (("Accept", ", ".join([*accept, ANYTHING])), *said)
    if body is not None:
        headers = (*headers, ("Content-Type", body.media_type))
    return Request(
        method_of(executor),
        with_query(base + path, query),
        with_cookies(headers, cookies),
        None if body is None else body.content,
    )


def method_of(executor: Json) -> str:
    method = text(executor.get("method")).upper()
    if method not in METHODS:
        raise unavailable(f"{method[:40]!a} is no method that Pegboard knows")
    return method


def with_query(url: str, query: list[Pair]) -> str:
    """The address may have a query of its own; what follows a `#` is never sent."""
    url = url.partition("#")[0]
    if not query:
        return url
    between = "&" if "?" in url else "?"
    return url + between + "&".join(f"{name}={value}" for name, value in query)


def segment_checked(path: str, filled: str) -> str:
    """A path whose variables are filled: a value must not lead out of its place."""
    said = path.split("/")
    for before, after in zip(said, filled.split("/"), strict=False):
        if "{" in before and not after:
            raise invalid(f"{before} in {path} cannot be empty, which would name another path")
    for each in filled.split("/"):
        if each not in said and each.replace("%2E", ".") in (".", ".."):
            raise invalid(f"{each!a} cannot be a part of {path}: it would name another path")
    return filled


def _of(sent: list[Json], place: str) -> list[Json]:
    return [each for each in sent if each.get("in") == place]


def _path(path: str, sent: list[Json], given: Json) -> str:
    found = {text(each.get("wire_name")): each for each in _of(sent, "path")}

    def fill(place: re.Match[str]) -> str:
        if place[1] not in found:
            raise invalid(f"{place[1]} is missing: it is a part of the path {path}")
        each = found[place[1]]
        value = _value(each, given)
        keeps = each.get("allow_reserved") is True and isinstance(value, str)
        encode = _encoder(_IN_PATH if keeps and each.get("style") == "simple" else "")
        explode = each.get("explode") is True
        return in_path(place[1], value, text(each.get("style")), explode, encode)

    return segment_checked(path, _TEMPLATE.sub(fill, path))


def _pairs(each: Json, given: Json) -> list[Pair]:
    value, explode = _value(each, given), each.get("explode") is True
    safe = COOKIE if each.get("in") == "cookie" else ""
    if each.get("allow_reserved") is True and each.get("in") == "query":
        whole = explode or not isinstance(value, dict | list | tuple)
        safe = RESERVED if whole else RESERVED.replace(",", "")
    style = text(each.get("style")) or "form"
    return pairs(text(each.get("wire_name")), value, style, explode, _encoder(safe))


def _header(each: Json, given: Json) -> tuple[str, str]:
    name = text(each.get("wire_name"))
    return checked(name, in_header(name, _value(each, given), each.get("explode") is True))


def _value(each: Json, given: Json) -> object:
    """The argument; one that is written in a media type, as that text."""
    value = given[text(each.get("name"))]
    if "media_type" not in each:
        return value
    in_text = isinstance(value, str) and "json" not in text(each["media_type"]).lower()
    return scalar(value) if in_text else compact(value)


def _encoder(safe: str) -> Encode:
    return lambda value: percent(value, safe)


def _body(executor: Json, arguments: Json, schema: Json) -> Body | None:
    body = mapping(executor.get("body"))
    if not body:
        return None
    media_type = next(iter(texts(body.get("media_types"))), JSON)
    properties = mapping(schema.get("properties"))
    if "property" in body:
        name = text(body["property"])
        if name not in arguments:
            return None
        value, described = arguments[name], mapping(properties.get(name))
    else:
        value = _spread(body, executor, arguments)
        if not value and body.get("required") is not True:
            return None
        wired = {text(each.get("wire_name")): text(each.get("name")) for each in _spread_of(body)}
        described = {"properties": {wire: properties.get(name) for wire, name in wired.items()}}
    encoding = mapping(body.get("encoding"))
    return written(value, media_type, encoding, {**described, "$defs": schema.get("$defs")})


def _spread_of(body: Json) -> list[Json]:
    return mappings(body.get("spread"))


def _spread(body: Json, executor: Json, arguments: Json) -> dict[str, object]:
    names = {text(each.get("name")): text(each.get("wire_name")) for each in _spread_of(body)}
    value = {wire: arguments[name] for name, wire in names.items() if name in arguments}
    if body.get("further") is True:
        taken = {each.get("name") for each in mappings(executor.get("parameters"))}
        rest = {name: each for name, each in arguments.items() if name not in taken}
        value |= {name: each for name, each in rest.items() if name not in names}
    return value
