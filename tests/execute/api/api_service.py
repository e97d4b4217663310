"""A real service over HTTP: echoes, misbehaves, asks for logins, and describes itself."""

import asyncio
import base64
import gzip
import json
import socket
import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import parse_qs, unquote

import uvicorn

WAIT = 20.0
"""Far more than anything here takes."""
STYLES = (
    *(("path", style, explode) for style in ("simple", "label", "matrix") for explode in (0, 1)),
    *(("query", "form", explode) for explode in (0, 1)),
    *(("query", style, 0) for style in ("spaceDelimited", "pipeDelimited", "tabDelimited")),
    ("query", "deepObject", 1),
    *(("header", "simple", explode) for explode in (0, 1)),
    *(("cookie", "form", explode) for explode in (0, 1)),
)


class Asked(NamedTuple):
    method: str
    path: str
    """As it was written."""
    query: str
    headers: list[tuple[str, str]]
    body: bytes

    def header(self, name: str) -> str | None:
        return next((value for each, value in self.headers if each == name), None)


class Reply(NamedTuple):
    status: int = 200
    body: bytes = b""
    headers: tuple[tuple[str, str], ...] = ()


class Service:
    """One that listens, and remembers what it was asked."""

    def __init__(self, host: str, secure: bool) -> None:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        # Without its protocol, asyncio would let small answers wait for others.
        self.socket = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        self.socket.bind((host, 0))
        self.socket.listen(128)
        self.host = host
        self.port = self.socket.getsockname()[1]
        shown = f"[{host}]" if ":" in host else host
        self.url = f"{'https' if secure else 'http'}://{shown}:{self.port}"
        self.asked: list[Asked] = []
        self.next: deque[Reply] = deque()
        """What the next requests of `/next` meet."""
        self.tokens: deque[Reply] = deque()
        self.valid = ""
        """The token that `/guarded` lets through."""
        self.waiting = threading.Event()
        self.left = threading.Event()
        """Whether somebody who waited has hung up."""

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        assert scope["type"] == "http"
        asked = await _asked(scope, receive)
        self.asked.append(asked)
        first = unquote(asked.path).split("/")[1]
        answer = getattr(self, f"_{first.replace('.', '_')}", None)
        if first == "waits":
            self.waiting.set()
            while (await receive())["type"] != "http.disconnect":
                pass
            self.left.set()
            return
        if first == "endless":
            await _endless(send)
            return
        reply = answer(asked) if answer else _json(_echo(asked))
        headers = [(name.encode(), value.encode()) for name, value in reply.headers]
        await send({"type": "http.response.start", "status": reply.status, "headers": headers})
        await send({"type": "http.response.body", "body": reply.body})

    def _next(self, asked: Asked) -> Reply:
        return self.next.popleft()

    def _token(self, asked: Asked) -> Reply:
        return self.tokens.popleft()

    def _guarded(self, asked: Asked) -> Reply:
        if asked.header("authorization") != f"Bearer {self.valid}":
            return _json({"error": "no", "sent": asked.header("authorization")}, 401)
        return _json(_echo(asked))

    def _redirect(self, asked: Asked) -> Reply:
        query = parse_qs(asked.query)
        location = (("location", query["to"][0]),) if "to" in query else ()
        return Reply(int(query.get("code", ["302"])[0]), b"", location)

    def _status(self, asked: Asked) -> Reply:
        code = int(asked.path.split("/")[2])
        return Reply(code, b'{"why": "because"}', (("content-type", "application/json"),))

    def _bomb(self, asked: Asked) -> Reply:
        packed = gzip.compress(bytes(64 << 20), 9)
        told = (("content-encoding", "gzip"), ("content-type", "text/plain"))
        return Reply(200, packed, told)

    def _openapi_json(self, asked: Asked) -> Reply:
        return _json(document())


async def _asked(scope: Any, receive: Any) -> Asked:
    body = b""
    while True:
        message = await receive()
        body += message.get("body", b"")
        if not message.get("more_body"):
            break
    headers = [
        (name.decode("latin-1"), value.decode("latin-1")) for name, value in scope["headers"]
    ]
    path, query = scope["raw_path"].decode(), scope["query_string"].decode()
    return Asked(scope["method"], path, query, headers, body)


async def _endless(send: Any) -> None:
    told = [(b"content-type", b"text/plain")]
    await send({"type": "http.response.start", "status": 200, "headers": told})
    for _ in range(10_000):
        await send({"type": "http.response.body", "body": bytes(64 << 10), "more_body": True})
        await asyncio.sleep(0)


def _json(value: object, status: int = 200) -> Reply:
    return Reply(status, json.dumps(value).encode(), (("content-type", "application/json"),))


def _echo(asked: Asked) -> dict[str, Any]:
    return {**asked._asdict(), "body": base64.b64encode(asked.body).decode()}


def heard(structured: Any) -> Asked:
    """What the service says that it was asked."""
    return Asked(
        structured["method"],
        structured["path"],
        structured["query"],
        [(name, value) for name, value in structured["headers"]],
        base64.b64decode(structured["body"]),
    )


def document() -> dict[str, Any]:
    """What the service says about itself: an operation for each way to write a parameter."""
    paths: dict[str, Any] = {}
    for place, style, explode in STYLES:
        path = f"/echo/{place}/{style}/{explode}" + ("/{value}" if place == "path" else "")
        parameter = {
            "name": "value",
            "in": place,
            "required": True,
            "style": style,
            "explode": bool(explode),
            "schema": {},
        }
        name = f"{place}_{style}_{explode}"
        paths[path] = {"get": operation(name, parameters=[parameter])}
    return {
        "openapi": "3.1.0",
        "info": {"title": "Echo", "version": "1"},
        "servers": [{"url": "/"}],
        "paths": paths,
    }


def operation(name: str, **parts: Any) -> dict[str, Any]:
    answer = {"description": "Fine.", "content": {"application/json": {"schema": {}}}}
    return {"operationId": name, "responses": {"200": answer}, **parts}


@contextmanager
def served(
    host: str = "127.0.0.1", certificate: Path | None = None, key: Path | None = None
) -> Iterator[Service]:
    service = Service(host, certificate is not None)
    config = uvicorn.Config(
        service,
        lifespan="off",
        log_config=None,
        ssl_certfile=certificate,
        ssl_keyfile=key,
        timeout_graceful_shutdown=1,
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, args=([service.socket],), daemon=True)
    thread.start()
    try:
        yield service
    finally:
        server.should_exit = True
        thread.join(WAIT)
        service.socket.close()
        assert not thread.is_alive()
