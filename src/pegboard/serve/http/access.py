"""Signing in on the page and out again, and the document that tells clients where tokens are made.

The page itself is drawn by whoever has one: `form` gets the request, what went wrong, if anything,
and the status of the answer.
"""

from collections.abc import Callable
from urllib.parse import parse_qs

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from pegboard.errors import NotSignedIn, PegboardError, TooLarge, UsageError
from pegboard.model.calls import Caller, Role
from pegboard.serve.http.problems import status_of
from pegboard.serve.http.refusals import MCP, METADATA, challenge, metadata, refusal
from pegboard.serve.http.replies import reply
from pegboard.serve.http.sessions import forget_cookie, said_session, set_cookie
from pegboard.serve.http.signin import HERE, BoardSignIn
from pegboard.serve.http.site import is_local

SIGN_IN = "/ui/sign-in"
SIGN_OUT = "/ui/sign-out"
HOME = "/ui/"
LARGEST_FORM = 65_536
FORM = "application/x-www-form-urlencoded"

Form = Callable[[Request, str, int], Response]


def access_routes(sign_in: BoardSignIn, form: Form) -> list[BaseRoute]:
    """To be put before other routes of the same paths."""
    access = _Access(sign_in, form)
    return [
        Route(METADATA, access.metadata, methods=["GET"]),
        Route(f"{METADATA}{MCP}", access.metadata, methods=["GET"]),
        Route(SIGN_IN, access.ask, methods=["GET"]),
        Route(SIGN_IN, access.enter, methods=["POST"]),
        Route(SIGN_OUT, access.leave, methods=["POST"]),
    ]


class _Access:
    def __init__(self, sign_in: BoardSignIn, form: Form) -> None:
        self._sign_in = sign_in
        self._form = form

    async def metadata(self, request: Request) -> Response:
        return reply(metadata(self._sign_in, request, request.url.path.removeprefix(METADATA)))

    async def ask(self, request: Request) -> Response:
        if "code" not in request.query_params:
            return self._form(request, "", 200)
        try:
            return enter_by_code(self._sign_in, request)
        except NotSignedIn as error:
            return self._again(request, error)

    async def enter(self, request: Request) -> Response:
        try:
            return await enter_page(self._sign_in, request)
        except NotSignedIn as error:
            return self._again(request, error)
        except PegboardError as error:
            return refusal(error, request, self._sign_in, None)

    async def leave(self, request: Request) -> Response:
        return leave_page(self._sign_in, request)

    def _again(self, request: Request, error: NotSignedIn) -> Response:
        response = self._form(request, error.message, status_of(error))
        response.headers["WWW-Authenticate"] = challenge(error, request, self._sign_in, None)
        return response


async def enter_page(sign_in: BoardSignIn, request: Request) -> Response:
    """Open a session with the token of the form, and go on to its `next`.

    Raises `NotSignedIn` if the token is not good, and what else `BoardSignIn.check` raises.
    """
    fields = await _fields(request)
    who = await sign_in.check(request, fields.get("token", "").strip())
    said = sign_in.sessions.open(who.caller, who.token_id, who.until)
    return _gone_on(sign_in, request, said, fields.get("next", ""))


def enter_by_code(sign_in: BoardSignIn, request: Request) -> Response:
    """Open a session by the link that the gateway printed; once, and only on this machine."""
    code = request.query_params.get("code", "")
    good = request.method == "GET" and sign_in.site.on_loopback and is_local(request)
    if not good or not sign_in.sessions.take_code(code):
        raise NotSignedIn(
            "this link is not good any more: it is for one time and ten minutes",
            "sign in with a token, or start the gateway again for a new link",
        )
    said = sign_in.sessions.open(Caller(HERE, (), Role.ADMIN))
    return _gone_on(sign_in, request, said, request.query_params.get("next", ""))


def leave_page(sign_in: BoardSignIn, request: Request) -> Response:
    """End the session, if there is one, and go to where one signs in."""
    if said := said_session(sign_in.site, request):
        sign_in.sessions.close(said)
    response = RedirectResponse(SIGN_IN, 303)
    forget_cookie(sign_in.site, request, response)
    return response


def sign_in_link(sign_in: BoardSignIn, base: str) -> str:
    """A new link for one time, below an address such as `http://127.0.0.1:8420`."""
    return f"{base}{SIGN_IN}?code={sign_in.sessions.make_code()}"


def safe_next(said: str) -> str:
    """A path of the page to go on to; another site, or nonsense, is the page's beginning."""
    plain = said.isascii() and said.isprintable() and "\\" not in said and len(said) <= 2_000
    return said if plain and said.startswith(HOME) else HOME


def _gone_on(sign_in: BoardSignIn, request: Request, said: str, to: str) -> Response:
    old = said_session(sign_in.site, request)
    if old:
        sign_in.sessions.close(old)
    response = RedirectResponse(safe_next(to), 303)
    set_cookie(sign_in.site, request, response, said)
    return response


async def _fields(request: Request) -> dict[str, str]:
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != FORM:
        raise UsageError("this is no form", f"send it as {FORM}")
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > LARGEST_FORM:
            raise TooLarge(f"the form has more than {LARGEST_FORM:,} bytes")
    try:
        found = parse_qs(body.decode("ascii"), max_num_fields=10, keep_blank_values=True)
    except ValueError as error:
        raise UsageError("the form cannot be read") from error
    return {name: values[-1] for name, values in found.items()}
