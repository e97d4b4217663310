"""Where the requests of an operation go: the first of its servers that can be asked."""

import re
from collections.abc import Mapping

from pegboard.content import Json
from pegboard.execute.api.faults import unavailable
from pegboard.execute.api.shapes import mapping, mappings, text, texts

_VARIABLE = re.compile(r"\{([^{}]+)\}")


def base_of(executor: Json, source: str) -> str:
    """Without a final slash. Raises `Refused`."""
    servers = mappings(executor.get("servers"))
    absolute = [each for each in servers if _is_absolute(_likely(each))]
    if not absolute:
        listed = ", ".join(text(each.get("url")) or "/" for each in servers[:3]) or "none"
        raise unavailable(
            f"the document of {source} names no server with a whole address ({listed});"
            " add the document by the address it is served at, so that its servers count from"
            f" there: pegboard add openapi https://... --name {source}"
        )
    chosen = _filled(absolute[0], source)
    if chosen.lower().startswith("http://"):
        # Many documents list both, in any order; nothing is said against the safe one.
        safe = "https" + chosen[4:]
        if safe.lower() in {_likely(each).rstrip("/").lower() for each in absolute}:
            return safe
    return chosen


def _likely(server: Json) -> str:
    """With the defaults of its variables, as far as it has any."""
    defaults = _defaults(server)
    url = text(server.get("url"))
    return _VARIABLE.sub(lambda found: defaults.get(found[1]) or found[0], url)


def _is_absolute(url: str) -> bool:
    return url.lower().startswith(("http://", "https://"))


def _filled(server: Json, source: str) -> str:
    url = _likely(server)
    if left := _VARIABLE.search(url):
        raise unavailable(
            f"the server {url} of {source} has a variable without a default, {left[1]};"
            f" give {left[1]} a default in the document, and run: pegboard sync"
        )
    return re.split("[?#]", url, maxsplit=1)[0].rstrip("/")


def _defaults(server: Json) -> Mapping[str, str]:
    found: dict[str, str] = {}
    for name, each in mapping(server.get("variables")).items():
        said = mapping(each)
        choices = texts(said.get("enum"))
        found[name] = text(said.get("default")) or (choices[0] if choices else "")
    return found
