"""How whoever is not let in is told so: RFC 6750 and, for MCP clients, RFC 9728.

A client that knows neither token nor provider finds the provider from the address in the answer.
"""

from starlette.requests import HTTPConnection
from starlette.responses import Response

from pegboard.config.settings import ServeSettings
from pegboard.errors import (
    NotAllowed,
    NotSignedIn,
    PegboardError,
    ProviderUnavailable,
    TooMany,
)
from pegboard.model.calls import Role
from pegboard.serve.http.claims import SCOPE
from pegboard.serve.http.failures import WAIT_SECONDS
from pegboard.serve.http.gateway import SignIn
from pegboard.serve.http.problems import problem, status_of
from pegboard.serve.http.rates import RETRY_AFTER, RatedSignIn
from pegboard.serve.http.signin import BoardSignIn

METADATA = "/.well-known/oauth-protected-resource"
MCP = "/mcp"
SCOPE_CLAIMS = ("scope", "scp")


def board_sign_in(sign_in: SignIn) -> BoardSignIn | None:
    """That of the board, also where requests are counted before it is asked."""
    found = sign_in.within if isinstance(sign_in, RatedSignIn) else sign_in
    return found if isinstance(found, BoardSignIn) else None


def refusal(
    error: PegboardError,
    connection: HTTPConnection,
    sign_in: SignIn,
    role: Role | None = Role.READER,
) -> Response:
    """The problem, with what a client needs to do better; `role` is what was asked of it."""
    headers: dict[str, str] = {}
    if status_of(error) in (401, 403) and isinstance(error, NotAllowed):
        headers["WWW-Authenticate"] = challenge(error, connection, sign_in, role)
    elif isinstance(error, TooMany | ProviderUnavailable):
        headers["Retry-After"] = str(connection.scope.get(RETRY_AFTER, WAIT_SECONDS))
    return problem(error, headers)


def metadata(sign_in: BoardSignIn, connection: HTTPConnection, path: str) -> dict[str, object]:
    """The document about what is protected at this path, by whom."""
    settings = sign_in.settings
    said: dict[str, object] = {
        "resource": f"{sign_in.site.base(connection.scope)}{path}",
        "bearer_methods_supported": ["header"],
        "resource_name": "Pegboard",
    }
    if settings.issuer:
        said["authorization_servers"] = [settings.issuer]
        said |= {"scopes_supported": [f"{SCOPE}{Role.READER}"]} if _by_scope(settings) else {}
    return said


def challenge(
    error: PegboardError, connection: HTTPConnection, sign_in: SignIn, role: Role | None
) -> str:
    """What the header `WWW-Authenticate` says, which every answer with 401 must have."""
    parts = ['realm="pegboard"']
    if not isinstance(error, NotSignedIn):
        parts.append('error="insufficient_scope"')
    elif "authorization" in connection.headers:
        parts.append('error="invalid_token"')
    if known := board_sign_in(sign_in):
        # A scope that the provider does not know is one that it refuses.
        if role is not None and known.settings.issuer and _by_scope(known.settings):
            parts.append(f'scope="{SCOPE}{role}"')
        path = connection.scope.get("path", "")
        of_mcp = path == MCP or path.startswith(f"{MCP}/")
        where = f"{known.site.base(connection.scope)}{METADATA}{MCP if of_mcp else ''}"
        parts.append(f'resource_metadata="{where}"')
    return f"Bearer {', '.join(parts)}"


def _by_scope(settings: ServeSettings) -> bool:
    return settings.role_claim in SCOPE_CLAIMS
