"""Many random requests from several clients at once: does the gateway ever break, or lose count?

A gateway in a process of its own serves a board of Python tools, and embeds what changes. Clients
search, page, look, edit, make tools and remove them, and send what is nearly right, malformed or
hostile. Each client edits items that nobody else does, so that the last edit which was answered is
what the item must be in the end. Tools are made and removed by all of them together: what was made
less what was removed must be there. Nothing may be answered with 5xx, and the board's own check
must find nothing.
"""

import argparse
import asyncio
import http.client
import json
import os
import socket
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import uvicorn
from starlette.requests import HTTPConnection

from pegboard import Pegboard
from pegboard.app.live import kept
from pegboard.errors import NotSignedIn
from pegboard.model.calls import Caller, Role
from pegboard.model.items import CREATED, Filters
from pegboard.serve.http.gateway import Gateway
from pegboard.serve.process.assembled import assembled
from report import Check, at_most, options, save
from request_kinds import WORDS, Client, Request

REQUESTS = 100_000
CLIENTS = 8
ITEMS = 120
SHARED = 24
SECONDS = 60
"""Longer than anything may take."""
SETTINGS = {
    "PEGBOARD_EMBED_PROVIDER": "test",
    "PEGBOARD_TRUST_SIGNATURES_REGISTRY": "off",
    "PEGBOARD_SERVE_REQUESTS_PER_MINUTE": "0",
}
CALLERS = {
    "owner": Caller("olga", (), Role.ADMIN),
    "admin": Caller("ada", ("team",), Role.ADMIN),
    "author": Caller("mia", ("team",), Role.AUTHOR),
    "reader": Caller("rob", ("team",), Role.READER),
}


class ByName:
    """A token is the name of a role."""

    async def caller(self, connection: HTTPConnection) -> Caller:
        token = connection.headers.get("authorization", "").removeprefix("Bearer ")
        if token not in CALLERS:
            raise NotSignedIn("a token is needed")
        return CALLERS[token]


class Told(NamedTuple):
    """What the clients were told, all of them together."""

    statuses: Counter[str]
    kinds: Counter[str]
    edits: dict[str, dict[str, Any]]
    """By item, what the last answer said that it is."""
    broken: list[str]


