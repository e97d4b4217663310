"""Edits and removal as people ask for them, while sources go on saying what they say."""

import threading
from contextlib import closing
from typing import NamedTuple

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from snapshots import SOURCE, Said, sync, tool

from making import in_memory
from pegboard.board.create.drafts import draft_of
from pegboard.board.curate.editing import KEEP, Curating, Edit, etag
from pegboard.embed.hashed import HashedEmbedder
from pegboard.errors import ChangedMeanwhile, ItemNotFound, UsageError
from pegboard.model.calls import Outcome
from pegboard.model.curation import Event
from pegboard.model.items import Drift, EmbeddingStatus, Filters
from pegboard.store.opening import open_store

STORES = ("sqlite", "postgres")
REFUND = "mcptools:payments:refund_payment"
FOLD = "created:paper:fold_paper"
MANIFEST = {
    "tool_id": "fold_paper",
    "tool_type": "python",
    "category": "paper",
    "description": "Fold a sheet of paper into a crane.",
    "tags": ["craft"],
    "parameters": [{"name": "sheet", "type": "string", "required": True}],
}
CODE = "def run(sheet):\n    return sheet + ' crane'\n"


def found(board, query, **filters):
    return [hit.name for hit in board.search(query, mode="bm25", filters=Filters(**filters)).hits]


def make(board, code=CODE, **said):
    return board.create(draft_of(MANIFEST | said, {"main.py": code}), anyway=True)


# Edits.


def test_an_edit_says_several_things_and_syncs_keep_them_until_they_are_taken_back(board, folder):
    seen = etag(board.show(REFUND))
    said = Edit(description="Undo a purchase.", tags=("money", "careful"))
    entry = board.curate.edit("refund_payment", said, "mia", seen)
    assert (entry.item.description, entry.item.tags) == ("Undo a purchase.", ("money", "careful"))
    folder.write("payments/refund_payment", "Give a customer something else.")
    assert board.sync().sources[0].changed == 1
    assert board.sync(full=True).sources[0].unchanged == 6
    assert found(board, "purchase") == found(board, "careful") == ["refund_payment"]
    assert found(board, "undo", tags=("money",)) == ["refund_payment"]
    entry = board.curate.edit(REFUND, Edit(description=None, tags=None), "ben")
    assert entry.item.description == "Give a customer something else."
    assert (entry.item.tags, entry.tags_override) == ((), False)
    assert found(board, "careful") == []
    board.backfill()
    assert board.check() == []
    assert [(each.event, each.by) for each in board.curate.history(REFUND)] == [
        *((Event.RESET, "ben"), (Event.RESET, "ben")),
        *((Event.TAGGED, "mia"), (Event.DESCRIBED, "mia")),
    ]


@pytest.mark.parametrize("place", ["sqlite"], indirect=True)
@pytest.mark.parametrize(
    ("said", "told"),
    [
        (Edit(tags=tuple(map(str, range(101)))), "101 entries; at most 100"),
        (Edit(tags=("x" * 2_001,)), "2,001 characters"),
        (Edit(tags=("mo\u202eney",)), "cannot see"),
        (Edit(tags=("mo\nney",)), "line break"),
        (Edit(tags=("money", " ")), "a tag is empty"),
        (Edit(description=" \n"), "the description is empty"),
        (Edit(description="a\x00b"), "cannot see"),
        (Edit(active=False, reason="a\u202eb"), "cannot see"),
        (Edit(active=False, reason="x" * 2_001), "2,001 characters"),
        (Edit(active=True, reason="why"), "nothing is switched off"),
        (Edit(reason="why"), "nothing is switched off"),
    ],
)
def test_what_the_gate_would_refuse_is_refused_and_the_rest_with_it(board, said, told):
    before = board.show(REFUND)
    for each in (said, said._replace(description=said.description if said.tags is KEEP else "Ok.")):
        with pytest.raises(UsageError, match=told):
            board.curate.edit(REFUND, each, "mia")
    assert board.show(REFUND) == before
    assert board.curate.history(REFUND) == []


def test_tags_are_taken_without_the_space_around_them_and_each_once(board):
    entry = board.curate.tag(REFUND, [" money", "undo ", "money"], "mia")
    assert entry.item.tags == ("money", "undo")
    assert board.curate.tag(REFUND, [], "mia").item.tags == ()
    assert board.curate.tag(REFUND, None, "mia").tags_override is False


