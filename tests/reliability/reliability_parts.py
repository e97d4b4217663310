"""Boards, tool folders and processes that the reliability tests share."""

import contextlib
import os
import random
import select
import subprocess
import sys
import threading
import time
from array import array
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import apsw

from pegboard.board.maintain.worker import Worker, WorkerSettings
from pegboard.embed.hashed import HashedEmbedder
from pegboard.embed.parts import PartsEmbedder
from pegboard.errors import PegboardError
from pegboard.model.items import Entry, Item, ItemId, Vector
from pegboard.ports.stages import Embedder
from pegboard.ports.store import Store
from pegboard.store.postgres.database import run
from pegboard.store.postgres.store import PostgresStore
from pegboard.store.sqlite.store import SqliteStore
from pegboard.text import embedded_passages, embedding_text

BOUND = 60.0
"""Seconds after which a wait is given up. Nothing here is expected to take nearly as long."""

BOTH = ("sqlite", "postgres")
"""For a module whose tests hold whichever store the board has: `STORES = BOTH`."""

VICTIM = Path(__file__).with_name("reliability_victim.py")
VERBS = ("create", "close", "list", "merge", "rename", "archive")
THINGS = ("issue", "invoice", "calendar event", "pull request", "mailbox", "playlist")


def item(name: str, description: str = "", **fields: Any) -> Item:
    return Item(
        id=ItemId(f"mcptools:demo:{name}"),
        name=name,
        category="demo",
        description=description or f"Does the work of {name}.",
        source="demo",
        origin=f"mcptools/demo/{name}.py",
        origin_hash="0",
        **fields,
    )


def numbered(count: int) -> list[Item]:
    return [item(f"tool_{n}", f"Counts {n} sheep over fence {n % 7}.") for n in range(count)]


def worker(store: Store, embedder: Embedder, **settings: Any) -> Worker:
    return Worker(store, embedder, WorkerSettings(**settings))


def sql(path: Path, statement: str, params: Mapping[str, Any] | None = None) -> list[Any]:
    """Asked of a board in a file on a connection of its own, past all of Pegboard."""
    with contextlib.closing(apsw.Connection(str(path))) as connection:
        connection.set_busy_timeout(int(BOUND * 1000))
        return list(connection.execute(statement, params))


def by_hand(store: Store, statement: str) -> list[Any]:
    """A statement that no use case makes, on whichever database the board has; its rows."""
    if isinstance(store, SqliteStore):
        return store.database.rows(statement)
    assert isinstance(store, PostgresStore)
    return store.database.write(lambda tx: run(tx, statement))


class TaskRow(NamedTuple):
    """A task as it is written on the board."""

    name: str
    status: str
    attempts: int
    wait: float
    """Seconds from its last change to its next attempt; below 0 if it is due."""
    owner: str | None
    error: str


TASKS_IN_SQLITE = """
SELECT i.name, t.status, t.attempts, t.next_attempt_at - t.updated_at, t.lease_owner, t.last_error
FROM embedding_tasks t JOIN items i ON i.key = t.item_key ORDER BY t.id"""
TASKS_IN_POSTGRES = """
SELECT i.name, t.status, t.attempt_count,
  CAST(extract(epoch FROM greatest(t.next_attempt_ts, 'epoch') - t.update_ts) AS float8),
  t.lease_owner, t.last_error
FROM embedding_tasks t JOIN items i ON i.key = t.entity_id ORDER BY t.task_id"""


def tasks(store: Store) -> list[TaskRow]:
    in_postgres = isinstance(store, PostgresStore)
    found = by_hand(store, TASKS_IN_POSTGRES if in_postgres else TASKS_IN_SQLITE)
    return [TaskRow(*row) for row in found]


def held(store: Store) -> int:
    """How many tasks somebody has in hand."""
    return sum(task.status == "running" for task in tasks(store))


def end_leases(store: Store) -> None:
    """As time does."""
    past = "to_timestamp(1)" if isinstance(store, PostgresStore) else "1.0"
    by_hand(store, f"UPDATE embedding_tasks SET lease_until = {past}")


