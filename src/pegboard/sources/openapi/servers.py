"""Where the requests of an operation go."""

import re
from collections.abc import Iterable, Mapping
from urllib.parse import urljoin, urlsplit, urlunsplit

from pegboard.sources.mcp_secrets import names_secret
from pegboard.sources.openapi.cleaning import one_line
from pegboard.sources.openapi.fetching import is_address
from pegboard.sources.openapi.shapes import mapping

MAX_ADDRESS = 2_000
_LOGIN = re.compile(r"(?<=//)[^/@]*@")


def addresses(listed: Iterable[object], place: str) -> list[dict[str, object]]:
    """Each server with its variables. An address without a host counts from the document's.

    A login in an address is left out, and so is what a variable for a secret has for a default.
    """
    made = []
    for each in listed:
        url = mapping(each).get("url")
        if not isinstance(url, str):
            continue
        try:
            server: dict[str, object] = {"url": _absolute(one_line(url, MAX_ADDRESS), place)}
        except ValueError:
            continue  # it cannot be an address
        if variables := _variables(mapping(each).get("variables")):
            server["variables"] = variables
        if server not in made:
            made.append(server)
    return made


def _absolute(url: str, place: str) -> str:
    url = _LOGIN.sub("", url)
    if is_address(place) and "{" not in url.partition("//")[0] and not urlsplit(url).scheme:
        parts = urlsplit(urljoin(place, url or "/"))
        url = urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))
    return url.rstrip("/")


def _variables(value: object) -> dict[str, object]:
    return {
        one_line(str(name)): _variable(str(name), mapping(each))
        for name, each in mapping(value).items()
    }


def _variable(name: str, value: Mapping[str, object]) -> dict[str, object]:
    made: dict[str, object] = {}
    default, choices = value.get("default"), value.get("enum")
    if default is not None and not names_secret(name):
        made["default"] = one_line(str(default))
    if isinstance(choices, list):
        made["enum"] = [one_line(str(each)) for each in choices[:100]]
    if isinstance(description := value.get("description"), str):
        made["description"] = one_line(description, 500)
    return made
