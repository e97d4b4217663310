"""Start a PostgreSQL and a replica of it here, and prove what docs/explanation/scale.md says.

    python scripts/replica.py

Each line that it prints was true a moment ago. It ends with 1 at the first thing that is not, and
leaves nothing behind.
"""

import json
import logging
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import product
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

import psycopg

from pegboard.app.pegboard import Pegboard
from pegboard.config.settings import EmbedSettings, Settings
from pegboard.errors import BoardReadOnly, exit_code
from pegboard.model.items import Item, ItemId, ToolType
from pegboard.store.postgres.nearest import PLAIN, with_numbers
from pegboard.store.postgres.store import PostgresStore
from pegboard.store.postgres.vector import to_database
from trial_postgres import QUICK, TrialPostgres

SLOT = "pegboard_replica"
REPLAY_SECONDS = 30.0
COMMAND_SECONDS = 120.0
VERBS = (
    "create", "delete", "list", "rename", "export", "archive", "share", "search", "merge", "tag",
)  # fmt: skip
THINGS = (
    "invoice", "calendar", "picture", "customer", "branch", "playlist", "sensor", "recipe",
    "contract", "parcel", "ticket", "map",
)  # fmt: skip
PLACES = ("shop", "bank", "school", "studio", "garage", "library", "clinic", "harbour", "farm")
ITEMS = 3_000
"""Enough for the worker to give the vectors their index, and for the planner to take it."""
BATCH = 600
QUESTIONS = (
    "delete the picture of the harbour",
    "merge two branches",
    "which customers does the bank have",
    "put a tag on a recipe",
)
MODES = ("hybrid", "bm25", "vector")
COMMANDS = (("sync",), ("add", "folder", "tools"), ("worker",), ("backfill",))
SETTINGS = Settings(embed=EmbedSettings(provider="test", dimension=384))


class Failed(Exception):
    """Something is not as docs/explanation/scale.md says."""


class Pair(NamedTuple):
    primary: TrialPostgres
    replica: TrialPostgres
    folder: Path
    """Where commands are run, with the folder of tools in it."""


@contextmanager
def replicated(items: int = ITEMS) -> Iterator[Pair]:
    """A primary with a board of so many items, and a replica that has replayed it."""
    primary = TrialPostgres(QUICK | {"synchronous_commit": "on"})
    replica = TrialPostgres(QUICK | {"hot_standby_feedback": "on"}, beside=primary)
    folder = Path(tempfile.mkdtemp(prefix="pegboard-replica-"))
    pair = Pair(primary, replica, folder)
    try:
        primary.create()
        primary.start()
        copy(primary, replica)
        replica.start()
        fill(pair, items)
        wait_for_replay(pair)
        yield pair
    finally:
        for server in (replica, primary):
            server.remove()
        shutil.rmtree(folder, ignore_errors=True)


def copy(primary: TrialPostgres, replica: TrialPostgres) -> None:
    """A physical copy that will follow: `-R` writes standby.signal and how to reach the primary.

    The slot keeps the primary from throwing away what the replica has not had yet.
    """
    replica.run(
        "pg_basebackup", "-h", primary.folder, "-p", primary.port, "-U", "postgres",
        "-D", replica.data, "-X", "stream", "-c", "fast", "-R", "-C", "-S", SLOT, "--no-sync",
    )  # fmt: skip


def fill(pair: Pair, items: int) -> None:
    write_tool(pair.folder / "tools", "studio", "paint", "Paint a portrait.")
    store = PostgresStore(pair.primary.url(), create=True)
    with Pegboard(store, SETTINGS) as board:
        board.add_folder(pair.folder / "tools")
        board.sync()
        for first in range(0, items, BATCH):
            last = min(first + BATCH, items)
            store.items.put([made(n) for n in range(first, last)], board.target)
        board.backfill()


