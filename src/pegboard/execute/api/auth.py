"""How a request proves on whose behalf it is made, with secrets that are looked up by name.

The secret of a scheme is called after the source and the scheme, in upper case, with `_` for
whatever is no letter or digit: `PETSTORE_API_KEY` for the scheme `api_key` of the source
`petstore`. A login has `..._USERNAME` and `..._PASSWORD`; a client of OAuth2 has `..._CLIENT_ID`
and `..._CLIENT_SECRET`, or under the plain name a token that is ready to use.
"""

import base64
import re
from collections.abc import Iterator
from functools import reduce
from typing import NamedTuple

from pegboard.execute.api.faults import Refused, unavailable
from pegboard.execute.api.headers import Headers, checked, with_cookies
from pegboard.execute.api.requests import Request, with_query
from pegboard.execute.api.styles import percent
from pegboard.execute.secrets import Secrets, secret_name
from pegboard.formats.shapes import listed, mapping, mappings, text, texts
from pegboard.model.content import Json

_BEARER = ("oauth2", "openIdConnect")
_COOKIE = re.compile(r"[\x21\x23-\x2b\x2d-\x3a\x3c-\x5b\x5d-\x7e]*")


class Client(NamedTuple):
    """A client of an OAuth2 server, and what it asks for."""

    token_url: str
    id: str
    secret: str
    scopes: tuple[str, ...] = ()
    in_body: bool = False
    """Whether the server wants the secret in the form, and not as a login."""


class Proof(NamedTuple):
    headers: Headers = ()
    query: tuple[tuple[str, str], ...] = ()
    cookies: tuple[tuple[str, str], ...] = ()
    clients: tuple[Client, ...] = ()
    """Those that a token has to be fetched for."""
    secrets: tuple[str, ...] = ()
    """Names of the secrets that it is made from."""

    def joined(self, other: "Proof") -> "Proof":
        return Proof(
            self.headers + other.headers,
            self.query + other.query,
            self.cookies + other.cookies,
            self.clients + other.clients,
            self.secrets + other.secrets,
        )


def names_of(executor: Json, source: str) -> list[str]:
    """The secrets that any of the ways to log in could use."""
    found = [
        name
        for way in listed(executor.get("security"))
        for scheme in mappings(way)
        for choice in _choices(scheme, source)
        for name in choice
    ]
    return list(dict.fromkeys(found))


def chosen(executor: Json, source: str, secrets: Secrets) -> Proof:
    """By the first way whose secrets all exist; by none, if that is enough. Raises `Refused`."""
    ways = [mappings(way) for way in listed(executor.get("security"))]
    for way in filter(None, ways):
        found = [_found(scheme, source, secrets) for scheme in way]
        if all(found):
            pairs = zip(way, found, strict=True)
            proofs = [_proof(scheme, names or (), secrets) for scheme, names in pairs]
            return reduce(Proof.joined, proofs)
    if not ways or not all(ways):
        return Proof()
    raise unavailable(_wanting(ways, source))


def proven(request: Request, proof: Proof) -> Request:
    query = [(percent(name), percent(value)) for name, value in proof.query]
    replaced = {name.lower() for name, _ in proof.headers}
    kept = tuple(each for each in request.headers if each[0].lower() not in replaced)
    headers = with_cookies((*kept, *proof.headers), list(proof.cookies))
    return request._replace(url=with_query(request.url, query), headers=headers)


def bearer(token: str, *names: str) -> Proof:
    return Proof(headers=(_header("Authorization", f"Bearer {token}", names),), secrets=names)


def login(user: str, password: str, secrets: Secrets, *names: str) -> Proof:
    # Variables of the environment may hold bytes that are no text.
    whole = f"{user}:{password}".encode("utf-8", "surrogateescape")
    told = base64.b64encode(whole).decode("ascii")
    secrets.learn(told)
    return Proof(headers=(("Authorization", f"Basic {told}"),), secrets=names)


def key(place: str, name: str, value: str, *names: str) -> Proof:
    """An API key, where its scheme wants it. Raises `Refused`."""
    if place == "query":
        return Proof(query=((name, value),), secrets=names)
    if place == "cookie":
        if not _COOKIE.fullmatch(value):
            raise unavailable(f"{' and '.join(names)} cannot stand in a cookie; check the secret")
        return Proof(cookies=((name, value),), secrets=names)
    return Proof(headers=(_header(name, value, names),), secrets=names)


def _header(name: str, value: str, names: tuple[str, ...]) -> tuple[str, str]:
    try:
        return checked(name, value)
    except Refused as refused:
        told = f"the secret {' or '.join(names)} cannot be used: {refused.error}"
        raise unavailable(told) from refused


def _choices(scheme: Json, source: str) -> Iterator[tuple[str, ...]]:
    """The secrets of a scheme, by each way that it can be used; those of one way belong together.

    Nothing if nobody here can use it.
    """
    kind, name = text(scheme.get("type")), text(scheme.get("scheme"))
    way = text(scheme.get("http_scheme")).lower()
    plain = (secret_name(source, name),)
    if (kind == "apiKey" and scheme.get("name")) or (kind, way) == ("http", "bearer"):
        yield plain
    elif (kind, way) == ("http", "basic"):
        yield tuple(secret_name(source, name, end) for end in ("_USERNAME", "_PASSWORD"))
    elif kind in _BEARER:
        yield plain
        if _token_url(scheme):
            yield tuple(secret_name(source, name, end) for end in ("_CLIENT_ID", "_CLIENT_SECRET"))


def _found(scheme: Json, source: str, secrets: Secrets) -> tuple[str, ...] | None:
    """The first choice whose secrets all exist."""
    for names in _choices(scheme, source):
        if all(secrets.find(name) for name in names):
            return names
    return None


def _proof(scheme: Json, names: tuple[str, ...], secrets: Secrets) -> Proof:
    values = [secrets.line(name) for name in names]
    match text(scheme.get("type")), values:
        case "apiKey", [value]:
            return key(text(scheme.get("in")), text(scheme.get("name")), value, *names)
        case "http", [user, password]:
            return login(user, password, secrets, *names)
        case _, [client, secret]:
            scopes = tuple(texts(scheme.get("scopes")))
            made = Client(_token_url(scheme), client, secret, scopes)
            return Proof(clients=(made,), secrets=names)
        case _, [value]:
            return bearer(value, *names)
    raise AssertionError("a scheme has one secret or two")


def _token_url(scheme: Json) -> str:
    flow = mapping(mapping(scheme.get("flows")).get("clientCredentials"))
    return text(flow.get("token_url"))


def _wanting(ways: list[list[Json]], source: str) -> str:
    told = []
    for way in ways:
        choices = [list(_choices(scheme, source)) for scheme in way]
        if all(choices):
            told.append(" and ".join(" or ".join(map(" and ".join, each)) for each in choices))
    if told:
        return f"it needs a login, and no secret for it is set; set {', or '.join(told)}"
    kinds = {text(each.get("http_scheme") or each.get("type")) for way in ways for each in way}
    known = ", ".join(sorted(kinds))
    return f"it can only be called with a login that Pegboard does not know: {known}"
