"""One process that serves 1,217 tools to 16 clients while 100 files change: is its loop ever stuck?

The tools of all saved servers (replay.py) and a folder of 300 Python tools are on a board that is
kept up to date and served over streamable HTTP. Clients in a process of their own search without a
pause; meanwhile one file after the other gets a new description, each as soon as the one before can
be found by its new words. In the serving process a task sleeps 5 ms at a time and notes how much
later than that it wakes.
"""

import asyncio
import gc
import gzip
import itertools
import json
import multiprocessing
import time
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from mcp import Client, MCPError

from boards import sampled
from indexing import clean, identifier, source
from pegboard import Pegboard
from pegboard.app.live import kept
from pegboard.app.measure import evaluation_board
from pegboard.app.pegboard import located
from pegboard.serve.mcp.face import Face, make_face
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
    """What the clients did and saw, by what was going on."""

    phase: str = ""
    searches: Counter[str] = field(default_factory=Counter)
    began: dict[str, float] = field(default_factory=dict)
    errors: list[str] = field(default_factory=list)
    found_after: list[float] = field(default_factory=list)
    """Seconds from a save to the first search by words that shows it, or until it was given up."""

    def rate(self, phase: str, end: str) -> float:
        """Searches a second in this phase, which the other ends."""
        return self.searches[phase] / (self.began[end] - self.began[phase])


@dataclass(slots=True)
class Loop:
    """What the loop of the serving process went through, by what was going on."""

    phase: str = ""
    lags: defaultdict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    """Seconds."""
    processor: dict[str, float] = field(default_factory=dict)
    """Seconds of the loop's thread, when the phase began."""
    collections: list[float] = field(default_factory=list)
    """Seconds that collecting garbage took, while all threads waited."""


class Served(NamedTuple):
    load: Load
    loop: Loop
    failed_syncs: int


def main() -> None:
    args = options(__doc__).parse_args()
    sets = ("mcpproxy_golden", "metatool")
    files = [args.data / "retrieval" / name / "queries.jsonl" for name in sets]
    texts = [query.text for file in files for query in sampled(file, QUERIES)]
    with (
        TemporaryDirectory(prefix="pegboard-bench-") as scratch,
        replaying(args.data / "mcp") as urls,
        evaluation_board(None, located().settings) as board,
    ):
        folder = Path(scratch) / "tools"
        tools = write_tools(args.data / "scale" / "mcp_corpus.jsonl.gz", folder)
        changed = dict(enumerate(tools[:CHANGES]))
        board.add_servers(configs(urls))
        board.add_folder(folder)
        outcome = board.sync()
        if outcome.waiting or outcome.notices or any(each.error for each in outcome.sources):
            raise SystemExit(f"the board is not whole: {outcome.notices}")
        before = in_process(board, texts[::2])
        served = asyncio.run(serve(board, texts, changed))
        alone = (before + in_process(board, texts[1::2])) / 2
        missing = [tool.id for number, tool in changed.items() if not finds(board, number, tool)]
        items = sum(line.items for line in board.census())
    found = {"items": items, "not found": missing, **figures(served, alone)}
    save(args, "mcp_load", {"checks": checks(served, missing), **found})


def in_process(board: Pegboard, texts: Sequence[str]) -> float:
    """Searches a second in this process, in one thread, while nothing else is done."""
    board.search("warm up", limit=LIMIT)
    began = time.perf_counter()
    for text in texts:
        board.search(text, limit=LIMIT)
    return len(texts) / (time.perf_counter() - began)


def finds(board: Pegboard, number: int, tool: Tool) -> bool:
    return any(hit.id == tool.id for hit in board.search(word(number), mode="bm25").hits)


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


async def serve(board: Pegboard, texts: list[str], changed: Mapping[int, Tool]) -> Served:
    face = make_face(board)
    with kept(board, on_change=face.board_changed) as keeping:
        await all_synced(board)
        async with over_http(face) as url:
            with clients(url, texts, changed) as child:
                load, loop = await followed(child)
    return Served(load, loop, keeping.errors)


async def followed(child: Connection) -> tuple[Load, Loop]:
    """Note how this loop fares until the clients, who tell what they are about, are done."""
    loop = Loop()
    noting = asyncio.create_task(note(loop))
    with collections_noted(loop.collections):
        while loop.phase != DONE:
            loop.phase = await asyncio.to_thread(child.recv)
            loop.processor[loop.phase] = time.thread_time()
    noting.cancel()
    load: Load = await asyncio.to_thread(child.recv)
    return load, loop