def make_due(store: Store) -> None:
    in_postgres = isinstance(store, PostgresStore)
    past = "next_attempt_ts = '-infinity'" if in_postgres else "next_attempt_at = 0"
    by_hand(store, f"UPDATE embedding_tasks SET {past}")


def entries(store: Store) -> list[Entry]:
    return store.items.page(0, 10_000)


def waiting(store: Store) -> int:
    """How many tasks are still to be done."""
    return sum(task.status != "failed" for task in tasks(store))


def standing(store: Store) -> dict[str, int]:
    """How many active items have which status, by its name."""
    return dict(Counter(e.embedding.status.value for e in entries(store) if e.active))


VECTORS = "SELECT i.id, v.passage, {vector} FROM vectors v JOIN items i ON i.key = v.item_key"


def vectors(store: Store) -> dict[str, Vector]:
    """The first vector of each item, on boards with one model."""
    return {
        item_id: vector for (item_id, place), vector in passage_vectors(store).items() if not place
    }


def passage_vectors(store: Store) -> dict[tuple[str, int], Vector]:
    """All vectors by item and passage, on boards with one model."""
    if isinstance(store, PostgresStore):
        said = by_hand(store, VECTORS.format(vector="CAST(v.embedding AS text)"))
        rows = [((item_id, place), _from_text(text)) for item_id, place, text in said]
    else:
        said = by_hand(store, VECTORS.format(vector="v.vector"))
        rows = [((item_id, place), vector) for item_id, place, vector in said]
    assert len(dict(rows)) == len(rows), "a passage has two vectors"
    return dict(rows)


def _from_text(text: str) -> Vector:
    return Vector(array("f", map(float, text.strip("[]").split(","))).tobytes())


def assert_whole(store: Store, embedder: Embedder) -> None:
    """Nothing broken, nothing waiting, and every vector is that of its item's present text.

    A command embeds the parts of a text apart; a worker with a bare embedder, all of it at once.
    """
    assert store.check() == []
    active = [entry for entry in entries(store) if entry.active]
    assert standing(store) == ({"ready": len(active)} if active else {})
    assert waiting(store) == 0
    texts = {
        (entry.item.id, place): text
        for entry in active
        for place, text in enumerate(embedded_passages(embedding_text(entry.item)))
    }
    stored = passage_vectors(store)
    found = [stored[key] for key in texts]
    wanted = list(texts.values())
    assert found in (embedder.embed(wanted), PartsEmbedder(embedder).embed(wanted))


class ToolFolder:
    """Python tools on disk, and what a board that is up to date must say about them."""

    def __init__(self, root: Path, count: int) -> None:
        self.root = root
        self.described: dict[str, str] = {}
        self._made = 0
        for _ in range(count):
            self.add(random.Random(self._made))

    def add(self, rng: random.Random) -> None:
        name = f"tool_{self._made}"
        self._made += 1
        self.write(name, f"{rng.choice(VERBS).title()} the {rng.choice(THINGS)} {self._made}.")

    def write(self, name: str, description: str) -> None:
        self.described[name] = description
        self._replace(name, f'def run(target: str) -> str:\n    """{description}"""\n')

    def spoil(self, name: str) -> None:
        """Leave a file that the source must refuse."""
        self.described.pop(name, None)
        self._replace(name, f"def run(:  # {time.monotonic_ns()}\n")

    def delete(self, name: str) -> None:
        del self.described[name]
        self._path(name).unlink()

    def change(self, rng: random.Random) -> None:
        """A few edits, a new file, one less, and one that comes and goes in its validity."""
        names = sorted(self.described)
        for name in rng.sample(names, 5):
            self.write(name, f"{rng.choice(VERBS).title()} a {rng.choice(THINGS)}, {rng.random()}.")
        self.add(rng)
        self.delete(rng.choice(names))
        if "fickle" in self.described:
            self.spoil("fickle")
        else:
            self.write("fickle", f"Archive the {rng.choice(THINGS)} that changes its mind.")

    def on(self, store: Store) -> dict[str, str]:
        """Name and description of every active item of a board."""
        return {e.item.name: e.item.description for e in entries(store) if e.active}

    def _path(self, name: str) -> Path:
        return self.root / "mcptools" / "office" / f"{name}.py"

    def _replace(self, name: str, text: str) -> None:
        path = self._path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        fresh = path.with_suffix(".new")
        fresh.write_text(text, encoding="utf-8")
        fresh.replace(path)


