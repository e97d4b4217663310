"""Tags that people give, several decisions at once, removal, and the mark that tells changes."""

import threading
import time
from contextlib import closing

import psycopg
import pytest
from blobs_parts import LARGE, content_of, with_file
from hypothesis import given, settings
from hypothesis import strategies as st

from making import (
    OTHER_MODEL,
    by_hand,
    entry_of,
    hang,
    in_memory,
    items,
    make_file,
    make_item,
    purge,
    retire,
    word_hits,
    work,
)
from pegboard.errors import BoardCorrupt, ChangedMeanwhile
from pegboard.model.calls import OnChange, Outcome
from pegboard.model.content import Link, Version
from pegboard.model.curation import KEEP, Edit, Event, etag
from pegboard.model.items import (
    CREATED,
    Drift,
    EmbeddingStatus,
    Filters,
    ItemId,
    Kind,
    Model,
    ModelSpec,
    PutReport,
)
from pegboard.model.runs import Run
from pegboard.store.blobs.folder import FolderBlobs
from pegboard.store.opening import open_store
from pegboard.store.postgres.opening import upgrade
from pegboard.store.postgres.store import PostgresStore
from pegboard.store.sqlite.store import SqliteStore
from pegboard.text import embedding_text

SEND = make_item("send", description="Sends a letter.", tags=("post", "paper"))
MADE = make_item(
    "made",
    id=ItemId("created:mail:made"),
    source=CREATED,
    version=Version("1.0.0", "h", {"a": 1}, "a: 1", "First.", (make_file(),)),
    links=(Link("uses", "send"),),
)


def events(store, item):
    found = store.curation.history(item.id, item.namespace)
    return [(each.event, each.by, each.detail) for each in found]


def edited(store, item, by="mia", target=None, expected=None, **said):
    return store.curation.edit(entry_of(store, item), Edit(**said), by, target, expected)


def mark(store, item=SEND):
    return etag(entry_of(store, item))


def text_of(entry):
    return entry.key, entry.content_hash, embedding_text(entry.item)


def tagged(store, *tags):
    return store.index.among([entry_of(store, SEND).key], Filters(tags=tags)) != frozenset()


# Tags.


def test_tags_of_ones_own_take_the_place_of_the_sources_everywhere(store, embedder):
    hang(store, embedder, SEND)
    entry = edited(store, SEND, target=embedder.fingerprint, tags=("money", "urgent"))
    assert entry == entry_of(store, SEND)
    assert entry.item == SEND._replace(tags=("money", "urgent"))
    assert (entry.imported_tags, entry.tags_override) == (("post", "paper"), True)
    assert (entry.tags_override_by, entry.tags_override_at > 0) == ("mia", True)
    assert not entry.manual_override
    assert [hit.id for hit in word_hits(store, ["urgent"])] == [SEND.id]
    assert word_hits(store, ["paper"]) == []
    assert tagged(store, "money")
    assert not tagged(store, "post")
    assert store.index.words_like(["urgen"], [], 5).near == ["urgent"]
    assert entry.embedding.status is EmbeddingStatus.PENDING
    assert ["money, urgent" in task.text for task in work(store, embedder)] == [True]
    assert events(store, SEND) == [(Event.TAGGED, "mia", "money, urgent")]
    assert store.check() == []


def test_resetting_brings_back_the_tags_that_the_source_has_now(store, embedder):
    hang(store, embedder, SEND)
    edited(store, SEND, target=embedder.fingerprint, tags=("money",))
    newer = SEND._replace(tags=("parcel",))
    assert store.items.put([newer], embedder.fingerprint) == PutReport(changed=1)
    assert entry_of(store, SEND).imported_tags == ("parcel",)
    assert entry_of(store, SEND).item.tags == ("money",)
    entry = edited(store, SEND, "ben", embedder.fingerprint, tags=None)
    assert (entry.item, entry.imported_tags) == (newer, ("parcel",))
    assert (entry.tags_override, entry.tags_override_at, entry.tags_override_by) == (
        False,
        None,
        "",
    )
    assert [hit.id for hit in word_hits(store, ["parcel"])] == [SEND.id]
    assert word_hits(store, ["money"]) == []
    assert store.check() == []
    assert events(store, SEND)[0] == (Event.RESET, "ben", "tags")


