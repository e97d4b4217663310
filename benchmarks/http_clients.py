"""Clients of a gateway that cost little themselves: quick ones, whose time is noted, and slow ones.

They run in processes of their own, and are told through a pipe what to do.
"""

import asyncio
import contextlib
import json
import multiprocessing
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection
from typing import Any, NamedTuple
from urllib.parse import quote, urlsplit

DRIPPING = 50
"""Uploads of which a byte comes now and then."""
DEAF = 50
"""Clients that ask for much and read nothing of it."""
IDLE = 500
"""Connections that say nothing."""
CALLING = 32
"""Calls that wait for a tool that does not answer."""
DRIP_SECONDS = 0.5

HELLO = {
    "protocolVersion": "2025-11-25",
    "capabilities": {},
    "clientInfo": {"name": "bench", "version": "1"},
}


class Window(NamedTuple):
    """What clients saw while they asked."""

    seconds: float
    latencies: list[float]
    errors: list[str]
    processor: float
    """Seconds that the clients themselves took."""


class Clients:
    """A process that does one piece of work after another."""

    def __init__(self, work: Callable[..., Any]) -> None:
        spawn = multiprocessing.get_context("spawn")
        self._pipe, there = spawn.Pipe()
        self._process = spawn.Process(target=_serve, args=(there, work), daemon=True)
        self._process.start()
        there.close()

    def begin(self, *args: object) -> None:
        self._pipe.send(args)

    def end(self) -> Any:  # noqa: ANN401 (whatever the work gives back)
        return self._pipe.recv()

    def tell(self) -> None:
        """Let work that goes on for ever come to its end."""
        self._pipe.send(None)

    def close(self) -> None:
        self._process.kill()
        self._process.join()
        self._pipe.close()


def _serve(pipe: Connection, work: Callable[..., Any]) -> None:
    with contextlib.suppress(EOFError, OSError):
        while True:
            pipe.send(work(pipe, *pipe.recv()))


@contextmanager
def clients(work: Callable[..., Any]) -> Iterator[Clients]:
    made = Clients(work)
    try:
        yield made
    finally:
        made.close()


# Quick ones


def search(pipe: Connection, url: str, texts: list[str], number: int) -> Window:
    """So many clients ask all of these, each as soon as its last answer is there."""
    return asyncio.run(_search(url, texts, number))


async def _search(url: str, texts: list[str], number: int) -> Window:
    waiting, latencies, errors = iter(texts), list[float](), list[str]()
    host, port = _place(url)

    async def one() -> None:
        reader, writer = await asyncio.open_connection(host, port)
        for text in waiting:
            began = time.perf_counter()
            writer.write(_get(f"{host}:{port}", f"/search?query={quote(text)}"))
            status, body = await _answer(reader)
            latencies.append(time.perf_counter() - began)
            if status != 200:
                errors.append(f"{status}: {body[:200]!r}")
        writer.close()

    processor, began = time.process_time(), time.perf_counter()
    await asyncio.gather(*(one() for _ in range(number)))
    seconds = time.perf_counter() - began
    return Window(seconds, latencies, errors, time.process_time() - processor)


async def _answer(reader: asyncio.StreamReader) -> tuple[int, bytes]:
    head = (await reader.readuntil(b"\r\n\r\n")).lower()
    length = int(head.split(b"content-length: ")[1].split(b"\r\n")[0])
    return int(head.split()[1]), await reader.readexactly(length)


# Slow ones


def dawdle(pipe: Connection, url: str, tool: str) -> int:
    """All kinds of slow clients, until told; says how many calls were waiting by then."""
    return asyncio.run(_dawdle(pipe, url, tool))


async def _dawdle(pipe: Connection, url: str, tool: str) -> int:
    host, port = _place(url)
    deaf = [await _hear_nothing(host, port) for _ in range(DEAF)]
    tasks = [asyncio.create_task(_drip(host, port)) for _ in range(DRIPPING)]
    tasks += [asyncio.create_task(_say_nothing(host, port)) for _ in range(IDLE)]
    session = await _session(host, port)
    calls = [asyncio.create_task(_call(host, port, session, tool)) for _ in range(CALLING)]
    await asyncio.sleep(4 * DRIP_SECONDS)
    pipe.send(None)  # all are there
    await asyncio.to_thread(pipe.recv)
    waiting = sum(not each.done() for each in calls)
    for task in (*tasks, *calls):
        task.cancel()
    await asyncio.gather(*tasks, *calls, return_exceptions=True)
    for each in deaf:
        each.close()
    return waiting


async def _drip(host: str, port: int) -> None:
    while True:
        _, writer = await asyncio.open_connection(host, port)
        writer.write(_post(f"{host}:{port}", "/search", 10_000))
        with contextlib.suppress(OSError):
            for _ in range(100):
                writer.write(b" ")
                await writer.drain()
                await asyncio.sleep(DRIP_SECONDS)
        writer.close()


async def _hear_nothing(host: str, port: int) -> socket.socket:
    """Comes back when its answer has begun to come, of which nothing more is taken."""
    taken = socket.socket()
    taken.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
    taken.setblocking(False)
    loop = asyncio.get_running_loop()
    await loop.sock_connect(taken, (host, port))
    await loop.sock_sendall(taken, _get(f"{host}:{port}", "/search?query=a+file&limit=100"))
    await loop.sock_recv(taken, 1)
    return taken


async def _say_nothing(host: str, port: int) -> None:
    while True:
        reader, writer = await asyncio.open_connection(host, port)
        await reader.read(1)  # until it is cut
        writer.close()


async def _session(host: str, port: int) -> str:
    reader, writer = await asyncio.open_connection(host, port)
    body = json.dumps({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": HELLO}).encode()
    writer.write(_post(f"{host}:{port}", "/mcp", len(body)) + body)
    head = (await reader.readuntil(b"\r\n\r\n")).decode()
    writer.close()
    lines = dict(line.lower().split(": ", 1) for line in head.split("\r\n") if ": " in line)
    return lines["mcp-session-id"]


async def _call(host: str, port: int, session: str, tool: str) -> None:
    reader, writer = await asyncio.open_connection(host, port)
    params = {"name": "call_tool", "arguments": {"name": tool, "arguments": {}}}
    said = {"jsonrpc": "2.0", "id": time.monotonic_ns(), "method": "tools/call", "params": params}
    body = json.dumps(said).encode()
    writer.write(_post(f"{host}:{port}", "/mcp", len(body), f"Mcp-Session-Id: {session}") + body)
    while line := await reader.readline():
        if line.startswith(b"data: {"):
            return
    writer.close()


def _place(url: str) -> tuple[str, int]:
    found = urlsplit(url)
    return str(found.hostname), int(found.port or 80)


def _get(at: str, path: str) -> bytes:
    return f"GET {path} HTTP/1.1\r\nHost: {at}\r\n\r\n".encode()


def _post(at: str, path: str, length: int, *extra: str) -> bytes:
    lines = [
        f"POST {path} HTTP/1.1",
        f"Host: {at}",
        "Content-Type: application/json",
        "Accept: application/json, text/event-stream",
        f"Content-Length: {length}",
        *extra,
    ]
    return ("\r\n".join(lines) + "\r\n\r\n").encode()