def made(number: int) -> Item:
    verb, thing = VERBS[number % len(VERBS)], THINGS[number // len(VERBS) % len(THINGS)]
    place = PLACES[number // 100 % len(PLACES)]
    return Item(
        ItemId(f"made:{thing}:{verb}_{number}"),
        name=f"{verb}_{number}",
        category=thing,
        description=f"{verb.title()} a {thing} of the {place}, number {number}.",
        tool_type=ToolType.PYTHON,
        source="made",
    )


def write_tool(tools: Path, category: str, name: str, description: str) -> None:
    path = tools / "mcptools" / category / f"{name}.py"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f'def run(name: str) -> str:\n    """{description}"""\n', encoding="utf-8")


def wait_for_replay(pair: Pair) -> None:
    """Until the replica has done everything that the primary has done by now."""
    written = asked(pair.primary, "SELECT pg_current_wal_insert_lsn()")
    deadline = time.monotonic() + REPLAY_SECONDS
    while not asked(pair.replica, "SELECT pg_last_wal_replay_lsn() >= %s::pg_lsn", written):
        if time.monotonic() > deadline:
            raise Failed(f"the replica has not replayed {written} after {REPLAY_SECONDS:g} s")
        time.sleep(0.01)


def asked(server: TrialPostgres, query: str, *values: object) -> object:
    with psycopg.connect(server.url(), autocommit=True) as connection:
        row = connection.execute(query.encode(), values).fetchone()
    return row[0] if row else None


@contextmanager
def opened(server: TrialPostgres) -> Iterator[Pegboard]:
    with Pegboard(PostgresStore(server.url()), SETTINGS) as board:
        yield board


def command(pair: Pair, server: TrialPostgres, *said: str) -> subprocess.CompletedProcess[str]:
    """A command as an operator would give it: only PEGBOARD_BOARD says where the board is."""
    environment = {
        "PATH": os.defpath,
        "HOME": str(pair.folder),
        "PEGBOARD_BOARD": server.url(),
        "PEGBOARD_EMBED_PROVIDER": "test",
        "PEGBOARD_EMBED_DIMENSION": "384",
    }
    return subprocess.run(
        [sys.executable, "-m", "pegboard", *said],
        cwd=pair.folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=COMMAND_SECONDS,
        check=False,
    )


def searches_are_the_same(pair: Pair) -> str:
    compared = 0
    with opened(pair.primary) as primary, opened(pair.replica) as replica:
        for mode, question in product(MODES, QUESTIONS):
            wanted, found = (
                [(hit.id, hit.score, hit.breakdown) for hit in board.search(
                    question, mode=mode, limit=20, threshold=0.0).hits]
                for board in (primary, replica)
            )  # fmt: skip
            if not wanted or wanted != found:
                raise Failed(f"{mode} {question!r}: {found[:3]} on the replica, not {wanted[:3]}")
            compared += len(found)
        told = command(pair, pair.replica, "search", QUESTIONS[0], "--json").stdout
        hits = json.loads(told)["hits"]
        if [hit["id"] for hit in hits] != [hit.id for hit in primary.search(QUESTIONS[0]).hits]:
            raise Failed(f"pegboard search on the replica finds {hits}")
    return (
        f"{len(QUESTIONS)} searches by each of {', '.join(MODES)} find the same {compared} hits "
        "with the same scores on the replica"
    )


def the_vector_index_is_used(pair: Pair) -> str:
    with opened(pair.replica) as board:
        store, embedder = board.store, board.embedder
        if not isinstance(store, PostgresStore) or embedder is None:
            raise Failed("this is no board with vectors in PostgreSQL")
        [[key]] = store.database.rows("SELECT max(key) FROM fingerprints")
        length = embedder.fingerprint.dimension
        numbers = {"dimension": length, "fingerprint": key, "limit": 10, "enough": 10}
        query = with_numbers(PLAIN["near"], **numbers)
        ask = {"query": to_database(embedder.embed_query(QUESTIONS[0]))}
        plan = "\n".join(row[0] for row in store.database.rows(f"EXPLAIN {query}", ask))
    index = f"tool_vectors_hnsw_{key}"
    if f"Index Scan using {index}" not in plan:
        raise Failed(f"the replica does not use {index}:\n{plan}")
    return f"the replica finds the nearest vectors by the HNSW index {index}"


def writes_are_refused(pair: Pair) -> str:
    refusal, hint = BoardReadOnly(), ""
    for said in COMMANDS:
        done = command(pair, pair.replica, *said, "--json")
        last = (done.stderr.strip().splitlines() or [""])[-1]
        error = json.loads(last)["error"] if last.startswith('{"error"') else {}
        if (error.get("code"), done.returncode) != (refusal.code, exit_code(refusal)):
            raise Failed(f"pegboard {' '.join(said)} on the replica: {done}")
        hint = error["hint"]
    with opened(pair.replica) as board:
        for write in (
            lambda: board.remove_source("tools"),
            lambda: board.refresh(None),
            lambda: board.store.items.put([made(ITEMS)], board.target),
        ):
            try:
                write()
            except BoardReadOnly:
                continue
            raise Failed("something was written to the replica")
    names = ", ".join(" ".join(said) for said in COMMANDS)
    return f"{names} on the replica: {refusal.code}, “{hint}”"


def status_says_read_only(pair: Pair) -> str:
    told = json.loads(command(pair, pair.replica, "status", "--json").stdout)["facts"]
    with opened(pair.primary) as board:
        facts = board.status().facts
    if told["read_only"] is not True or facts["read_only"] is not False:
        raise Failed(f"the replica says {told}, the primary {facts}")
    return "pegboard status says read_only on the replica, and not on the primary"


def one_address_leads_to_either(pair: Pair) -> str:
    for wanted, read_only in (("prefer-standby", True), ("read-write", False)):
        store = PostgresStore(both(pair, wanted))
        try:
            if store.facts()["read_only"] is not read_only:
                raise Failed(f"{wanted} leads to a server with read_only {not read_only}")
        finally:
            store.close()
    return "one address with both hosts leads to the replica, or to the one that can be written"


def news_arrives(pair: Pair) -> str:
    """Also for a process that has the replica open, and has asked for the same before."""
    with opened(pair.replica) as board:
        if board.search("xylophone", mode="bm25").hits:
            raise Failed("there is a xylophone already")
        write_tool(pair.folder / "tools", "studio", "tune", "Tune a xylophone.")
        with opened(pair.primary) as primary:
            primary.sync()
        wait_for_replay(pair)
        replayed = time.monotonic()
        while not board.search("xylophone", mode="bm25").hits:
            if time.monotonic() > replayed + REPLAY_SECONDS:
                raise Failed("what the replica has replayed is not found")
            time.sleep(0.01)
        late = time.monotonic() - replayed
        if not board.search("tune a xylophone", mode="vector").hits:
            raise Failed("what the replica has replayed is not found by its meaning")
    return (
        f"a new item is found on the replica, by words and meaning, {late:.1f} s after the replay"
    )


def takes_over(pair: Pair) -> str:
    """The last thing to prove: from then on there are two primaries, and one of them is stopped."""
    with Pegboard(PostgresStore(both(pair, "read-write")), SETTINGS) as board:
        board.search(QUESTIONS[0])
        pair.primary.stop("immediate")
        pair.replica.run("pg_ctl", "-D", pair.replica.data, "-w", "promote")
        write_tool(pair.folder / "tools", "studio", "repair", "Repair a bassoon.")
        board.sync()
        found = [hit.id for hit in board.search("bassoon", mode="bm25").hits]
        if found != ["mcptools:studio:repair"]:
            raise Failed(f"after the promotion {found} was found")
    done = command(pair, pair.replica, "sync", "--full", "--json")
    if done.returncode:
        raise Failed(f"pegboard sync on the promoted replica: {done}")
    return (
        "the primary is gone and the replica promoted: a process that has both in its address goes "
        "on and writes, and so does pegboard sync"
    )


def both(pair: Pair, wanted: str) -> str:
    """One address for two servers: whichever of them is wanted."""
    hosts = quote(f"{pair.primary.folder},{pair.replica.folder}", safe="")
    return f"postgresql://postgres@/postgres?host={hosts}&target_session_attrs={wanted}"


PROOFS: tuple[Callable[[Pair], str], ...] = (
    searches_are_the_same,
    the_vector_index_is_used,
    writes_are_refused,
    status_says_read_only,
    one_address_leads_to_either,
    news_arrives,
    takes_over,
)


def main() -> None:
    logging.disable(logging.WARNING)  # a server is lost on purpose
    with replicated() as pair:
        print(f"a primary and a streaming replica, {ITEMS:,} items with their vectors")
        for proof in PROOFS:
            print(f"- {proof(pair)}", flush=True)


if __name__ == "__main__":
    try:
        main()
    except (Failed, RuntimeError) as error:
        sys.exit(f"failed: {error}")
