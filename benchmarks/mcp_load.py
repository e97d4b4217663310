"""One process that serves 1,217 tools to 16 clients while 100 files change: is its loop ever stuck?

The tools of all saved servers (replay.py) and a folder of 300 Python tools are on a board that is
kept up to date and served over streamable HTTP. Clients in a process of their own search without a
pause; meanwhile one file after the other gets a new description, each as soon as the one before can
be found by its new words. In the serving process a task sleeps 5 ms at a time and notes how much
later than that it wakes.
"""

import asyncio
import gzip
import itertools
import json
import multiprocessing
import re
import sys
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from mcp import Client, MCPError

from boards import sampled
from indexing import clean, identifier, source
from pegboard import Pegboard
from pegboard.app import located
from pegboard.board.keeping import Keeping
from pegboard.live import kept
from pegboard.measure import evaluation_board
from pegboard.serve.face import Face, make_face
from replay import configs, listening, quiet_server, replaying
from report import Check, at_least, at_most, options, quantile, save

CLIENTS = 16
FILES = 300
CHANGES = 100
QUERIES = 1_000
LIMIT = 5
STEP = 0.005
PHASE_SECONDS = 10.0
"""How long nothing is done, and how long clients search before files change."""
FIND_SECONDS = 10.0
"""After which a change counts as not found."""
LOOK_SECONDS = 0.02
ALL_SECONDS = 600.0
IDLE, SEARCHES, CHANGING, DONE = "idle", "searches", "searches and changes", "done"
P99_MS = 50
MOST_MS = 250


class Tool(NamedTuple):
    """A file, the item it becomes, and the tool that is written into it."""

    path: Path
    id: str
    definition: dict[str, object]


@dataclass(slots=True)
class Load:
    """What the clients saw."""

    searches: int = 0
    seconds: float = 0.0
    errors: list[str] = field(default_factory=list)
    found_after: list[float] = field(default_factory=list)
    """Seconds from a save to the first search by words that shows it."""


def main() -> None:
    args = options(__doc__).parse_args()
    retrieval = args.data / "retrieval"
    asked = [*sampled(retrieval / "mcpproxy_golden" / "queries.jsonl", QUERIES)]
    asked += sampled(retrieval / "metatool" / "queries.jsonl", QUERIES)
    texts = [query.text for query in asked]
    with TemporaryDirectory(prefix="pegboard-bench-") as scratch, replaying(args.data / "mcp") as urls:
        tools = write_tools(args.data / "scale" / "mcp_corpus.jsonl.gz", Path(scratch) / "tools")
        with evaluation_board(None, located().settings) as board:
            board.add_servers(configs(urls))
            board.add_folder(Path(scratch) / "tools")
            outcome = board.sync()
            if outcome.waiting or outcome.notices or any(each.error for each in outcome.sources):
                raise SystemExit(f"the board is not whole: {outcome.notices}")
            alone = in_process(board, texts[::2])
            served = asyncio.run(serve(board, texts, tools[:CHANGES]))
            alone = (alone + in_process(board, texts[1::2])) / 2
            served.missing = [
                each.id for n, each in enumerate(tools[:CHANGES]) if not finds(board, n, each.id)
            ]
            served.items = sum(line.items for line in board.census())
    save(args, "mcp_load", {"checks": checks(served), **figures(served, alone)})


def in_process(board: Pegboard, texts: Sequence[str]) -> float:
    """Searches a second in this process, in one thread, while nothing else is done."""
    board.search("warm up", limit=LIMIT)
    began = time.perf_counter()
    for text in texts:
        board.search(text, limit=LIMIT)
    return len(texts) / (time.perf_counter() - began)


def finds(board: Pegboard, number: int, item_id: str) -> bool:
    return any(hit.id == item_id for hit in board.search(word(number), mode="bm25").hits)


# Files


def write_tools(corpus: Path, root: Path) -> list[Tool]:
    """Real tools as Python files in the pytools layout."""
    tools: dict[Path, Tool] = {}
    with gzip.open(corpus, "rt", encoding="utf-8") as lines:
        for definition in map(json.loads, lines):
            category, name = identifier(definition["category"]), identifier(definition["name"])
            path = root / "mcptools" / category / f"{name}.py"
            if path in tools or not (definition.get("description") or "").strip():
                continue
            tools[path] = Tool(path, f"mcptools:{category}:{name}", definition)
            if len(tools) == FILES:
                break
    for each in tools.values():
        each.path.parent.mkdir(parents=True, exist_ok=True)
        each.path.write_text(source(each.definition), encoding="utf-8")
    return list(tools.values())


def change(tool: Tool, number: int) -> None:
    told = f"{clean(tool.definition['description'])} Also for {word(number)}."
    tool.path.write_text(source(tool.definition | {"description": told}), encoding="utf-8")


def word(number: int) -> str:
    """A word that no tool has."""
    return f"quagga{number:03}"


# The serving process


@dataclass(slots=True)
class Served:
    load: Load
    lags: dict[str, list[float]]
    """Seconds, by what was going on."""
    keeping_errors: int
    missing: list[str] = field(default_factory=list)
    items: int = 0


async def serve(board: Pegboard, texts: list[str], tools: list[Tool]) -> Served:
    lags: dict[str, list[float]] = {IDLE: [], SEARCHES: [], CHANGING: []}
    face = make_face(board)
    with kept(board, on_change=face.board_changed) as keeping:
        await all_synced(board)
        async with over_http(face) as url:
            with clients(url, texts, tools) as child:
                load = await noted(child, lags)
    return Served(load, lags, keeping.errors)


