"""A board as an operator has it: tools of all sizes, tokens, releases, a log of who did what."""

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from making_releases import Publisher
from pegboard.app.pegboard import Pegboard
from pegboard.board.trust.tokens import BoardTokens
from pegboard.model.calls import Role

ROOT = Path(__file__).parents[2]
WRITER = Path(__file__).with_name("operate_writer.py")
BOUND = 120.0
"""Seconds after which a wait is given up."""

QUESTIONS = ("notify a channel that the build failed", "fold a paper crane", "forecast the weather")
LARGE_TOOL = f'def run():\n    """Forecast the weather of tomorrow."""\n# {"x" * 70_000}\n'


class Ran(NamedTuple):
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


def pegboard(*args: object, **environ: str) -> Ran:
    """A command, as a process of its own."""
    done = subprocess.run(
        [sys.executable, "-m", "pegboard", *map(str, args)],
        env=os.environ | environ,
        capture_output=True,
        text=True,
        timeout=BOUND,
    )
    return Ran(done.returncode, done.stdout, done.stderr)


def furnish(place: str, folder: Path) -> None:
    """The demo, a large tool, a release with a large file, a token, and a yank in the audit log."""
    tool = folder / "large" / "mcptools" / "weather" / "forecast.py"
    tool.parent.mkdir(parents=True)
    tool.write_text(LARGE_TOOL, "utf-8")
    with Pegboard.open(place, create=True) as board:
        board.add_folder(ROOT / "demo", name="demo")
        board.add_folder(folder / "large", name="large")
        board.sync()
        publisher = Publisher(folder / "mill", board.settings.data_folder)
        for number in ("1.0.0", "1.1.0"):
            content = f"paper {number} ".encode() * 10_000
            parcel = publisher.parcel(number, files={"paper.txt": content})
            assert board.releases.publish(parcel, by="ada").state == "published"
        board.releases.yank("tools:paper:fold", "1.1.0", yanked=True, reason="tears", by="ada")
        board.backfill()
        BoardTokens(board.store).make(Role.AUTHOR, namespaces=("team-a",), name="ci")


def told(place: str) -> dict[str, Any]:
    """What commands say of a board; without where it lies."""
    asked = {
        **{query: ("search", query, "--json") for query in QUESTIONS},
        "tokens": ("token", "list", "--json"),
        "audit": ("audit", "--json"),
        "versions": ("versions", "tools:paper:fold", "--json"),
        "rejections": ("rejections", "--json"),
        "show": ("show", "forecast", "--json"),
    }
    found = {}
    for name, command in asked.items():
        ran = pegboard(*command, "--board", place)
        assert ran.code == 0, ran.err
        found[name] = ran.json["hits"] if name in QUESTIONS else ran.json  # not how long it took
    return found


class Writer:
    """Two processes that are at work on a board: one that puts pairs, and a worker."""

    def __init__(self, place: str) -> None:
        self.pairs = 0
        self._more = threading.Condition()
        self.process = self._start(WRITER, place)
        self.worker = self._start("-m", "pegboard", "worker", "--board", place)
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def _start(self, *command: object) -> "subprocess.Popen[str]":
        return subprocess.Popen(
            [sys.executable, *map(str, command)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def _read(self) -> None:
        assert self.process.stdout
        for line in self.process.stdout:
            with self._more:
                self.pairs = int(line)
                self._more.notify_all()

    def await_more(self, count: int) -> int:
        """So many pairs more than now; how many there are then."""
        with self._more:
            wanted = self.pairs + count
            assert self._more.wait_for(lambda: self.pairs >= wanted, BOUND), "the writer stands"
            return self.pairs

    def stop(self) -> None:
        for process in (self.process, self.worker):
            assert process.stdin
            process.stdin.close()
        self._reader.join(BOUND)
        self.worker.terminate()
        for process in (self.process, self.worker):
            process.wait(BOUND)
            assert process.stdout
            process.stdout.close()
        assert self.process.returncode == 0


@contextmanager
def at_work(place: str) -> Iterator[Writer]:
    writer = Writer(place)
    try:
        yield writer
    finally:
        writer.stop()


def pairs_on(place: str) -> int:
    """How many pairs a board has; none may be torn apart."""
    with Pegboard.open(place) as board:
        assert board.check() == []
        names = {entry.item.name for entry in board.store.items.page(0, 100_000)}
    left, right = (
        {name.partition("_")[2] for name in names if name.startswith(f"{half}_")}
        for half in ("left", "right")
    )
    assert left == right
    return len(left)