def test_a_sync_updates_everything_but_tags_of_ones_own(store, embedder):
    hang(store, embedder, SEND)
    edited(store, SEND, target=embedder.fingerprint, tags=("money",))
    assert store.items.put([SEND], embedder.fingerprint) == PutReport(unchanged=1)
    richer = SEND._replace(description="Sends a parcel.", keywords=("dispatch",), tags=("new",))
    assert store.items.put([richer], embedder.fingerprint) == PutReport(changed=1)
    entry = entry_of(store, SEND)
    assert entry.item == richer._replace(tags=("money",))
    assert (entry.tags_override, entry.tags_override_by) == (True, "mia")
    assert store.items.put([richer], embedder.fingerprint, rewrite=True) == PutReport(unchanged=1)
    assert entry_of(store, SEND).item == entry.item
    assert store.check() == []


@pytest.mark.parametrize("tags", [(), ("post", "paper")])
def test_no_tags_and_the_sources_own_are_tags_of_ones_own_too(store, tags):
    store.items.put([SEND], None)
    entry = edited(store, SEND, tags=tags)
    assert (entry.item.tags, entry.tags_override) == (tags, True)
    store.items.put([SEND._replace(tags=("new",))], None)
    assert (entry_of(store, SEND).item.tags, entry_of(store, SEND).imported_tags) == (
        tags,
        ("new",),
    )


def test_a_source_that_has_no_tags_any_more_can_be_gone_back_to(store):
    store.items.put([SEND], None)
    edited(store, SEND, tags=("money",))
    store.items.put([SEND._replace(tags=())], None)
    assert (entry_of(store, SEND).imported_tags, entry_of(store, SEND).tags_override) == ((), True)
    assert edited(store, SEND, tags=None).item.tags == ()


def test_versions_and_when_it_was_last_put_stay_when_tags_change(store):
    store.items.put([MADE], None)
    before = entry_of(store, MADE)
    after = edited(store, MADE, tags=("money",))
    assert (after.updated_at, after.created_at) == (before.updated_at, before.created_at)
    assert entry_of(store, MADE).item == MADE._replace(tags=("money",))
    assert store.check() == []


def test_tags_are_no_part_of_what_is_approved(store, embedder):
    put = store.items.put
    put([SEND], embedder.fingerprint, on_change=OnChange.HOLD)
    edited(store, SEND, target=embedder.fingerprint, tags=("money",))
    put([SEND], embedder.fingerprint, on_change=OnChange.HOLD)
    assert entry_of(store, SEND).drift is Drift.NONE
    put([SEND._replace(description="Reads.")], embedder.fingerprint, on_change=OnChange.HOLD)
    entry = edited(store, SEND, target=embedder.fingerprint, tags=("careful",))
    assert (entry.active, entry.drift) == (False, Drift.CHANGED)
    assert store.tasks.claim(embedder.fingerprint, "me", 10, 60) == []
    [change] = store.items.changed()
    assert store.items.approve([change.entry], embedder.fingerprint) == 1
    assert entry_of(store, SEND).item.tags == ("careful",)
    assert store.check() == []


def test_history_shows_only_the_beginning_of_many_tags(store):
    store.items.put([SEND], None)
    edited(store, SEND, tags=tuple(f"tag number {n}" for n in range(100)))
    [(event, _, detail)] = events(store, SEND)
    assert (event, len(detail), detail[-1]) == (Event.TAGGED, 201, "…")


def test_an_item_of_ones_own_words_that_goes_missing_keeps_them(store):
    store.items.put([SEND], None)
    edited(store, SEND, tags=("money",), description="Mine.")
    retire(store)
    store.items.put([SEND], None)
    entry = entry_of(store, SEND)
    assert (entry.item.tags, entry.item.description, entry.active) == (("money",), "Mine.", True)


@pytest.mark.parametrize("spoiled", ["imported_tags", "tags"])
def test_tags_that_cannot_be_read_are_told_with_the_id(sqlite_store, spoiled):
    sqlite_store.items.put([SEND, make_item("other")], None)
    edited(sqlite_store, SEND, tags=("money",))
    by_hand(sqlite_store, f"UPDATE items SET {spoiled} = '{{' WHERE id = :id", id=SEND.id)
    for ask in (
        lambda: sqlite_store.items.put([SEND], None),
        lambda: sqlite_store.items.page(0, 10),
    ):
        with pytest.raises(BoardCorrupt, match=SEND.id):
            ask()
    key = sqlite_store.items.named("other")[0].key
    assert list(sqlite_store.index.entries([key - 1, key])) == [key]
    assert [said for said in sqlite_store.check() if said.startswith(f"{SEND.id} cannot be read")]


