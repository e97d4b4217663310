"""Boards, tool folders and processes that the reliability tests share."""

import contextlib
import os
import random
import select
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import apsw

from pegboard.board import maintain
from pegboard.board.worker import Worker, WorkerSettings
from pegboard.embed.hashed import HashedEmbedder
from pegboard.embed.parts import PartsEmbedder
from pegboard.model import Entry, Item, ItemId, Vector
from pegboard.ports import Embedder
from pegboard.store.sqlite.store import SqliteStore
from pegboard.text import embedding_text

BOUND = 60.0
"""Seconds after which a wait is given up. Nothing here is expected to take nearly as long."""

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


def worker(store: SqliteStore, embedder: Embedder, **settings: Any) -> Worker:
    return Worker(store, embedder, WorkerSettings(**settings))


def sql(path: Path, statement: str, params: Mapping[str, Any] | None = None) -> list[Any]:
    """Asked on a connection of its own, past all of Pegboard."""
    with contextlib.closing(apsw.Connection(str(path))) as connection:
        connection.set_busy_timeout(int(BOUND * 1000))
        return list(connection.execute(statement, params))


def entries(store: SqliteStore) -> list[Entry]:
    return store.items.page(0, 10_000)


def waiting(store: SqliteStore) -> int:
    """How many tasks are still to be done."""
    found = store.database.rows("SELECT count(*) FROM embedding_tasks WHERE status <> 'failed'")
    return int(found[0][0])


def standing(store: SqliteStore) -> dict[str, int]:
    """How many active items have which status, by its name."""
    return dict(Counter(e.embedding.status.value for e in entries(store) if e.active))


def vectors(store: SqliteStore) -> dict[str, Vector]:
    rows = store.database.rows(
        "SELECT i.id, v.vector FROM vectors v JOIN items i ON i.key = v.item_key"
    )
    return dict(rows)


def assert_whole(store: SqliteStore, embedder: Embedder) -> None:
    """Nothing broken, nothing waiting, and every vector is that of its item's present text.

    A command embeds the parts of a text apart; a worker with a bare embedder, all of it at once.
    """
    assert maintain.check(store) == []
    active = [entry for entry in entries(store) if entry.active]
    assert standing(store) == ({"ready": len(active)} if active else {})
    assert waiting(store) == 0
    hung = vectors(store)
    texts = [embedding_text(entry.item) for entry in active]
    ids = [entry.item.id for entry in active]
    found = [hung[item_id] for item_id in ids]
    assert found in (embedder.embed(texts), PartsEmbedder(embedder).embed(texts))


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

    def on(self, store: SqliteStore) -> dict[str, str]:
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


HASHED = HashedEmbedder(256)
"""The embedder that `embed.provider = test` stands for."""
