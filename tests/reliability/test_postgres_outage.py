"""The server goes down hard, comes back, or stays away, in the middle of whatever is going on."""

import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest
from reliability_parts import (
    BOUND,
    HASHED,
    Aside,
    Machine,
    ToolFolder,
    assert_whole,
    ended,
    entries,
    held,
    item,
    numbered,
    standing,
    tasks,
    until,
    worker,
)

from pegboard.app.pegboard import Pegboard
from pegboard.config.settings import EmbedSettings, Settings
from pegboard.embed.hashed import HashedEmbedder
from pegboard.errors import BoardUnreachable, exit_code
from pegboard.store.postgres.store import PostgresStore
from trial_postgres import LASTING, TrialPostgres
from waiting import until as eventually

TARGET = HASHED.fingerprint


@pytest.fixture(scope="module")
def server() -> Iterator[TrialPostgres]:
    """One that these tests may stop."""
    trial = TrialPostgres(LASTING, in_memory=True)
    try:
        trial.create()
        trial.start()
        yield trial
    finally:
        trial.remove()


@pytest.fixture
def url(server: TrialPostgres) -> Iterator[str]:
    with psycopg.connect(server.url(), autocommit=True) as connection:
        connection.execute("CREATE DATABASE board")
    yield server.url("board")
    with psycopg.connect(server.url(), autocommit=True) as connection:
        connection.execute("DROP DATABASE board WITH (FORCE)")


@pytest.fixture
def store(url: str) -> Iterator[PostgresStore]:
    made = PostgresStore(url, create=True)
    yield made
    made.close()


@pytest.fixture
def impatient(store: PostgresStore, url: str) -> Iterator[PostgresStore]:
    made = PostgresStore(url, patience=0.5)
    yield made
    made.close()


@contextmanager
def away(server: TrialPostgres) -> Iterator[None]:
    server.stop("immediate")
    yield
    server.start()


def crash(server: TrialPostgres) -> None:
    server.stop("immediate")
    server.start()


