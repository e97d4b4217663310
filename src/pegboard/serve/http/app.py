"""The gateway as an ASGI application: every request is checked, then answered."""

import logging
from collections.abc import Mapping, Sequence

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Match
from starlette.types import Receive, Scope, Send

from pegboard.errors import NotAllowed, PegboardError, UsageError
from pegboard.model.calls import Caller
from pegboard.serve.http.asking import read_body, read_query
from pegboard.serve.http.document import document
from pegboard.serve.http.gateway import Gateway
from pegboard.serve.http.paths import decoded, pattern, spelled
from pegboard.serve.http.problems import Declined, told
from pegboard.serve.http.refusals import refusal
from pegboard.serve.http.replies import reply
from pegboard.serve.http.routes import ROUTES
from pegboard.serve.http.table import Asked, Route, Wanted

log = logging.getLogger(__name__)

STREAM = "text/event-stream"


def make_app(gateway: Gateway, *, more_routes: Sequence[BaseRoute] = ()) -> Starlette:
    """The table as an application. `more_routes` are of other kinds, such as mounted ones."""
    described = (*ROUTES, _openapi(ROUTES))
    paths = dict.fromkeys(route.path for route in described)
    places = [Place([r for r in described if r.path == path], gateway) for path in paths]
    # Where two paths fit, the longer one says more: `/tools/{id}/call` comes before `/tools/{id}`.
    places.sort(key=lambda place: (place.path.count("/"), "{" not in place.path), reverse=True)
    app = Starlette(
        routes=[*more_routes, *places],
        exception_handlers={HTTPException: _no_such_path, Exception: _unexpected},
    )
    app.router.redirect_slashes = False
    app.state.gateway = gateway
    return app


class Place(BaseRoute):
    """Everything that can be asked at one path."""

    def __init__(self, routes: Sequence[Route], gateway: Gateway) -> None:
        self.path = routes[0].path
        self._pattern = pattern(self.path)
        self._routes = {route.method: route for route in routes}
        got = self._routes.get("GET")
        if got is not None and got.media_type != STREAM:  # a stream has no end to be told of
            self._routes["HEAD"] = got
        self._gateway = gateway

    @property
    def allow(self) -> str:
        return ", ".join(sorted([*self._routes, "OPTIONS"]))

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        found = self._pattern.fullmatch(spelled(scope)) if scope["type"] == "http" else None
        return (Match.FULL, {"pegboard.path": found}) if found else (Match.NONE, {})

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive, send)
        response = await self._answer(request)
        if request.method == "HEAD":
            response.body = b""
        await response(scope, receive, send)

    async def _answer(self, request: Request) -> Response:
        route = self._routes.get(request.method)
        try:
            if route is None:
                return self._without_route(request)
            path = decoded(request.scope["pegboard.path"])
            return await answered(route, self._gateway, request, path)
        except PegboardError as error:
            role = route.role if route else None
            return refusal(error, request, self._gateway.sign_in, role)
        except Declined as declined:
            return declined.response()
        except ClientDisconnect:
            return Response(status_code=400)  # which nobody hears
        except Exception:
            log.exception("%s %s failed in a way that is not known", request.method, self.path)
            return unexpected()

    def _without_route(self, request: Request) -> Response:
        if request.method == "OPTIONS":
            return Response(status_code=204, headers={"Allow": self.allow})
        raise Declined(
            "method_not_allowed",
            f"{self.path} cannot be asked with {request.method[:60]}",
            f"it takes {self.allow}",
            headers={"Allow": self.allow},
        )


async def answered(
    route: Route, gateway: Gateway, request: Request, path: Mapping[str, str]
) -> Response:
    """What a route says to a request, once it is known who asks and what for."""
    caller = Caller()
    board = gateway.board
    if route.role is not None:
        caller = await gateway.sign_in.caller(request)
        if not caller.role.covers(route.role):
            raise NotAllowed(f"this needs the role {route.role}, and you are {caller.role}")
        board = gateway.board_for(caller)
    asks = route.query or (Wanted if route.role is not None else None)
    query = read_query(request, asks) if asks else None
    body = None
    if route.body:
        body = await read_body(request, route.body, gateway.threads)
    elif route.method not in ("GET", "HEAD") and route.path != "/mcp" and await request.body():
        raise UsageError(
            "this takes no body", "leave it out; see /openapi.json for what can be said"
        )
    asked = Asked(request, board, caller, gateway.threads, query, body, path, route)
    return await route.respond(asked)


def unexpected() -> Response:
    said = "something went wrong that Pegboard does not know"
    return Declined("unexpected", said).response()


async def _no_such_path(request: Request, error: Exception) -> Response:
    """Whatever the framework itself refuses, in the words of the others."""
    status = error.status_code if isinstance(error, HTTPException) else 500
    if status == 404:
        shown = request.scope["path"][:200]
        said = Declined("no_such_path", f"there is nothing at {shown}", "see /openapi.json")
        return said.response()
    headers = error.headers if isinstance(error, HTTPException) else None
    code = "method_not_allowed" if status == 405 else "malformed" if status < 500 else "unexpected"
    return told(status, code, str(getattr(error, "detail", "")), headers=headers)


async def _unexpected(request: Request, error: Exception) -> Response:
    path = request.scope["path"]  # a URL cannot be made from whatever is said to be the host
    log.error("%s failed in a way that is not known", path, exc_info=error)
    return unexpected()


def _openapi(routes: Sequence[Route]) -> Route:
    """The document describes itself too."""

    async def describe(asked: Asked) -> Response:
        return reply(described)

    answer = {"type": "object"}
    about = "This document, in OpenAPI 3.1."
    route = Route("GET", "/openapi.json", "openapi", about, describe, role=None, answer=answer)
    described = document((*routes, route))
    return route
