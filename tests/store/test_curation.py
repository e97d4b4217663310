"""What people decide about items, what became of them, and how they refer to one another."""

import threading
import time

import pytest

from making import (
    SOURCE,
    by_hand,
    entry_of,
    hang,
    later,
    make_file,
    make_item,
    purge,
    retire,
    word_hits,
    work,
)
from pegboard.model.calls import OnChange
from pegboard.model.content import Link, Version
from pegboard.model.curation import MOST_EVENTS, Event, LooseLink, Tie
from pegboard.model.items import (
    Drift,
    EmbeddingStatus,
    Filters,
    ItemId,
    Kind,
    PutReport,
    Visibility,
)
from pegboard.store.queries import load

SEND = make_item("send", description="Sends a letter.", keywords=("post",))


def events(store, item):
    found = store.curation.history(item.id, item.namespace)
    return [(each.event, each.by, each.detail) for each in found]


def described(store, item, text, by="mia", target=None):
    return store.curation.describe(entry_of(store, item), text, by, target)


# Descriptions.


def test_a_description_of_ones_own_takes_the_place_of_the_sources_everywhere(store, embedder):
    hang(store, embedder, SEND)
    entry = described(store, SEND, "Posts a card.", target=embedder.fingerprint)
    assert entry == entry_of(store, SEND)
    assert entry.item.description == "Posts a card."
    assert (entry.description_source, entry.manual_override) == ("manual", True)
    assert (entry.override_by, entry.imported_description) == ("mia", "Sends a letter.")
    assert entry.override_at is not None
    assert [hit.id for hit in word_hits(store, ["card"])] == [SEND.id]
    assert word_hits(store, ["letter"]) == []
    assert entry.embedding.status is EmbeddingStatus.PENDING
    assert ["Posts a card." in task.text for task in work(store, embedder)] == [True]
    assert store.check() == []


def test_resetting_brings_back_what_the_source_says_now(store, embedder):
    hang(store, embedder, SEND)
    described(store, SEND, "Posts a card.", target=embedder.fingerprint)
    newer = SEND._replace(description="Sends a parcel.")
    store.items.put([newer], embedder.fingerprint)
    assert entry_of(store, SEND).item.description == "Posts a card."
    entry = described(store, SEND, None, target=embedder.fingerprint)
    assert entry.item == newer
    assert (entry.description_source, entry.manual_override) == ("source", False)
    assert (entry.override_by, entry.override_at) == ("", None)
    assert [hit.id for hit in word_hits(store, ["parcel"])] == [SEND.id]
    assert word_hits(store, ["card"]) == []
    assert store.check() == []
    assert events(store, SEND)[:2] == [(Event.RESET, "mia", ""), (Event.DESCRIBED, "mia", "")]


def test_a_sync_updates_everything_but_the_description_of_ones_own(store, embedder):
    hang(store, embedder, SEND)
    described(store, SEND, "Posts a card.", target=embedder.fingerprint)
    richer = SEND._replace(
        description="Sends a parcel.",
        keywords=("dispatch",),
        target_personas=("clerk",),
        endpoint="POST /letters",
        tags=("mail",),
    )
    assert store.items.put([richer], embedder.fingerprint) == PutReport(changed=1)
    entry = entry_of(store, SEND)
    assert entry.item == richer._replace(description="Posts a card.")
    assert entry.imported_description == "Sends a parcel."
    assert (entry.manual_override, entry.override_by) == (True, "mia")
    assert [hit.id for hit in word_hits(store, ["dispatch"])] == [SEND.id]
    assert store.items.put([richer], embedder.fingerprint) == PutReport(unchanged=1)
    assert store.check() == []


def test_what_search_is_enriched_with_is_not_what_an_agent_reads(store, embedder):
    hang(store, embedder, SEND)
    before = entry_of(store, SEND)
    richer = SEND._replace(
        keywords=("dispatch", "courier"), target_personas=("clerk",), endpoint="POST /letters"
    )
    hang(store, embedder, richer)
    after = entry_of(store, SEND)
    assert after.embedding.source_hash != before.embedding.source_hash
    assert after.item.description == after.imported_description == "Sends a letter."
    assert [hit.id for hit in word_hits(store, ["courier"])] == [SEND.id]


