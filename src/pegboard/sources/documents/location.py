"""Where a document is, in one line that can be stored and shown: `URL#header=NAME:VALUE`."""

import re
from collections.abc import Sequence
from urllib.parse import parse_qsl, quote, unquote_plus

from pegboard.errors import UsageError
from pegboard.sources.secret_looks import is_secret

_LOGIN = re.compile(r"(?<=//)[^/?#]*@")


def with_headers(location: str, headers: Sequence[str]) -> str:
    """The location that stands for an address and the `NAME: VALUE` that are sent along.

    A secret has to be a reference such as `${TOKEN}`, which is looked up at each fetch.
    """
    if not headers:
        return location
    if "://" not in location:
        raise UsageError(f"{location!r} is a file, and headers are sent to a URL only")
    return f"{location.partition('#')[0]}#{'&'.join(map(_written, headers))}"


def _written(header: str) -> str:
    name, colon, value = (part.strip() for part in header.partition(":"))
    if not name or not colon or not header.isprintable():
        raise UsageError(f"{header.partition(':')[0]!a} is not of the form NAME: VALUE")
    if is_secret(value, name):
        raise UsageError(
            f"the header {name!r} has a secret in it, and it would be stored",
            f"export it as a variable and write a reference: --header '{name}: ${{NAME}}'",
        )
    return f"header={quote(f'{name}:{value}', safe=' :${}/-_.')}"


def headers_of(location: str) -> dict[str, str]:
    """With references still in them."""
    said = [each for name, each in parse_qsl(location.partition("#")[2]) if name == "header"]
    return {name: value for name, _, value in (each.partition(":") for each in said)}


def without_secrets(address: str) -> str:
    """Without a login, and without what in the query is a secret by its name or its looks."""
    plain, mark, query = _LOGIN.sub("", address).partition("?")
    kept = "&".join(each for each in query.split("&") if not _is_secret(each))
    return f"{plain}{mark}{kept}" if kept or not query else plain


def _is_secret(part: str) -> bool:
    name, _, value = map(unquote_plus, part.partition("="))
    return is_secret(value, name)


def refuse_secrets(location: str) -> None:
    """A location is stored as it is, and shown."""
    address = location.partition("#")[0]
    plain = without_secrets(address)
    if address != plain or any(
        is_secret(each, name) for name, each in headers_of(location).items()
    ):
        raise UsageError(
            f"{plain} was given with a secret in it, and it would be stored",
            "give it as a header that refers to a variable: --header 'Authorization: ${NAME}'; "
            "or fetch the document yourself and add the file",
        )
