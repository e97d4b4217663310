"""A real HTTP server that speaks OpenAI's protocol for embeddings, and misbehaves on demand."""

import json
import threading
from array import array
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

from pegboard.embed.hashed import HashedEmbedder

DIMENSION = 64
PATIENCE = 20.0
"""Seconds that a request which is to hang waits for the test to end it."""


class Asked(NamedTuple):
    path: str
    headers: dict[str, str]
    body: dict[str, Any]

    @property
    def texts(self) -> list[str]:
        return self.body["input"]


class Exchange:
    """One request, and what can be answered."""

    def __init__(self, server: "EmbeddingServer", handler: BaseHTTPRequestHandler) -> None:
        self.server = server
        self.handler = handler
        length = int(handler.headers.get("content-length", 0))
        body = json.loads(handler.rfile.read(length))
        headers = {name.lower(): value for name, value in handler.headers.items()}
        self.asked = Asked(handler.path, headers, body)

    def entries(self) -> list[dict[str, Any]]:
        dimension = self.asked.body.get("dimensions") or self.server.dimension
        made = HashedEmbedder(dimension).embed(self.asked.texts)
        return [
            {"object": "embedding", "index": index, "embedding": [3 * n for n in array("f", each)]}
            for index, each in enumerate(made)
        ]

    def answer(self, entries: list[dict[str, Any]]) -> None:
        model = self.asked.body["model"]
        usage = {"prompt_tokens": 1, "total_tokens": 1}
        self.say(200, {"object": "list", "data": entries, "model": model, "usage": usage})

    def say(self, status: int, body: object, headers: dict[str, str] | None = None) -> None:
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.handler.send_response(status)
        kind = "text/html" if content.startswith(b"<") else "application/json"
        for name, value in {"Content-Type": kind, **(headers or {})}.items():
            self.handler.send_header(name, value)
        self.handler.send_header("Content-Length", str(len(content)))
        self.handler.end_headers()
        self.handler.wfile.write(content)

    def hang_up(self) -> None:
        self.handler.close_connection = True


Behaviour = Callable[[Exchange], None]


def well(exchange: Exchange) -> None:
    exchange.answer(exchange.entries())


def status(code: int, message: str = "no", **headers: str) -> Behaviour:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return lambda exchange: exchange.say(code, {"error": {"message": message}}, named)


def raw(content: bytes) -> Behaviour:
    return lambda exchange: exchange.say(200, content)


def changed(change: Callable[[list[dict[str, Any]]], list[dict[str, Any]]]) -> Behaviour:
    return lambda exchange: exchange.answer(change(exchange.entries()))


def hangs_up(exchange: Exchange) -> None:
    exchange.hang_up()


def hangs(exchange: Exchange) -> None:
    exchange.server.released.wait(PATIENCE)
    exchange.hang_up()


def unless(spoilt: Callable[[Asked], bool], behaviour: Behaviour) -> Behaviour:
    """Well, but for requests like these."""
    return lambda exchange: (behaviour if spoilt(exchange.asked) else well)(exchange)


@dataclass
class EmbeddingServer:
    url: str = ""
    dimension: int = DIMENSION
    key: str = ""
    always: Behaviour = well
    next: deque[Behaviour] = field(default_factory=deque)
    """What the next requests meet, before `always`."""
    asked: list[Asked] = field(default_factory=list)
    released: threading.Event = field(default_factory=threading.Event)

    def serve(self, handler: BaseHTTPRequestHandler) -> None:
        exchange = Exchange(self, handler)
        self.asked.append(exchange.asked)
        if self.key and exchange.asked.headers.get("authorization") != f"Bearer {self.key}":
            status(401, f"Incorrect API key: {exchange.asked.headers.get('authorization')}")(
                exchange
            )
        else:
            (self.next.popleft() if self.next else self.always)(exchange)


@contextmanager
def running_server() -> Iterator[EmbeddingServer]:
    server = EmbeddingServer()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True  # else each small answer waits for an acknowledgement

        def do_POST(self) -> None:
            server.serve(self)

        def log_message(self, format: str, *args: object) -> None:
            """Tests look at `asked`."""

    class Quiet(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, request: object, client_address: object) -> None:
            """Clients that leave are part of the tests."""

    http = Quiet(("127.0.0.1", 0), Handler)
    server.url = f"http://127.0.0.1:{http.server_address[1]}/v1"
    thread = threading.Thread(target=http.serve_forever, args=(0.02,))
    thread.start()
    try:
        yield server
    finally:
        server.released.set()
        http.shutdown()
        thread.join()
        http.server_close()
