"""A gateway that really listens: as a process of its own, or in a thread where a test sees inside.

What it is asked by plain sockets is sent as it stands: also what no client would send.
"""

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2

from making import make_item
from pegboard.app.pegboard import Pegboard
from pegboard.config.settings import EmbedSettings, SearchSettings, ServeSettings, Settings
from pegboard.errors import NotSignedIn
from pegboard.model.calls import Caller, Role
from pegboard.serve.http.gateway import Gateway, SignIn
from pegboard.serve.http.rates import RatedSignIn
from pegboard.serve.process.running import Serving, listening, serve_http, url_of
from pegboard.store.sqlite.store import SqliteStore

BOUND = 30.0
"""Seconds after which a wait is given up. Nothing here is expected to take nearly as long."""


NAMES = ("send_mail", "read_mail", "pay_invoice", "book_room")


def fill(path: Path) -> None:
    """Make a board with a few items, embedded as the settings say."""
    with Pegboard.open(str(path), create=True) as board:
        board.store.items.put([make_item(name) for name in NAMES], board.target)
        board.backfill()


def board_at(path: Path, **serve: Any) -> Pegboard:
    """A board with a few items, whatever the environment says; `serve` are settings of it."""
    settings = Settings(
        embed=EmbedSettings(provider="test"),
        search=SearchSettings(threshold=0.0),
        serve=ServeSettings(**serve),
    )
    board = Pegboard(SqliteStore(path, create=True), settings)
    board.store.items.put([make_item(name) for name in NAMES], board.target)
    board.backfill()
    return board


class Tokens:
    """A sign-in by tokens that a test gives and takes away."""

    def __init__(self, **callers: Caller) -> None:
        self.callers = dict(callers)
        self.asked = 0

    async def caller(self, connection: Any) -> Caller:
        self.asked += 1
        token = connection.headers.get("authorization", "").removeprefix("Bearer ")
        if token not in self.callers:
            raise NotSignedIn("a token is needed")
        return self.callers[token]


class Anybody:
    async def caller(self, connection: Any) -> Caller:
        return Caller("local", (), Role.ADMIN)


class Here:
    """A gateway in a thread of the test's own process."""

    def __init__(self, board: Pegboard, sign_in: SignIn | None = None) -> None:
        rated = RatedSignIn(sign_in or Anybody(), board.settings.serve.requests_per_minute)
        self.gateway = Gateway(board, rated)
        self.sock = listening("127.0.0.1", 0)
        self.url = url_of(self.sock, "127.0.0.1")
        self.port = self.sock.getsockname()[1]
        self._ready = threading.Event()
        self.thread = threading.Thread(target=self._run)

    def _run(self) -> None:
        self.server = Serving(self.gateway, self._ready.set, logged=False)
        asyncio.run(serve_http(self.server, self.sock))

    @property
    def limits(self) -> Any:
        """What holds requests to their bounds: behind what counts them and the guard."""
        return self.server.config.loaded_app._app._app

    @property
    def state(self) -> Any:
        return self.limits._app.state

    def client(self, token: str = "", **options: Any) -> httpx2.Client:
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        return httpx2.Client(base_url=self.url, headers=headers, timeout=BOUND, **options)

    def __enter__(self) -> "Here":
        self.thread.start()
        assert self._ready.wait(BOUND)
        return self

    def stop(self) -> None:
        self.server.should_exit = True

    def __exit__(self, *raised: object) -> None:
        self.stop()
        self.thread.join(BOUND)
        self.sock.close()
        assert not self.thread.is_alive()


class Process:
    """`pegboard serve` as whoever runs it sees it."""

    def __init__(self, *args: str, **environ: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "pegboard", "serve", "--json", "--port", "0", *args],
            env=dict(os.environ) | environ,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.said = ""

    def ready(self) -> str:
        assert self.process.stdout
        line = self.process.stdout.readline()
        assert line, f"it ended: {self.process.stderr.read() if self.process.stderr else ''}"
        self.url = json.loads(line)["url"]
        self.port = int(self.url.rpartition(":")[2])
        return self.url

    def signal(self, number: signal.Signals) -> None:
        self.process.send_signal(number)

    def ended(self, seconds: float = BOUND) -> int:
        """Its exit code; what it wrote to standard error is in `said` then."""
        out, self.said = self.process.communicate(timeout=seconds)
        assert out == "", f"more than the first line is on standard output: {out}"
        return self.process.returncode

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait(BOUND)
        for pipe in (self.process.stdout, self.process.stderr):
            if pipe and not pipe.closed:
                pipe.close()


class Wire:
    """One connection, byte by byte."""

    def __init__(self, port: int, receive_buffer: int = 0) -> None:
        self._host = f"Host: 127.0.0.1:{port}\r\n".encode()
        self.socket = socket.socket()
        if receive_buffer:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        self.socket.settimeout(BOUND)
        self.socket.connect(("127.0.0.1", port))

    def send(self, text: str | bytes) -> None:
        sent = text.encode() if isinstance(text, str) else text
        self.socket.sendall(sent.replace(b"Host: 127.0.0.1\r\n", self._host))

    def answer(self) -> tuple[int, dict[str, str], bytes]:
        """Status, headers and body of the next answer."""
        head = b""
        while b"\r\n\r\n" not in head:
            more = self.socket.recv(1)
            assert more, f"the connection was closed after {head!r}"
            head += more
        first, *lines = head.decode().strip().split("\r\n")
        headers = {k.lower(): v for k, v in (line.split(": ", 1) for line in lines)}
        body = b""
        while left := int(headers.get("content-length", 0)) - len(body):
            body += self.socket.recv(left)
        return int(first.split()[1]), headers, body

    def is_closed(self) -> bool:
        """Waits until the other side has closed it."""
        try:
            while self.socket.recv(65_536):
                pass
        except (ConnectionResetError, BrokenPipeError):
            pass
        return True

    def close(self) -> None:
        self.socket.close()


@contextmanager
def wire(port: int, **options: Any) -> Iterator[Wire]:
    made = Wire(port, **options)
    try:
        yield made
    finally:
        made.close()


def get(path: str, **headers: str) -> str:
    return request("GET", path, "", **headers)


def request(method: str, path: str, body: str, **headers: str) -> str:
    said = {"Host": "127.0.0.1"} | {name.replace("_", "-"): v for name, v in headers.items()}
    lines = "".join(f"{name}: {value}\r\n" for name, value in said.items())
    return f"{method} {path} HTTP/1.1\r\n{lines}\r\n{body}"
