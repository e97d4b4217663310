"""Who sees what of a board that is shared, on either store."""

from itertools import count

import pytest
from seen_parts import (
    ALICE,
    ANN,
    ANON,
    BOB,
    CAROL,
    EVE,
    PEGS,
    PEOPLE,
    POSTMASTER,
    ROOT,
    SETTINGS,
    answers,
    office,
    seen_pegs,
    sees,
)

from pegboard.app.pegboard import Pegboard
from pegboard.embed.hashed import HashedEmbedder
from pegboard.model.calls import Caller, Role
from pegboard.model.items import Filters, Mode
from pegboard.store.postgres.store import PostgresStore
from pegboard.text import variants, words

TARGET = HashedEmbedder().fingerprint


@pytest.fixture(scope="module", params=["sqlite", "postgres"])
def whole(request, tmp_path_factory):
    """A board that tests leave as it is."""
    server = lambda: request.getfixturevalue("postgres_server")  # noqa: E731
    with office(request.param, server, tmp_path_factory.mktemp("whole")) as store:
        yield store


@pytest.fixture(params=PEOPLE, ids=lambda person: person.subject or "anon")
def person(request):
    return request.param


@pytest.fixture
def view(whole, person):
    return whole.seen_by(person)


def tools(entries):
    return {(e.item.namespace, e.item.id) for e in entries if e.item.kind == "tool"}


def visible(person, *visibilities):
    wanted = visibilities or ("public", "unlisted", "private")
    return {(p.namespace, p.id) for p in seen_pegs(person) if p.visibility in wanted}


def test_items_are_had_by_those_who_may_see_them(view, person):
    assert tools(view.items.page(0, 100)) == visible(person)
    assert tools(view.items.listed((), (), ("", ""), 100)) == visible(person, "public")
    assert tools(view.index.listed(Filters(), ("", ""), 100)) == visible(person, "public")
    assert view.index.listed(Filters(namespaces=("b",)), ("", ""), 100) == [
        entry for entry in view.items.listed((), (), ("", ""), 100) if entry.item.namespace == "b"
    ]
    assert tools(each.entry for each in view.items.changed()) == visible(person)
    counted = sum(line.items for line in view.items.census(()))
    assert counted == 2 * len(visible(person, "public"))
    for peg in PEGS:
        found = view.items.get(peg.id, peg.namespace)
        by_id = (peg.namespace, peg.visibility) == ("public", "unlisted")
        assert (found is not None) == (sees(person, peg) or by_id)
        if found is not None:
            assert found.item.version.files[0].content == peg.name.encode()
            assert [line.number for line in view.items.versions(peg.id, peg.namespace)] == ["1.0.0"]
            assert view.items.version(peg.id, peg.namespace, "1.0.0") == found.item.version
        else:
            assert view.items.versions(peg.id, peg.namespace) == []
            assert view.items.version(peg.id, peg.namespace, "1.0.0") is None


def test_what_is_unlisted_in_public_is_had_by_its_id_and_by_nothing_else(view, person):
    [peg] = [peg for peg in PEGS if peg.name == "send_parcel"]
    for name in (peg.id, f"public/{peg.id}"):
        assert [entry.item.id for entry in view.items.named(name)] == [peg.id]
    for name in (peg.name, f"post__{peg.name}"):
        assert bool(view.items.named(name)) == sees(person, peg)


def test_names_lead_to_what_is_seen(view, person):
    for peg in PEGS:
        alike = {(p.namespace, p.id) for p in seen_pegs(person) if p.name == peg.name}
        assert tools(view.items.named(peg.name)) == alike


def test_counts_are_of_what_is_seen(view, person):
    counts = view.tasks.counts(TARGET)
    assert counts.total == 2 * len(seen_pegs(person))
    assert view.tasks.without_vector(TARGET) == counts.pending
    member = [peg for peg in seen_pegs(person) if peg.namespace in person.namespaces]
    assert view.tasks.waiting(TARGET) <= len(member)
    oldest, _ = view.tasks.pace(TARGET)
    assert (oldest is None) == (not view.tasks.waiting(TARGET))
    kept = {each.fingerprint: each.vectors for each in view.models.kept()}
    assert kept.get(TARGET, 0) == counts.ready


def test_sources_servers_and_rejections_are_for_members(view, person):
    own = [f"from_{namespace}" for namespace in person.namespaces]
    assert [each.name for each in view.ledger.sources()] == own
    assert [each.config.name for each in view.ledger.servers()] == own
    assert [each.source for each in view.ledger.rejections()] == own
    for namespace in ("a", "b", "public"):
        origins = view.items.origins(f"from_{namespace}")
        assert (f"from_{namespace}/bad" in origins) == (namespace in person.namespaces)


def test_history_is_for_members_and_runs_of_others_too(view, person):
    for peg in PEGS:
        member = sees(person, peg) and peg.namespace in person.namespaces
        assert bool(view.curation.history(peg.id, peg.namespace)) == member
        found = {run.caller for run in view.runs.recent(peg.id, peg.namespace)}
        own = {person.subject} & {"alice", "bob"} if sees(person, peg) else set()
        assert found == ({"alice", "bob", "cli"} if member else own)
        assert view.runs.counts(peg.id, peg.namespace).runs == len(found)