def test_an_edit_of_what_has_changed_since_it_was_seen_is_refused(board, folder):
    seen = board.show(REFUND)
    folder.write("payments/refund_payment", "Give a customer something else.")
    board.sync()
    with pytest.raises(ChangedMeanwhile, match=REFUND):
        board.curate.edit(REFUND, Edit(description="Mine.", active=False), "mia", etag(seen))
    with pytest.raises(ChangedMeanwhile):
        board.curate.edit(seen, Edit(), "mia", "no mark at all")
    entry = board.show(REFUND)
    assert (entry.active, entry.manual_override) == (True, False)
    board.curate.edit(seen, Edit(description="Mine."), "mia")  # whatever it has become
    assert board.show(REFUND).item.description == "Mine."


@pytest.mark.program
def test_embedding_refreshing_retrying_and_running_leave_the_mark_alone(opened):
    board = opened()
    make(board)
    board.curate.edit(FOLD, Edit(description="Fold it.", tags=("fold",)), "mia")
    seen = board.show(FOLD)
    assert seen.embedding.status is EmbeddingStatus.PENDING
    board.backfill()
    ready = board.show(FOLD)
    assert ready.embedding.status is EmbeddingStatus.READY
    board.refresh(FOLD)
    board.backfill()
    board.retry(FOLD)
    board.retry(None)
    assert board.call(FOLD, {"sheet": "a"}).outcome is Outcome.OK
    assert board.call(FOLD, {}).outcome is Outcome.INVALID_ARGUMENTS
    assert board.store.runs.counts(FOLD, "public").runs == 2
    board.sync()
    assert {etag(each) for each in (seen, ready, board.show(FOLD))} == {etag(seen)}
    entry = board.curate.edit(FOLD, Edit(tags=("paper",)), "mia", etag(seen))
    assert etag(entry) == etag(board.show(FOLD)) != etag(seen)


def test_what_is_held_back_or_gone_is_not_switched_on_and_says_why(board, folder):
    entry = board.curate.edit(REFUND, Edit(active=True), "mia")
    assert entry.active
    folder.path("payments/refund_payment").unlink()
    board.sync()
    with pytest.raises(UsageError, match="gone from its source"):
        board.curate.edit(REFUND, Edit(active=True, tags=("money",)), "mia")
    assert not board.curate.chosen(REFUND).tags_override
    with pytest.raises(ChangedMeanwhile):
        board.curate.edit(REFUND, Edit(active=True), "mia", etag(entry))
    assert not board.curate.edit(REFUND, Edit(active=None), "mia").active


def test_nothing_is_decided_about_what_is_not_there(board):
    for decide in (
        lambda: board.curate.edit("nothing", Edit(tags=("x",)), "mia"),
        lambda: board.curate.tag("nothing", None, "mia"),
        lambda: board.curate.remove("nothing", "mia"),
    ):
        with pytest.raises(ItemNotFound):
            decide()


# Removal.


@pytest.mark.program
def test_a_tool_that_was_made_here_is_removed_and_can_be_made_again(opened):
    board = opened()
    make(board)
    make(board, CODE + "# newer\n")
    board.curate.tag(FOLD, ["fold"], "mia")
    board.call(FOLD, {"sheet": "a"})
    board.curate.remove("fold_paper", "mia")
    with pytest.raises(ItemNotFound):
        board.show(FOLD)
    with pytest.raises(ItemNotFound):
        board.curate.remove(FOLD, "mia")
    assert found(board, "fold") == []
    assert [(each.event, each.by) for each in board.curate.history(FOLD)] == [
        (Event.REMOVED, "mia"),
        (Event.TAGGED, "mia"),
    ]
    assert board.check() == []
    made = make(board)
    assert (made.state, made.version, made.entry.item.tags) == ("created", "1.0.0", ("craft",))
    assert board.check() == []


def test_what_is_switched_off_can_be_removed_by_its_id(opened):
    board = opened()
    make(board)
    board.curate.deactivate(FOLD, "mia")
    board.curate.remove(FOLD, "mia", etag(board.curate.chosen(FOLD)))
    assert board.store.items.page(0, 10) == []


def test_what_a_source_brings_is_not_removed_and_the_way_out_is_told(board):
    with pytest.raises(UsageError) as told:
        board.curate.remove("refund_payment", "mia")
    assert told.value.message == f"{REFUND} comes from source 'tools', which would bring it back"
    assert f"pegboard deactivate {REFUND}" in told.value.hint
    assert "pegboard remove tools" in told.value.hint
    assert board.show(REFUND).active
    assert board.curate.history(REFUND) == []


def test_what_was_edited_after_it_was_looked_at_is_not_removed(opened):
    board = opened()
    make(board)
    seen = board.show(FOLD)
    board.curate.tag(FOLD, ["fold"], "ben")
    with pytest.raises(ChangedMeanwhile):
        board.curate.remove(seen, "mia", etag(seen))
    assert board.show(FOLD).item.tags == ("fold",)


# At the same time.


