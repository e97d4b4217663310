"""Tenants that share one place for large files: nobody removes what only others can see."""

import json
import os
import secrets
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import psycopg
import pytest
from blobs_parts import LARGE, content_of, with_file
from psycopg import sql

from making import entry_of, purge
from pegboard.app import Pegboard
from pegboard.calls import Caller
from pegboard.errors import BoardPartlyHidden
from pegboard.settings import Settings
from pegboard.store.blobs.folder import FolderBlobs
from pegboard.store.postgres.store import PostgresStore

OF_B = with_file("theirs", content_of(LARGE), namespace="team-b", author="bob")
LEFT = with_file("left", content_of(LARGE, 2), namespace="team-b", author="bob", source="gone")
SIZE = {"files": 1, "bytes": LARGE}


@pytest.fixture
def place(tmp_path):
    return tmp_path / "shared"


@pytest.fixture
def owner(postgres_url, place):
    """A board with a large file of team-b, and another that nothing refers to; both are old."""
    with closing(PostgresStore(postgres_url, blobs=FolderBlobs(place))) as made:
        made.items.put([OF_B, LEFT], None)
        made.ledger.remove_source("gone")
        for path in files_in(place):
            os.utime(path, (time.time() - 3 * 3600,) * 2)
        yield made


def files_in(place: Path) -> list[Path]:
    return [path for path in place.rglob("*") if path.is_file()]


@pytest.fixture
def login(postgres_server, postgres_url, owner):
    """Makes the address of a new login that has these roles, or these rights."""
    made = []
    with psycopg.connect(postgres_url, autocommit=True) as connection:

        def make(roles: str, rights: str = "") -> str:
            name, password = f"login_{secrets.token_hex(4)}", secrets.token_hex(8)
            made.append(sql.Identifier(name))
            connection.execute(
                sql.SQL("CREATE ROLE {} LOGIN {} PASSWORD {}").format(
                    made[-1], sql.SQL(rights), sql.Literal(password)
                )
            )
            connection.execute(sql.SQL("GRANT {} TO {}").format(sql.SQL(roles), made[-1]))
            connection.execute("INSERT INTO logins VALUES (%s, 'alice', '{team-a}')", [name])
            return f"{postgres_server.address(connection.info.dbname, name)}&password={password}"

        yield make
        for name in made:
            connection.execute(sql.SQL("DROP ROLE {}").format(name))


def doctor(board: str, place: Path, *args: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "pegboard", "doctor", "--board", board, *args],
        env=os.environ
        | {"PEGBOARD_EMBED_PROVIDER": "disabled", "PEGBOARD_BLOBS_PLACE": str(place)},
        capture_output=True,
        text=True,
        timeout=60,
    )


def test_doctor_of_a_tenant_looks_for_no_unused_files_and_says_who_can(owner, login, place):
    team_a = login("authenticated")
    for args in ((), ("--fix",)):
        ran = doctor(team_a, place, *args)
        assert ran.returncode == 0, ran.stderr
        assert "did not look for unused large files" in ran.stdout
        assert "service_role" in ran.stdout
        assert "removed" not in ran.stdout
        assert len(files_in(place)) == 2
    said = json.loads(doctor(team_a, place, "--fix", "--json").stdout)["unused"]
    assert (said["files"], said["bytes"]) == (None, None)
    assert "whole board" in said["not_looked"]
    assert len(files_in(place)) == 2
    assert entry_of(owner, OF_B).item == OF_B


def test_doctor_of_the_owner_removes_what_nobody_refers_to_and_no_more(owner, postgres_url, place):
    assert json.loads(doctor(postgres_url, place, "--json").stdout)["unused"] == SIZE
    ran = doctor(postgres_url, place, "--fix")
    assert "removed 1 large files" in ran.stdout, ran.stderr
    assert [path.read_bytes() for path in files_in(place)] == [content_of(LARGE)]
    assert entry_of(owner, OF_B).item == OF_B


BOUND = pytest.mark.parametrize(
    ("roles", "caller"),
    [
        ("authenticated", None),
        ("anon", None),
        ("service_role, authenticated", Caller("alice", ("team-a",))),
        ("service_role, anon", Caller()),
    ],
)


@BOUND
@pytest.mark.parametrize("remove", [True, False])
def test_whoever_does_not_see_the_whole_board_is_refused(login, place, roles, caller, remove):
    store = PostgresStore(login(roles), caller=caller, blobs=FolderBlobs(place))
    with (
        Pegboard(store, Settings()) as board,
        pytest.raises(BoardPartlyHidden, match="sees the whole board") as refused,
    ):
        board.unused_files(remove=remove)
    assert "service_role" in refused.value.hint
    assert len(files_in(place)) == 2


def test_a_role_that_is_not_put_on_does_not_count(login, postgres_url, place):
    """Its policy holds only for those who have its rights at once."""
    address = login("authenticated")
    name = psycopg.conninfo.conninfo_to_dict(address)["user"]
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute(
            sql.SQL("GRANT service_role TO {} WITH INHERIT FALSE").format(sql.Identifier(name))
        )
    with (
        closing(PostgresStore(address, blobs=FolderBlobs(place))) as store,
        pytest.raises(BoardPartlyHidden),
    ):
        store.unused_files(0.0, remove=True)
    assert len(files_in(place)) == 2


@pytest.mark.parametrize(
    ("roles", "rights"),
    [("service_role", ""), ("authenticated", "BYPASSRLS"), ("authenticated", "SUPERUSER")],
)
def test_whoever_sees_the_whole_board_removes_what_nobody_refers_to(
    owner, login, place, roles, rights
):
    store = PostgresStore(login(roles, rights), blobs=FolderBlobs(place))
    with Pegboard(store, Settings()) as board:
        assert [blob.size for blob in board.unused_files(remove=True)] == [LARGE]
    assert entry_of(owner, OF_B).item == OF_B
    purge(owner)
    purge(owner)
    with closing(PostgresStore(login(roles, rights), blobs=FolderBlobs(place))) as again:
        assert len(again.unused_files(0.0, remove=True)) == 1
    assert files_in(place) == []
