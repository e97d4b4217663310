"""The log of what was decided, which nobody can change."""

import time

import apsw
import psycopg
import pytest
from release_parts import SEND, publish, release, version, yank

from making import by_hand, entry_of, make_item
from pegboard.errors import BoardError
from pegboard.model.calls import OnChange, Role
from pegboard.model.curation import Edit
from pegboard.model.items import Visibility
from pegboard.model.releases import Action, AuditLine, Decision
from pegboard.model.tokens import KeptToken, Token
from pegboard.store.sqlite.store import SqliteStore


def told(store, **asked):
    """The oldest first, without when."""
    return [tuple(line[1:]) for line in reversed(store.releases.audit(**asked))]


ITEM = ("public", SEND.id)


def test_it_tells_what_was_published_and_taken_back_and_by_whom(store):
    began = time.time()
    publish(store, "1.0.0", "1.1.0")
    store.releases.publish(release("1.0.5"), None, "bob")
    yank(store, "1.1.0", "1.0.5", by="carol", reason="it leaks")
    yank(store, "1.1.0", "1.1.0", yanked=False, by="dora", reason="it does not")
    assert told(store) == [
        ("alice", Action.PUBLISH, *ITEM, "1.0.0", ""),
        ("alice", Action.PUBLISH, *ITEM, "1.1.0", ""),
        ("bob", Action.PUBLISH, *ITEM, "1.0.5", ""),
        ("carol", Action.YANK, *ITEM, "1.1.0", "it leaks"),
        ("dora", Action.UNYANK, *ITEM, "1.1.0", "it does not"),
    ]
    times = [line.at for line in reversed(store.releases.audit())]
    assert times == sorted(times)
    assert began - 60 < times[0] <= times[-1] < time.time() + 60


def test_what_changed_nothing_is_not_in_it(store):
    publish(store, "1.0.0", "1.1.0")
    store.releases.publish(release("1.0.0"), None, "bob")
    store.releases.publish(release("1.0.0", b"other"), None, "bob")
    yank(store, "1.0.0", "1.1.0", yanked=False)
    store.releases.decide(entry_of(store, SEND), Decision(deprecated=False), "bob")
    store.releases.count_download(SEND.id, "public", "1.0.0")
    store.curation.edit(entry_of(store, SEND), Edit(description="Mine."), "bob", None)
    assert len(told(store)) == 2


def test_it_tells_what_was_decided(store):
    publish(store, "1.0.0")
    entry = entry_of(store, SEND)
    everything = Decision(Visibility.UNLISTED, "bob", True, "post")
    for decision in (everything, Decision(replacement=""), Decision(deprecated=False)):
        store.releases.decide(entry, decision, "alice")
    assert told(store)[1:] == [
        ("alice", Action.TRANSFER, *ITEM, "", "alice to bob"),
        ("alice", Action.VISIBILITY, *ITEM, "", "public to unlisted"),
        ("alice", Action.DEPRECATE, *ITEM, "", "use post"),
        ("alice", Action.DEPRECATE, *ITEM, "", ""),
        ("alice", Action.DEPRECATE, *ITEM, "", "no longer"),
    ]


def test_it_outlives_what_it_is_about(store):
    publish(store, "1.0.0")
    assert store.curation.remove(entry_of(store, SEND), "mia")
    assert told(store, item_id=SEND.id) == [
        ("alice", Action.PUBLISH, *ITEM, "1.0.0", ""),
        ("mia", Action.REMOVE, *ITEM, "", ""),
    ]
    store.items.put([make_item("send")], None)
    store.curation.remove(entry_of(store, SEND), "mia")
    assert len(told(store)) == 2  # what was not published comes and goes with its source


