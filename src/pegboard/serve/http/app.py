"""The gateway as an ASGI application: every request is checked, then answered."""

import logging
import typing

from pydantic import ValidationError
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route as StarletteRoute

from pegboard.calls import Caller
from pegboard.errors import NotAllowed, PegboardError, UsageError
from pegboard.serve.http.gateway import Gateway
from pegboard.serve.http.problems import problem, told
from pegboard.serve.http.routes import ROUTES
from pegboard.serve.http.table import Asked, Route, Wanted

log = logging.getLogger(__name__)


def make_app(gateway: Gateway) -> Starlette:
    return Starlette(routes=[_served(route, gateway) for route in ROUTES])


def _served(route: Route, gateway: Gateway) -> StarletteRoute:
    async def endpoint(request: Request) -> Response:
        try:
            return await _answered(route, gateway, request)
        except PegboardError as error:
            return problem(error)
        except Exception:
            log.exception("%s %s failed in a way that is not known", route.method, route.path)
            return told(500, "unexpected", "something went wrong that Pegboard does not know")

    return StarletteRoute(route.path, endpoint, methods=[route.method], name=route.name)


async def _answered(route: Route, gateway: Gateway, request: Request) -> Response:
    if route.role is None:
        return await route.respond(Asked(request, gateway.board, Caller(), gateway.threads))
    caller = await gateway.sign_in.caller(request)
    if not caller.role.covers(route.role):
        raise NotAllowed(f"this needs the role {route.role}, and you are {caller.role}")
    query = _checked(route.query, _pairs(request, route.query)) if route.query else None
    body = _checked(route.body, await request.json()) if route.body else None
    board = gateway.board_for(caller)
    return await route.respond(Asked(request, board, caller, gateway.threads, query, body))


def _pairs(request: Request, model: type[Wanted]) -> dict[str, object]:
    """What the query says; a field that takes several takes `?tag=a&tag=b`."""
    found: dict[str, object] = {}
    for name in request.query_params:
        values = request.query_params.getlist(name)
        field = model.model_fields.get(name)
        many = field is not None and typing.get_origin(field.annotation) is tuple
        if not many and len(values) > 1:
            raise UsageError(f"{name} is given {len(values)} times", "give it once")
        found[name] = tuple(values) if many else values[0]
    return found


def _checked(model: type[Wanted], said: object) -> Wanted:
    try:
        return model.model_validate(said)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(map(str, first["loc"])) or "the request"
        raise UsageError(f"{where}: {first['msg']}") from error