def test_a_server_from_before_people_gave_tags_has_those_of_its_sources(empty_database):
    upgrade(empty_database, "here", through=8)
    with psycopg.connect(empty_database) as connection:
        connection.execute(
            "INSERT INTO items (id, name, source, tags) VALUES ('x:y:z', 'z', 'x', '{post}')"
        )
    assert upgrade(empty_database, "here")[0] == "0009_rights_of_editing"
    with closing(PostgresStore(empty_database)) as store:
        entry = store.items.get(ItemId("x:y:z"), "public")
        assert (entry.imported_tags, entry.tags_override) == (("post",), False)
        assert store.curation.edit(entry, Edit(tags=("money",)), "mia", None).tags_override
        assert store.curation.edit(entry, Edit(tags=None), "mia", None).item == entry.item


# Several decisions at once.


def test_everything_is_decided_at_once_and_taken_back_at_once(store, embedder):
    hang(store, embedder, SEND)
    target = embedder.fingerprint
    said = {"description": "Posts a card.", "tags": ("money",), "active": False, "reason": "Slow."}
    entry = edited(store, SEND, target=target, **said)
    assert entry.item == SEND._replace(description="Posts a card.", tags=("money",))
    assert (entry.active, entry.off_by, entry.off_reason) == (False, "mia", "Slow.")
    assert (entry.manual_override, entry.tags_override) == (True, True)
    assert store.tasks.claim(target, "me", 10, 60) == []
    assert word_hits(store, ["card"]) == []
    assert sorted(events(store, SEND)) == [
        (Event.DEACTIVATED, "mia", "Slow."),
        (Event.DESCRIBED, "mia", ""),
        (Event.TAGGED, "mia", "money"),
    ]
    assert store.check() == []
    entry = edited(store, SEND, "ben", target, description=None, tags=None, active=None)
    assert (entry.item, entry.active, entry.off_at) == (SEND, True, None)
    assert sorted(events(store, SEND)[:3]) == [
        (Event.ACTIVATED, "ben", ""),
        (Event.RESET, "ben", ""),
        (Event.RESET, "ben", "tags"),
    ]
    assert [hit.id for hit in word_hits(store, ["letter"])] == [SEND.id]
    work(store, embedder)
    assert entry_of(store, SEND).embedding.status is EmbeddingStatus.READY
    assert store.check() == []


def test_what_is_switched_on_in_other_words_waits_for_the_vector_of_these(store, embedder):
    hang(store, embedder, SEND)
    edited(store, SEND, active=False)
    entry = edited(store, SEND, target=embedder.fingerprint, active=True, tags=("money",))
    assert (entry.active, entry.embedding.status) == (True, EmbeddingStatus.PENDING)
    assert ["money" in task.text for task in work(store, embedder)] == [True]
    assert store.check() == []


@pytest.mark.parametrize(
    "said",
    [
        {},
        {"description": KEEP, "tags": KEEP, "active": KEEP},
        {"description": None},
        {"tags": None},
        {"active": None},
        {"active": True},
    ],
    ids=str,
)
def test_where_there_is_nothing_to_do_nothing_is_done(store, embedder, said):
    hang(store, embedder, SEND)
    before = entry_of(store, SEND)
    assert edited(store, SEND, target=embedder.fingerprint, **said) == before
    assert events(store, SEND) == []
    assert store.check() == []


def test_one_field_is_taken_back_and_the_other_stays(store):
    store.items.put([SEND], None)
    edited(store, SEND, description="Mine.", tags=("money",))
    entry = edited(store, SEND, description=None)
    assert (entry.item, entry.manual_override) == (SEND._replace(tags=("money",)), False)
    edited(store, SEND, description="Mine.")
    entry = edited(store, SEND, tags=None)
    assert (entry.item, entry.tags_override) == (SEND._replace(description="Mine."), False)


# Compared with what was seen.


