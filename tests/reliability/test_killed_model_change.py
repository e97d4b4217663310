"""Killed at any moment of a change of model, a board is searched by the old or the new."""

import random
import subprocess
from pathlib import Path
from typing import NamedTuple

import pytest
from reliability_parts import BOTH, Machine, ToolFolder, by_hand, killed, until

from pegboard.app.pegboard import Pegboard
from pegboard.config.settings import EmbedSettings, Settings
from pegboard.ports.store import Store
from pegboard.store.opening import open_store
from pegboard.store.postgres.store import PostgresStore
from waiting import until as eventually

STORES = BOTH
ROUNDS = {"sqlite": 8, "postgres": 4}
OLD, NEW = 256, 64
TOOLS = 120


class Board(NamedTuple):
    """Where it is, for those who are killed; and its store, for who looks on."""

    place: Path | str
    store: Store

    @property
    def rounds(self) -> int:
        """A server takes longer to ask than a file."""
        return ROUNDS["sqlite" if isinstance(self.place, Path) else "postgres"]


@pytest.fixture
def filled(tmp_path: Path, board: Path | str, store: Store, machine: Machine) -> Board:
    tools = ToolFolder(tmp_path / "tools", TOOLS)
    tools.write("shepherd", "Counts sheep at night.")
    machine.environ["PEGBOARD_EMBED_BATCH_SIZE"] = "4"
    for command in (["add", "folder", tools.root], ["sync"]):
        assert machine.pegboard(*command, "--board", board).returncode == 0
    return Board(board, store)


def vectors(board: Board, dimension: int) -> int:
    counted = by_hand(
        board.store,
        "SELECT count(*) FROM vectors v JOIN fingerprints f ON f.key = v.fingerprint"
        f" WHERE f.dimension = {dimension}",
    )
    return int(counted[0][0])


def choice(board: Board) -> set[str]:
    """Which model is active and which one wanted, by the length of their vectors."""
    found = by_hand(
        board.store,
        "SELECT CASE WHEN f.key = c.active THEN 'active ' ELSE 'wanted ' END || f.dimension"
        " FROM model_choice c JOIN fingerprints f ON f.key IN (c.active, c.wanted)",
    )
    return {said for (said,) in found}


def active(board: Board) -> int:
    [said] = [said for said in choice(board) if said.startswith("active")]
    return int(said.split()[1])


def dead_and_gone(victim: subprocess.Popen[bytes], board: Board) -> None:
    """A server may still finish what it was asked before it sees that nobody waits for it."""
    killed(victim)
    if isinstance(board.store, PostgresStore):
        eventually(lambda: by_hand(board.store, LINES) == [(1,)])


LINES = """SELECT count(*) FROM pg_stat_activity
WHERE datname = current_database() AND backend_type = 'client backend'"""
"""Of these one is our own."""


def assert_searched_by_one(board: Board, dimension: int) -> None:
    """Everything is found by meaning, and by vectors of one length only."""
    settings = Settings(embed=EmbedSettings(provider="test"))
    with Pegboard(open_store(board.place), settings) as pegboard:
        assert pegboard.check() == []
        answer = pegboard.search("counts sheep at night", mode="vector", limit=1000, threshold=0.0)
        assert answer.notices == ()
        assert answer.hits[0].name == "shepherd"
        searching, _ = pegboard.models.searching()
        assert searching is not None
        assert searching.fingerprint.dimension == dimension
    assert vectors(board, dimension) == TOOLS + 1


def test_a_change_of_model_that_is_killed_again_and_again_is_finished_by_the_last(
    filled: Board, machine: Machine
) -> None:
    rng = random.Random(5)
    command = ("model", "use", "test", "--dimension", str(NEW), "--board", filled.place)
    seen = set()

    for _ in range(filled.rounds):
        goal = min(vectors(filled, NEW) + rng.randrange(1, 24), TOOLS + 1)
        victim = machine.start(*command)
        until(victim, lambda goal=goal: vectors(filled, NEW) >= goal)
        dead_and_gone(victim, filled)
        now = active(filled)
        seen.add(now)
        assert_searched_by_one(filled, now)

    assert seen <= {OLD, NEW}
    assert OLD in seen
    done = machine.pegboard(*command)
    assert done.returncode == 0, done.stderr
    assert_searched_by_one(filled, NEW)


def test_killed_around_the_switch_the_board_is_searched_by_the_old_or_the_new(
    filled: Board, machine: Machine
) -> None:
    """There and back again: what is left to do is the switch, and the kill comes close to it."""
    done = machine.pegboard(
        "model", "use", "test", "--dimension", str(NEW), "--board", filled.place
    )
    assert done.returncode == 0, done.stderr
    rng = random.Random(7)

    for _ in range(filled.rounds):
        before = active(filled)
        other = NEW if before == OLD else OLD
        victim = machine.start(
            "model", "use", "test", "--dimension", str(other), "--board", filled.place
        )
        ends = {f"active {other}"} | ({f"wanted {other}"} if rng.random() < 0.5 else set())
        until(victim, lambda ends=ends: not ends.isdisjoint(choice(filled)))
        dead_and_gone(victim, filled)
        now = active(filled)
        assert now in (before, other)
        assert_searched_by_one(filled, now)
