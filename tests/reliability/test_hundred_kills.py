"""Kill -9 at random points of `pegboard sync` and `pegboard worker` while the tools change."""

import random
import subprocess
import time
from pathlib import Path

import pytest
from reliability_parts import (
    BOUND,
    HASHED,
    Machine,
    ToolFolder,
    assert_whole,
    ended,
    killed,
    waiting,
)

from pegboard.store.sqlite.store import SqliteStore

KILLS = 100
SEED = 20_250_611


class Rounds:
    """Each starts a sync and a worker on one board, and kills one of them or both."""

    def __init__(self, machine: Machine, board: Path, typical: float) -> None:
        self.machine = machine
        self.board = board
        self.typical = typical
        self.rng = random.Random(SEED)
        self.kills = 0

    def play(self) -> None:
        environ = {
            "PEGBOARD_EMBED_BATCH_SIZE": str(self.rng.choice([1, 3, 128])),
            "PEGBOARD_SYNC_KEEP_MISSING_DAYS": self.rng.choice(["0", "30"]),
        }
        full = ["--full"] if self.rng.random() < 0.5 else []
        sync = self.machine.start("sync", "--board", self.board, *full, **environ)
        worker = self.machine.start("worker", "--board", self.board, **environ)
        # Late points are the likelier ones: a process spends its first half with imports.
        delay = self.typical * self.rng.triangular(0.0, 1.2, 0.9)
        if self.rng.random() < 0.7:
            self._kill(sync, delay)
        else:
            self._kill(worker, delay)
            code, _, errors = ended(sync)
            assert code == 0, errors
        if worker.poll() is None:
            self._kill(worker, self.rng.uniform(0.0, self.typical / 4))

    def _kill(self, process: subprocess.Popen[bytes], delay: float) -> None:
        try:
            process.wait(timeout=delay)
        except subprocess.TimeoutExpired:
            self.kills += killed(process) == -9
        _, _, errors = ended(process)
        assert "Traceback" not in errors


@pytest.mark.timeout(240)
def test_a_hundred_kills_at_random_points_lose_nothing(
    tmp_path: Path, board: Path, machine: Machine
) -> None:
    tools = ToolFolder(tmp_path / "tools", 60)
    for command in (["init"], ["add", "folder", tools.root], ["sync"]):
        assert machine.pegboard(*command, "--board", board).returncode == 0
    began = time.perf_counter()
    machine.pegboard("sync", "--full", "--board", board)
    rounds = Rounds(machine, board, typical=time.perf_counter() - began)
    cut_short = 0

    for _ in range(2 * KILLS):
        tools.change(rounds.rng)
        rounds.play()
        store = SqliteStore(board)
        assert store.check() == []
        cut_short += waiting(store) > 0 or tools.on(store) != tools.described
        store.close()
        if rounds.kills >= KILLS:
            break

    assert rounds.kills >= KILLS
    assert cut_short > 0, "no kill hit a process at its work: this test has proved nothing"
    synced = machine.pegboard("sync", "--board", board)
    assert synced.returncode == 0, synced.stderr
    store = SqliteStore(board)
    assert tools.on(store) == tools.described
    assert_whole(store, HASHED)
    assert store.tasks.owners() == []
    store.close()
    assert machine.pegboard("doctor", "--board", board).returncode == 0


def test_a_board_whose_making_was_killed_can_be_made_again(
    tmp_path: Path, board: Path, machine: Machine
) -> None:
    rng = random.Random(SEED)
    began = time.perf_counter()
    machine.pegboard("init", "--board", tmp_path / "first.db")
    typical = time.perf_counter() - began
    for number in range(20):
        path = tmp_path / f"{number}.db"
        process = machine.start("init", "--board", path)
        try:
            process.wait(timeout=typical * rng.uniform(0.6, 1.2))
        except subprocess.TimeoutExpired:
            process.kill()
        process.wait(BOUND)
        made = SqliteStore(path, create=True)
        assert made.check() == []
        made.close()