@pytest.mark.parametrize(
    "said",
    [
        {"description": "Mine."},
        {"tags": ("money",)},
        {"active": False, "reason": "Slow."},
        {"description": "Mine.", "tags": ("money",), "active": False},
        {},
    ],
    ids=str,
)
def test_an_edit_of_what_has_changed_meanwhile_writes_nothing(store, said):
    store.items.put([SEND], None)
    seen = mark(store)
    edited(store, SEND, "ben", description="Of Ben.")
    before, told = entry_of(store, SEND), events(store, SEND)
    with pytest.raises(ChangedMeanwhile, match="has changed since you looked at it"):
        edited(store, SEND, expected=seen, **said)
    assert (entry_of(store, SEND), events(store, SEND)) == (before, told)
    assert store.check() == []
    edited(store, SEND, expected=mark(store), **said)


def test_an_edit_of_what_a_sync_has_changed_meanwhile_writes_nothing(store):
    store.items.put([SEND], None)
    seen = mark(store)
    store.items.put([SEND._replace(input_schema={"type": "object"})], None)
    with pytest.raises(ChangedMeanwhile):
        edited(store, SEND, expected=seen, tags=("money",))
    assert not entry_of(store, SEND).tags_override


def test_of_editors_at_the_same_time_who_saw_the_same_exactly_one_wins(store):
    store.items.put([SEND], None)
    rounds, editors = 8, 4
    start, end = threading.Barrier(editors + 1), threading.Barrier(editors + 1)
    seen, won, lost = [""], [], []

    def write(who):
        for n in range(rounds):
            start.wait(60)
            said = Edit(description=f"{who} {n}", tags=(who, str(n)))
            try:
                entry = store.curation.edit(known, said, who, None, seen[0])
                won.append((n, who, entry.item.description))
            except ChangedMeanwhile:
                lost.append((n, who))
            end.wait(60)

    known = entry_of(store, SEND)
    threads = [threading.Thread(target=write, args=(f"editor{n}",)) for n in range(editors)]
    for thread in threads:
        thread.start()
    for n in range(rounds):
        seen[0] = mark(store)
        start.wait(60)
        end.wait(60)
        [(_, who, described)] = won[n:]
        entry = entry_of(store, SEND)
        assert (entry.item.description, entry.item.tags) == (described, (who, str(n)))
        assert entry.override_by == entry.tags_override_by == who
    for thread in threads:
        thread.join(60)
    assert not any(thread.is_alive() for thread in threads)
    assert (len(won), len(lost)) == (rounds, rounds * (editors - 1))
    assert len(events(store, SEND)) == 2 * rounds
    assert store.check() == []


# The mark.


def test_the_mark_is_the_same_however_the_item_was_read(store):
    store.items.put([MADE], None)
    edited(store, MADE, tags=("money",), description="Mine.")
    whole = entry_of(store, MADE)
    assert whole.item.version.files
    ways = [
        store.items.get(MADE.id, MADE.namespace, files=False),
        *store.items.page(0, 10),
        *store.items.named(MADE.id),
        *store.items.listed((), (), ("", ""), 10),
        *store.index.entries([whole.key]).values(),
    ]
    assert {etag(each) for each in ways} == {etag(whole)}
    assert len(ways) == 5


def test_embedding_upkeep_figures_and_runs_leave_the_mark_alone(store, embedder):
    target = embedder.fingerprint
    store.items.put([SEND, MADE], target)
    seen = mark(store)
    key = entry_of(store, SEND).key
    states = set()

    def same():
        entry = entry_of(store, SEND)
        states.add(entry.embedding.status)
        assert etag(entry) == seen

    for task in store.tasks.claim(target, "me", 10, 60.0):
        store.tasks.fail("me", task, "It broke.", None)
    same()
    store.tasks.revive(key)
    same()
    work(store, embedder)
    same()
    entry = entry_of(store, SEND)
    assert store.tasks.enqueue(target, [text_of(entry)]) == 1  # a refresh
    same()
    store.tasks.claim(target, "me", 10, 60.0)
    store.tasks.release("me", died=True)
    same()
    store.tasks.disable()
    same()
    store.models.want(Model(OTHER_MODEL, ModelSpec("test")), chosen=True)
    store.tasks.adopt(OTHER_MODEL)
    same()
    run = Run(SEND.namespace, SEND.id, "", time.time(), Outcome.FAILED, 1.0, "cli")
    store.runs.record(run)
    by_hand(
        store,
        "UPDATE items SET download_count = 7, quality_score = 0.5, success_rate = 0.5,"
        " estimated_cost_usd = 1.5 WHERE id = :id",
        id=SEND.id,
    )
    assert entry_of(store, SEND).download_count == 7
    same()
    store.items.take_census()
    store.curation.resolve_links()
    store.items.put([SEND], target, rewrite=True)
    store.items.put([SEND._replace(origin_hash="saved again")], target)
    same()
    assert len(states) >= 4, states


