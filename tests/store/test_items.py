import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from making import (
    OTHER_MODEL,
    SOURCE,
    by_hand,
    entry_of,
    hang,
    items,
    json_objects,
    make_file,
    make_item,
    purge,
    retire,
    word_hits,
    work,
)
from pegboard.model.content import Access, Link, Permission, Resource, Signature, Version
from pegboard.model.items import (
    Drift,
    EmbeddingStatus,
    Filters,
    ItemId,
    Kind,
    PutReport,
    SourceRecord,
    ToolType,
    Visibility,
    WordQuery,
)
from pegboard.text import embedding_text, source_hash

relaxed = settings(
    max_examples=100,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
VERSION = Version("1.0.0", "aaa", {"a": 1}, "a: 1", "first", (make_file("a.py"), make_file("b.py")))


def override(store, item, description):
    """A person's edit, made by hand and completed by a put of the same item."""
    edit = "UPDATE items SET manual_override = true, description = :said WHERE id = :id"
    by_hand(store, edit, said=description, id=item.id)
    store.items.put([item], None, rewrite=True)


def start_over(store):
    store.ledger.add_source(SourceRecord(name=SOURCE, kind="test", location=""))
    assert store.ledger.remove_source(SOURCE)


@relaxed
@given(item=items())
def test_what_is_put_comes_back_equal(store, item):
    start_over(store)
    assert store.items.put([item], None) == PutReport(added=1)
    assert entry_of(store, item).item == item
    assert store.check() == []


@relaxed
@given(old=items(id=st.just(ItemId("a:b:c")), namespace=st.just("public")), new=items())
def test_what_is_put_over_something_else_comes_back_equal(store, embedder, old, new):
    new = new._replace(id=old.id, namespace=old.namespace)
    start_over(store)
    store.items.put([old], embedder.fingerprint)
    store.items.put([new], embedder.fingerprint, rewrite=True)
    assert entry_of(store, new).item == new
    assert store.check() == []


CHANGES = {
    "name": "post",
    "kind": Kind.SKILL,
    "description": "Something else.",
    "category": "letters",
    "subcategory": "air",
    "title": "Send a letter",
    "tags": ("post", "Ätna"),
    "aliases": ("post_letter",),
    "tech_stack": ("smtp",),
    "tool_type": ToolType.MCP,
    "input_schema": {"type": "object", "properties": {"to": {"type": "string"}}},
    "output_schema": {"type": "null"},
    "executor": {"command": ["send", "{to}"]},
    "examples": ("send a letter",),
    "body": "A long story.",
    "visibility": Visibility.UNLISTED,
    "author": "Mia",
    "official": True,
    "origin": "mail/moved.py",
    "origin_hash": "another hash",
    "source_protocol": "mcp",
    "endpoint": "/send",
    "keywords": ("dispatch",),
    "routing_domain": "mail",
    "semantic_namespace": "office",
    "sensitivity_tier": "high",
    "target_personas": ("clerk",),
    "semantic_weight": 2.5,
    "skills": ("release-notes",),
    "links": (Link("uses", "mail:post"), Link("see also", "Ätna")),
    "permissions": (Permission(Access.READ, Resource.FILESYSTEM, "~/mail/**"),),
    "deprecated": True,
    "replacement": "mcptools:mail:post",
    "version": VERSION,
    "signature": Signature("mia", "ed25519", "abc", "2030-01-01T00:00:00Z"),
}


@pytest.mark.parametrize(("field", "value"), CHANGES.items(), ids=list(CHANGES))
def test_a_change_of_any_one_field_is_seen_by_the_next_put(store, field, value):
    item = make_item()
    changed = item._replace(**{field: value})
    store.items.put([item], None)
    report = store.items.put([changed], None)
    assert entry_of(store, item).item == changed
    # Where an item was found is noted, but does not make it another item.
    assert report == (
        PutReport(unchanged=1) if field.startswith("origin") else PutReport(changed=1)
    )


def test_every_field_of_an_item_is_among_those_changes():
    fixed = {"id", "namespace", "source"}
    assert set(make_item()._fields) == CHANGES.keys() | fixed


@pytest.mark.parametrize(
    "change",
    [{"version": "1.0.1"}, {"changelog": "second"}, {"manifest_text": "a:   1"}],
    ids=lambda change: next(iter(change)),
)
def test_a_change_of_the_version_alone_is_seen_by_the_next_put(store, change):
    item = make_item(version=VERSION)
    changed = item._replace(version=VERSION._replace(**change))
    store.items.put([item], None)
    store.items.put([changed], None)
    assert entry_of(store, item).item == changed


def test_putting_the_same_again_counts_as_unchanged_and_leaves_the_row_alone(store, embedder):
    item = make_item(version=VERSION)
    [key] = hang(store, embedder, item)
    before = entry_of(store, item)
    assert store.items.put([item], embedder.fingerprint) == PutReport(unchanged=1)
    assert entry_of(store, item) == before
    assert (before.key, before.embedding.status) == (key, EmbeddingStatus.READY)
    assert store.tasks.waiting(embedder.fingerprint) == 0


@relaxed
@given(item=items(), schema=json_objects)
def test_what_comes_back_counts_as_unchanged_when_it_is_put_again(store, item, schema):
    start_over(store)
    item = item._replace(input_schema={"properties": schema})
    store.items.put([item], None)
    assert store.items.put([entry_of(store, item).item], None) == PutReport(unchanged=1)


def test_a_rewrite_writes_what_has_not_changed_and_keeps_its_vector(store, embedder):
    item = make_item()
    hang(store, embedder, item)
    report = store.items.put([item], embedder.fingerprint, rewrite=True)
    assert report == PutReport(unchanged=1)
    assert entry_of(store, item).embedding.status is EmbeddingStatus.READY
    assert store.tasks.waiting(embedder.fingerprint) == 0
    assert store.check() == []


def test_an_origin_that_moved_is_noted_without_touching_the_item(store):
    item = make_item()
    store.items.put([item], None)
    before = entry_of(store, item)
    moved = item._replace(origin="mail/letters/send.py", origin_hash="new")
    store.items.put([moved], None)
    after = entry_of(store, item)
    assert (after.item, after.updated_at) == (moved, before.updated_at)
    assert store.items.origins(SOURCE) == {"mail/letters/send.py": "new"}


def test_one_id_may_hang_once_in_each_namespace(store):
    here, there = make_item(), make_item(namespace="team", description="Ours.")
    assert store.items.put([here, there], None) == PutReport(added=2)
    assert entry_of(store, here).item == here
    assert entry_of(store, there).item == there
    assert store.items.get(here.id, "nowhere") is None


def test_the_last_of_two_with_one_id_in_one_put_stays(store):
    first, second = make_item(), make_item(description="Better.")
    assert store.items.put([first, second], None) == PutReport(added=1, changed=1)
    assert entry_of(store, first).item == second


def test_a_new_item_waits_for_its_vector_with_a_task_of_its_text(store, embedder):
    item = make_item()
    store.items.put([item], embedder.fingerprint)
    entry = entry_of(store, item)
    [task] = store.tasks.claim(embedder.fingerprint, "worker", 10, 60.0)
    assert entry.embedding.status is EmbeddingStatus.PENDING
    assert entry.embedding.source_hash == source_hash(embedding_text(item))
    assert (task.item_key, task.text) == (entry.key, embedding_text(item))
    assert task.source_hash == entry.embedding.source_hash


def test_a_changed_text_replaces_the_task_and_drops_the_vector_at_once(store, embedder):
    item = make_item()
    [key] = hang(store, embedder, item)
    query = embedder.embed_query("letters")
    assert store.index.vector_scores(query, embedder.fingerprint, [key])
    for description in ("Post letters.", "Post parcels."):
        store.items.put([item._replace(description=description)], embedder.fingerprint)
        assert store.index.vector_scores(query, embedder.fingerprint, [key]) == {}
        assert entry_of(store, item).embedding.status is EmbeddingStatus.PENDING
        assert store.tasks.waiting(embedder.fingerprint) == 1
        assert store.check() == []
    [task] = store.tasks.claim(embedder.fingerprint, "worker", 10, 60.0)
    assert "parcels" in task.text


def test_a_change_that_leaves_the_text_alone_keeps_the_vector(store, embedder):
    item = make_item()
    hang(store, embedder, item)
    before = entry_of(store, item)
    store.items.put([item._replace(author="Mia")], embedder.fingerprint)
    after = entry_of(store, item)
    assert after.item.author == "Mia"
    assert after.embedding == before.embedding
    assert store.tasks.waiting(embedder.fingerprint) == 0


def test_a_changed_text_is_found_by_its_new_words_and_not_by_its_old(store):
    item = make_item(description="Send letters.")
    store.items.put([item], None)
    store.items.put([item._replace(description="Post parcels.")], None)
    assert word_hits(store, ["letter"]) == []
    assert [hit.id for hit in word_hits(store, ["parcel"])] == [item.id]


def test_an_item_without_any_text_is_blank_and_gets_no_task(store, embedder):
    item = make_item(name="!", description="", category="")
    store.items.put([item], embedder.fingerprint)
    assert entry_of(store, item).embedding.status is EmbeddingStatus.BLANK
    assert store.tasks.waiting(embedder.fingerprint) == 0


def test_an_item_that_loses_its_text_loses_vector_and_task(store, embedder):
    item = make_item(name="!", category="")
    [key] = hang(store, embedder, item)
    store.items.put([item._replace(description="")], embedder.fingerprint)
    assert entry_of(store, item).embedding.status is EmbeddingStatus.BLANK
    query = embedder.embed_query("!")
    assert store.index.vector_scores(query, embedder.fingerprint, [key]) == {}
    assert store.check() == []


def test_without_a_model_an_item_is_disabled_and_gets_no_task(store, embedder):
    item = make_item()
    store.items.put([item], None)
    assert entry_of(store, item).embedding.status is EmbeddingStatus.DISABLED
    assert store.tasks.waiting(embedder.fingerprint) == 0


def test_a_change_under_another_model_asks_for_a_vector_of_that_model(store, embedder):
    item = make_item()
    hang(store, embedder, item)
    store.items.put([item._replace(author="Mia")], OTHER_MODEL)
    assert entry_of(store, item).embedding.status is EmbeddingStatus.PENDING
    assert store.tasks.claim(embedder.fingerprint, "worker", 10, 60.0) == []
    assert len(store.tasks.claim(OTHER_MODEL, "worker", 10, 60.0)) == 1


def test_an_id_that_another_source_holds_is_refused_and_the_rest_is_put(store):
    mine = make_item()
    theirs = make_item(source="others", origin="theirs.py", origin_hash="h", description="No!")
    other = make_item("post", source="others")
    store.items.put([mine], None)
    report = store.items.put([theirs, other], None)
    [refused] = report.refused
    assert report.added == 1
    assert (refused.source, refused.origin, refused.origin_hash) == ("others", "theirs.py", "h")
    assert refused.code == "id_taken"
    assert mine.id in refused.reason
    assert SOURCE in refused.reason
    assert entry_of(store, mine).item == mine


def test_an_id_that_its_source_gave_up_may_be_taken_over(store):
    mine = make_item()
    theirs = make_item(source="others")
    store.items.put([mine], None)
    retire(store)
    assert store.items.put([theirs], None) == PutReport(changed=1)
    assert entry_of(store, mine).item == theirs


def test_what_a_source_no_longer_has_is_retired_and_cannot_be_found(store, embedder):
    gone, stays = make_item("gone"), make_item("stays")
    keys = hang(store, embedder, gone, stays)
    assert retire(store, stays) == (1, 0)
    entry = entry_of(store, gone)
    assert (entry.active, entry.drift) == (False, Drift.MISSING)
    assert entry.drift_at is not None
    assert store.items.named("gone") == []
    assert store.items.origins(SOURCE) == {stays.origin: stays.origin_hash}
    assert word_hits(store, ["gone"]) == []
    query = embedder.embed_query("gone")
    found = store.index.vector(query, embedder.fingerprint, Filters(), 5)
    assert [hit.key for hit in found] == keys[1:]
    assert store.check() == []


def test_retiring_again_retires_nothing_and_other_sources_are_left_alone(store):
    mine, theirs = make_item("mine"), make_item("theirs", source="others")
    store.items.put([mine, theirs], None)
    assert retire(store) == (1, 0)
    assert retire(store) == (0, 0)
    assert entry_of(store, theirs).active


def test_what_was_put_after_the_scan_began_is_left_alone(store):
    old, new = make_item("old"), make_item("new")
    store.items.put([old], None)
    store.items.put([new], None)
    began = entry_of(store, new).updated_at
    assert entry_of(store, old).updated_at < began
    assert store.items.retire(SOURCE, [], began, 0.0) == (1, 0)
    assert not entry_of(store, old).active
    assert entry_of(store, new).active


def test_a_retired_item_has_no_task_that_a_worker_could_take(store, embedder):
    store.items.put([make_item()], embedder.fingerprint)
    retire(store)
    assert store.tasks.claim(embedder.fingerprint, "worker", 10, 60.0) == []
    assert store.check() == []


def test_an_item_that_comes_back_is_active_again_with_the_vector_it_had(store, embedder):
    item = make_item()
    hang(store, embedder, item)
    retire(store)
    assert store.items.put([item], embedder.fingerprint) == PutReport(changed=1)
    entry = entry_of(store, item)
    assert (entry.active, entry.drift, entry.drift_at) == (True, Drift.NONE, None)
    assert entry.embedding.status is EmbeddingStatus.READY
    assert [hit.id for hit in word_hits(store, ["send"])] == [item.id]


def test_an_item_that_comes_back_before_it_was_embedded_gets_its_task_back(store, embedder):
    item = make_item()
    store.items.put([item], embedder.fingerprint)
    retire(store)
    store.items.put([item], embedder.fingerprint)
    assert len(work(store, embedder)) == 1
    assert store.check() == []


def test_what_went_missing_before_the_given_time_is_removed_with_all_its_parts(store, embedder):
    item = make_item(version=VERSION)
    [key] = hang(store, embedder, item)
    retire(store)
    assert purge(store) == (0, 1)
    assert store.items.get(item.id, item.namespace) is None
    assert store.index.keyword_scores(WordQuery(("send",)), [key]) == {}
    query = embedder.embed_query("send")
    assert store.index.vector_scores(query, embedder.fingerprint, [key]) == {}
    for table in ("item_terms", "item_versions", "version_files", "vectors", "embedding_tasks"):
        assert by_hand(store, f"SELECT count(*) FROM {table}") == [(0,)]
    assert store.check() == []


def test_a_persons_description_wins_over_the_sources(store, embedder):
    item = make_item(description="By the source.")
    store.items.put([item], embedder.fingerprint)
    override(store, item, "By a person.")
    store.items.put([item._replace(description="Anew.", author="Mia")], embedder.fingerprint)
    entry = entry_of(store, item)
    assert entry.item.description == "By a person."
    assert entry.item.author == "Mia"
    assert entry.imported_description == "Anew."
    assert entry.manual_override
    [task] = store.tasks.claim(embedder.fingerprint, "worker", 10, 60.0)
    assert "person" in task.text
    assert [hit.id for hit in word_hits(store, ["person"])] == [item.id]


def test_the_sources_new_description_is_kept_for_the_day_the_override_is_reset(store):
    item = make_item(description="By the source.")
    store.items.put([item], None)
    override(store, item, "By a person.")
    store.items.put([item._replace(description="Anew.", origin_hash="new")], None)
    entry = entry_of(store, item)
    assert entry.item.description == "By a person."
    assert entry.imported_description == "Anew."


def test_an_item_can_be_named_by_id_by_category_and_name_and_by_name(store):
    item = make_item("send letter", category="mail box")
    store.items.put([item, make_item("other")], None)
    for name in (item.id, "mail_box__send_letter", "send letter"):
        assert [entry.item for entry in store.items.named(name)] == [item]
    assert store.items.named("SEND LETTER") == []


def test_knowledge_is_named_by_the_last_part_of_its_id_unless_something_has_that_name(store):
    entry = make_item("Retry", id="knowledge:http:again", kind=Kind.KNOWLEDGE)
    store.items.put([entry, make_item("Tool", id="tools:http:again")], None)
    assert [found.item.name for found in store.items.named("again")] == ["Retry"]
    store.items.put([make_item("again")], None)
    assert [found.item.name for found in store.items.named("again")] == ["again"]


def test_a_name_that_several_items_have_gives_all_of_them_in_order(store):
    letters, parcels = make_item(category="parcels"), make_item(category="letters")
    store.items.put([letters, parcels], None)
    found = [entry.item.id for entry in store.items.named("send")]
    assert found == ["mcptools:letters:send", "mcptools:parcels:send"]


def test_pages_give_every_item_once_in_the_order_of_keys(store):
    put = [make_item(f"tool{n}") for n in range(7)]
    store.items.put(put, None)
    found, after = [], 0
    while page := store.items.page(after, 3):
        assert len(page) <= 3
        after = page[-1].key
        found += page
    assert [entry.item for entry in found] == put
    assert [entry.key for entry in found] == sorted(entry.key for entry in found)