def test_an_edit_while_a_sync_runs_is_not_lost(opened):
    board = opened()
    sync(board.store, Said([tool("one", "old")]))

    def decide():
        board.curate.edit("one", Edit(tags=("mine",)), "mia")

    sync(board.store, Said([tool("one", "new")], before_end=decide))
    entry = board.show("one")
    assert (entry.item.description, entry.item.tags) == ("It is new.", ("mine",))
    assert entry.imported_tags == ("new",)
    assert board.check() == []


def test_editors_who_read_decide_and_try_again_lose_nothing(place):
    """Each adds a tag of his own to what he saw, as often as it takes."""
    stores = [open_store(place, create=True) for _ in range(3)]
    sync(stores[0], Said([tool("one", "x")]))
    start = threading.Barrier(len(stores))

    def add(curating, who):
        start.wait(60)
        for n in range(5):
            while True:
                seen = curating.chosen("one")
                try:
                    tags = (*seen.item.tags, f"{who}{n}")
                    curating.edit(seen, Edit(tags=tags), who, etag(seen))
                    break
                except ChangedMeanwhile:
                    continue

    threads = [
        threading.Thread(target=add, args=(Curating(store, lambda: None), who))
        for store, who in zip(stores, "abc", strict=True)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert not any(thread.is_alive() for thread in threads)
    entry = Curating(stores[0], lambda: None).chosen("one")
    assert sorted(entry.item.tags) == sorted(
        ["x", *(f"{who}{n}" for who in "abc" for n in range(5))]
    )
    assert stores[0].check() == []
    for store in stores:
        store.close()


# Whatever happens in whatever order.


class Scanned(NamedTuple):
    """What a source says of the tool, or that it is gone."""

    mark: str
    tags: tuple[str, ...]
    there: bool


words = st.sampled_from(["red", "green", "blue", "two words", "größer"])
labels = st.lists(words, max_size=3, unique=True).map(tuple)
edits = st.builds(
    Edit,
    st.just(KEEP) | st.none() | words,
    st.just(KEEP) | st.none() | labels,
    st.sampled_from([KEEP, None, True, False]),
    st.just(""),
)
steps = st.lists(st.builds(Scanned, words, labels, st.booleans()) | edits, max_size=8)


class Expected:
    """What the board must show, in a few lines."""

    def __init__(self):
        self.imported = ("", ())
        self.own = [None, None]
        self.off, self.there = False, True

    def scanned(self, said):
        self.there = said.there
        if said.there:
            self.imported = (f"It is {said.mark}.", said.tags)

    def edited(self, edit):
        for n, said in enumerate((edit.description, edit.tags)):
            if said is not KEEP:
                self.own[n] = said
        if edit.active is not KEEP:
            self.off = edit.active is False

    def shows(self, entry):
        pairs = zip(self.own, self.imported, strict=True)
        assert (entry.item.description, entry.item.tags) == tuple(
            theirs if own is None else own for own, theirs in pairs
        )
        assert (entry.imported_description, entry.imported_tags) == self.imported
        said = [own is not None for own in self.own]
        assert [entry.manual_override, entry.tags_override] == said
        assert [entry.override_at is not None, entry.tags_override_at is not None] == said
        assert (entry.off_at is not None) == self.off
        assert entry.active == (self.there and not self.off)
        assert (entry.drift is Drift.MISSING) != self.there


def play(store, name, taken):
    """The steps, one after the other; after each the board shows what it must."""
    expected = Expected()
    curating = Curating(store, lambda: HashedEmbedder().fingerprint)
    for step in [Scanned("red", (), True), *taken]:
        if isinstance(step, Scanned):
            said = [tool(name, step.mark, tags=list(step.tags), links=[])] if step.there else []
            sync(store, Said(said))
            expected.scanned(step)
        else:
            entry = curating.chosen(f"{SOURCE}:mail:{name}")
            if step.active is True and not entry.active and entry.off_at is None:
                with pytest.raises(UsageError):
                    curating.edit(entry, step, "mia")
            else:
                assert etag(curating.edit(entry, step, "mia", etag(entry)))
                expected.edited(step)
        expected.shows(store.items.get(f"{SOURCE}:mail:{name}", "public"))
    assert store.check() == []


@settings(max_examples=60)
@given(steps)
def test_a_sync_after_any_edits_keeps_what_people_said(taken):
    with closing(in_memory()) as store:
        play(store, "one", taken)


@settings(max_examples=10, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(taken=steps)
def test_a_sync_after_any_edits_keeps_what_people_said_on_postgres(postgres_store, taken):
    sync(postgres_store, Said([]))
    for each in postgres_store.items.page(0, 100):
        postgres_store.curation.remove(each, "")
    play(postgres_store, "one", taken)
