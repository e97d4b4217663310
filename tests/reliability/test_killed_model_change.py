"""Killed at any moment of a change of model, a board is searched by the old or the new."""

import random
from pathlib import Path

import pytest
from reliability_parts import Machine, ToolFolder, killed, sql, until

from pegboard.app import Pegboard
from pegboard.config import EmbedSettings, Settings
from pegboard.store.sqlite.store import SqliteStore

ROUNDS = 8
OLD, NEW = 256, 64
TOOLS = 120


@pytest.fixture
def filled(tmp_path: Path, board: Path, machine: Machine) -> Path:
    tools = ToolFolder(tmp_path / "tools", TOOLS)
    tools.write("shepherd", "Counts sheep at night.")
    machine.environ["PEGBOARD_EMBED_BATCH_SIZE"] = "4"
    for command in (["init"], ["add", "folder", tools.root], ["sync"]):
        assert machine.pegboard(*command, "--board", board).returncode == 0
    return board


def vectors(board: Path, dimension: int) -> int:
    counted = sql(
        board,
        "SELECT count(*) FROM vectors v JOIN fingerprints f ON f.key = v.fingerprint"
        " WHERE f.dimension = :dimension",
        {"dimension": dimension},
    )
    return int(counted[0][0])


def choice(board: Path) -> set[str]:
    """Which model is active and which one wanted, by the length of their vectors."""
    found = sql(
        board,
        "SELECT iif(f.key = c.active, 'active ', 'wanted ') || f.dimension"
        " FROM model_choice c JOIN fingerprints f ON f.key IN (c.active, c.wanted)",
    )
    return {said for (said,) in found}


def active(board: Path) -> int:
    [said] = [said for said in choice(board) if said.startswith("active")]
    return int(said.split()[1])


def assert_searched_by_one(board: Path, dimension: int) -> None:
    """Everything is found by meaning, and by vectors of one length only."""
    settings = Settings(embed=EmbedSettings(provider="test"))
    with Pegboard(SqliteStore(board), settings) as pegboard:
        assert pegboard.check() == []
        answer = pegboard.search("counts sheep at night", mode="vector", limit=1000, threshold=0.0)
        assert answer.notices == ()
        assert answer.hits[0].name == "shepherd"
        searching = pegboard.models.searching()
        assert searching is not None
        assert searching.fingerprint.dimension == dimension
    assert vectors(board, dimension) == TOOLS + 1


def test_a_change_of_model_that_is_killed_again_and_again_is_finished_by_the_last(
    filled: Path, machine: Machine
) -> None:
    rng = random.Random(5)
    command = ("model", "use", "test", "--dimension", str(NEW), "--board", filled)
    seen = set()

    for _ in range(ROUNDS):
        goal = min(vectors(filled, NEW) + rng.randrange(1, 24), TOOLS + 1)
        victim = machine.start(*command)
        until(victim, lambda goal=goal: vectors(filled, NEW) >= goal)
        killed(victim)
        now = active(filled)
        seen.add(now)
        assert_searched_by_one(filled, now)

    assert seen <= {OLD, NEW}
    assert OLD in seen
    done = machine.pegboard(*command)
    assert done.returncode == 0, done.stderr
    assert_searched_by_one(filled, NEW)


def test_killed_around_the_switch_the_board_is_searched_by_the_old_or_the_new(
    filled: Path, machine: Machine
) -> None:
    """There and back again: what is left to do is the switch, and the kill comes close to it."""
    done = machine.pegboard("model", "use", "test", "--dimension", str(NEW), "--board", filled)
    assert done.returncode == 0, done.stderr
    rng = random.Random(7)

    for _ in range(ROUNDS):
        before = active(filled)
        other = NEW if before == OLD else OLD
        victim = machine.start("model", "use", "test", "--dimension", str(other), "--board", filled)
        ends = {f"active {other}"} | ({f"wanted {other}"} if rng.random() < 0.5 else set())
        until(victim, lambda ends=ends: not ends.isdisjoint(choice(filled)))
        killed(victim)
        now = active(filled)
        assert now in (before, other)
        assert_searched_by_one(filled, now)