async def noted(child: Connection, lags: dict[str, list[float]]) -> Load:
    """Note the lag of this loop, phase by phase as the clients tell, until they are done."""
    while (said := await asyncio.to_thread(child.recv)) != DONE:
        with suppress(NameError):
            noting.cancel()
        noting = asyncio.create_task(note(lags[said]))
    noting.cancel()
    found = await asyncio.to_thread(child.recv)
    if not isinstance(found, Load):
        raise TypeError(f"the clients sent {found!r}")
    return found


async def note(lags: list[float]) -> None:
    while True:
        began = time.perf_counter()
        await asyncio.sleep(STEP)
        lags.append(time.perf_counter() - began - STEP)


async def all_synced(board: Pegboard) -> None:
    """Wait until every source was read once since the board began to be kept."""
    began = time.time()
    async with asyncio.timeout(ALL_SECONDS):
        while any((each.synced_at or 0) < began for each in board.sources()):
            await asyncio.sleep(0.1)


@asynccontextmanager
async def over_http(face: Face) -> AsyncIterator[str]:
    port, address = listening()
    server = quiet_server(face.server.streamable_http_app())
    serving = asyncio.create_task(server.serve(sockets=[port]))
    try:
        yield f"{address}/mcp"
    finally:
        server.should_exit = True
        await serving


@contextmanager
def clients(url: str, texts: list[str], tools: list[Tool]) -> Iterator[Connection]:
    """A process with all clients in it, which tells what it is about to do and what it saw."""
    spawn = multiprocessing.get_context("spawn")
    here, there = spawn.Pipe(duplex=False)
    child = spawn.Process(target=run_clients, args=(there, url, texts, tools), daemon=True)
    child.start()
    there.close()
    try:
        yield here
    finally:
        child.join(5)
        child.kill()
        here.close()


# The process of the clients


def run_clients(parent: Connection, url: str, texts: list[str], tools: list[Tool]) -> None:
    load = asyncio.run(load_on(parent, url, texts, tools))
    parent.send(DONE)
    parent.send(load)


async def load_on(parent: Connection, url: str, texts: list[str], tools: list[Tool]) -> Load:
    load = Load()
    async with asyncio.timeout(ALL_SECONDS), AsyncExitStack() as stack:
        sessions = [await stack.enter_async_context(Client(url)) for _ in range(CLIENTS)]
        looking = await stack.enter_async_context(Client(url))
        parent.send(IDLE)
        await asyncio.sleep(PHASE_SECONDS)
        parent.send(SEARCHES)
        began = time.perf_counter()
        over = asyncio.Event()
        async with asyncio.TaskGroup() as group:
            for number, session in enumerate(sessions):
                mine = texts[number::CLIENTS]
                group.create_task(search_on(session, mine, load, over))
            await asyncio.sleep(PHASE_SECONDS)
            load.seconds = time.perf_counter() - began
            searched = load.searches
            parent.send(CHANGING)
            for number, tool in enumerate(tools):
                change(tool, number)
                await found_again(looking, tool, number, load)
            over.set()
        load.searches = searched
    return load


async def search_on(session: Client, texts: list[str], load: Load, over: asyncio.Event) -> None:
    for text in itertools.cycle(texts):
        if over.is_set():
            return
        await searched(session, load, query=text, limit=LIMIT)
        load.searches += 1


async def found_again(session: Client, tool: Tool, number: int, load: Load) -> None:
    saved = time.perf_counter()
    while time.perf_counter() - saved < FIND_SECONDS:
        hits = await searched(session, load, query=word(number), mode="bm25")
        if any(hit["id"] == tool.id for hit in hits):
            load.found_after.append(time.perf_counter() - saved)
            return
        await asyncio.sleep(LOOK_SECONDS)


async def searched(session: Client, load: Load, **arguments: object) -> list[dict[str, Any]]:
    try:
        result = await session.call_tool("search_tools", arguments)
    except MCPError as error:
        load.errors.append(str(error))
        return []
    if result.is_error or result.structured_content is None:
        load.errors.append(str(result.content))
        return []
    hits: list[dict[str, Any]] = result.structured_content["hits"]
    return hits


# What came of it


def checks(served: Served) -> dict[str, Check]:
    lag = in_ms(served.lags[CHANGING])
    return {
        "errors": at_most(len(served.load.errors) + served.keeping_errors, 0),
        "changes that searches by words find": at_least(CHANGES - len(served.missing), CHANGES),
        "lag with searches and changes, p99, ms": at_most(lag["p99"], P99_MS),
        "the same, at most, ms": at_most(lag["most"], MOST_MS),
    }


def figures(served: Served, alone: float) -> dict[str, object]:
    load = served.load
    rate = load.searches / load.seconds
    return {
        "items": served.items,
        "clients": CLIENTS,
        "changes": CHANGES,
        "errors": load.errors[:10],
        "not found": served.missing,
        "searches a second / the same in process, one thread": round(rate / alone, 3),
        "searches a second": {"served": round(rate, 1), "in process": round(alone, 1)},
        "lag, ms": {phase: in_ms(found) for phase, found in served.lags.items()},
        "from a save to being found by words, ms": {
            name: round(1000 * quantile(load.found_after, share))
            for name, share in (("p50", 0.5), ("p95", 0.95), ("most", 1.0))
        },
    }


def in_ms(lags: list[float]) -> dict[str, float]:
    shares = (("p50", 0.5), ("p99", 0.99), ("most", 1.0))
    found = {name: round(1000 * quantile(lags, share), 2) for name, share in shares}
    return {"times": len(lags), **found}


if __name__ == "__main__":
    main()
