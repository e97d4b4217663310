"""What callers may change of a shared board, and in whose name it is done, on either store."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from seen_parts import (
    ALICE,
    AMOS,
    ANN,
    ANON,
    BOB,
    CAROL,
    PEGS,
    PEOPLE,
    POSTMASTER,
    ROOT,
    SETTINGS,
    items_of,
    sees,
)

from making import make_item
from pegboard.app.pegboard import Pegboard
from pegboard.board.create.drafts import draft_of
from pegboard.embed.hashed import HashedEmbedder
from pegboard.errors import ItemHeld, ItemNotFound, NotAllowed
from pegboard.model.calls import Caller, OnChange, Outcome, Role, ServerConfig, Transport
from pegboard.model.curation import Edit
from pegboard.model.items import (
    CREATED,
    Calibration,
    EmbeddingStatus,
    ItemId,
    Model,
    ModelSpec,
    SourceRecord,
    Visibility,
)
from pegboard.model.runs import Run
from pegboard.ports.curation import Curation
from pegboard.ports.index import Index
from pegboard.ports.items import Items
from pegboard.ports.ledger import Ledger
from pegboard.ports.models import Models
from pegboard.ports.runs import Runs
from pegboard.ports.store import Store
from pegboard.ports.tasks import Tasks

TARGET = HashedEmbedder().fingerprint
CALIBRATION = Calibration(slope=1.0, offset=0.0, items=20, questions=9, at=0.0)
MANIFEST = {
    "tool_id": "fold_paper",
    "tool_type": "python",
    "category": "paper",
    "description": "Fold a sheet of paper into a crane.",
    "author": "somebody else",
}
ID = ItemId("created:paper:fold_paper")
STEP = threading.Event()


@pytest.fixture
def board(store):
    """The tools of the post office, without anything beside them."""
    store.models.want(Model(TARGET, ModelSpec("test")), chosen=False)
    for namespace in ("a", "b"):
        config = ServerConfig(namespace, Transport.STDIO, command="x", namespace=namespace)
        store.ledger.put_server(config, "somewhere")
    tools = [items_of(peg)[0]._replace(source=peg.namespace) for peg in PEGS]
    store.items.put(tools, TARGET, on_change=OnChange.HOLD)
    return Pegboard(store, SETTINGS)


def refusal(work, *given, **named):
    with pytest.raises(NotAllowed) as caught:
        work(*given, **named)
    return caught.value.message


def draft(**said):
    return draft_of(MANIFEST | said, {"main.py": "def run():\n    return 1\n"})


# Decisions about items.


@pytest.mark.parametrize("person", [*PEOPLE, ROOT], ids=lambda person: person.subject or "anon")
def test_an_item_is_changed_by_its_author_and_by_admins_who_see_it(board, person):
    view = board.seen_by(person)
    for peg in PEGS:
        name = f"{peg.namespace}/{peg.id}"
        seen = person.everywhere or sees(person, peg)
        seen = seen or (peg.namespace, peg.visibility) == ("public", "unlisted")
        if not seen:
            with pytest.raises(ItemNotFound):
                view.curate.deactivate(name, "a liar", "because")
        elif not (sees(person, peg) or person.everywhere) or not person.may_decide(
            peg.namespace, peg.author
        ):
            assert "not yours to change" in refusal(view.curate.deactivate, name, "a liar")
        else:
            view.curate.deactivate(name, person.subject, "because")
            view.curate.activate(name, person.subject)
            view.curate.describe(name, "Something else.", person.subject)
            view.curate.reset(name, person.subject)
            [last, *_] = board.curate.history(name)
            assert (last.event, last.by) == ("reset", person.subject)


def test_nobody_decides_in_anothers_name(board):
    view = board.seen_by(ALICE)
    entry = view.curate.deactivate("a/tool:post:send_postcard", "ann", "because")
    assert entry.off_by == "alice"
    assert view.curate.describe("a/tool:post:send_postcard", "New.", "ann").override_by == "alice"


def test_what_is_not_allowed_is_refused_in_the_same_words_whether_it_is_there_or_not(board):
    store = board.store
    view = store.seen_by(AMOS)
    [hidden] = [e for e in store.items.page(0, 99) if e.item.name == "tear_telegram"]
    ghost = hidden._replace(item=hidden.item._replace(id=ItemId("tool:post:ghost")), key=10**9)
    for entry in (hidden, ghost):
        said = {
            refusal(view.curation.describe, entry, "x", "", TARGET),
            refusal(view.curation.edit, entry, Edit(tags=()), "", TARGET),
            refusal(view.curation.remove, entry, ""),
            refusal(view.curation.deactivate, entry, "", ""),
            refusal(view.curation.activate, entry, "", TARGET),
            refusal(view.items.approve, [entry], TARGET),
        }
        assert {each.replace(entry.item.id, "ID") for each in said} == {
            "ID in namespace 'b' is not yours to change"
        }
    words = {refusal(view.tasks.revive, entry.key) for entry in (hidden, ghost)}
    words |= {refusal(view.tasks.enqueue, TARGET, [(e.key, "h", "t")]) for e in (hidden, ghost)}
    words |= {refusal(view.ledger.remove_source, name).replace(name, "") for name in ("b", "ghost")}
    assert len(words) == 2
    assert store.items.get(hidden.item.id, "b", files=False) == hidden


def test_changes_are_approved_by_those_who_may_decide(board):
    [peg] = [peg for peg in PEGS if peg.name == "weigh_parcel"]
    changed = items_of(peg, "It worked.")[0]._replace(source="a")
    board.store.items.put([changed], TARGET, on_change=OnChange.HOLD)
    [change] = board.trust.changes()
    for person in (ANON, AMOS, ALICE, BOB, CAROL, POSTMASTER):
        view = board.seen_by(person)
        assert len(view.trust.changes()) == ("a" in person.namespaces)
        refusal(view.trust.approve, [change], TARGET, "a liar")
    assert board.seen_by(ANN).trust.approve([change], TARGET, "a liar") == 1
    [happened, *_] = board.curate.history(f"a/{change.entry.item.id}")
    assert (happened.event, happened.by) == ("approved", "ann")


# Making tools.


def test_an_author_makes_tools_in_his_own_name_and_namespace(board):
    alice = board.seen_by(ALICE)
    made = alice.create(draft())
    assert (made.state, made.entry.item.namespace, made.entry.item.author) == (
        "created",
        "a",
        "alice",
    )
    assert alice.create(draft(description="Better."), anyway=True).state == "updated"
    assert [line.number for line in alice.store.items.versions(ID, "a")] == ["1.0.1", "1.0.0"]
    assert alice.curate.deactivate(ID, "alice").off_by == "alice"
    refusal(board.seen_by(AMOS).curate.remove, f"a/{ID}", "amos")
    alice.curate.remove(f"a/{ID}", "a liar")
    assert [each.by for each in board.curate.history(ID) if each.event == "removed"] == ["alice"]
    assert board.check() == []


@pytest.mark.parametrize(
    ("caller", "namespace"),
    [(ANON, ""), (AMOS, ""), (CAROL, ""), (ALICE, "b"), (ALICE, "public"), (ALICE, "ghost")],
)
def test_others_make_none_and_nobody_makes_them_elsewhere(board, caller, namespace):
    said = refusal(board.seen_by(caller).create, draft(), namespace=namespace)
    assert said.replace(f"{namespace!r}", "NS") in (
        "you may not make tools here",
        "you are no member of namespace NS",
    )
    assert board.store.items.get(ID, "public") is board.store.items.get(ID, "b") is None


def test_whoever_is_everywhere_makes_tools_in_public_or_where_he_says(board):
    root = board.seen_by(ROOT)
    assert root.create(draft()).entry.item.namespace == "public"
    made = root.create(draft(), namespace="b", anyway=True)
    assert (made.entry.item.namespace, made.entry.item.author) == ("b", "root")
    assert board.create(draft(description="New."), namespace="b", anyway=True).state == "updated"
    assert board.store.items.get(ID, "b").item.author == "root"
    assert board.create(draft(), namespace="c", anyway=True).entry.item.author == "somebody else"


@pytest.mark.parametrize("visibility", ["public", "private"])
def test_an_id_that_another_author_has_is_refused_whether_it_is_shown_or_not(board, visibility):
    first = board.seen_by(ALICE).create(draft(visibility=visibility), anyway=True)
    assert first.state == "created"
    for other in (Caller("amy", ("a",), Role.AUTHOR), ANN):
        made = board.seen_by(other).create(draft(description="Mine."), anyway=True)
        assert (made.state, made.reason) == (
            "refused",
            f"{ID} in namespace 'a' is somebody else's; choose another name",
        )
    assert board.store.items.get(ID, "a").item.author == "alice"


def test_of_two_who_make_the_same_tool_at_once_one_has_it(board):
    people = [Caller(f"p{n}", ("a",), Role.AUTHOR) for n in range(4)]
    views = [board.seen_by(person).store for person in people]
    start = threading.Barrier(len(people))

    def put(person, view):
        item = make_item("same", id=ItemId("x:y:same"), namespace="a", source=CREATED)
        start.wait(30)
        return view.items.put([item._replace(author=person.subject)], None)

    with ThreadPoolExecutor(len(people)) as threads:
        reports = list(threads.map(put, people, views))
    assert sum(report.added for report in reports) == 1
    assert sum(len(report.refused) for report in reports) == len(people) - 1
    [winner] = [p for p, report in zip(people, reports, strict=True) if report.added]
    assert board.store.items.get("x:y:same", "a").item.author == winner.subject


@pytest.mark.parametrize(
    "wrong",
    [
        {"author": "amos"},
        {"author": ""},
        {"namespace": "b"},
        {"namespace": "public"},
        {"source": "a"},
        {"official": True},
        {"executor": {"server": "b", "tool": "t"}},
        {"executor": {"server": "ghost", "tool": "t"}},
    ],
    ids=str,
)
def test_what_is_not_ones_own_to_say_cannot_be_put(board, wrong):
    right = make_item("mine", namespace="a", source=CREATED, author="alice")
    view = board.store.seen_by(ALICE)
    refusal(view.items.put, [right, right._replace(**wrong)], None)
    assert board.store.items.get(right.id, "a") is None
    own = right._replace(executor={"server": "a", "tool": "t"})
    assert view.items.put([own], None).added == 1


# Embedding.


@pytest.fixture
def failed(board):
    """The same, but nothing could be embedded."""
    tasks = board.store.tasks
    for task in tasks.claim(TARGET, "worker", 99, 60.0):
        tasks.fail("worker", task, "broken", None)
    return board


def states(board, status):
    page = board.store.items.page(0, 99)
    return {e.item.name for e in page if e.embedding.status is EmbeddingStatus(status)}


def test_what_failed_is_tried_again_by_those_who_may_decide(failed):
    refusal(failed.seen_by(AMOS).retry, "weigh_parcel")
    refusal(failed.seen_by(ALICE).retry, "weigh_parcel")
    assert failed.seen_by(ALICE).retry("send_postcard") == 1
    assert failed.seen_by(EVERYONE).retry(None) == 0
    assert failed.seen_by(ALICE).retry(None) == 2
    assert states(failed, "pending") == {"send_postcard", "hide_letter", "forge_stamp"}
    assert failed.seen_by(ANN).status().embeddings.failed == 1
    assert failed.seen_by(ANN).retry(None) == 1
    assert "weigh_parcel" in states(failed, "pending")
    assert "send_telegram" in states(failed, "failed")


EVERYONE = Caller("eve", ("a", "b"))


def test_whether_many_items_may_be_changed_is_asked_of_the_board_at_once(store, monkeypatch):
    store.items.put([make_item(f"t{n}", namespace="a", author="alice") for n in range(20)], TARGET)
    view, read = store.seen_by(ALICE), list[str]()
    for name in ("rows", "records"):
        ask = getattr(type(store.database), name)

        def counted(database, sql, *given, ask=ask, **named):
            read.append(sql)
            return ask(database, sql, *given, **named)

        monkeypatch.setattr(type(store.database), name, counted)
    entries = view.items.page(0, 20)
    costs = []
    for some in (entries[:1], entries):
        read.clear()
        view.items.approve(some, TARGET)
        view.tasks.enqueue(TARGET, [(each.key, each.content_hash, "text") for each in some])
        costs.append(len(read))
    assert len(entries) == 20 and costs[0] == costs[1]


def test_vectors_are_made_anew_by_those_who_may_decide(board):
    refusal(board.seen_by(AMOS).refresh, "weigh_parcel")
    assert board.seen_by(AMOS).refresh(None) == 0
    assert board.seen_by(ALICE).refresh("send_postcard") == 1
    assert board.seen_by(ALICE).refresh(None) == 3
    assert board.seen_by(ANN).refresh(None) == 3


# The board as a whole.


def whole_board(view, board):
    """Everything that no caller may do who is not everywhere."""
    store, record = view.store, SourceRecord("s", "pytools", "/etc", "a")
    config = ServerConfig("s", Transport.STDIO, command="sh", namespace="a")
    model = Model(TARGET, ModelSpec("test"))
    return {
        "Items.put": lambda: store.items.put([], None, yielding=frozenset("a")),
        "Items.apply_policy": lambda: store.items.apply_policy("a", OnChange.ALLOW),
        "Items.retire": lambda: store.items.retire("a", [], 0.0, 0.0),
        "Items.retire_under": lambda: store.items.retire_under("a", [], [], 0.0),
        "Items.take_census": store.items.take_census,
        "Tasks.adopt": lambda: store.tasks.adopt(TARGET),
        "Tasks.disable": store.tasks.disable,
        "Tasks.claim": lambda: store.tasks.claim(TARGET, "w", 1, 1.0),
        "Tasks.finish": lambda: store.tasks.finish(TARGET, []),
        "Tasks.fail": lambda: store.tasks.fail("w", None, "", None),
        "Tasks.release": lambda: store.tasks.release("w"),
        "Tasks.owners": store.tasks.owners,
        "Tasks.await_work": lambda: store.tasks.await_work(STEP, 0.0),
        "Tasks.rest": lambda: store.tasks.rest(TARGET, STEP),
        "Models.want": lambda: store.models.want(model, chosen=True),
        "Models.activate": lambda: store.models.activate(TARGET),
        "Models.calibrate": lambda: store.models.calibrate(TARGET, CALIBRATION),
        "Models.prune": store.models.prune,
        "Ledger.add_source": lambda: store.ledger.add_source(record),
        "Ledger.mark_synced": lambda: store.ledger.mark_synced("a"),
        "Ledger.reject": lambda: store.ledger.reject([]),
        "Ledger.settle": lambda: store.ledger.settle("a", [], []),
        "Ledger.put_server": lambda: store.ledger.put_server(config, "x"),
        "Ledger.mark_server": lambda: store.ledger.mark_server(None),
        "Runs.prune": lambda: store.runs.prune(0.0),
        "Store.check": store.check,
        "Store.unused_files": lambda: store.unused_files(0.0, remove=True),
        "Store.seen_by": lambda: store.seen_by(ROOT),
        "add_folder": lambda: view.add_folder("/etc"),
        "add_source": lambda: view.add_source("openapi", "/etc/passwd", name=None),
        "add_servers": lambda: view.add_servers([config]),
        "worker": view.worker,
        "backfill": view.backfill,
        "check": view.check,
        "unused_files": view.unused_files,
        "follow_files": view.trust.follow_files,
        "allow": lambda: view.trust.allow([config]),
        "apply_policy": view.trust.apply_policy if view.servers() else None,
        "use": lambda: view.models.use(ModelSpec("test", base_url="http://x")),
        "seen_by": lambda: view.seen_by(ROOT),
    }


SEEN = {
    "Items": "census changed get listed named origins page version versions",
    "Tasks": "counts has_stray pace unembedded waiting without_vector",
    "Models": "kept state",
    "Ledger": "rejections servers servers_down sources",
    "Curation": "history loose_links ties",
    "Runs": "counts recent",
    "Store": "await_change close facts now",
}
"""What is read, by the port: test_seen.py asks each of them."""
DECIDED = {
    "Items": "approve put",
    "Tasks": "enqueue revive",
    "Ledger": "remove_source",
    "Curation": "activate deactivate describe edit remove resolve_links",
    "Runs": "record",
}


def test_every_method_of_the_ports_is_read_decided_or_refused(board):
    """Whoever adds one has to say which."""
    refused = whole_board(board.seen_by(ANN), board)
    for port in (Items, Tasks, Models, Ledger, Curation, Runs, Store):
        name = port.__name__
        methods = {
            each
            for each in vars(port)
            if not each.startswith("_") and callable(getattr(port, each, None))
        }
        known = {*SEEN.get(name, "").split(), *DECIDED.get(name, "").split()}
        known |= {each.partition(".")[2] for each in refused if each.startswith(f"{name}.")}
        assert methods == known, name
    assert len([each for each in vars(Index) if not each.startswith("_")]) == 14  # test_seen.py
    for person in (AMOS, ALICE, ANN):
        refusal(lambda person=person: board.seen_by(person).store.tokens)


@pytest.mark.parametrize("person", [AMOS, ALICE, ANN], ids=lambda person: person.role.value)
def test_what_concerns_the_whole_board_is_refused_to_all_others(board, person):
    before = board.store.items.page(0, 99), board.store.ledger.sources()
    for name, work in whole_board(board.seen_by(person), board).items():
        if work is not None:
            assert "whole board" in refusal(work), name
    assert (board.store.items.page(0, 99), board.store.ledger.sources()) == before
    assert board.store.models.state().active.fingerprint == TARGET


def test_sources_are_synced_by_the_admins_of_their_namespace(board, tmp_path):
    folder = tmp_path / "tools" / "mcptools" / "mail"
    folder.mkdir(parents=True)
    (folder / "seal.py").write_text('def run():\n    """Seal a letter."""\n')
    board.add_folder(tmp_path / "tools", name="folder", namespace="a")
    for person in (AMOS, ALICE, BOB, POSTMASTER):
        refusal(board.seen_by(person).sync, ["folder"])
    refusal(board.seen_by(ANN).sync)
    words = {
        refusal(board.seen_by(ANN).sync, ["folder", name]).replace(name, "")
        for name in ("b", "ghost")
    }
    assert len(words) == 1
    done = board.seen_by(ANN).sync(["folder"])
    assert [(each.source, each.added) for each in done.sources] == [("folder", 1)]
    assert done.waiting == board.seen_by(ANN).store.tasks.waiting(TARGET)
    assert [hit.name for hit in board.seen_by(AMOS).search("seal", mode="bm25").hits] == ["seal"]


def test_a_source_is_removed_by_the_admins_of_its_namespace(board):
    for person in (AMOS, ALICE, BOB, POSTMASTER):
        refusal(board.seen_by(person).remove_source, "a")
    refusal(board.seen_by(ANN).remove_source, "b")
    refusal(board.seen_by(ANN).remove_source, "")
    board.seen_by(ANN).remove_source("a")
    assert [each.name for each in board.sources()] == ["b"]
    assert board.store.items.get("tool:post:weigh_parcel", "a") is None


# Calls.


def test_a_run_is_written_down_in_the_name_of_whoever_called(board):
    for person in (AMOS, ALICE, ROOT):
        board.seen_by(person).call("a/tool:post:weigh_parcel", {})
        [run, *_] = board.runs("a/tool:post:weigh_parcel")
        assert run.caller == person.subject
    board.seen_by(ANON).call("send_letter", {})
    [run] = board.runs("send_letter")
    assert run.caller == "python"
    assert {run.caller for run in board.seen_by(AMOS).runs()} == {"amos", "alice", "root"}
    board.close()


def test_what_cannot_be_seen_cannot_be_called_nor_said_to_have_been(board):
    bob = board.seen_by(BOB)
    errors = set()
    for name in ("a/tool:post:weigh_parcel", "a/tool:post:ghost"):
        with pytest.raises(ItemNotFound) as caught:
            bob.call(name, {})
        errors.add(str(caught.value).replace(name, "NAME"))
    assert len(errors) == 1
    board.seen_by(ALICE).call("weigh_parcel", {})
    [run] = board.runs("weigh_parcel")
    bob.store.runs.record(run)
    assert board.store.runs.counts("tool:post:weigh_parcel").runs == 1
    board.close()


def test_an_unlisted_item_of_public_is_shown_by_its_id_but_not_anothers_to_change(board):
    eve = board.seen_by(Caller("eve"))
    assert eve.show("tool:post:send_parcel").item.visibility is Visibility.UNLISTED
    refusal(eve.curate.deactivate, "tool:post:send_parcel", "eve")
    with pytest.raises(ItemNotFound):
        eve.show("tool:post:burn_letter")


def test_what_became_of_another_item_with_the_same_id_is_not_told(board):
    [peg] = [peg for peg in PEGS if peg.name == "steal_stamp"]
    secret = f"a/{peg.id}"
    board.curate.deactivate(secret, "owner", "a secret")
    entry = board.store.items.get(peg.id, "a")
    run = Run("a", peg.id, "1.0.0", board.store.now(), Outcome.OK, 1.0, "amos")
    board.store.runs.record(run)
    assert board.store.curation.remove(entry, "owner")
    board.store.items.put([items_of(peg)[0]._replace(visibility=Visibility.PUBLIC)], TARGET)
    for person in (ALICE, AMOS, ANN):
        view = board.seen_by(person)
        assert view.show(peg.id).item.visibility is Visibility.PUBLIC
        assert list(view.curate.history(secret)) == []
        assert list(view.runs(secret)) == []
    assert {each.detail for each in board.curate.history(secret)} >= {"a secret"}


def test_that_something_is_held_back_is_told_to_those_who_see_it(board):
    [peg] = [peg for peg in PEGS if peg.name == "send_telegram"]
    changed = items_of(peg, "It worked.")[0]._replace(source="b")
    board.store.items.put([changed], TARGET, on_change=OnChange.HOLD)
    for ask in ("show", "call"):
        given = ({},) if ask == "call" else ()
        with pytest.raises(ItemHeld):
            getattr(board.seen_by(BOB), ask)(peg.name, *given)
        said = set()
        for name in (peg.name, "ghost"):
            with pytest.raises(ItemNotFound) as caught:
                getattr(board.seen_by(ALICE), ask)(name, *given)
            said.add(str(caught.value).replace(name, "NAME"))
        assert len(said) == 1
    board.close()
