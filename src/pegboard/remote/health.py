"""How a gateway is, as far as that can be asked from elsewhere."""

from typing import NamedTuple

from pegboard.errors import NotAllowed, PegboardError
from pegboard.model.calls import Role
from pegboard.remote.asking import Gateway
from pegboard.remote.connection import Request

NO_SUCH_PATH = "no_such_path"


class Myself(NamedTuple):
    """Whom a gateway takes whoever asks for."""

    subject: str
    role: Role
    namespaces: tuple[str, ...]
    version: str
    """Of the gateway."""


class Examined(NamedTuple):
    ready: bool
    reasons: tuple[str, ...]
    """Why it is not ready, in codes."""
    myself: Myself | None
    refusal: PegboardError | None = None
    """Why it does not say who asks."""


def examined(gateway: Gateway) -> Examined:
    """Raises if nothing answers there, or no gateway does."""
    gateway.get("/healthz")
    found = gateway.ask(Request("GET", "/readyz", taken=(NO_SUCH_PATH,), accepted=(503,)))
    told = found.value if isinstance(found.value, dict) else {}
    said = told.get("reasons", [])
    reasons = tuple(str(each) for each in said) if isinstance(said, list) else ()
    ready = bool(found.code) or told.get("status") == "ready"
    try:
        return Examined(ready, reasons, gateway.value(Myself, gateway.get("/me")))
    except NotAllowed as error:
        return Examined(ready, reasons, None, error)