async def note(loop: Loop) -> None:
    while True:
        began = time.perf_counter()
        await asyncio.sleep(STEP)
        loop.lags[loop.phase].append(time.perf_counter() - began - STEP)


@contextmanager
def collections_noted(seconds: list[float]) -> Iterator[None]:
    began = 0.0

    def told(what: str, info: dict[str, int]) -> None:
        nonlocal began
        if what == "start":
            began = time.perf_counter()
        else:
            seconds.append(time.perf_counter() - began)

    gc.callbacks.append(told)
    try:
        yield
    finally:
        gc.callbacks.remove(told)


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
def clients(url: str, texts: list[str], changed: Mapping[int, Tool]) -> Iterator[Connection]:
    """A process with all clients in it, which tells what it is about to do and what it saw."""
    spawn = multiprocessing.get_context("spawn")
    here, there = spawn.Pipe(duplex=False)
    child = spawn.Process(target=run_clients, args=(there, url, texts, changed), daemon=True)
    child.start()
    there.close()
    try:
        yield here
    finally:
        child.join(5)
        child.kill()
        here.close()


# The process of the clients


def run_clients(
    parent: Connection, url: str, texts: list[str], changed: Mapping[int, Tool]
) -> None:
    parent.send(asyncio.run(load_on(parent, url, texts, changed)))


async def load_on(
    parent: Connection, url: str, texts: list[str], changed: Mapping[int, Tool]
) -> Load:
    load = Load()

    def begin(phase: str) -> None:
        load.phase = phase
        load.began[phase] = time.perf_counter()
        parent.send(phase)

    async with asyncio.timeout(ALL_SECONDS), AsyncExitStack() as stack:
        sessions = [await stack.enter_async_context(Client(url)) for _ in range(CLIENTS)]
        looking = await stack.enter_async_context(Client(url))
        begin(IDLE)
        await asyncio.sleep(PHASE_SECONDS)
        begin(SEARCHES)
        async with asyncio.TaskGroup() as group:
            for number, session in enumerate(sessions):
                group.create_task(search_on(session, texts[number::CLIENTS], load))
            await asyncio.sleep(PHASE_SECONDS)
            begin(CHANGING)
            for number, tool in changed.items():
                change(tool, number)
                await found_again(looking, tool, number, load)
            begin(DONE)
    return load


async def search_on(session: Client, texts: list[str], load: Load) -> None:
    for text in itertools.cycle(texts):
        if load.phase == DONE:
            return
        await searched(session, load, query=text, limit=LIMIT)
        load.searches[load.phase] += 1


async def found_again(session: Client, tool: Tool, number: int, load: Load) -> None:
    saved = time.perf_counter()
    while time.perf_counter() - saved < FIND_SECONDS:
        hits = await searched(session, load, query=word(number), mode="bm25")
        if any(hit["id"] == tool.id for hit in hits):
            break
        await asyncio.sleep(LOOK_SECONDS)
    load.found_after.append(time.perf_counter() - saved)


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


def checks(served: Served, missing: list[str]) -> dict[str, Check]:
    lag = in_ms(served.loop.lags[CHANGING])
    return {
        "errors": at_most(len(served.load.errors) + served.failed_syncs, 0),
        "changes that searches by words find": at_least(CHANGES - len(missing), CHANGES),
        "lag with searches and changes, p99, ms": at_most(lag["p99"], P99_MS),
        "the same, at most, ms": at_most(lag["most"], MOST_MS),
    }


def figures(served: Served, alone: float) -> dict[str, object]:
    load, loop = served.load, served.loop
    rate = load.rate(SEARCHES, CHANGING)
    busy = loop.processor[CHANGING] - loop.processor[SEARCHES]
    return {
        "clients": CLIENTS,
        "changes": CHANGES,
        "errors": load.errors[:10],
        "lag, ms": {phase: in_ms(loop.lags[phase]) for phase in (IDLE, SEARCHES, CHANGING)},
        "longest collection of garbage, ms": round(1000 * max(loop.collections, default=0.0), 1),
        "processor time of the loop, ms a search": round(1000 * busy / load.searches[SEARCHES], 2),
        "searches a second / the same in process, one thread": round(rate / alone, 3),
        "searches a second": {
            "served": round(rate, 1),
            "served while files change": round(load.rate(CHANGING, DONE), 1),
            "in process": round(alone, 1),
        },
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
