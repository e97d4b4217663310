"""A hand-written manifest and its arguments, made into a request."""

import re

from pegboard.execute.api.bodies import FORM, JSON, Body, written
from pegboard.execute.api.faults import Refused, brief, invalid, unavailable
from pegboard.execute.api.headers import Headers, checked, has, value_of
from pegboard.execute.api.requests import Request, method_of, segment_checked, with_query
from pegboard.execute.api.styles import Pair, compact, pairs, percent, scalar
from pegboard.execute.api.templates import LEFT_OUT, PLACE, Filling
from pegboard.execute.secrets import Secrets
from pegboard.formats.shapes import mapping, text
from pegboard.model.content import Json

IN_BODY = frozenset({"POST", "PUT", "PATCH"})
"""Methods whose arguments go into the body if the manifest gives them no place."""
_URL = re.compile(r"(https?://)([^/?#]*)([^?#]*)\??([^#]*)", re.IGNORECASE)
_IN_HOST = re.compile(r"[A-Za-z0-9.-]+")
_ACCEPT = "application/json, */*;q=0.5"


def filled_in(executor: Json, arguments: Json, schema: Json, secrets: Secrets) -> Request:
    """Raises `Refused` and `SecretMissing`."""
    filling = Filling(arguments, mapping(schema.get("properties")), secrets)
    method = method_of({"method": "GET", **executor})
    url = _url(text(executor.get("url")), filling)
    query = [
        pair
        for name, template in mapping(executor.get("query")).items()
        for pair in _query(name, filling.value(template))
    ]
    headers = _headers(mapping(executor.get("headers")), filling)
    body = _body(executor, headers, filling) if "body" in executor else None
    if (rest := filling.unplaced) and (method not in IN_BODY or "body" in executor):
        query += [pair for name, value in rest.items() for pair in _query(name, value)]
    elif rest:
        body = written(rest, value_of(headers, "content-type") or JSON)
    if not has(headers, "accept"):
        headers = (("Accept", _ACCEPT), *headers)
    if body is not None:
        kept = tuple(each for each in headers if each[0].lower() != "content-type")
        headers = (*kept, ("Content-Type", body.media_type))
    return Request(method, with_query(url, query), headers, None if body is None else body.content)


def _url(template: str, filling: Filling) -> str:
    parts = _URL.match(template)
    if parts is None:
        raise unavailable(f"{brief(template)} is no http or https address")
    scheme, host, path, query = parts.groups()
    for each in (host, path):
        if name := filling.missing(each):
            raise invalid(f"{name} is missing: it is a part of the address {template}")
    filled = segment_checked(path, str(filling.text(path, percent, every=True)))
    url = scheme + str(filling.text(host, _in_host, every=True)) + filled
    return with_query(
        url, [pair for each in query.split("&") for pair in _own_query(each, filling)]
    )


def _in_host(value: str) -> str:
    if not _IN_HOST.fullmatch(value):
        raise invalid(f"{brief(value)} cannot be a part of the name of a host")
    return value


def _own_query(template: str, filling: Filling) -> list[Pair]:
    """What stands behind the `?` of the address; encoded already, but for what is put in."""
    name, _, said = template.partition("=")
    if not template:
        return []
    if PLACE.fullmatch(said):
        return [(name, value) for _, value in _query("", filling.value(said))]
    value = filling.text(said, percent)
    return [] if value is LEFT_OUT else [(name, str(value))]


def _query(name: str, value: object) -> list[Pair]:
    if value is LEFT_OUT or value is None:
        return []
    return pairs(name, compact(value) if isinstance(value, dict) else value, "form", True, percent)


def _headers(said: Json, filling: Filling) -> Headers:
    found = []
    for name, template in said.items():
        value = filling.value(template)
        if value is LEFT_OUT or value is None:
            continue
        try:
            found.append(checked(name, scalar(value).strip()))
        except Refused as refused:
            if PLACE.search(scalar(template)):
                raise
            raise unavailable(f"the manifest cannot be used: {refused.error}") from refused
    return tuple(found)


def _body(executor: Json, headers: Headers, filling: Filling) -> Body | None:
    value = filling.value(executor["body"])
    if value is LEFT_OUT:
        return None
    media_type = value_of(headers, "content-type") or JSON
    if not value and media_type.startswith(FORM):
        return Body(b"", media_type)
    return written(value, media_type)
