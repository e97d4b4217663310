"""The tokens of a board, as both stores keep them."""

import apsw
import pytest
from rights_parts import ALICE

from making import by_hand
from pegboard.errors import BoardCorrupt, BoardError, BoardReadOnly
from pegboard.model.calls import Caller, Role
from pegboard.model.tokens import KeptToken, Token
from pegboard.store.postgres.store import PostgresStore

ROBOT = Token("00aa11bb22cc", "robot", Role.AUTHOR, ("team-a", "b/c"), 1_000.0, 2_000.0)
DIGEST = bytes(range(32))


def kept(token=ROBOT, digest=DIGEST):
    return KeptToken(token, digest)


def test_a_token_comes_back_as_it_was_with_its_hash(store):
    assert store.tokens.add(kept())
    assert store.tokens.find(ROBOT.id) == kept()
    assert ROBOT.caller == Caller("robot", ("team-a", "b/c"), Role.AUTHOR)


def test_every_role_can_be_kept_and_a_token_need_not_end(store):
    for role in Role:
        lasting = ROBOT._replace(role=role, expires_at=None, namespaces=())
        assert store.tokens.add(kept(lasting))
        assert store.tokens.listed() == [lasting]
        assert not lasting.expired(1e12)
        store.tokens.remove(ROBOT.id)


def test_tokens_are_listed_by_name(store):
    for number, name in enumerate(("zoe", "ada", "Ünal")):
        assert store.tokens.add(kept(ROBOT._replace(id=f"{number:012x}", name=name)))
    assert [each.name for each in store.tokens.listed()] == ["ada", "zoe", "Ünal"]


@pytest.mark.parametrize("same", [{"id": "000000000000"}, {"name": "other"}])
def test_neither_name_nor_id_is_given_twice(store, same):
    assert store.tokens.add(kept())
    assert not store.tokens.add(kept(ROBOT._replace(**same), bytes(32)))
    assert store.tokens.listed() == [ROBOT]
    assert store.tokens.find(ROBOT.id).digest == DIGEST


def test_to_add_a_token_twice_on_postgres_is_to_add_it_once(postgres_store):
    """A transaction whose end nobody heard of is begun again."""
    assert postgres_store.tokens.add(kept())
    assert postgres_store.tokens.add(kept())
    assert postgres_store.tokens.listed() == [ROBOT]


def test_a_token_that_is_removed_is_not_found_and_its_name_is_free(store):
    store.tokens.add(kept())
    store.tokens.remove(ROBOT.id)
    store.tokens.remove(ROBOT.id)
    assert store.tokens.find(ROBOT.id) is None
    assert store.tokens.add(kept(ROBOT._replace(id="0123456789ab")))


def test_whatever_is_looked_for_nothing_breaks(store):
    store.tokens.add(kept())
    for strange in ("", "nobody", "a\0b", "\ud800", "x" * 100_000, "' OR 1=1 --"):
        assert store.tokens.find(strange) is None
        store.tokens.remove(strange)
    assert store.tokens.listed() == [ROBOT]


def test_the_last_use_only_goes_forward(store):
    store.tokens.add(kept())
    for at, noted in ((500.0, 500.0), (900.0, 900.0), (700.0, 900.0)):
        store.tokens.used(ROBOT.id, at)
        assert store.tokens.find(ROBOT.id).token.used_at == noted
    store.tokens.used("000000000000", 1.0)


def test_the_database_itself_refuses_what_no_token_has(store):
    store.tokens.add(kept())
    for wrong in ("role = 'god'", "digest = substr(digest, 1, 16)"):
        with pytest.raises(Exception, match=r"(?i)constraint"):
            by_hand(store, f"UPDATE board_tokens SET {wrong}")


def test_a_hash_is_all_that_is_kept_of_the_secret(store):
    store.tokens.add(kept())
    [row] = by_hand(store, "SELECT * FROM board_tokens")
    assert len(row) == 8
    assert bytes(row[4]) == DIGEST


def test_callers_with_rights_of_their_own_come_to_no_token(postgres_store, postgres_url):
    postgres_store.tokens.add(kept())
    seen = PostgresStore(postgres_url, caller=ALICE)
    try:
        for act in (
            seen.tokens.listed,
            lambda: seen.tokens.find(ROBOT.id),
            lambda: seen.tokens.add(kept(ROBOT._replace(id="f" * 12, name="x"))),
            lambda: seen.tokens.used(ROBOT.id, 5.0),
            lambda: seen.tokens.remove(ROBOT.id),
        ):
            with pytest.raises(BoardError):
                act()
    finally:
        seen.close()
    assert postgres_store.tokens.listed() == [ROBOT]


def test_a_board_that_cannot_be_written_still_tells_who_may_come_in(sqlite_store):
    sqlite_store.tokens.add(kept())
    path = str(sqlite_store.database.path)
    sqlite_store.database._local.connection = apsw.Connection(path, apsw.SQLITE_OPEN_READONLY)
    assert sqlite_store.tokens.find(ROBOT.id) == kept()
    with pytest.raises(BoardReadOnly):
        sqlite_store.tokens.used(ROBOT.id, 5.0)


def test_a_row_that_cannot_be_read_is_told_as_damage(sqlite_store):
    sqlite_store.tokens.add(kept())
    by_hand(sqlite_store, "UPDATE board_tokens SET namespaces = '[1, {}]'")
    with pytest.raises(BoardCorrupt, match=ROBOT.id):
        sqlite_store.tokens.find(ROBOT.id)