def main() -> None:
    parser = options(__doc__)
    parser.add_argument("--requests", type=int, default=REQUESTS, help="(%(default)s)")
    parser.add_argument("--clients", type=int, default=CLIENTS, help="(%(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="(%(default)s)")
    parser.add_argument("--board", default="", help="postgresql://..., with an empty board")
    args = parser.parse_args()
    os.environ |= SETTINGS
    with TemporaryDirectory(prefix="pegboard-bench-") as scratch:
        os.chdir(scratch)
        place = args.board or str(Path(scratch) / "board.db")
        names = filled(place, Path(scratch) / "tools", create=not args.board)
        with serving(place) as port:
            told = asked(args, port, names)
        result = summed_up(place, told, args)
    save(args, "random_requests", result)
    if told.broken or not all(check["met"] for check in result["checks"].values()):
        print("\n".join(told.broken[:20]), file=sys.stderr)
        raise SystemExit(1)


def filled(place: str, folder: Path, *, create: bool) -> list[str]:
    """A board with tools; their ids."""
    for number in range(ITEMS):
        word = WORDS[number % len(WORDS)]
        file = folder / "mcptools" / word / f"tool{number}.py"
        file.parent.mkdir(parents=True, exist_ok=True)
        said = f'"""{word.capitalize()} something, {number}."""'
        file.write_text(f"def run(text: str):\n    {said}\n    return text\n", "utf-8")
    with Pegboard.open(place, create=create) as board:
        board.add_folder(folder)
        board.sync()
        return [entry.item.id for entry in board.listed(limit=ITEMS)]


@contextmanager
def serving(place: str) -> Iterator[int]:
    """A gateway in a process of its own; its port."""
    mine, its = get_context("spawn").Pipe()
    child = get_context("spawn").Process(target=_serve, args=(place, its), daemon=True)
    child.start()
    try:
        yield mine.recv()
    finally:
        mine.send("end")
        child.join(SECONDS)
        child.kill()


def _serve(place: str, parent: Connection) -> None:
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listening.bind(("127.0.0.1", 0))
    with Pegboard.open(place) as board, kept(board, sync=False, watch=False):
        app = assembled(Gateway(board, ByName()))
        server = uvicorn.Server(
            uvicorn.Config(app, log_level="critical", ws="none", lifespan="off")
        )

        async def run() -> None:
            serving = asyncio.create_task(server.serve(sockets=[listening]))
            while not server.started:
                await asyncio.sleep(0.01)
            parent.send(listening.getsockname()[1])
            await asyncio.to_thread(parent.recv)
            server.should_exit = True
            await serving

        asyncio.run(run())
        until_embedded(board)


def until_embedded(board: Pegboard) -> None:
    deadline = time.monotonic() + SECONDS
    while board.status().waiting and time.monotonic() < deadline:
        threading.Event().wait(0.05)


def asked(args: argparse.Namespace, port: int, names: list[str]) -> Told:
    """All requests, from so many threads."""
    shared = [f"{CREATED}:made:made{number}" for number in range(SHARED)]
    told = Told(Counter(), Counter(), {}, [])
    lock, numbers = threading.Lock(), iter(range(args.requests))

    def work(client: Client) -> None:
        line = Line(port)
        while True:
            with lock:
                number = next(numbers, None)
                if number is None:
                    return
                if number % max(args.requests // 20, 1) == 0:
                    print(f"{number:,} of {args.requests:,}", file=sys.stderr)
            _ask(client, line, told, lock)

    clients = [
        Client(number, args.seed, names[number :: args.clients], shared)
        for number in range(args.clients)
    ]
    threads = [threading.Thread(target=work, args=(client,)) for client in clients]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return told


class Line:
    """A connection that is opened again when the gateway has closed it."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._connection: http.client.HTTPConnection | None = None

    def send(self, request: Request) -> tuple[int, Mapping[str, str], bytes]:
        """Once more on a new connection, if an old one was closed before anything came back."""
        headers = {"Authorization": f"Bearer {request.role}"}
        if request.body is not None:
            headers["Content-Type"] = "application/json"
        fresh = self._connection is None
        connection = self._connection or http.client.HTTPConnection(
            "127.0.0.1", self._port, timeout=SECONDS
        )
        try:
            connection.request(
                request.method, request.path, request.body, headers | dict(request.headers)
            )
            answer = connection.getresponse()
            found = answer.status, {k.lower(): v for k, v in answer.getheaders()}, answer.read()
        except (http.client.RemoteDisconnected, ConnectionError):
            self._connection = None
            connection.close()
            if fresh:
                raise
            return self.send(request)
        self._connection = None if answer.will_close else connection
        return found


def _ask(client: Client, line: Line, told: Told, lock: threading.Lock) -> None:
    request = client.next()
    try:
        status, headers, content = line.send(request)
    except (OSError, http.client.HTTPException) as error:
        with lock:
            told.broken.append(f"{request.method} {request.path[:200]}: {error!r}")
        return
    if status in (200, 304) and request.item and "etag" in headers:
        client.known[request.item] = headers["etag"]
    with lock:
        told.statuses[str(status)] += 1
        told.kinds[f"{request.kind} {status}"] += 1
        if status >= 500 or (status >= 400 and not _is_problem(headers, content, request)):
            told.broken.append(
                f"{status} for {request.method} {request.path[:200]} {request.body!r:.200}"
            )
        if status == 200 and request.said:
            found = json.loads(content)
            fields = {"description": found["item"]["description"], "tags": found["item"]["tags"]}
            told.edits[request.item] = fields | {"active": found["active"]}


def _is_problem(headers: Mapping[str, str], content: bytes, request: Request) -> bool:
    """As every refusal is told, but by what reads the lines of a request before us."""
    if headers.get("content-type") != "application/problem+json":
        return content == b"Invalid HTTP request received."
    return request.method == "HEAD" or "code" in json.loads(content)


def summed_up(place: str, told: Told, args: argparse.Namespace) -> dict[str, Any]:
    made, removed = told.kinds["create 201"], told.kinds["remove 204"]
    with Pegboard.open(place) as board:
        broken = board.check()
        items = board.store.index.listed(Filters(active=None), ("", ""), ITEMS + SHARED + 1)
        there = sum(entry.item.source == CREATED for entry in items)
        lost = [
            entry.item.id
            for entry in items
            if (last := told.edits.get(entry.item.id))
            and last
            != {
                "description": entry.item.description,
                "tags": list(entry.item.tags),
                "active": entry.active,
            }
        ]
        status = board.status()
    told.broken.extend([*broken, *(f"the last edit of {name} was lost" for name in lost)])
    counts = status.embeddings
    checks: dict[str, Check] = {
        "answers with 5xx, or none": at_most(
            sum(n for code, n in told.statuses.items() if code >= "500")
            + args.requests
            - sum(told.statuses.values()),
            0,
        ),
        "edits lost": at_most(len(lost), 0),
        "edits refused although nobody else edits": at_most(told.kinds["edit 412"], 0),
        "tools made, less removed, less there": at_most(abs(made - removed - there), 0),
        "items of the source, less there": at_most(abs(ITEMS - (len(items) - there)), 0),
        "rules of the board that are broken": at_most(len(broken), 0),
        "items without the vector that is due": at_most(
            counts.pending + counts.failed + status.waiting, 0
        ),
    }
    return {
        "requests": args.requests,
        "clients": args.clients,
        "seed": args.seed,
        "statuses": dict(sorted(told.statuses.items())),
        "done": round(sum(n for c, n in told.statuses.items() if c < "400") / args.requests, 4),
        "made": made,
        "removed": removed,
        "edited": sum(n for kind, n in told.kinds.items() if kind == "edit 200"),
        "kinds": dict(sorted(told.kinds.items())),
        "checks": checks,
    }


if __name__ == "__main__":
    main()
