"""One request to the page: who asks, what the board is to them, and how they are answered."""

import inspect
import logging
from collections.abc import Awaitable, Callable
from functools import partial
from typing import NamedTuple, cast
from urllib.parse import parse_qsl

from starlette.datastructures import QueryParams
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from pegboard.app.pegboard import Pegboard
from pegboard.errors import ItemNotFound, NotSignedIn, PegboardError, TooLarge, UsageError
from pegboard.model.calls import Caller, Role
from pegboard.serve.http.gateway import Gateway
from pegboard.serve.http.problems import status_of
from pegboard.serve.http.sessions import COOKIE
from pegboard.serve.outward import outward
from pegboard.serve.web.paths import HOME, SIGN_IN, with_query
from pegboard.serve.web.rendering import rendered

log = logging.getLogger(__name__)

MOST_FIELDS = 10_000
FORM_TYPE = "application/x-www-form-urlencoded"


class Form(NamedTuple):
    """The fields of a form that was sent; line ends are as everywhere but in forms."""

    fields: tuple[tuple[str, str], ...] = ()

    def get(self, name: str) -> str | None:
        return next((value for each, value in self.fields if each == name), None)

    def text(self, name: str) -> str:
        return self.get(name) or ""


class Visit(NamedTuple):
    request: Request
    gateway: Gateway
    board: Pegboard
    """As whoever asks may see it."""
    caller: Caller
    form: Form = Form()

    @property
    def query(self) -> QueryParams:
        return self.request.query_params

    @property
    def part(self) -> str:
        """Which part of a page is asked for; empty for all of it."""
        return self.query.get("part", "")

    @property
    def by(self) -> str:
        """In whose name something is decided or run."""
        return self.caller.subject or "web"

    def may(self, role: Role) -> bool:
        return self.caller.role.covers(role)


Answer = Callable[[Visit], Response | Awaitable[Response]]


class Frame(NamedTuple):
    """What stands around every page."""

    place: str = ""
    """Which of the links at the top leads here."""
    who: str = ""
    role: str = ""
    leaves: bool = False
    """Whether whoever asks can sign out."""


NOBODY = Frame()


def page(visit: Visit, template: str, place: str, code: int = 200, **values: object) -> Response:
    return rendered(template, code, frame=frame_of(visit, place), **values)


def frame_of(visit: Visit, place: str = "") -> Frame:
    caller = visit.caller
    leaves = any(COOKIE in name for name in visit.request.cookies)
    return Frame(place, caller.subject or "anybody", caller.role.value, leaves)


def sent_on(path: str, *pairs: tuple[str, str]) -> Response:
    """To the page that shows what a form did; reloading that does nothing again."""
    return RedirectResponse(with_query(path, pairs), 303)


def served(gateway: Gateway, path: str, *, get: Answer, post: Answer | None = None) -> Route:
    """`get` answers in a thread of its own unless it is a coroutine; so does `post`."""

    async def endpoint(request: Request) -> Response:
        answer = post if request.method == "POST" and post else get
        frame = NOBODY
        try:
            visit = await _visit(gateway, request)
            frame = frame_of(visit)
            if inspect.iscoroutinefunction(answer):
                return cast(Response, await answer(visit))
            return cast(Response, await gateway.threads.run(partial(answer, visit)))
        except NotSignedIn as error:
            return _to_sign_in(request, error)
        except PegboardError as error:
            return complaint(request, error, frame)
        except Exception:
            log.exception("%s %s failed in a way that is not known", request.method, path)
            return unexpected(frame)

    return Route(path, endpoint, methods=["GET", "POST"] if post else ["GET"])


async def _visit(gateway: Gateway, request: Request) -> Visit:
    caller = await gateway.sign_in.caller(request)
    form = await read_form(request, gateway) if request.method == "POST" else Form()
    return Visit(request, gateway, gateway.board_for(caller), caller, form)


async def read_form(request: Request, gateway: Gateway) -> Form:
    if not request.headers.get("content-type", "").startswith(FORM_TYPE):
        raise UsageError("the form is not written as forms are", f"send it as {FORM_TYPE}")
    most = gateway.board.settings.serve.request_bytes
    parts, size = list[bytes](), 0
    async for part in request.stream():
        size += len(part)
        if size > most:
            raise TooLarge(f"the form is larger than {most:,} bytes", "send less at once")
        parts.append(part)
    try:
        pairs = parse_qsl(
            b"".join(parts).decode("ascii", "replace"),
            keep_blank_values=True,
            errors="replace",
            max_num_fields=MOST_FIELDS,
        )
    except ValueError as error:
        raise UsageError(f"the form cannot be read: {error}") from error
    return Form(tuple((name, value.replace("\r\n", "\n")) for name, value in pairs))


def _to_sign_in(request: Request, error: NotSignedIn) -> Response:
    """A part of a page cannot be answered with another page: whoever wants it has to go there."""
    if request.method != "GET" or "part" in request.query_params:
        return complaint(request, error)
    wanted = request.url.path
    if request.url.query:
        wanted = f"{wanted}?{request.url.query}"
    return sent_on(SIGN_IN, ("next", "" if wanted == HOME else wanted))


def nothing_here(visit: Visit) -> Response:
    raise ItemNotFound(f"There is no page at {visit.request.url.path}.")


def complaint(request: Request, error: PegboardError, frame: Frame = NOBODY) -> Response:
    """What went wrong, as a page, or as a part of one where that was asked for."""
    template = "parts/problem.html" if "part" in request.query_params else "problem.html"
    said = outward(error)
    hint = "" if isinstance(error, ItemNotFound) else said.hint
    return rendered(
        template,
        status_of(error),
        frame=frame,
        title=_TITLES.get(status_of(error), "That did not work"),
        message=said.message,
        hint=hint,
    )


def unexpected(frame: Frame) -> Response:
    return rendered(
        "problem.html",
        500,
        frame=frame,
        title="Something went wrong",
        message="Pegboard does not know what happened here. It is in the log.",
        hint="",
    )


_TITLES = {
    400: "That cannot be read",
    401: "Who are you?",
    403: "That is not allowed",
    404: "There is nothing here",
    409: "That is not possible now",
    413: "That is too much",
    429: "Too many requests",
    503: "The board cannot be asked now",
    504: "That took too long",
}