class LoggedWarnings(logging.Handler):
    """Hears what is logged, and says when something was."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.said: list[str] = []
        self.gone = threading.Event()

    def emit(self, record: logging.LogRecord) -> None:
        self.said.append(record.getMessage())
        if "is gone" in self.said[-1]:
            self.gone.set()


@pytest.fixture
def warnings() -> Iterator[LoggedWarnings]:
    handler = LoggedWarnings()
    logger = logging.getLogger("pegboard")
    logger.addHandler(handler)
    yield handler
    logger.removeHandler(handler)


def test_a_sync_and_two_workers_outlive_crashes_of_the_server(
    tmp_path: Path, server: TrialPostgres, url: str, machine: Machine
) -> None:
    tools = ToolFolder(tmp_path / "tools", 1000)
    for command in (["init"], ["add", "folder", "--no-sync", tools.root]):
        assert machine.pegboard(*command, "--board", url).returncode == 0
    store = PostgresStore(url)
    small = {"PEGBOARD_EMBED_BATCH_SIZE": "2"}
    workers = [machine.start("worker", "--board", url, **small) for _ in range(2)]
    sync = machine.start("sync", "--board", url, **small)

    until(sync, lambda: len(entries(store)) > 0)
    crash(server)
    assert sync.poll() is None, "the sync was over before the crash"
    until(sync, lambda: held(store) > 0)
    with away(server):
        assert sync.poll() is None, "the sync was over before the crash"

    code, _, said = ended(sync)
    assert code == 0, said
    assert "is gone" in said
    assert "is there again" in said
    until(workers[0], lambda: tasks(store) == [])
    for each in workers:
        each.terminate()
        code, _, said = ended(each)
        assert code == 0, said
        assert "is gone" in said
        assert "is there again" in said
        assert "Traceback" not in said
    assert tools.on(store) == tools.described
    assert_whole(store, HASHED)
    store.close()


@pytest.mark.parametrize(
    "does",
    [
        lambda store: store.items.put([item("new")], TARGET).unchanged <= 1,
        lambda store: len(store.tasks.claim(TARGET, "me", 5, 60.0)) == 5,
        lambda store: store.items.get(item("tool_1").id, "public") is not None,
        lambda store: store.tasks.counts(TARGET).pending == 5,
        lambda store: store.check() == [],
    ],
    ids=["put", "claim", "get", "counts", "check"],
)
def test_what_is_asked_while_the_server_is_down_is_answered_once_it_is_back(
    server: TrialPostgres,
    store: PostgresStore,
    warnings: LoggedWarnings,
    does: Callable[[PostgresStore], bool],
) -> None:
    store.items.put(numbered(5), TARGET)
    with away(server):
        asked = Aside(lambda: does(store))
        assert warnings.gone.wait(BOUND)

    assert asked.result() is True
    assert any("is there again" in said for said in warnings.said)
    assert store.check() == []


def test_a_search_after_the_server_was_restarted_works_as_before(
    server: TrialPostgres, store: PostgresStore
) -> None:
    store.items.put(numbered(5), TARGET)
    worker(store, HASHED).step()
    pegboard = Pegboard(store, Settings(embed=EmbedSettings(provider="test")))
    before = pegboard.search("count the sheep").hits
    assert len(before) == 5

    crash(server)

    assert pegboard.search("count the sheep").hits == before
    assert pegboard.show("tool_1").item.name == "tool_1"


def test_a_worker_finishes_what_it_had_in_hand_when_the_server_crashed(
    server: TrialPostgres, store: PostgresStore
) -> None:
    class Interrupted(HashedEmbedder):
        def embed(self, texts):
            crash(server)
            return super().embed(texts)

    store.items.put(numbered(5), TARGET)
    hand = worker(store, Interrupted(256))

    assert hand.step() is True

    assert hand.report.embedded == 5
    assert_whole(store, HASHED)


def test_a_server_that_stays_away_is_an_error_that_says_so_and_not_for_ever(
    server: TrialPostgres, impatient: PostgresStore
) -> None:
    impatient.items.put(numbered(2), TARGET)
    with away(server):
        for does in (
            lambda: impatient.items.get(item("tool_1").id, "public"),
            lambda: impatient.items.put(numbered(3), TARGET),
            impatient.check,
        ):
            with pytest.raises(BoardUnreachable) as refused:
                does()
            assert exit_code(refused.value) == 4
            assert "/board cannot be reached" in refused.value.message
            assert "No such file" in refused.value.message
            assert "that the server is up" in refused.value.hint

    assert impatient.items.put(numbered(3), TARGET).added == 1
    assert impatient.check() == []


def test_a_worker_waits_for_a_server_that_stays_away_and_goes_on_when_it_is_back(
    server: TrialPostgres, impatient: PostgresStore, warnings: LoggedWarnings
) -> None:
    asked = threading.Event()
    down = threading.Event()

    class Slow(HashedEmbedder):
        def embed(self, texts):
            asked.set()
            down.wait(BOUND)
            return super().embed(texts)

    impatient.items.put(numbered(4), TARGET)
    stop = threading.Event()
    hand = worker(impatient, Slow(256), patience_seconds=0.05)
    running = Aside(lambda: hand.run(stop))
    assert asked.wait(BOUND)
    with away(server):
        down.set()
        eventually(lambda: any("trying again in 0.05 s" in said for said in warnings.said))

    eventually(lambda: standing(impatient) == {"ready": 4})
    stop.set()
    running.result()
    assert hand.report.embedded == 4
    assert_whole(impatient, HASHED)


@pytest.mark.parametrize("command", [["search", "sheep"], ["status"], ["worker", "--once"]])
def test_a_command_says_at_once_that_there_is_no_server(
    machine: Machine, tmp_path: Path, command: list[str]
) -> None:
    nowhere = f"postgresql://me:secret@/board?host={tmp_path}"

    done = machine.pegboard(*command, "--board", nowhere)

    assert done.returncode == 4
    assert "cannot be reached" in done.stderr
    assert "Traceback" not in done.stderr
    assert "secret" not in done.stderr
