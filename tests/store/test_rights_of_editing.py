"""Who may tag, edit and remove on a board with several tenants."""

from contextlib import closing

import psycopg
import pytest
from psycopg import errors
from rights_parts import ALICE, AMOS, ANON, BOB, acting

from making import entry_of, make_item
from pegboard.board.curate.editing import Curating, Edit, etag
from pegboard.embed.choose import make_embedder
from pegboard.errors import BoardReadOnly, ChangedMeanwhile, ItemNotFound
from pegboard.model.curation import Event
from pegboard.model.items import CREATED, ItemId, ModelSpec, SourceRecord
from pegboard.store.postgres.store import PostgresStore

MADE = make_item(
    "made",
    id=ItemId("created:mail:made"),
    namespace="a",
    author="alice",
    source=CREATED,
    tags=("post",),
)


@pytest.fixture
def service(postgres_url):
    with closing(PostgresStore(postgres_url)) as store:
        store.ledger.add_source(SourceRecord(CREATED, "created", "", "a"))
        store.items.put([MADE], None)
        yield store


def test_an_author_edits_and_removes_what_is_his_in_no_other_name(service, postgres_url):
    target = make_embedder(ModelSpec("test"), environ={}).fingerprint
    service.tasks.adopt(target)
    with closing(PostgresStore(postgres_url, caller=ALICE)) as alice:
        entry = entry_of(alice, MADE)
        said = Edit(tags=("money",) * 2 + ("t" * 2_000,) * 98, description="Mine.", active=False)
        entry = alice.curation.edit(entry, said, "bob", target, etag(entry))
        assert entry.item.tags == said.tags
        assert (entry.tags_override_by, entry.override_by, entry.off_by) == ("alice",) * 3
        with pytest.raises(ChangedMeanwhile):
            alice.curation.edit(entry, said, "bob", target, "another mark")
        assert alice.items.put([MADE], target).unchanged == 1
        taken_back = Edit(tags=None, description=None, active=None)
        entry = alice.curation.edit(entry, taken_back, "bob", target)
        assert (entry.item, entry.active, entry.tags_override_by) == (MADE, True, "")
        assert service.check() == []
        assert alice.curation.remove(entry, "bob", etag(entry))
        assert not alice.curation.remove(entry, "bob")
        assert alice.curation.history(MADE.id) == []  # it goes with what she could see
    [last, *_] = service.curation.history(MADE.id)
    assert (last.event, last.by) == (Event.REMOVED, "alice")
    assert service.check() == []


@pytest.mark.parametrize(
    ("caller", "told"),
    [
        (AMOS, "not yours to change"),
        (BOB, "not yours to change"),
        (ANON, "does not allow this"),
    ],
    ids=["member", "stranger", "anon"],
)
def test_nobody_edits_or_removes_what_is_anothers(service, postgres_url, caller, told):
    known = entry_of(service, MADE)
    with closing(PostgresStore(postgres_url, caller=caller)) as other:
        people = Curating(other, lambda: None)
        for decide in (
            lambda: people.edit(known, Edit(tags=("mine",)), "alice"),
            lambda: people.edit(known, Edit(tags=("mine",)), "alice", "another mark"),
            lambda: people.remove(known, "alice"),
        ):
            with pytest.raises((ItemNotFound, BoardReadOnly), match=told):
                decide()
    assert entry_of(service, MADE) == known
    assert service.curation.history(MADE.id) == []


@pytest.mark.parametrize(
    "change",
    [
        "imported_tags = '{NULL}'",
        "imported_tags = '{{a},{b}}'",
        "tags_override_at = 'infinity'",
        "tags_override_at = '0044-03-15 BC'",
    ],
)
def test_nobody_writes_tags_that_nobody_could_read(service, postgres_url, change):
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        with pytest.raises(errors.InsufficientPrivilege), acting(connection, ALICE):
            connection.execute(f"UPDATE items SET {change}")
        with acting(connection, ALICE):
            done = connection.execute("UPDATE items SET imported_tags = '{a}'")
            assert done.rowcount == 1


def test_only_what_can_happen_is_written_down_as_having_happened(service, postgres_url):
    told = (
        "INSERT INTO item_history (namespace, item_key, item_id, event, who)"
        " SELECT namespace, key, id, %s, %s FROM items"
    )
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        for event in Event:
            with acting(connection, ALICE):
                assert connection.execute(told, [event.value, "alice"]).rowcount == 1
        for event, who in (("tagged", "bob"), ("forgotten", "alice")):
            with pytest.raises(errors.InsufficientPrivilege), acting(connection, ALICE):
                connection.execute(told, [event, who])