class Machine:
    """Starts processes in an environment of their own; none of them outlives the test."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.home.mkdir()
        self.environ = {
            "PATH": os.environ.get("PATH", ""),
            "HOME": str(home),
            "XDG_CONFIG_HOME": str(home / "config"),
            "XDG_DATA_HOME": str(home / "data"),
            "LANG": "C.UTF-8",
            "PEGBOARD_EMBED_PROVIDER": "test",
        }
        self._started: list[subprocess.Popen[bytes]] = []

    def pegboard(
        self, *arguments: str | Path, prefix: Sequence[str] = (), **options: Any
    ) -> subprocess.CompletedProcess[str]:
        """One command to its end."""
        return subprocess.run(
            [*prefix, sys.executable, "-m", "pegboard", *map(str, arguments)],
            env=self.environ,
            cwd=self.home,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            timeout=BOUND,
            **options,
        )

    def start(self, *arguments: str | Path, **environ: str) -> subprocess.Popen[bytes]:
        return self._popen(["-m", "pegboard", *map(str, arguments)], environ)

    def victim(self, role: str, *arguments: str | Path) -> subprocess.Popen[bytes]:
        return self._popen([str(VICTIM), role, *map(str, arguments)], {})

    def _popen(self, arguments: list[str], environ: dict[str, str]) -> subprocess.Popen[bytes]:
        process = subprocess.Popen(
            [sys.executable, *arguments],
            env=self.environ | environ,
            cwd=self.home,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
        )
        self._started.append(process)
        return process

    def close(self) -> None:
        for process in self._started:
            if process.poll() is None:
                process.kill()
            process.communicate()


def heard(process: subprocess.Popen[bytes], word: str, bound: float = BOUND) -> None:
    """Wait until the process has said this word on a line of its own."""
    assert process.stdout is not None
    ready, _, _ = select.select([process.stdout], [], [], bound)
    assert ready, f"the process did not say {word!r}"
    said = process.stdout.readline().decode().strip()
    if said != word:
        process.kill()
        raise AssertionError(f"{said!r} instead of {word!r}: {process.communicate()[1].decode()}")


def killed(process: subprocess.Popen[bytes]) -> int:
    process.kill()
    return process.wait(BOUND)


def ended(process: subprocess.Popen[bytes]) -> tuple[int, str, str]:
    """Exit code, standard output and standard error of a process that ends by itself."""
    out, err = process.communicate(timeout=BOUND)
    return process.returncode, out.decode(), err.decode()


def until(process: subprocess.Popen[bytes], happened: Callable[[], bool]) -> None:
    """Wait until something has happened; the wait ends early if the process does."""
    deadline = time.monotonic() + BOUND
    while not happened():
        assert time.monotonic() < deadline, "it did not happen"
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(timeout=0.01)
            assert happened(), f"the process ended before: {process.communicate()[1].decode()}"
            return


class Aside(threading.Thread):
    """Does something beside the test; `result` is what came of it."""

    def __init__(self, does: Callable[[], Any]) -> None:
        super().__init__(daemon=True)
        self._does = does
        self._came: Any = None
        self._error: PegboardError | None = None
        self.start()

    def run(self) -> None:
        try:
            self._came = self._does()
        except PegboardError as error:
            self._error = error

    def result(self) -> Any:
        self.join(BOUND)
        assert not self.is_alive(), "it goes on and on"
        if self._error is not None:
            raise self._error
        return self._came


HASHED = HashedEmbedder(256)
"""The embedder that `embed.provider = test` stands for."""
