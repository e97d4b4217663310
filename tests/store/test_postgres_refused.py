"""A server that refuses: a wrong password, too many connections, a full disk."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import psycopg
import pytest

from making import make_item, word_hits, work
from pegboard.errors import BoardBusy, BoardFull, BoardUnreachable, exit_code
from pegboard.store.postgres.store import PostgresStore
from trial_postgres import NOBODY, TrialPostgres
from waiting import until

pytestmark = pytest.mark.server

RULES = "local all locked_out scram-sha-256\nlocal all all trust\n"
MOST = 12
SMALL = "18m"
LARGE = "200m"
END_ALL = "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE datname = 'board'"
"""And wait until they are gone."""


@pytest.fixture(scope="module")
def server() -> Iterator[TrialPostgres]:
    trial = TrialPostgres()
    trial.settings |= {"max_connections": str(MOST), "max_wal_senders": "0"}
    try:
        trial.create()
        (trial.data / "pg_hba.conf").write_text(RULES)
        trial.start()
        run(trial, "CREATE ROLE locked_out SUPERUSER LOGIN PASSWORD 'secret'")
        run(trial, "CREATE DATABASE board")
        PostgresStore(trial.url("board"), create=True).close()
        yield trial
    finally:
        trial.remove()


def run(server: TrialPostgres, statement: str) -> None:
    with psycopg.connect(server.url(), autocommit=True) as connection:
        connection.execute(statement)


def address(server: TrialPostgres, password: str) -> str:
    return server.url("board").replace("postgres@", f"locked_out:{password}@")


def test_the_right_password_opens_the_board_and_is_never_shown(server):
    store = PostgresStore(address(server, "secret"))
    assert "secret" not in str(store.facts())
    store.close()


def test_a_wrong_password_is_an_error_at_once_that_does_not_repeat_it(server, caplog):
    caplog.set_level(0)
    with pytest.raises(BoardUnreachable, match="password authentication failed") as refused:
        PostgresStore(address(server, "sesame"))
    assert "the password" in refused.value.hint
    assert "sesame" not in f"{refused.value} {refused.value.__cause__!r} {caplog.text}"


def test_a_password_that_was_changed_meanwhile_is_an_error_at_once(server, caplog):
    caplog.set_level(0)
    store = PostgresStore(address(server, "secret"))
    assert store.items.page(0, 1) == []
    run(server, "ALTER ROLE locked_out PASSWORD 'other'")
    run(server, END_ALL)
    with pytest.raises(BoardUnreachable, match="password authentication failed"):
        store.items.page(0, 1)
    assert "secret" not in caplog.text
    run(server, "ALTER ROLE locked_out PASSWORD 'secret'")
    assert store.items.page(0, 1) == []
    store.close()


def test_a_server_without_a_free_connection_is_busy_and_says_so(server):
    with closing(PostgresStore(server.url("board"), patience=0.5)) as store:
        with ExitStack() as taken:
            take_all_connections(server, taken)
            for does in (lambda: store.items.page(0, 1), lambda: PostgresStore(store.database.url)):
                with pytest.raises(BoardBusy, match="too many clients") as refused:
                    does()
                assert exit_code(refused.value) == 4
                assert "max_connections" in refused.value.hint
        assert store.items.page(0, 1) == []


def take_all_connections(server: TrialPostgres, taken: ExitStack) -> None:
    """Until none is left to the board: a session that has ended goes a little later."""
    own = taken.enter_context(psycopg.connect(server.url(), autocommit=True))
    nobody_left: list[bool] = []

    def none_is_free() -> bool:
        try:
            taken.enter_context(psycopg.connect(server.url()))
        except psycopg.OperationalError:
            nobody_left.append(not own.execute(END_ALL).fetchall())
        return nobody_left[-25:] == [True] * 25

    until(none_is_free, "that the board finds no connection")


@pytest.fixture
def small_disk(server) -> Iterator[Path]:
    """A folder that takes little, where the server may write."""
    place = server.folder / "small"
    place.mkdir()
    mounted = shutil.which("mount") and subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={SMALL},mode=700,uid={NOBODY}", "none", place],
        capture_output=True,
        timeout=30,
    )
    if os.geteuid() != 0 or not mounted or mounted.returncode:
        pytest.skip("nothing can be mounted here")
    try:
        yield place
        run(server, "DROP DATABASE IF EXISTS full_board WITH (FORCE)")
        run(server, "DROP TABLESPACE IF EXISTS small")
    finally:
        subprocess.run(["umount", place], check=True, timeout=30)


def large(number: int):
    text = " ".join(f"{number}x{n}" for n in range(3000))
    return make_item(f"tool{number}", description=f"Counts {number} sheep.", body=text)


def test_a_full_disk_refuses_the_change_and_loses_nothing(server, small_disk, embedder):
    run(server, f"CREATE TABLESPACE small LOCATION '{small_disk}'")
    run(server, "CREATE DATABASE full_board TEMPLATE template0 TABLESPACE small")
    # A parallel worker that starts on a full disk may fail to write a cache file of its own.
    run(server, "ALTER DATABASE full_board SET max_parallel_workers_per_gather = 0")
    store = PostgresStore(server.url("full_board"), create=True)
    fitted = 0
    with pytest.raises(BoardFull, match="No space left on device") as refused:
        while fitted < 500:
            store.items.put([large(fitted)], embedder.fingerprint)
            fitted += 1
    assert exit_code(refused.value) == 4
    assert "free some space" in refused.value.hint

    assert fitted > 0
    assert len(store.items.page(0, 1000)) == fitted
    assert len(word_hits(store, ["sheep"], limit=1000)) == fitted
    assert store.check() == []

    subprocess.run(["mount", "-o", f"remount,size={LARGE}", small_disk], check=True, timeout=30)
    assert store.items.put([large(fitted)], embedder.fingerprint).added == 1
    while work(store, embedder):
        pass
    assert store.tasks.counts(embedder.fingerprint).ready == fitted + 1
    assert store.check() == []
    store.close()