def test_versions_and_files_stay_when_a_description_changes(store):
    version = Version("1.0.0", "h", {"a": 1}, "a: 1", "First.", (make_file(),))
    item = SEND._replace(version=version)
    store.items.put([item], None)
    described(store, item, "Posts a card.")
    assert entry_of(store, item).item == item._replace(description="Posts a card.")
    assert store.check() == []


def test_a_description_leaves_alone_when_the_item_was_last_put(store):
    store.items.put([SEND], None)
    before = entry_of(store, SEND)
    after = described(store, SEND, "Posts a card.")
    assert (after.updated_at, after.created_at) == (before.updated_at, before.created_at)
    assert retire(store) == (1, 0)


def test_an_item_that_is_gone_cannot_be_decided_about(store):
    store.items.put([SEND], None)
    entry = entry_of(store, SEND)
    retire(store)
    purge(store)
    store.items.put([make_item("other")], None)  # which may get its number
    assert store.curation.describe(entry, "Mine.", "mia", None) is None
    assert store.curation.deactivate(entry, "mia", "") is None
    assert store.curation.activate(entry, "mia", None) is None
    assert entry_of(store, make_item("other")).item == make_item("other")


def test_a_held_item_that_is_described_stays_held(store, embedder):
    put = store.items.put
    put([SEND], embedder.fingerprint, on_change=OnChange.HOLD)
    put(
        [SEND._replace(description="Reads your mail.")],
        embedder.fingerprint,
        on_change=OnChange.HOLD,
    )
    entry = described(store, SEND, "Careful with this.", target=embedder.fingerprint)
    assert (entry.active, entry.drift) == (False, Drift.CHANGED)
    [change] = store.items.changed()
    assert change.approved["description"] == "Sends a letter."
    assert store.items.approve([change.entry], embedder.fingerprint, "ben") == 1
    entry = entry_of(store, SEND)
    assert (entry.active, entry.item.description) == (True, "Careful with this.")
    assert events(store, SEND)[0] == (Event.APPROVED, "ben", "")
    assert store.check() == []


# On and off.


def test_what_is_switched_off_cannot_be_found_and_waits_for_no_vector(store, embedder):
    store.items.put([SEND], embedder.fingerprint)
    entry = store.curation.deactivate(entry_of(store, SEND), "mia", "It is too slow.")
    assert (entry.active, entry.drift) == (False, Drift.NONE)
    assert (entry.off_by, entry.off_reason) == ("mia", "It is too slow.")
    assert entry.off_at is not None
    assert word_hits(store, ["letter"]) == []
    assert store.tasks.claim(embedder.fingerprint, "me", 10, 60) == []
    assert store.check() == []


def test_a_sync_keeps_it_off_and_its_content_up_to_date(store, embedder):
    store.items.put([SEND], embedder.fingerprint)
    store.curation.deactivate(entry_of(store, SEND), "mia", "")
    assert store.items.origins(SOURCE) == {SEND.origin: SEND.origin_hash}
    newer = SEND._replace(description="Sends a parcel.", origin_hash="newer")
    assert store.items.put([newer], embedder.fingerprint) == PutReport(changed=1)
    entry = entry_of(store, SEND)
    assert (entry.active, entry.item) == (False, newer)
    assert store.items.put([newer], embedder.fingerprint) == PutReport(unchanged=1)
    assert word_hits(store, ["parcel"]) == []
    assert store.check() == []
    entry = store.curation.activate(entry, "ben", embedder.fingerprint)
    assert (entry.active, entry.off_at, entry.off_by, entry.off_reason) == (True, None, "", "")
    assert [hit.id for hit in word_hits(store, ["parcel"])] == [SEND.id]
    assert len(work(store, embedder)) == 1
    assert store.check() == []
    assert events(store, SEND) == [(Event.ACTIVATED, "ben", ""), (Event.DEACTIVATED, "mia", "")]


