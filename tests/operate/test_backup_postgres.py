"""A board in PostgreSQL is dumped while others write it, and restored beside the old one."""

import shutil
from pathlib import Path

import psycopg
import pytest
from operate_parts import at_work, furnish, pairs_on, pegboard, told

from trial_postgres import TrialPostgres

LOGIN = "CREATE ROLE team_a LOGIN; GRANT authenticated TO team_a"
MEMBER = "INSERT INTO logins (login, subject, namespaces) VALUES ('team_a', 'alice', '{team-a}')"
POLICIES = "SELECT schemaname, tablename, policyname, roles::text, cmd, qual FROM pg_policies"
GUARDED = "SELECT count(*) FROM pg_class WHERE relrowsecurity AND relkind IN ('r', 'p')"


@pytest.fixture(scope="module")
def trial():
    """A server whose programs can be run, with a board that its owner, no superuser, made."""
    server = TrialPostgres()
    try:
        server.create()
        server.start()
        for statement in (
            "CREATE ROLE pegboard LOGIN",
            *(f"CREATE ROLE {role} NOLOGIN" for role in ("anon", "authenticated", "service_role")),
            "GRANT anon, authenticated TO pegboard WITH INHERIT FALSE",
            "CREATE DATABASE tools OWNER pegboard",
        ):
            asked(server.url(), statement)
        asked(server.url("tools"), "CREATE EXTENSION vector")
        yield server
    finally:
        server.remove()


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    return tmp_path_factory.mktemp("large") / "files"


@pytest.fixture(scope="module")
def board(trial, large, tmp_path_factory):
    folder = tmp_path_factory.mktemp("made")
    with pytest.MonkeyPatch.context() as environ:
        environ.setenv("PEGBOARD_EMBED_PROVIDER", "test")
        environ.setenv("PEGBOARD_DATA_DIR", str(folder / "own"))
        environ.setenv("PEGBOARD_BLOBS_PLACE", str(large))
        place = trial.url("tools", "pegboard")
        furnish(place, folder)
    asked(trial.url("tools"), LOGIN)
    asked(trial.url("tools"), MEMBER)
    return place


@pytest.fixture(autouse=True)
def settings(monkeypatch, large):
    monkeypatch.setenv("PEGBOARD_EMBED_PROVIDER", "test")
    monkeypatch.setenv("PEGBOARD_BLOBS_PLACE", str(large))


def asked(url, statement):
    with psycopg.connect(url, autocommit=True) as connection:
        cursor = connection.execute(statement)
        return sorted(cursor.fetchall()) if cursor.description else []


def dumped(trial, place, name):
    """Written by the server's own user, who can write nowhere but in its folder."""
    path = trial.folder / name
    trial.run("pg_dump", "--format=custom", f"--file={path}", place)
    return path


def restored(trial, dump: Path, name: str) -> str:
    asked(trial.url(), f"CREATE DATABASE {name} OWNER pegboard")
    trial.run("pg_restore", "--single-transaction", f"--dbname={trial.url(name)}", dump)
    asked(trial.url(name), "ANALYZE")
    return trial.url(name, "pegboard")


def test_a_dump_that_is_restored_says_what_the_board_said(trial, board, large, monkeypatch):
    before = told(board)
    assert [line["name"] for line in before["tokens"]["tokens"]] == ["ci"]
    dump = dumped(trial, board, "quiet.dump")
    monkeypatch.setenv("PEGBOARD_BLOBS_PLACE", str(shutil.copytree(large, large.with_name("copy"))))

    copy = restored(trial, dump, "tools_copy")
    assert told(copy) == before
    well = pegboard("doctor", "--board", copy)
    assert (well.code, "is well" in well.out) == (0, True), well.out + well.err


def test_the_restored_board_keeps_tenants_apart(trial, board):
    copy = restored(trial, dumped(trial, board, "rights.dump"), "tools_rights")
    for query in (POLICIES, GUARDED):
        there = asked(copy, query)
        assert there == asked(board, query)
        assert there
    asked(copy, "UPDATE items SET namespace = 'team-b' WHERE false")  # its owner may
    seen = asked(trial.url("tools_rights", "team_a"), "SELECT DISTINCT namespace FROM items")
    assert seen == [("public",)]
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        asked(trial.url("tools_rights", "team_a"), "SELECT * FROM audit_log")
    with pytest.raises(psycopg.Error, match="audit"):
        asked(copy, "DELETE FROM audit_log")


def test_a_dump_that_is_made_while_others_write_is_whole(trial, board):
    with at_work(board) as writer:
        before = writer.await_more(5)
        dump = dumped(trial, board, "busy.dump")
        writer.await_more(5)
    copy = restored(trial, dump, "tools_busy")
    assert before <= pairs_on(copy) < pairs_on(board)
    assert pegboard("worker", "--once", "--board", copy).code == 0
    assert pegboard("doctor", "--board", copy).code == 0


def test_a_dump_that_was_cut_off_is_refused_and_leaves_no_board(trial, board):
    dump = dumped(trial, board, "cut.dump")
    content = dump.read_bytes()
    dump.write_bytes(content[: len(content) // 2])
    with pytest.raises(RuntimeError, match="pg_restore ended with 1"):
        restored(trial, dump, "tools_cut")
    nothing = pegboard("doctor", "--board", trial.url("tools_cut", "pegboard"))
    assert nothing.code == 4
    assert "there is no board in" in nothing.err
