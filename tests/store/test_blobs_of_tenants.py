"""Tenants that share one place for large files.

Nobody removes what only others can see, and nobody's word makes another's file vanish.
"""

import hashlib
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
from psycopg import errors, sql
from rights_parts import acting

from making import entry_of, purge
from pegboard.app.pegboard import Pegboard
from pegboard.config.settings import Settings
from pegboard.errors import BoardPartlyHidden
from pegboard.model.calls import Caller
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


# What a tenant says of a content is no reason not to store it for another.

CONTENT = content_of(LARGE, 3)
DIGEST = hashlib.sha256(CONTENT).hexdigest()
ALICE = Caller("alice", ("team-a",))
MADE_UP = (
    "no/such/key",
    "{board}/{digest}",
    "{board}/00/{digest}-0123abcd",
    "{board}/{start}/{digest}-0123abcd/x",
    "{board}/{start}/{digest}-XYZ",
    "another/{start}/{digest}-0123abcd",
    "../{board}/{start}/{digest}-0123abcd",
)
NOWHERE = "{board}/{start}/{digest}-0123abcd"
"""A key such as a put makes, under which nothing lies."""


@pytest.fixture
def claim(owner, postgres_url):
    """Lets Alice say in plain SQL where this content lies; her own file is small."""
    owner.items.put([with_file("mine", b"small", namespace="team-a", author="alice")], None)
    add = (
        "INSERT INTO version_files (version_key, namespace, path, media_type, sha256, size_bytes,"
        " storage_key) SELECT key, namespace, 'b.bin', 'x/y', %s, 65536, %s FROM item_versions"
        " WHERE namespace = 'team-a'"
    )

    def claimed(key: str, *, by_hand: bool = False) -> None:
        said = key.format(board=owner.files._records.board(), digest=DIGEST, start=DIGEST[:2])
        with psycopg.connect(postgres_url) as connection:
            if by_hand:
                connection.execute(add, [DIGEST, said])
                return
            with acting(connection, ALICE):
                connection.execute(add, [DIGEST, said])

    return claimed


@pytest.mark.parametrize("key", MADE_UP)
def test_a_key_that_no_put_can_have_made_is_refused(claim, key):
    with pytest.raises(errors.InsufficientPrivilege):
        claim(key)


def test_a_key_such_as_a_put_makes_is_not_refused(claim):
    claim(NOWHERE)


@pytest.mark.parametrize("key", [*MADE_UP, NOWHERE])
@pytest.mark.parametrize("namespace", ["team-a", "team-b"])
@pytest.mark.parametrize("rewrite", [True, False])
def test_a_made_up_key_keeps_no_content_from_being_stored(owner, claim, key, namespace, rewrite):
    """Not even in the same namespace, and however the row came there."""
    claim(key, by_hand=True)
    item = with_file("new", CONTENT, namespace=namespace, author="bob")
    owner.items.put([item], None, rewrite=rewrite)
    assert entry_of(owner, item).item == item


def test_a_key_that_is_made_up_between_upload_and_commit_is_not_taken(claim, postgres_url, place):
    class Watched(FolderBlobs):
        def put(self, key, content):
            super().put(key, content)
            claim("{board}/{start}/{digest}-ffffffff", by_hand=True)  # the last in any order

    item = with_file("new", CONTENT, namespace="team-a", author="bob")
    with closing(PostgresStore(postgres_url, blobs=Watched(place))) as store:
        store.items.put([item], None)
        assert entry_of(store, item).item == item


def test_a_content_is_shared_within_a_namespace_and_not_beyond_it(owner, place):
    before = len(files_in(place))
    items = [
        with_file(name, CONTENT, namespace=namespace, author="bob")
        for name, namespace in (("a", "team-b"), ("b", "team-b"), ("c", "team-c"), ("d", "team-c"))
    ]
    for item in items:
        owner.items.put([item], None)
    assert len(files_in(place)) == before + 2
    assert [entry_of(owner, item).item for item in items] == items


def test_one_put_to_several_namespaces_relies_on_none_of_them(owner, claim, place):
    claim(NOWHERE, by_hand=True)
    before = len(files_in(place))
    items = [
        with_file(name, CONTENT, namespace=namespace, author="bob")
        for name, namespace in (("a", "team-a"), ("b", "team-b"))
    ]
    owner.items.put(items, None)
    assert len(files_in(place)) == before + 1
    assert [entry_of(owner, item).item for item in items] == items
