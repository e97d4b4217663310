"""Where a document is, in one line that can be stored and shown: `URL#header=NAME:VALUE`."""

from collections.abc import Sequence
from urllib.parse import parse_qsl, quote

from pegboard.errors import UsageError
from pegboard.sources.mcp_secrets import is_secret


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