def test_every_decision_changes_the_mark(store):
    store.items.put([SEND], None, on_change=OnChange.HOLD)
    marks = [mark(store)]
    changed = SEND._replace(description="Reads your mail.")

    def step(does):
        does()
        marks.append(mark(store))

    for said in (
        {"description": "Mine."},
        {"description": "Mine."},  # and said again
        {"description": None},
        {"tags": ("money",)},
        {"tags": ("money",), "by": "ben"},
        {"tags": None},
        {"active": False},
        {"active": False, "reason": "Slow."},
        {"active": True, "tags": ()},
    ):
        step(lambda said=said: edited(store, SEND, **said))
    step(lambda: store.items.put([changed], None, on_change=OnChange.HOLD))
    step(lambda: store.items.approve([entry_of(store, SEND)], None, "ben"))
    step(lambda: retire(store))
    step(lambda: store.items.put([changed._replace(tags=("new",))], None))
    # What was taken back is as it was, and what was decided twice was decided twice.
    assert marks[3] == marks[0]
    assert len(set(marks)) == len(marks) - 2
    assert marks[6] == marks[0]


@settings(max_examples=50)
@given(items(id=st.just("one"), namespace=st.just("public")), st.data())
def test_whatever_a_source_says_otherwise_changes_the_mark(item, data):
    other = data.draw(items(id=st.just("one"), namespace=st.just("public")))
    field = data.draw(st.sampled_from(sorted({*item._fields} - {"id", "namespace"})))
    said = item._replace(**{field: getattr(other, field)})
    with closing(in_memory()) as store:
        store.items.put([item], None)
        seen = mark(store, item)
        store.items.put([item], None, rewrite=True)
        assert mark(store, item) == seen
        store.items.put([said], None)
        if shown(said) != shown(item):
            assert mark(store, item) != seen


def shown(item):
    """Without what only tells whether to read it again, and what a version's hash stands for."""
    version = item.version and item.version._replace(manifest={}, files=())
    return item._replace(origin_hash="", version=version)


# Removal.


def counted(store, key):
    tables = {
        "item_versions": "item_key",
        "vectors": "item_key",
        "item_links": "item_key",
        "approved_definitions": "item_key",
        "embedding_tasks": "item_key" if isinstance(store, SqliteStore) else "entity_id",
        "item_terms": "rowid" if isinstance(store, SqliteStore) else "item_key",
    }
    return {
        table: by_hand(store, f"SELECT count(*) FROM {table} WHERE {column} = :key", key=key)[0][0]
        for table, column in tables.items()
    } | {"version_files": by_hand(store, "SELECT count(*) FROM version_files")[0][0]}


def test_what_is_removed_is_gone_with_all_that_belongs_to_it(store, embedder):
    [_, key] = hang(store, embedder, SEND, MADE)
    newer = MADE._replace(
        description="Makes more.", version=MADE.version._replace(version="2.0.0", content_hash="i")
    )
    store.items.put([newer], embedder.fingerprint, on_change=OnChange.WARN)
    store.items.put([newer._replace(name="maker")], embedder.fingerprint, on_change=OnChange.WARN)
    work(store, embedder)
    store.tasks.enqueue(embedder.fingerprint, [text_of(entry_of(store, MADE))])
    assert 0 not in counted(store, key).values(), counted(store, key)
    edited(store, MADE, target=embedder.fingerprint, tags=("money",))
    assert store.curation.remove(entry_of(store, MADE), "mia")
    assert set(counted(store, key).values()) == {0}
    assert store.items.get(MADE.id, MADE.namespace) is None
    assert store.items.versions(MADE.id, MADE.namespace) == []
    assert word_hits(store, ["money"]) == word_hits(store, ["makes"]) == []
    assert [hit.id for hit in word_hits(store, ["letter"])] == [SEND.id]
    assert events(store, MADE)[:2] == [
        (Event.REMOVED, "mia", ""),
        (Event.TAGGED, "mia", "money"),
    ]
    assert store.check() == []