def test_a_missing_item_that_returns_is_active_unless_it_was_switched_off(store):
    other = make_item("other")
    store.items.put([SEND, other], None)
    store.curation.deactivate(entry_of(store, SEND), "mia", "")
    assert retire(store) == (2, 0)
    store.items.put([SEND, other], None)
    assert [entry_of(store, each).active for each in (SEND, other)] == [False, True]
    assert entry_of(store, SEND).drift is Drift.NONE


def test_what_is_missing_stays_so_when_it_is_switched_on(store):
    store.items.put([SEND], None)
    store.curation.deactivate(entry_of(store, SEND), "mia", "")
    retire(store)
    entry = store.curation.activate(entry_of(store, SEND), "mia", None)
    assert (entry.active, entry.drift, entry.off_at) == (False, Drift.MISSING, None)
    store.items.put([SEND], None)
    assert entry_of(store, SEND).active


@pytest.mark.parametrize("policy", [OnChange.WARN, OnChange.HOLD])
def test_switching_off_and_on_leaves_a_changed_item_as_it_was(store, embedder, policy):
    store.items.put([SEND], embedder.fingerprint, on_change=policy)
    changed = SEND._replace(description="Reads your mail.")
    store.items.put([changed], embedder.fingerprint, on_change=policy)
    before = entry_of(store, SEND)
    store.curation.deactivate(before, "mia", "")
    store.items.put([changed], embedder.fingerprint, on_change=policy)
    store.curation.activate(entry_of(store, SEND), "mia", embedder.fingerprint)
    after = entry_of(store, SEND)
    assert (after.active, after.drift) == (before.active, before.drift)
    assert after.active is (policy is OnChange.WARN)
    assert store.check() == []


def test_approval_and_policies_do_not_switch_on_what_a_person_switched_off(store, embedder):
    other = make_item("other", description="Sends a letter.")
    for description in ("Sends a letter.", "Reads your mail."):
        new = [each._replace(description=description) for each in (SEND, other)]
        store.items.put(new, embedder.fingerprint, on_change=OnChange.HOLD)
    changes = store.items.changed()  # as somebody saw them before
    for each in (SEND, other):
        store.curation.deactivate(entry_of(store, each), "mia", "")
    [seen] = [change.entry for change in changes if change.entry.item.id == SEND.id]
    assert store.items.approve([seen], embedder.fingerprint) == 1
    store.items.apply_policy(SOURCE, OnChange.ALLOW)
    for each in (SEND, other):
        entry = entry_of(store, each)
        assert (entry.active, entry.drift) == (False, Drift.NONE)
        assert store.curation.activate(entry, "mia", embedder.fingerprint).active
    store.items.put(new, embedder.fingerprint, on_change=OnChange.ALLOW)
    assert store.check() == []


def test_an_id_that_is_switched_off_is_not_free_for_another_source(store):
    store.items.put([SEND], None)
    store.curation.deactivate(entry_of(store, SEND), "mia", "")
    report = store.items.put([SEND._replace(source="elsewhere")], None)
    assert [each.code for each in report.refused] == ["id_taken"]
    retire(store)
    assert store.items.put([SEND._replace(source="elsewhere")], None).refused == ()
    assert not entry_of(store, SEND).active


# History.


def test_coming_and_changing_is_nothing_to_remember(store):
    store.items.put([SEND], None)
    store.items.put([SEND._replace(description="Sends a parcel.")], None)
    assert events(store, SEND) == []


def test_going_and_returning_is_remembered_also_of_what_was_removed(store):
    store.items.put([SEND, make_item("other")], None)
    retire(store, make_item("other"))
    store.items.put([SEND], None)
    retire(store, make_item("other"))
    store.items.retire(SOURCE, [make_item("other").origin], later(), later())
    assert store.items.get(SEND.id, SEND.namespace) is None
    found = [event for event, _, _ in events(store, SEND)]
    assert found == [Event.PURGED, Event.MISSING, Event.RETURNED, Event.MISSING]
    assert events(store, make_item("other")) == []
    moments = [each.at for each in store.curation.history(SEND.id)]
    assert moments == sorted(moments, reverse=True)
    assert abs(moments[0] - time.time()) < 3600


