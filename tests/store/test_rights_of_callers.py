"""A store with a caller: what Pegboard finds, counts, suggests and writes on somebody's behalf."""

from contextlib import closing

import psycopg
import pytest
from rights_parts import (
    ALICE,
    AMOS,
    ANON,
    BOB,
    HUNG,
    KINDS,
    MODEL,
    PEOPLE,
    Hung,
    acting,
    items_of,
    seen_by,
)

from making import entry_of, make_file, make_item, word_hits
from pegboard.app.pegboard import Pegboard
from pegboard.config.settings import EmbedSettings, Settings
from pegboard.embed.choose import make_embedder
from pegboard.errors import BoardError, BoardReadOnly, ItemNotFound
from pegboard.model.items import Filters, ItemId, Mode, Visibility, WordQuery
from pegboard.store import limits
from pegboard.store.blobs.folder import FolderBlobs
from pegboard.store.blobs.large_files import LARGE
from pegboard.store.postgres.store import PostgresStore
from pegboard.text import variants
from postgres_server import fresh

FOUND = {each.name for each in HUNG if each.visibility == "public"}
"""Search finds nothing else, whoever asks."""


@pytest.fixture
def store_of():
    """Makes stores with a caller."""
    made = []

    def make(url, caller):
        made.append(PostgresStore(url, caller=caller))
        return made[-1]

    yield make
    for each in made:
        each.close()


@pytest.fixture(params=PEOPLE)
def person(request):
    return PEOPLE[request.param]


@pytest.fixture
def store(store_of, tenants, person):
    return store_of(tenants, person)


def names(entries):
    return {entry.item.name for entry in entries}


def test_items_are_had_by_those_who_may_see_them(store, person):
    seen = seen_by(person)
    assert names(store.items.page(0, 100)) == seen
    assert names(store.items.listed((), (), ("", ""), 100)) == seen & FOUND
    for hung in HUNG:
        found = store.items.get(ItemId(f"tool:mail:{hung.name}"), hung.namespace)
        assert (found is not None) == (hung.name in seen)
        assert found is None or found.item.version.files[0].content == hung.name.encode()
        for name in (hung.name, f"{hung.name}__{hung.name}"):
            assert names(store.items.named(name)) <= seen & {hung.name}
        assert (names(store.items.named(hung.name)) == {hung.name}) == (hung.name in seen)
    assert {line.category for line in store.items.census(())} == seen & FOUND
    assert names(change.entry for change in store.items.changed()) == seen


def test_counts_are_of_what_the_caller_sees(store, person):
    target = make_embedder(MODEL, environ={}).fingerprint
    seen = len(seen_by(person)) * len(KINDS)
    assert store.tasks.counts(target).total == seen
    assert store.tasks.without_vector(target) == 0
    assert [each.name for each in store.ledger.sources()] == [
        f"from_{namespace}" for namespace in person.namespaces
    ]
    assert len(store.ledger.servers()) == len(store.ledger.rejections()) == len(person.namespaces)


def test_words_that_only_others_have_are_unknown(store, person):
    seen = seen_by(person)
    for name in FOUND:
        known = name in seen
        assert (name in store.index.frequencies([name])) == known
        like = store.index.words_like(variants(f"{name}y"), [name[:6]], 5)
        assert (like.near == [name]) == known
        assert (like.longer[name[:6]] != []) == any(
            each.startswith(name[:6]) for each in seen & FOUND
        )
        query = WordQuery((name,), (name,))
        keys = [hit.key for hit in word_hits(store, [name])]
        assert len(keys) == len(KINDS) * known
        assert set(store.index.keyword_scores(query, range(1, 100))) == set(keys)
        assert (store.index.best_keyword_score([name], 0.0) > 0) == known
    assert names(store.index.entries(range(1, 100)).values()) == seen
    assert len(store.index.entries(range(1, 100))) == len(seen) * len(KINDS)


@pytest.mark.parametrize("mode", list(Mode))
def test_search_finds_what_the_caller_may_see_and_suggests_nothing_else(
    store_of, tenants, person, mode
):
    settings = Settings(embed=EmbedSettings(provider=MODEL.provider))
    seen = seen_by(person) & FOUND
    with Pegboard(store_of(tenants, person), settings) as board:
        for name in FOUND:
            for text in (name, f"{name}y", f"what {name} does", "does"):
                answer = board.search(text, mode=mode, threshold=0, limit=50, explain=True)
                assert {hit.name for hit in answer.hits} <= seen
                hidden = FOUND - seen - {name}
                assert not [each for each in hidden if each in repr(answer)]
            answer = board.search(name, mode=mode, threshold=0, limit=50)
            assert (name in {hit.name for hit in answer.hits}) == (name in seen)
            if name not in seen:
                with pytest.raises(ItemNotFound):
                    board.show(f"tool:mail:{name}")


def test_a_filter_does_not_open_a_namespace(store, person):
    for namespace in ("a", "b"):
        hits = word_hits(store, sorted(FOUND), Filters(namespaces=(namespace,)), limit=50)
        assert bool(hits) == (namespace in person.namespaces)


# Writing.


@pytest.fixture
def board(postgres_server):
    """A board of one's own, with the sources of the tenants."""
    with fresh(postgres_server, postgres_server.template) as url:
        store = PostgresStore(url)
        store.tasks.adopt(make_embedder(MODEL, environ={}).fingerprint)
        yield url, store
        store.close()


MINE = Hung("zqminex", "a", "private", "alice")


def mine(**fields):
    return items_of(MINE, source="", **fields)


