"""Where the requests of an operation go."""

from collections.abc import Iterable, Mapping
from urllib.parse import urljoin, urlsplit

from pegboard.formats.shapes import mapping
from pegboard.sources.documents.fetching import is_address
from pegboard.sources.documents.location import without_secrets
from pegboard.sources.openapi.cleaning import one_line
from pegboard.sources.secret_looks import names_secret

MAX_ADDRESS = 2_000


def addresses(listed: Iterable[object], place: str) -> list[dict[str, object]]:
    """Each server with its variables. An address without a host counts from the document's.

    Secrets in an address are left out, and so is what a variable for one has for values.
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
    url = without_secrets(url)
    if is_address(place) and "{" not in url.partition("//")[0] and not urlsplit(url).scheme:
        url = without_secrets(urljoin(place, url or "/"))
    return url.rstrip("/")


def _variables(value: object) -> dict[str, object]:
    return {
        one_line(str(name)): _variable(str(name), mapping(each))
        for name, each in mapping(value).items()
    }


def _variable(name: str, value: Mapping[str, object]) -> dict[str, object]:
    made: dict[str, object] = {}
    default, choices = value.get("default"), value.get("enum")
    open_to_all = not names_secret(name)
    if default is not None and open_to_all:
        made["default"] = one_line(str(default))
    if isinstance(choices, list) and open_to_all:
        made["enum"] = [one_line(str(each)) for each in choices[:100]]
    if isinstance(description := value.get("description"), str):
        made["description"] = one_line(description, 500)
    return made