def test_what_a_part_of_a_scan_did_not_see_is_remembered(store):
    store.items.put([SEND], None)
    store.items.retire_under(SOURCE, ["mail"], [], later())
    assert [event for event, _, _ in events(store, SEND)] == [Event.MISSING]


def test_removing_a_source_is_remembered_of_each_of_its_items(store):
    store.items.put([SEND], None)
    store.ledger.remove_source(SOURCE)
    assert events(store, SEND) == [(Event.PURGED, "", f"source {SOURCE} was removed")]


def test_a_change_after_approval_is_remembered_with_what_became_of_it(store, embedder):
    changed = SEND._replace(description="Reads your mail.")
    for item, policy in (
        (SEND, OnChange.WARN),
        (changed, OnChange.WARN),
        (changed, OnChange.WARN),
        (SEND, OnChange.WARN),
        (changed, OnChange.HOLD),
        (changed, OnChange.ALLOW),
    ):
        store.items.put([item], embedder.fingerprint, on_change=policy)
    assert [(event, detail) for event, _, detail in reversed(events(store, SEND))] == [
        (Event.CHANGED, "since it was approved"),
        (Event.RETURNED, "to what was approved"),
        (Event.CHANGED, "since it was approved"),
        (Event.HELD, ""),
        (Event.APPROVED, "every change is allowed"),
    ]


def test_a_policy_that_holds_or_accepts_is_remembered(store, embedder):
    store.items.put([SEND], embedder.fingerprint, on_change=OnChange.WARN)
    changed = SEND._replace(description="Reads your mail.")
    store.items.put([changed], embedder.fingerprint, on_change=OnChange.WARN)
    for policy in (OnChange.HOLD, OnChange.HOLD, OnChange.ALLOW, OnChange.ALLOW):
        store.items.apply_policy(SOURCE, policy)
    found = [event for event, _, _ in events(store, SEND)]
    assert found == [Event.APPROVED, Event.HELD, Event.CHANGED]


