"""The gateway as a process: it listens, serves, and ends in order."""

import uvicorn

from pegboard.serve.http.app import make_app
from pegboard.serve.http.gateway import Gateway


def run_http(gateway: Gateway, host: str, port: int) -> None:
    """Serve until SIGTERM or SIGINT comes; requests that are being worked on are finished."""
    config = uvicorn.Config(make_app(gateway), host=host, port=port, log_level="warning")
    uvicorn.Server(config).run()