def test_what_was_removed_can_come_anew_without_what_was_decided(store, embedder):
    hang(store, embedder, MADE)
    seen = entry_of(store, MADE)
    edited(store, MADE, tags=("money",), active=False)
    assert store.curation.remove(entry_of(store, MADE), "mia")
    assert not store.curation.remove(seen, "ben")
    assert store.curation.edit(seen, Edit(tags=("x",)), "ben", None) is None
    assert store.items.put([MADE], embedder.fingerprint) == PutReport(added=1)
    assert (entry_of(store, MADE).item, entry_of(store, MADE).active) == (MADE, True)
    assert len([each for each in events(store, MADE) if each[0] is Event.REMOVED]) == 1
    assert store.check() == []


def test_what_has_changed_meanwhile_is_not_removed(store):
    store.items.put([MADE], None)
    seen = entry_of(store, MADE)
    edited(store, MADE, tags=("money",))
    with pytest.raises(ChangedMeanwhile):
        store.curation.remove(seen, "mia", etag(seen))
    assert entry_of(store, MADE).item.tags == ("money",)
    assert store.curation.remove(seen, "mia", mark(store, MADE))


def test_what_another_source_has_taken_over_is_not_removed(store):
    store.items.put([MADE], None)
    seen = entry_of(store, MADE)
    retire(store, source=CREATED)
    store.items.put([MADE._replace(source="elsewhere")], None)
    assert not store.curation.remove(seen, "mia")
    assert entry_of(store, MADE).item.source == "elsewhere"
    assert Event.REMOVED not in [event for event, *_ in events(store, MADE)]


def test_the_number_of_what_was_removed_is_no_other_item(store):
    store.items.put([MADE], None)
    seen = entry_of(store, MADE)
    store.curation.remove(seen, "mia")
    other = make_item("other", source=CREATED)
    store.items.put([other], None)  # which may get its number
    assert not store.curation.remove(seen, "mia")
    assert entry_of(store, other).item == other


def test_links_to_what_was_removed_lead_nowhere(store):
    note = make_item("note", kind=Kind.KNOWLEDGE, links=(Link("related", MADE.id),))
    store.items.put([SEND, MADE, note], None)
    store.curation.resolve_links()
    assert store.curation.ties(entry_of(store, note).key)[0].id == MADE.id
    store.curation.remove(entry_of(store, MADE), "mia")
    [tie] = store.curation.ties(entry_of(store, note).key)
    assert (tie.target, tie.id) == (MADE.id, None)
    assert store.curation.ties(entry_of(store, SEND).key) == []
    store.curation.resolve_links()
    assert store.check() == []


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_large_files_of_what_was_removed_are_swept(kind, request, tmp_path):
    where = tmp_path / "board.db" if kind == "sqlite" else request.getfixturevalue("postgres_url")
    board = open_store(where, create=True, blobs=FolderBlobs(tmp_path / "files"))
    one, other = (
        with_file(name, content_of(LARGE, seed), source=CREATED)
        for seed, name in enumerate(("one", "other"))
    )
    board.items.put([one, other], None)
    assert board.unused_files(-60.0) == []
    board.curation.remove(entry_of(board, one), "mia")
    assert len(board.unused_files(-60.0)) == 1
    assert len(board.unused_files(-60.0, remove=True)) == 1
    assert board.unused_files(-60.0) == []
    assert entry_of(board, other).item == other
    assert board.check() == []
    board.close()


def test_of_two_who_remove_one_does_and_an_edit_meanwhile_is_whole_or_not_at_all(store, embedder):
    for n in range(5):
        store.items.put([MADE], embedder.fingerprint)
        seen, start, done = entry_of(store, MADE), threading.Barrier(3), {}

        def act(who, does, start=start, done=done):
            start.wait(60)
            done[who] = does()

        actions = {
            "one": lambda seen=seen: store.curation.remove(seen, "one"),
            "two": lambda seen=seen: store.curation.remove(seen, "two"),
            "ed": lambda seen=seen: store.curation.edit(
                seen, Edit(tags=("money",), description="Mine."), "ed", embedder.fingerprint
            ),
        }
        threads = [threading.Thread(target=act, args=each) for each in actions.items()]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        assert sorted((done["one"], done["two"])) == [False, True]
        assert done["ed"] is None or done["ed"].item.tags == ("money",)
        assert store.items.get(MADE.id, MADE.namespace) is None
        assert store.check() == []
        removed = [by for event, by, _ in events(store, MADE) if event is Event.REMOVED]
        assert len(removed) == n + 1
    assert purge(store) == (0, 0)
