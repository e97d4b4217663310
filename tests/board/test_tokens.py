"""Tokens as a person makes and ends them, and a gateway checks them."""

import re

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pegboard.board.trust.tokens import (
    KEPT_SECONDS,
    LONGEST_NAME,
    BoardTokens,
    looks_like_token,
)
from pegboard.errors import UsageError
from pegboard.model.calls import Caller, Role


def checked(store, text, later=0.0):
    return BoardTokens(store).check(text, store.now() + later)


def test_a_new_token_is_good_and_says_who_brings_it(store):
    made = BoardTokens(store).make(
        Role.AUTHOR, namespaces=["team-a", "team-a", "b/c"], name="ci robot"
    )
    assert re.fullmatch(r"pegb_[0-9a-f]{12}_[A-Za-z0-9_-]{43}", made.text)
    assert looks_like_token(made.text)
    assert checked(store, made.text) == made.token
    assert made.token.caller == Caller("ci robot", ("team-a", "b/c"), Role.AUTHOR)


def test_no_two_tokens_are_alike_and_each_has_a_name(sqlite_store):
    made = [BoardTokens(sqlite_store).make(Role.READER) for _ in range(5)]
    assert len({each.text for each in made}) == len({each.token.name for each in made}) == 5
    assert all(each.token.name == f"reader-{each.token.id}" for each in made)


def test_what_is_kept_is_not_the_token(sqlite_store):
    made = BoardTokens(sqlite_store).make(Role.ADMIN)
    kept = sqlite_store.tokens.find(made.token.id)
    secret = made.text.rpartition("_")[2].encode()
    assert len(kept.digest) == 32
    assert secret not in kept.digest
    assert made.text not in repr(kept)


def test_a_token_expires(store):
    made = BoardTokens(store).make(Role.READER)
    assert checked(store, made.text, KEPT_SECONDS - 60)
    assert checked(store, made.text, KEPT_SECONDS + 1) is None
    assert BoardTokens(store).still_good(made.token.id, store.now() + KEPT_SECONDS + 1) is None
    assert BoardTokens(store).still_good(made.token.id, store.now()) == made.token


def test_one_that_never_expires_does_not(sqlite_store):
    made = BoardTokens(sqlite_store).make(Role.READER, seconds=None)
    assert checked(sqlite_store, made.text, 1e10)


def test_a_revoked_token_is_not_good_any_more(store):
    made, other = (
        BoardTokens(store).make(Role.ADMIN, name="x"),
        BoardTokens(store).make(Role.ADMIN, name="y"),
    )
    assert BoardTokens(store).revoke(made.token.id) == made.token
    assert checked(store, made.text) is None
    assert BoardTokens(store).still_good(made.token.id, 0.0) is None
    assert checked(store, other.text) == other.token
    assert BoardTokens(store).revoke("y") == other.token
    assert checked(store, other.text) is None


def test_to_revoke_what_is_not_there_is_told(sqlite_store):
    with pytest.raises(UsageError, match="no token ghost") as raised:
        BoardTokens(sqlite_store).revoke("ghost")
    assert "token list" in raised.value.hint


def test_a_name_is_taken_until_its_token_is_revoked(store):
    first = BoardTokens(store).make(Role.READER, name="alice")
    with pytest.raises(UsageError, match="alice already") as raised:
        BoardTokens(store).make(Role.ADMIN, name="alice")
    assert "revoke alice" in raised.value.hint
    BoardTokens(store).revoke("alice")
    second = BoardTokens(store).make(Role.ADMIN, name="alice")
    assert checked(store, first.text) is None
    assert checked(store, second.text).role is Role.ADMIN


BAD_NAMES = {
    "too long": "x" * (LONGEST_NAME + 1),
    "hidden": "al\u200bice",
    "turned round": "\u202eecila",
    "a line break": "a\nb",
    "space around": " a",
    "only space": " ",
    "half a character": "\ud800",
    "who comes from this machine": "local",
    "like the id of another": "0123456789ab",
}


@pytest.mark.parametrize("name", BAD_NAMES.values(), ids=BAD_NAMES.keys())
def test_a_name_that_could_deceive_is_refused(sqlite_store, name):
    with pytest.raises(UsageError):
        BoardTokens(sqlite_store).make(Role.READER, name=name)
    assert sqlite_store.tokens.listed() == []


def test_names_of_all_scripts_are_taken(store):
    for name in ("alice", "Ünal Öz", "山田", "x" * LONGEST_NAME, "a@b.example"):
        assert checked(store, BoardTokens(store).make(Role.READER, name=name).text).name == name


@pytest.mark.parametrize("namespace", ["", "A", "a b", "*", "a/b/c", "x" * 200])
def test_what_is_no_namespace_is_refused(sqlite_store, namespace):
    with pytest.raises(UsageError, match="no namespace"):
        BoardTokens(sqlite_store).make(Role.READER, namespaces=["good", namespace])


def test_there_is_an_end_to_namespaces(sqlite_store):
    with pytest.raises(UsageError, match="101 namespaces"):
        BoardTokens(sqlite_store).make(Role.READER, namespaces=[f"n{each}" for each in range(101)])


@pytest.fixture(scope="module")
def board_with_one(tmp_path_factory):
    from pegboard.store.sqlite.store import SqliteStore

    store = SqliteStore(tmp_path_factory.mktemp("tokens") / "board.db", create=True)
    yield store, BoardTokens(store).make(Role.ADMIN)
    store.close()


@settings(max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.one_of(st.text(max_size=300), st.builds("pegb_{}".format, st.text(max_size=80))))
def test_no_other_text_is_a_token(board_with_one, text):
    store, made = board_with_one
    assert checked(store, text) is None
    assert checked(store, f"{made.text}{text}") is None or not text


@pytest.mark.parametrize("place", [0, 7, 18, 40, 60])
def test_a_token_with_one_wrong_character_is_not_good(board_with_one, place):
    store, made = board_with_one
    other = "A" if made.text[place] != "A" else "B"
    assert checked(store, made.text[:place] + other + made.text[place + 1 :]) is None


@pytest.mark.parametrize(
    "change", [str.upper, str.lower, "{} ".format, " {}".format, "{}\n".format]
)
def test_a_token_that_was_changed_on_the_way_is_not_good(board_with_one, change):
    store, made = board_with_one
    changed = change(made.text)
    assert changed == made.text or checked(store, changed) is None
