"""The gateway as a process: it listens, serves, and ends in order."""

from collections.abc import Callable

import uvicorn

from pegboard.serve.http.access import access_routes
from pegboard.serve.http.app import make_app
from pegboard.serve.http.gateway import Gateway
from pegboard.serve.http.guard import guarded
from pegboard.serve.http.signin import BoardSignIn
from pegboard.serve.web.routes import web_routes
from pegboard.serve.web.signing_in import form


def run_http(gateway: Gateway, host: str, port: int, on_bound: Callable[[int], None]) -> None:
    """Serve until SIGTERM or SIGINT comes; requests that are being worked on are finished.

    `on_bound` is told the port.
    """
    sign_in = gateway.sign_in
    access = access_routes(sign_in, form) if isinstance(sign_in, BoardSignIn) else []
    pages = [*access, *web_routes(gateway)]
    app = guarded(make_app(gateway, more_routes=pages), gateway.board.settings.serve)
    config = uvicorn.Config(app, host=host, port=port, log_level="warning")
    listening = config.bind_socket()
    listening.listen(config.backlog)  # whoever comes from now on waits, and is not turned away
    on_bound(listening.getsockname()[1])
    uvicorn.Server(config).run([listening])
