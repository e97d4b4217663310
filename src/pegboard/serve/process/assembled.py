"""The application with everything around it that every request goes through."""

from starlette.types import ASGIApp

from pegboard.serve.http.access import access_routes
from pegboard.serve.http.app import make_app
from pegboard.serve.http.events import Events
from pegboard.serve.http.gateway import Gateway
from pegboard.serve.http.guard import guarded
from pegboard.serve.http.limits import Bounds, Kind, Limits
from pegboard.serve.http.mcp import Mcp
from pegboard.serve.http.measuring import Measured
from pegboard.serve.http.metrics import gauges
from pegboard.serve.http.refusals import board_sign_in
from pegboard.serve.web.routes import web_routes
from pegboard.serve.web.signing_in import form


def assembled(gateway: Gateway, *, logged: bool = False) -> ASGIApp:
    """From the outside in: counted, guarded, held to the limits, then answered."""
    known = board_sign_in(gateway.sign_in)
    access = access_routes(known, form) if known else []
    app = make_app(gateway, more_routes=[*access, *web_routes(gateway)])
    app.state.events = Events(gateway)
    app.state.mcp = Mcp(gateway)
    serve = gateway.board.settings.serve
    bounds = Bounds(serve.request_bytes, serve.parallel, serve.search_seconds, serve.bundle_bytes)
    limits = Limits(app, bounds, gateway.measures.refusals.add)
    gateway.measures.also(
        lambda: [
            gauges(
                "pegboard_http_requests_in_hand",
                "Requests that are being worked on, by what they keep busy.",
                "kind",
                {kind.value: limits.in_hand[kind] for kind in Kind},
            )
        ]
    )
    return Measured(guarded(limits, serve), gateway.measures, logged=logged)