def test_it_tells_what_a_person_approved_and_not_what_a_policy_lets_pass(store):
    def changed(words, on_change):
        item = make_item("send", description=words, version=version("1.0.0"))
        store.items.put([item], None, on_change=on_change)

    changed("One.", OnChange.HOLD)
    changed("Two.", OnChange.HOLD)
    assert told(store) == []
    [change] = store.items.changed()
    assert store.items.approve([change.entry], None, "mia") == 1
    assert store.items.approve([change.entry], None, "mia") == 0
    changed("Three.", OnChange.HOLD)
    changed("Four.", OnChange.ALLOW)
    changed("Five.", OnChange.HOLD)
    store.items.apply_policy("tools", OnChange.ALLOW)
    assert told(store) == [("mia", Action.APPROVE, *ITEM, "1.0.0", "")]


def test_it_tells_which_tokens_came_and_went(store):
    def kept(name, *namespaces):
        digest = bytes([len(namespaces)]) * 32
        return KeptToken(Token(f"id{name}", name, Role.READER, namespaces, 1.0), digest)

    assert store.tokens.add(kept("ci", "a", "b"), "mia")
    assert not store.tokens.add(kept("ci"), "mia")
    assert store.tokens.add(kept("other"))
    store.tokens.used("idci", 5.0)
    store.tokens.remove("idci", "mia")
    store.tokens.remove("idci", "mia")
    store.tokens.remove("nothing")
    assert told(store) == [
        ("mia", Action.TOKEN, "", "", "", "new reader ci of a, b"),
        ("", Action.TOKEN, "", "", "", "new reader other"),
        ("mia", Action.TOKEN, "", "", "", "revoked ci"),
    ]


def test_a_line_of_its_own_is_kept_as_it_is(store):
    line = AuditLine(1234.5, "mia\0", Action.TRUST, detail="ada \ud800, bob")
    store.releases.note(line)
    store.releases.note(AuditLine(1.0, "mia", Action.POLICY, "a", "b:c:d", "1.0.0", "require"))
    policy, trust = store.releases.audit()
    assert trust == AuditLine(1234.5, "mia\ufffd", Action.TRUST, detail="ada ?, bob")
    assert policy == AuditLine(1.0, "mia", Action.POLICY, "a", "b:c:d", "1.0.0", "require")
    assert store.releases.audit(action=Action.TRUST) == [trust]
    assert store.releases.audit("b:c:d") == store.releases.audit(namespace="a") == [policy]
    assert store.releases.audit("b:c:d", "b") == store.releases.audit("a\0") == []
    assert store.releases.audit(limit=1) == [policy]
    assert store.releases.audit(limit=-1) == []


CHANGES = [
    "UPDATE audit_log SET who = 'eve'",
    "UPDATE audit_log SET who = 'eve' WHERE false",
    "DELETE FROM audit_log",
    "TRUNCATE audit_log",
    "INSERT OR REPLACE INTO audit_log (key, at, who, action) VALUES (1, 0, 'eve', 'trust')",
    "REPLACE INTO audit_log (key, at, who, action) VALUES (1, 0, 'eve', 'trust')",
    "INSERT INTO audit_log (key, at, who, action) VALUES (1, 0, 'eve', 'trust')"
    " ON CONFLICT (key) DO UPDATE SET who = 'eve'",
]


@pytest.mark.parametrize("change", CHANGES)
def test_nobody_can_change_it_whoever_owns_the_board_among_them(store, change):
    publish(store, "1.0.0")
    before = store.releases.audit()
    refused = (apsw.Error, BoardError, psycopg.Error)
    harmless = "WHERE false" in change and isinstance(store, SqliteStore)  # it changes nothing
    if harmless:
        by_hand(store, change)
    else:
        with pytest.raises(refused):
            by_hand(store, change)
    assert store.releases.audit() == before


def test_also_not_while_triggers_are_said_to_rest(postgres_store):
    publish(postgres_store, "1.0.0")
    for statement in ("DELETE FROM audit_log", "TRUNCATE audit_log"):
        with (
            psycopg.connect(postgres_store.database.url) as connection,
            pytest.raises(psycopg.errors.InsufficientPrivilege, match="never changed"),
        ):
            connection.execute("SET session_replication_role = replica")
            connection.execute(statement)
    assert len(postgres_store.releases.audit()) == 1
