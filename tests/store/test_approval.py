"""What was approved, what has changed since, and what is held back."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from making import entry_of, hang, in_memory, make_item, word_hits
from pegboard.embed.hashed import HashedEmbedder
from pegboard.model.calls import CensusLine, OnChange
from pegboard.model.items import Drift, EmbeddingStatus, Visibility

OLD = make_item("send", description="Sends a letter.", source="post")
NEW = OLD._replace(description="Sends a letter and reads your mail.", origin_hash="other")


def put(store, embedder, item, on_change):
    return store.items.put([item], embedder.fingerprint, on_change=on_change)


@pytest.mark.parametrize("on_change", list(OnChange))
def test_what_is_seen_for_the_first_time_is_approved(store, embedder, on_change):
    put(store, embedder, OLD, on_change)
    entry = entry_of(store, OLD)
    assert (entry.active, entry.drift) == (True, Drift.NONE)
    assert entry.approved_hash
    assert store.items.changed() == []


def test_a_source_that_is_not_watched_approves_nothing_and_never_drifts(store, embedder):
    put(store, embedder, OLD, None)
    put(store, embedder, NEW, None)
    entry = entry_of(store, NEW)
    assert (entry.approved_hash, entry.drift, entry.active) == ("", Drift.NONE, True)


def test_with_warn_a_changed_tool_stays_and_is_marked_with_what_it_was(store, embedder):
    put(store, embedder, OLD, OnChange.WARN)
    put(store, embedder, NEW, OnChange.WARN)
    [change] = store.items.changed()
    assert change.entry.item.description == NEW.description
    assert change.approved["description"] == OLD.description
    assert change.entry.active
    assert change.entry.drift is Drift.CHANGED
    assert change.entry.drift_at is not None
    assert [hit.id for hit in word_hits(store, ["letter"])] == [OLD.id]


def test_with_hold_a_changed_tool_can_no_longer_be_found(store, embedder):
    put(store, embedder, OLD, OnChange.HOLD)
    put(store, embedder, NEW, OnChange.HOLD)
    assert word_hits(store, ["letter"]) == []
    assert store.items.named("send") == []
    [change] = store.items.changed()
    assert not change.entry.active
    assert store.tasks.claim(embedder.fingerprint, "me", 10, 60) == []
    assert store.check() == []


def test_with_allow_a_change_is_approved_at_once(store, embedder):
    put(store, embedder, OLD, OnChange.ALLOW)
    put(store, embedder, NEW, OnChange.ALLOW)
    assert store.items.changed() == []
    assert entry_of(store, NEW).drift is Drift.NONE


def test_approving_brings_a_held_tool_back_with_a_task_of_its_own(store, embedder):
    put(store, embedder, OLD, OnChange.HOLD)
    put(store, embedder, NEW, OnChange.HOLD)
    [change] = store.items.changed()
    assert store.items.approve([change.entry], embedder.fingerprint) == 1
    assert [hit.id for hit in word_hits(store, ["letter"])] == [OLD.id]
    assert store.items.changed() == []
    assert entry_of(store, NEW).embedding.status is EmbeddingStatus.PENDING
    assert store.tasks.waiting(embedder.fingerprint) == 1
    assert store.check() == []
    put(store, embedder, NEW, OnChange.HOLD)
    assert store.items.changed() == []


def test_what_changed_again_while_somebody_looked_is_not_approved(store, embedder):
    put(store, embedder, OLD, OnChange.HOLD)
    put(store, embedder, NEW, OnChange.HOLD)
    [seen] = store.items.changed()
    worse = NEW._replace(description="Sends your mail to a stranger.", origin_hash="third")
    put(store, embedder, worse, OnChange.HOLD)
    assert store.items.approve([seen.entry], embedder.fingerprint) == 0
    [change] = store.items.changed()
    assert change.approved["description"] == OLD.description


def test_a_tool_that_changes_back_is_what_was_approved(store, embedder):
    put(store, embedder, OLD, OnChange.HOLD)
    put(store, embedder, NEW, OnChange.HOLD)
    put(store, embedder, OLD, OnChange.HOLD)
    assert store.items.changed() == []
    assert entry_of(store, OLD).active
    assert store.check() == []


def test_a_tool_that_went_and_came_back_changed_is_not_what_was_approved(store, embedder):
    put(store, embedder, OLD, OnChange.HOLD)
    store.items.retire("post", [], time.time() + 1, 0.0)
    put(store, embedder, NEW, OnChange.HOLD)
    [change] = store.items.changed()
    assert change.approved["description"] == OLD.description


def test_a_held_tool_that_disappears_is_missing_and_no_longer_waits_for_approval(store, embedder):
    put(store, embedder, OLD, OnChange.HOLD)
    put(store, embedder, NEW, OnChange.HOLD)
    store.items.retire("post", [], time.time() + 1, 0.0)
    assert store.items.changed() == []
    put(store, embedder, NEW, OnChange.HOLD)
    [change] = store.items.changed()
    assert change.approved["description"] == OLD.description


def test_a_stricter_policy_holds_back_what_changed_under_a_milder_one(store, embedder):
    put(store, embedder, OLD, OnChange.WARN)
    put(store, embedder, NEW, OnChange.WARN)
    store.items.apply_policy("post", OnChange.HOLD)
    assert word_hits(store, ["letter"]) == []
    assert store.check() == []


def test_what_is_held_back_is_not_let_go_by_somebody_with_a_milder_policy(store, embedder):
    put(store, embedder, OLD, OnChange.HOLD)
    put(store, embedder, NEW, OnChange.HOLD)
    store.items.apply_policy("post", OnChange.WARN)
    put(store, embedder, NEW, OnChange.WARN)
    put(store, embedder, NEW._replace(description="Worse.", origin_hash="3"), OnChange.WARN)
    assert word_hits(store, ["letter", "worse"]) == []
    assert not store.items.changed()[0].entry.active


def test_a_policy_that_allows_everything_accepts_what_is_there(store, embedder):
    put(store, embedder, OLD, OnChange.HOLD)
    put(store, embedder, NEW, OnChange.HOLD)
    store.items.apply_policy("post", OnChange.ALLOW)
    assert [hit.id for hit in word_hits(store, ["letter"])] == [OLD.id]
    assert store.items.changed() == []
    put(store, embedder, NEW, OnChange.HOLD)
    assert store.items.changed() == []


def test_what_a_policy_accepts_is_looked_at_by_the_next_sync_which_approves_and_queues_it(
    store, embedder
):
    put(store, embedder, OLD, OnChange.HOLD)
    put(store, embedder, NEW, OnChange.HOLD)
    store.items.apply_policy("post", OnChange.ALLOW)
    assert store.check() == []
    assert store.items.origins("post") != {NEW.origin: NEW.origin_hash}
    put(store, embedder, NEW, OnChange.ALLOW)
    assert entry_of(store, NEW).approved_hash
    assert store.tasks.waiting(embedder.fingerprint) == 1
    put(store, embedder, OLD, OnChange.HOLD)
    assert not store.items.changed()[0].entry.active


def test_accepting_one_source_forgets_nothing_of_another(store, embedder):
    put(store, embedder, OLD, OnChange.WARN)
    put(store, embedder, NEW, OnChange.WARN)
    store.items.retire("post", [], time.time() + 1, 0.0)
    store.items.apply_policy("elsewhere", OnChange.ALLOW)
    put(store, embedder, NEW, OnChange.WARN)
    assert store.items.changed()[0].approved["description"] == OLD.description


def test_a_policy_of_one_source_leaves_the_others_alone(store, embedder):
    put(store, embedder, OLD, OnChange.WARN)
    put(store, embedder, NEW, OnChange.WARN)
    store.items.apply_policy("elsewhere", OnChange.HOLD)
    assert store.items.changed()[0].entry.active


@settings(max_examples=40, deadline=None)
@given(
    st.lists(
        st.tuples(st.sampled_from(["a", "b", "c"]), st.sampled_from([*OnChange, "approve"])),
        max_size=12,
    )
)
def test_whatever_happens_only_approved_definitions_are_offered_under_hold(steps):
    store, embedder = in_memory(), HashedEmbedder()
    approved, held = None, False
    for text, step in steps:
        item = OLD._replace(description=f"Does {text}.", origin_hash=text)
        if step == "approve":
            store.items.approve(
                [each.entry for each in store.items.changed()], embedder.fingerprint
            )
            found = store.items.get(OLD.id, OLD.namespace)
            approved = found.item.description if found else None
            held = False
            continue
        put(store, embedder, item, step)
        if approved is None or step is OnChange.ALLOW:
            approved = item.description
        entry = entry_of(store, item)
        assert (entry.drift is Drift.CHANGED) == (item.description != approved)
        held = entry.drift is Drift.CHANGED and (held or step is OnChange.HOLD)
        assert entry.active is not held
        assert [each.approved["description"] for each in store.items.changed()] == (
            [approved] if entry.drift is Drift.CHANGED else []
        )
    store.close()


def test_the_census_counts_active_public_items_by_source_and_category(store, embedder):
    hang(
        store,
        embedder,
        make_item("a", category="mail"),
        make_item("b", category="mail", namespace="team"),
        make_item("c", category="files"),
        make_item("d", category="files", visibility=Visibility.PRIVATE),
    )
    assert store.items.census(()) == [
        CensusLine("mcptools", "files", 1),
        CensusLine("mcptools", "mail", 2),
    ]
    assert store.items.census(("team",)) == [CensusLine("mcptools", "mail", 1)]


def test_items_are_listed_in_order_page_by_page_also_across_namespaces(store, embedder):
    items = [make_item(name, namespace=space) for name in "ab" for space in ("public", "team")]
    hang(store, embedder, *items, make_item("c", visibility=Visibility.UNLISTED))
    seen, after = [], ("", "")
    for _ in range(5):
        page = store.items.listed([], [], after, 1)
        if not page:
            break
        seen += [(entry.item.id, entry.item.namespace) for entry in page]
        after = seen[-1]
    assert seen == sorted((item.id, item.namespace) for item in items)
    assert store.items.listed(["files"], [], ("", ""), 5) == []
    assert len(store.items.listed(["mail"], ["team"], ("", ""), 5)) == 2