def test_a_caller_puts_and_changes_and_embeds_what_is_his(board, store_of):
    url, service = board
    target = make_embedder(MODEL, environ={}).fingerprint
    alice = store_of(url, ALICE)
    assert alice.items.put(mine(), target).added == len(KINDS)
    assert alice.items.put(mine(), target).unchanged == len(KINDS)
    assert alice.items.put(mine(description="other"), target).changed == len(KINDS)
    assert alice.tasks.waiting(target) == len(KINDS)
    assert service.check() == alice.check() == []
    assert names(alice.items.page(0, 10)) == {MINE.name}
    assert store_of(url, AMOS).items.page(0, 10) == []
    assert store_of(url, AMOS).tasks.waiting(target) == 0


def test_a_caller_puts_large_files_and_shares_them_with_nobody_else(board, tmp_path):
    url, service = board
    large = make_file("main.py", b"x" * LARGE)
    [item, other, *_] = mine()
    with closing(PostgresStore(url, caller=ALICE, blobs=FolderBlobs(tmp_path))) as alice:
        for each in (item, other):
            version = each.version._replace(files=(large,))
            alice.items.put([each._replace(version=version)], None)
            found = alice.items.get(each.id, each.namespace)
            assert found.item.version.files[0].content == large.content
    keys = service.database.rows("SELECT DISTINCT storage_key FROM version_files")
    assert len(keys) == 1
    with closing(PostgresStore(url, caller=BOB, blobs=FolderBlobs(tmp_path))) as bob:
        hung = MINE._replace(namespace="b", author="bob")
        theirs = items_of(hung, source="")[0]
        bob.items.put([theirs._replace(version=version)], None)
    assert len(service.database.rows("SELECT DISTINCT storage_key FROM version_files")) == 2


def test_a_worker_embeds_for_all(board, store_of):
    url, service = board
    embedder = make_embedder(MODEL, environ={})
    alice = store_of(url, ALICE)
    alice.items.put(mine(), embedder.fingerprint)
    tasks = service.tasks.claim(embedder.fingerprint, "worker", 10, 60.0)
    vectors = embedder.embed([task.text for task in tasks])
    assert service.tasks.finish(embedder.fingerprint, list(zip(tasks, vectors, strict=True))) == 4
    assert alice.tasks.counts(embedder.fingerprint).ready == len(KINDS)
    assert store_of(url, BOB).tasks.counts(embedder.fingerprint).total == 0


@pytest.mark.parametrize(
    ("caller", "hung"),
    [
        (ALICE, MINE._replace(namespace="b")),
        (ALICE, MINE._replace(namespace="public")),
        (ALICE, MINE._replace(author="amos")),
        (ANON, MINE),
        (ANON, MINE._replace(namespace="public", author="")),
    ],
)
def test_what_a_caller_may_not_put_is_refused_as_a_whole(board, store_of, caller, hung):
    url, service = board
    with pytest.raises(BoardReadOnly):
        store_of(url, caller).items.put([*mine(), *items_of(hung, source="")], None)
    assert service.items.page(0, 10) == []


def test_an_id_that_another_has_is_not_taken_from_him(board, store_of):
    url, service = board
    service.items.put(mine(), None)
    with pytest.raises(BoardError):
        store_of(url, AMOS).items.put(items_of(MINE._replace(author="amos"), source=""), None)
    assert entry_of(service, mine()[0]).item.author == "alice"


def test_sources_are_not_a_callers_business(board, store_of):
    url, service = board
    service.items.put(mine(visibility=Visibility.PUBLIC), None)
    for caller in (ANON, BOB, AMOS):
        store = store_of(url, caller)
        with pytest.raises(BoardReadOnly):
            store.ledger.remove_source("")
        with pytest.raises(BoardReadOnly):
            store.ledger.mark_synced("x")
        with pytest.raises(BoardReadOnly):
            store.unused_files(0.0, remove=True)
    assert len(service.items.page(0, 10)) == len(KINDS)


def test_statistics_of_a_large_board_are_those_of_ones_own_namespace(board, store_of, monkeypatch):
    """What is common elsewhere is not told by what is common here, nor by what is not."""
    monkeypatch.setattr(limits, "COMMON_FROM", 20)
    url, service = board
    words = {"a": "apple", "b": "banana"}
    service.items.put(
        [
            make_item(f"n{n}", namespace=namespace, description=f"{word} shared", source=namespace)
            for namespace, word in words.items()
            for n in range(30)
        ]
        + [make_item("m", namespace="a", description="banana", source="a")]
        + mine(description="pear " * 20),
        None,
    )
    service.items.take_census()
    known = service.index.frequencies(["banana", "share", "pear"])
    assert known == {"banana": 31, "share": 60, "pear": 0}
    alice, bob = store_of(url, ALICE), store_of(url, BOB)
    assert alice.index.frequencies(["appl", "banana"]) == {"appl": 30, "banana": 0}
    assert bob.index.frequencies(["appl", "banana"]) == {"banana": 30}
    with psycopg.connect(url, autocommit=True) as connection:
        census = "SELECT namespace, items FROM census ORDER BY 1"
        assert connection.execute(census).fetchall() == [("a", 31), ("b", 30)]  # nothing private
        with acting(connection, ALICE):
            terms = {term for (term,) in connection.execute("SELECT term FROM common_terms")}
        assert "appl" in terms
        assert "banana" not in terms  # which is here only because others have it
        alice.items.take_census()  # which she cannot
        assert connection.execute(census).fetchall() == [("a", 31), ("b", 30)]
