"""The body of a request, from its value and its media type."""

import base64
import binascii
import re
from collections.abc import Iterator, Mapping
from functools import partial
from typing import NamedTuple
from urllib.parse import unquote_to_bytes

import httpx2

from pegboard.execute.api.faults import invalid, unavailable
from pegboard.execute.api.styles import RESERVED, compact, pairs, percent, scalar
from pegboard.formats.shapes import mapping, mappings, text
from pegboard.model.content import EMPTY, Json

JSON = "application/json"
FORM = "application/x-www-form-urlencoded"
_DATA = re.compile(r"data:([^;,\s]*)((?:;[^;,]*)*?)(;base64)?,", re.IGNORECASE)
_DATA_HEAD = 1_000
_PLAIN = (JSON, "text/plain", "")
_NAME = re.compile(r";(?:file)?name=([^;]*)", re.IGNORECASE)
_MAX_STEPS = 10
_OCTETS = "application/octet-stream"

_Part = tuple[str, tuple[str | None, bytes, str | None]]


class Body(NamedTuple):
    content: bytes
    media_type: str


class File(NamedTuple):
    content: bytes
    media_type: str = ""
    name: str = ""


def kind_of(media_type: str) -> str:
    return media_type.partition(";")[0].strip().lower()


def is_json(kind: str) -> bool:
    return kind in (JSON, "text/json") or kind.endswith("+json")


def written(value: object, media_type: str, encoding: Json = EMPTY, schema: Json = EMPTY) -> Body:
    """`encoding` is that of an OpenAPI document, `schema` that of the value. Raises `Refused`."""
    kind = kind_of(media_type)
    if is_json(kind):
        return Body(encoded(compact(value)), media_type)
    if kind == FORM:
        return Body("&".join(_form(_object(value, kind), encoding)).encode("ascii"), media_type)
    if kind.startswith("multipart/"):
        return _multipart(_object(value, kind), kind, encoding, schema)
    if not isinstance(value, str):
        if kind.startswith("text/") and not isinstance(value, Mapping | list | tuple):
            return Body(encoded(scalar(value)), media_type)
        raise unavailable(
            f"its body is {media_type[:100]!a}, which cannot be written from an object;"
            " write a manifest of your own, whose body is a text"
        )
    if kind.startswith("text/") or kind.endswith("xml"):
        return Body(encoded(value), media_type)
    file = file_in(value)
    exact = media_type if "*" not in kind else file.media_type or _OCTETS
    return Body(file.content, exact)


def file_in(value: str) -> File:
    """Bytes are given as a data URL, `data:image/png;base64,...`; any other text is itself."""
    head = _DATA.match(value[:_DATA_HEAD])
    if head is None:
        return File(encoded(value))
    rest = value[head.end() :]
    try:
        content = (
            base64.b64decode("".join(rest.split()), validate=True)
            if head[3]
            else unquote_to_bytes(rest)
        )
    except (binascii.Error, ValueError) as error:
        raise invalid(f"a data URL holds no base64: {error}") from error
    named = _NAME.search(head[2] or "")
    name = unquote_to_bytes(named[1]).decode("utf-8", "replace") if named else ""
    return File(content, head[1].lower(), name)


def encoded(value: str) -> bytes:
    try:
        return value.encode()
    except UnicodeEncodeError:
        raise invalid("the arguments have half a character in them, which is no text") from None


def _object(value: object, kind: str) -> Json:
    if not isinstance(value, Mapping):
        raise invalid(f"a body that is {kind} is made from an object")
    return {str(name): each for name, each in value.items() if each is not None}


def _form(value: Json, encoding: Json) -> Iterator[str]:
    for name, each in value.items():
        said = mapping(encoding.get(name))
        style, explode = text(said.get("style")), said.get("explode")
        in_json = isinstance(each, Mapping) or is_json(kind_of(_told_type(said)))
        part = compact(each) if in_json and not style else each
        style = style or "form"
        exploded = explode if isinstance(explode, bool) else style == "form"
        safe = RESERVED if said.get("allowReserved") is True else ""
        encode = partial(percent, safe=safe if exploded else safe.replace(",", ""))
        yield from map("=".join, pairs(name, part, style, exploded, encode))


def _told_type(said: Json) -> str:
    """The first of the content types that an encoding allows."""
    return text(said.get("contentType")).partition(",")[0].strip()


def _multipart(value: Json, kind: str, encoding: Json, schema: Json) -> Body:
    parts = [part for name, each in value.items() for part in _parts(name, each, encoding, schema)]
    if not parts:
        return Body(b"--empty--\r\n", f"{kind}; boundary=empty")
    try:
        sent = httpx2.Request("POST", "http://localhost", files=parts)
        content = sent.read()
    except ValueError as error:  # control characters in the type of a part
        raise invalid(f"the form cannot be written: {error}") from error
    media_type = sent.headers["content-type"].replace("multipart/form-data", kind, 1)
    return Body(content, media_type)


def _parts(name: str, value: object, encoding: Json, schema: Json) -> Iterator[_Part]:
    told = _told_type(mapping(encoding.get(name)))
    definitions = mapping(schema.get("$defs"))
    whole = _opened(schema, definitions)
    described = _opened(mapping(whole.get("properties")).get(name), definitions)
    if isinstance(value, list | tuple) and not is_json(kind_of(told)):
        described = _opened(described.get("items"), definitions)
        for each in value:
            yield _part(name, each, told, described)
    else:
        yield _part(name, value, told, described)


def _opened(schema: object, definitions: Json) -> Json:
    """What a schema refers to, if it does nothing else."""
    found = mapping(schema)
    for _ in range(_MAX_STEPS):
        name = text(found.get("$ref")).removeprefix("#/$defs/")
        if name not in definitions:
            break
        found = mapping(definitions[name])
    return found


def _part(name: str, value: object, told: str, described: Json) -> _Part:
    encoded(name)
    if isinstance(value, str) and (_is_file(described) or kind_of(told) not in _PLAIN):
        file = file_in(value)
        exact = file.media_type or ("" if "*" in told else told) or _OCTETS
        return name, (file.name or name, file.content, exact)
    if isinstance(value, Mapping | list | tuple) or is_json(kind_of(told)):
        return name, (None, encoded(compact(value)), told or JSON)
    return name, (None, encoded(scalar(value)), told or None)


def _is_file(described: Json) -> bool:
    branches = (each for key in ("anyOf", "oneOf") for each in mappings(described.get(key)))
    return (
        described.get("format") == "binary"
        or ("contentMediaType" in described and "contentEncoding" not in described)
        or any(map(_is_file, branches))
    )
