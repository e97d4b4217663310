"""Where the requests of an operation go: the first of its servers that can be asked."""

import re
from collections.abc import Mapping

from pegboard.execute.api.faults import unavailable
from pegboard.execute.api.styles import percent
from pegboard.execute.secrets import Secrets, secret_name
from pegboard.formats.shapes import mapping, mappings, text, texts
from pegboard.model.content import Json

_VARIABLE = re.compile(r"\{([^{}]+)\}")


def base_of(executor: Json, source: str, secrets: Secrets) -> str:
    """Without a final slash. Raises `Refused`.

    A variable without a default, such as the token in `https://api.telegram.org/bot{token}`, is
    looked up like a secret: `TELEGRAM_TOKEN`.
    """
    absolute = _absolute(executor)
    if not absolute:
        servers = mappings(executor.get("servers"))
        listed = ", ".join(text(each.get("url")) or "/" for each in servers[:3]) or "none"
        raise unavailable(
            f"the document of {source} names no server with a whole address ({listed});"
            " add the document by the address it is served at, so that its servers count from"
            f" there: pegboard add openapi https://... --name {source}"
        )
    chosen = absolute[0]

    def fill(place: re.Match[str]) -> str:
        name = secret_name(source, place[1])
        if secrets.find(name) is None:
            raise unavailable(f"the server {chosen} has no default for {place[1]}; set {name}")
        return percent(secrets.line(name))

    if chosen.lower().startswith("http://"):
        # Many documents list both, in any order; nothing is said against the safe one.
        safe = "https" + chosen[4:]
        chosen = safe if safe.lower() in map(str.lower, absolute) else chosen
    return _VARIABLE.sub(fill, chosen)


def names_in_server(executor: Json, source: str) -> list[str]:
    """The secrets that the address has places for."""
    found = _VARIABLE.findall(next(iter(_absolute(executor)), ""))
    return [secret_name(source, name) for name in found]


def _absolute(executor: Json) -> list[str]:
    """The whole addresses among the servers, with the defaults of their variables."""
    likely = [_likely(each) for each in mappings(executor.get("servers"))]
    return [each for each in likely if each.lower().startswith(("http://", "https://"))]


def _likely(server: Json) -> str:
    defaults = _defaults(server)
    url = re.split("[?#]", text(server.get("url")), maxsplit=1)[0].rstrip("/")
    return _VARIABLE.sub(lambda found: defaults.get(found[1]) or found[0], url).rstrip("/")


def _defaults(server: Json) -> Mapping[str, str]:
    found: dict[str, str] = {}
    for name, each in mapping(server.get("variables")).items():
        said = mapping(each)
        choices = texts(said.get("enum"))
        found[name] = text(said.get("default")) or (choices[0] if choices else "")
    return found