def test_words_of_others_are_unknown_and_nobody_is_led_to_them(view, person):
    known = view.index.frequencies(["telegram", "postcard", "stamp", "letter"])
    found = {peg.name.split("_")[1] for peg in seen_pegs(person) if peg.visibility == "public"}
    assert ("telegram" in known) == ("telegram" in found)
    assert ("postcard" in known) == ("postcard" in found)
    like = view.index.words_like(variants("telegrm"), ["telegr", "stam", "forg"], 5)
    assert like.near == (["telegram"] if "telegram" in found else [])
    public = [peg for peg in seen_pegs(person) if peg.visibility == "public"]
    spelled = {word for peg in public for word in words(f"{peg.name} {peg.description}")}
    for beginning, longer in like.longer.items():
        assert longer == sorted(word for word in spelled if word.startswith(beginning))
    assert like.longer["forg"] == []  # the only one is private


def test_keys_of_others_lead_nowhere(whole, view, person):
    keys = {entry.key: entry for entry in whole.items.page(0, 100)}
    seen = {entry.key for entry in view.items.page(0, 100)}
    findable = {key for key in seen if keys[key].item.visibility == "public"}
    embedder = HashedEmbedder()
    meant = embedder.embed_query("send a letter")
    assert view.index.entries(list(keys)).keys() == seen
    assert view.index.cards(list(keys)).keys() == seen
    assert view.index.among(list(keys), Filters(active=None)) == findable
    found = {entry.item.source for entry in view.index.listed(Filters(), ("", ""), 1000)}
    assert set(view.index.source_counts().items) == found
    assert findable <= view.index.vector_scores(meant, TARGET, list(keys)).keys() <= seen
    assert findable <= view.index.best_passages(meant, TARGET, list(keys)).keys() <= seen
    for key in keys.keys() - seen:
        assert view.curation.ties(key) == []


def test_a_view_tells_neither_where_the_board_is_nor_how_large(view):
    assert set(view.facts()) == {"engine", "vectors", "schema", "read_only"}


def test_whoever_is_everywhere_sees_it_all(whole):
    assert whole.seen_by(ROOT) is whole


@pytest.mark.parametrize(
    "nobody",
    [
        Caller("", ("a",), Role.ADMIN),
        Caller("ali\0ce", ("a",), Role.ADMIN),
        Caller("\ud800", ("a",), Role.AUTHOR),
        Caller("alice", ("\ud800",), Role.ADMIN),
        Caller("eve", ("' OR 1=1 --", '"]', "A", "%", ""), Role.ADMIN),
    ],
)
def test_whoever_has_no_proper_name_or_namespace_is_nobody_special(whole, nobody):
    view = whole.seen_by(nobody)
    assert tools(view.items.page(0, 100)) == visible(EVE)
    assert view.ledger.sources() == []


def test_a_view_gives_nobody_more_rights(whole):
    view = whole.seen_by(ALICE)
    assert view.seen_by(ALICE) is view
    for other in (BOB, ROOT, ANN):
        with pytest.raises(Exception, match="whole board"):
            view.seen_by(other)


# What cannot be seen makes no difference.


@pytest.fixture(scope="module")
def only(request, whole, tmp_path_factory):
    """Boards of the same kind that have nothing but what one caller may see."""
    kind = "postgres" if isinstance(whole, PostgresStore) else "sqlite"
    server = lambda: request.getfixturevalue("postgres_server")  # noqa: E731
    numbers = count()

    def make(caller):
        folder = tmp_path_factory.mktemp(f"only{next(numbers)}")
        pegs = [
            peg
            for peg in PEGS
            if sees(caller, peg) or (peg.namespace, peg.visibility) == ("public", "unlisted")
        ]
        return office(kind, server, folder, pegs)

    return make


@pytest.mark.parametrize(
    "caller", [ANON, ALICE, ANN, CAROL, POSTMASTER], ids=lambda c: c.subject or "anon"
)
def test_every_answer_is_the_same_with_and_without_what_cannot_be_seen(whole, only, caller):
    if isinstance(whole, PostgresStore) and caller not in (ANON, ALICE):
        pytest.skip("two will do there: the database decides for each by the same policies")
    with only(caller) as alone:
        full, small = Pegboard(whole, SETTINGS), Pegboard(alone, SETTINGS)
        told, expected = answers(full.seen_by(caller)), answers(small.seen_by(caller))
    assert {name for name in told if told[name] != expected[name]} == set()
    assert any(told.values())


def test_whoever_sees_all_that_is_public_finds_what_the_owner_finds(tmp_path):
    """Weighed by what a caller sees, terms weigh what they weigh on the whole board."""
    open_pegs = [peg for peg in PEGS if peg.visibility == "public"]
    with office("sqlite", lambda: pytest.fail("no server"), tmp_path, open_pegs) as store:
        board = Pegboard(store, SETTINGS)
        view = board.seen_by(Caller("all", ("a", "b", "public"), Role.READER))
        asked = {k: v for k, v in answers(board).items() if k.split()[0] in set(Mode)}
        told = answers(view)
        assert {k for k in asked if asked[k] != told[k]} == set()