def test_only_so_many_events_of_an_item_are_kept(store):
    other = make_item("other")
    store.items.put([SEND, other], None)
    store.curation.deactivate(entry_of(store, other), "mia", "")
    for n in range(MOST_EVENTS // 2 + 5):
        store.curation.deactivate(entry_of(store, SEND), f"mia {n}", "")
        store.curation.activate(entry_of(store, SEND), f"mia {n}", None)
    kept = events(store, SEND)
    assert len(kept) == MOST_EVENTS
    assert kept[0][:2] == (Event.ACTIVATED, f"mia {n}")
    assert len(events(store, other)) == 1


def test_the_same_id_in_two_namespaces_has_two_histories(store):
    there = SEND._replace(namespace="team")
    store.items.put([SEND, there], None)
    store.curation.deactivate(entry_of(store, there), "mia", "")
    assert events(store, SEND) == []
    assert len(events(store, there)) == 1
    assert [each.namespace for each in store.curation.history(SEND.id)] == ["team"]


# Links.


def note(name, *links, **fields):
    fields.setdefault("id", ItemId(f"knowledge:{fields.get('category', 'mail')}:{name}"))
    return make_item(name, kind=Kind.KNOWLEDGE, links=links, **fields)


def skill(name, *uses, **fields):
    links = tuple(Link("uses", each) for each in uses)
    said = {"id": ItemId(f"skills:mail:{name}"), "kind": Kind.SKILL, "links": links}
    return make_item(name, **(said | fields))


def outward(store, item):
    """What the links of an item lead to: an id, or None."""
    found = store.curation.ties(entry_of(store, item).key)
    return {each.target: each.id for each in found if each.outward}


def put(store, *items):
    store.items.put(items, None)
    store.curation.resolve_links()


@pytest.mark.parametrize("target", ["mcptools:mail:send", "mail__send", "send"])
def test_a_link_leads_to_an_item_by_id_by_category_and_name_and_by_name(store, target):
    letters = skill("letters", target)
    put(store, letters, SEND)
    assert outward(store, letters) == {target: SEND.id}
    assert store.curation.loose_links() == []


def test_ties_are_seen_from_both_ends(store):
    first = note("first", Link("extends", "second"), Link("see also", "nowhere"))
    second = note("second")
    put(store, first, second)
    assert store.curation.ties(entry_of(store, first).key) == [
        Tie("extends", True, "second", second.id, "public", "second", Kind.KNOWLEDGE),
        Tie("see also", True, "nowhere"),
    ]
    assert store.curation.ties(entry_of(store, second).key) == [
        Tie("extends", False, "second", first.id, "public", "first", Kind.KNOWLEDGE),
    ]
    loose = LooseLink(SOURCE, "public", first.id, "see also", "nowhere")
    assert store.curation.loose_links() == store.curation.loose_links(SOURCE) == [loose]
    assert store.curation.loose_links("elsewhere") == []


def test_knowledge_is_linked_to_by_the_last_part_of_its_id(store):
    titled = note("How we send letters", id=ItemId("knowledge:mail:z-001"))
    first = note("first", Link("extends", "z-001"))
    letters = skill("letters", "z-001")
    put(store, first, titled, letters)
    assert outward(store, first) == {"z-001": titled.id}
    assert outward(store, letters) == {"z-001": None}


def test_what_links_mean_is_looked_up_and_not_sought_among_all_items(sqlite_store):
    sql = load("sqlite", "curation")["misled"]
    steps = [row[3] for row in sqlite_store.database.rows(f"EXPLAIN QUERY PLAN {sql}")]
    indexes = ("items_id", "items_short_name", "items_name", "items_last_part")
    for index in indexes:
        assert any("SEARCH t" in step and f"INDEX {index} (" in step for step in steps), index
    assert not any("SCAN t" in step or "SCAN i" in step for step in steps)


def test_a_name_that_several_have_leads_nowhere_until_one_is_left(store):
    letters = skill("letters", "send")
    other = make_item("send", category="chat")
    put(store, letters, SEND, other)
    assert outward(store, letters) == {"send": None}
    retire(store, letters, SEND)
    store.curation.resolve_links()
    assert outward(store, letters) == {"send": SEND.id}


def test_of_several_that_have_a_name_those_that_are_meant_come_first(store):
    """Tools for what is used, the same kind for all else, then the same source."""
    letters = skill("send", "send")  # itself is none of them
    directive = make_item("send", kind=Kind.DIRECTIVE, id=ItemId("directives:mail:send"))
    knowing = note("send")
    asking = note("asking", Link("related", "send"))
    put(store, letters, SEND, directive, knowing, asking)
    assert outward(store, letters) == {"send": SEND.id}
    assert outward(store, asking) == {"send": knowing.id}
    elsewhere = SEND._replace(id=ItemId("mcptools:chat:send"), source="elsewhere")
    put(store, elsewhere)
    assert outward(store, letters) == {"send": SEND.id}


def test_a_link_leads_to_its_own_namespace_then_to_the_public_one_and_to_no_other(store):
    letters = skill("letters", "send", namespace="team")
    put(store, letters, SEND._replace(namespace="other"))
    assert outward(store, letters) == {"send": None}
    put(store, SEND)
    assert store.curation.ties(entry_of(store, letters).key)[0].namespace == "public"
    put(store, SEND._replace(namespace="team"))
    assert store.curation.ties(entry_of(store, letters).key)[0].namespace == "team"


def test_a_link_leads_to_nothing_that_its_readers_may_not_see(store):
    hidden = SEND._replace(visibility=Visibility.PRIVATE, author="ben")
    letters, own = skill("letters", "send"), skill("own", "send", author="ben")
    put(store, hidden, letters, own)
    assert outward(store, letters) == {"send": None}
    assert outward(store, own) == {"send": hidden.id}


def test_only_active_items_are_tied(store):
    letters = skill("letters", "send")
    put(store, letters, SEND)
    store.curation.deactivate(entry_of(store, SEND), "mia", "")
    assert outward(store, letters) == {"send": None}
    assert [each.target for each in store.curation.loose_links()] == ["send"]
    store.curation.activate(entry_of(store, SEND), "mia", None)
    assert outward(store, letters) == {"send": SEND.id}
    store.curation.deactivate(entry_of(store, letters), "mia", "")
    assert store.curation.ties(entry_of(store, SEND).key) == []
    assert store.curation.loose_links() == []


def test_what_a_link_means_follows_what_comes_and_goes(store):
    letters = skill("letters", "send")
    put(store, letters)
    assert outward(store, letters) == {"send": None}
    assert store.curation.resolve_links() == 0
    store.items.put([SEND], None)
    assert store.curation.resolve_links() == 1
    assert store.curation.resolve_links() == 0
    retire(store, letters)
    purge(store)
    assert store.items.get(SEND.id, "public") is None
    put(store, letters)
    assert outward(store, letters) == {"send": None}
    assert store.check() == []


def test_links_that_stay_keep_their_meaning_when_others_come_and_go(store):
    letters = skill("letters", "send", "stamp")
    put(store, letters, SEND, make_item("stamp"))
    changed = skill("letters", "send", "weigh", description="Other.")
    store.items.put([changed], None)
    assert outward(store, changed) == {"send": SEND.id, "weigh": None}
    store.items.put([skill("letters")], None)
    assert outward(store, letters) == {}
    store.items.put([skill("letters", "send", "send")], None)
    assert list(outward(store, letters)) == ["send"]


def by_sql(store):
    rows = by_hand(
        store,
        "SELECT from_zettel_id, to_zettel_id, relationship_type FROM knowledge_relationships",
    )
    return sorted(tuple(row) for row in rows)


WRITE = (
    "INSERT INTO knowledge_relationships (from_zettel_id, to_zettel_id, relationship_type)"
    " VALUES (:from, :to, :relation)"
)


def test_what_entries_say_is_read_under_the_name_of_old_beside_what_was_written(postgres_store):
    store = postgres_store
    first = note("first", Link("extends", "second"), Link("extends", "send"), Link("x", "nowhere"))
    second = note("second")
    put(store, first, second, SEND)
    said = (first.id, second.id, "extends")
    assert by_sql(store) == [said]
    by_hand(store, WRITE, **{"from": second.id, "to": first.id, "relation": "contradicts"})
    by_hand(store, WRITE, **dict(zip(("from", "to", "relation"), said, strict=True)))
    written = (second.id, first.id, "contradicts")
    assert by_sql(store) == sorted([said, written])
    by_hand(store, "UPDATE knowledge_relationships SET relationship_type = 'denies'"
            " WHERE relationship_type = 'contradicts'")  # fmt: skip
    assert by_sql(store) == sorted([said, (*written[:2], "denies")])
    for _ in range(2):
        by_hand(store, "DELETE FROM knowledge_relationships")
        assert by_sql(store) == [said]
    store.curation.deactivate(entry_of(store, second), "mia", "")
    assert by_sql(store) == []


def test_what_was_written_for_entries_ties_them_as_well(postgres_store):
    store = postgres_store
    first, second = note("first"), note("second")
    put(store, first, second)
    by_hand(store, WRITE, **{"from": first.id, "to": second.id, "relation": "denies"})
    assert outward(store, first) == {second.id: second.id}
    [tie] = store.curation.ties(entry_of(store, second).key)
    assert (tie.relation, tie.outward, tie.id) == ("denies", False, first.id)
    assert found(store, linked=(first.id,)) == ["second"]
    assert found(store, linked=(second.id,)) == ["first"]


# Filters.


def found(store, **filters):
    """Names of what is left, whichever way it is asked for."""
    chosen = Filters(**filters)
    entries = store.items.page(0, 100)
    left = store.index.among([entry.key for entry in entries], chosen)
    by_keys = sorted(entry.item.name for entry in entries if entry.key in left)
    by_words = sorted(
        hit.id.rpartition(":")[2] for hit in word_hits(store, ["what"], chosen, limit=50)
    )
    assert by_keys == by_words
    return by_keys


def test_tools_of_a_skill_are_those_that_name_it_and_those_it_uses(store):
    letters = skill("letters", "send", "mail__stamp")
    assigned = make_item("weigh", skills=("letters",))
    related = note("letters", Link("uses", "other"))  # no skill
    put(store, letters, SEND, make_item("stamp"), assigned, make_item("other"), related)
    store.items.put([SEND._replace(description="What send does.")], None)
    assert found(store, skills=("letters",)) == ["send", "stamp", "weigh"]
    assert found(store, skills=("letter",)) == []
    assert found(store, skills=("letters",), tags=("x",)) == []
    store.curation.deactivate(entry_of(store, letters), "mia", "")
    assert found(store, skills=("letters",)) == ["weigh"]


def test_what_is_linked_is_found_in_both_directions(store):
    first, second = note("first", Link("extends", "second")), note("second")
    third = skill("third", "knowledge:mail:second")
    put(store, first, second, third, make_item("other"))
    assert found(store, linked=(second.id,)) == ["first", "third"]
    assert found(store, linked=(first.id,)) == ["second"]
    assert found(store, linked=(first.id, second.id)) == ["first", "second", "third"]
    assert found(store, linked=(second.id,), kinds=("skill",)) == ["third"]
    assert found(store, linked=("mcptools:mail:other",)) == []
    assert found(store, linked=("nothing",)) == []


def test_whoever_cannot_see_an_item_does_not_learn_what_it_is_tied_to(store):
    letters = skill("letters", "send", namespace="team")
    hidden = skill("hidden", "send", visibility=Visibility.PRIVATE)
    tool = SEND._replace(description="What send does.")
    put(store, letters, hidden, tool)
    assert found(store, linked=(letters.id,)) == ["send"]
    assert found(store, linked=(letters.id,), namespaces=("public",)) == []
    assert found(store, skills=("letters",)) == ["send"]
    assert found(store, skills=("letters",), namespaces=("public",)) == []
    assert found(store, linked=(hidden.id,)) == []
    assert found(store, skills=("hidden",)) == []


# At the same time.


def together(*steps):
    """All steps at once; whatever one of them raises is raised here."""
    start, raised = threading.Barrier(len(steps)), []

    def run(step):
        start.wait(30)
        try:
            step()
        except BaseException as error:
            raised.append(error)
            raise

    threads = [threading.Thread(target=run, args=(step,)) for step in steps]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert not any(thread.is_alive() for thread in threads)
    assert raised == []


def test_a_description_that_is_set_while_items_are_put_is_not_lost(store, embedder):
    items = [make_item(f"tool{n}") for n in range(20)]
    store.items.put(items, embedder.fingerprint)
    chosen = items[7]

    def sync():
        for n in range(15):
            newer = [each._replace(description=f"Round {n}.", tags=(f"t{n}",)) for each in items]
            store.items.put(newer, embedder.fingerprint)

    def decide():
        for n in range(15):
            described(store, chosen, f"Mine {n}.", target=embedder.fingerprint)

    together(sync, sync, decide)
    entry = entry_of(store, chosen)
    assert (entry.item.description, entry.manual_override) == ("Mine 14.", True)
    assert entry.imported_description == "Round 14."
    assert entry.item.tags == ("t14",)
    assert store.check() == []


def test_switching_off_while_items_are_put_is_not_lost(store, embedder):
    items = [make_item(f"tool{n}") for n in range(10)]
    store.items.put(items, embedder.fingerprint)

    def sync():
        for n in range(10):
            newer = [each._replace(description=f"Round {n}.") for each in items]
            store.items.put(newer, embedder.fingerprint)
            store.items.retire(SOURCE, [each.origin for each in items], later(), 0.0)

    together(sync, lambda: store.curation.deactivate(entry_of(store, items[3]), "mia", ""))
    assert [entry_of(store, each).active for each in items] == [n != 3 for n in range(10)]
    assert store.check() == []


def test_two_who_resolve_links_at_once_agree(store):
    letters = [skill(f"s{n}", *(f"tool{m}" for m in range(n))) for n in range(10)]
    store.items.put([*letters, *(make_item(f"tool{n}") for n in range(9))], None)
    together(store.curation.resolve_links, store.curation.resolve_links)
    assert store.curation.loose_links() == []
    assert store.check() == []
