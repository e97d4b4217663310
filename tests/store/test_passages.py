"""An item with several vectors, one for each passage: it is found once, by the best of them."""

import random
import threading

import apsw
import numpy as np
import psycopg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from nearest_parts import DIMENSION, MODEL, crowd, exactly, gauss, near, one, opened

from making import entry_of, hang, make_item, purge, work
from pegboard.embed.hashed import HashedEmbedder
from pegboard.model.items import Filters, Fingerprint, Kind, Model, ModelSpec, Task
from pegboard.store.postgres import nearest
from pegboard.store.postgres.opening import upgrade
from pegboard.store.postgres.store import PostgresStore
from pegboard.store.queries import migrations
from pegboard.store.sqlite.opening import APPLICATION_ID
from pegboard.store.sqlite.store import SqliteStore
from pegboard.text import TEXT_VERSION, embedded_passages, embedding_text, passages, source_hash

OTHER = Fingerprint("test", "other", DIMENSION, 1)
HANDBOOK = make_item(
    "handbook",
    kind=Kind.KNOWLEDGE,
    description="Everything about the pager.",
    body="# Rota\nA week from Tuesday to Tuesday.\n# Pay\nThe allowance is 350 euros.",
)


def document(name, **fields):
    return make_item(name, kind=Kind.KNOWLEDGE, **fields)


def hang_all(store, vectors, target=MODEL, **fields):
    """Documents by these names, each with these vectors."""
    items = [document(name, **fields) for name in vectors]
    store.items.put(items, None)
    found = [entry_of(store, item) for item in items]
    done = [
        (Task(0, each.key, each.embedding.source_hash, "", 1), vector)
        for each in found
        for vector in vectors[each.item.name]
    ]
    assert store.tasks.finish(target, done) == len(items)


def ask(store, query, limit=5, target=MODEL, **filters):
    return store.index.vector(query, target, Filters(**filters), limit)


def names(hits):
    return [hit.id.rpartition(":")[2] for hit in hits]


def cosine(one, other):
    return float(np.dot(np.frombuffer(one, "<f4"), np.frombuffer(other, "<f4")))


def library(count, passages=4):
    """Documents by name: what each is, and passages about something else."""
    return {
        f"d{n}": [gauss((n, "itself")), *(gauss((n, part)) for part in range(1, passages))]
        for n in range(count)
    }


def count_of(store, target=MODEL):
    known = {each.fingerprint: each.vectors for each in store.models.kept()}
    return known.get(target, 0)


# What is found.


def test_a_document_is_found_by_any_of_its_passages_and_only_once(store):
    hang_all(store, shelf := library(12))
    for name, vectors in shelf.items():
        for vector in vectors:
            hits = ask(store, vector, 12)
            assert names(hits)[0] == name
            assert hits[0].score == pytest.approx(1.0, abs=1e-5)
            assert sorted(names(hits)) == sorted(shelf)


def test_its_score_is_that_of_its_best_passage(store):
    hang_all(store, shelf := library(6))
    query = near(shelf["d3"][2], 7, 1.0)
    best = {name: max(cosine(query, each) for each in parts) for name, parts in shelf.items()}
    hits = ask(store, query, 6)
    assert names(hits) == sorted(best, key=lambda name: -best[name])
    assert [hit.score for hit in hits] == pytest.approx(sorted(best.values(), reverse=True))
    scores = store.index.vector_scores(query, MODEL, [hit.key for hit in hits])
    assert scores == pytest.approx({hit.key: hit.score for hit in hits})


def test_which_passage_is_the_best_can_be_asked(store):
    hang_all(store, shelf := library(4))
    keys = {name: entry_of(store, document(name)).key for name in shelf}
    found = store.index.best_passages(shelf["d1"][3], MODEL, [keys["d1"], keys["d2"], 999])
    assert found[keys["d1"]] == 3
    assert found.keys() == {keys["d1"], keys["d2"]}
    assert store.index.best_passages(shelf["d1"][0], MODEL, []) == {}
    assert store.index.best_passages(shelf["d1"][0], OTHER, [keys["d1"]]) == {}


def test_of_equal_passages_the_first_is_named(store):
    same = gauss("same")
    hang_all(store, {"twice": [gauss("else"), same, same]})
    key = entry_of(store, document("twice")).key
    assert store.index.best_passages(same, MODEL, [key]) == {key: 1}


def test_one_document_with_many_passages_leaves_room_for_the_others(store):
    place = gauss("place")
    hang_all(store, {"crowd": [near(place, n, 0.2) for n in range(64)]})
    hang_all(store, others := {f"o{n}": [near(place, 100 + n, 0.6)] for n in range(8)})
    assert names(ask(store, place, 1)) == ["crowd"]
    assert set(names(ask(store, place, 9))) == {"crowd", *others}


def test_filters_and_limits_count_items_and_not_passages(store):
    hang_all(store, shelf := library(5))
    hang_all(store, {"box": [gauss("b0"), gauss("b1")]}, category="box")
    assert names(ask(store, shelf["d1"][1], 5, categories=("box",))) == ["box"]
    assert len(ask(store, shelf["d1"][1], 3)) == 3
    assert ask(store, shelf["d1"][1], 5, kinds=("tool",)) == []


# Hanging, replacing, removing.


def test_all_passages_of_a_text_are_hung_together(store, embedder):
    hang(store, embedder, HANDBOOK)
    assert len(passages(HANDBOOK)) == 3
    assert count_of(store, embedder.fingerprint) == 3
    assert store.tasks.counts(embedder.fingerprint).ready == 1
    assert store.tasks.without_vector(embedder.fingerprint) == 0
    assert store.tasks.unembedded(embedder.fingerprint, 0, 10) == []
    assert store.check() == []
    pay = embedder.embed_query("how much is the allowance in euros")
    [hit] = store.index.vector(pay, embedder.fingerprint, Filters(), 3)
    assert store.index.best_passages(pay, embedder.fingerprint, [hit.key]) == {hit.key: 2}


def test_none_is_hung_if_the_text_was_edited_meanwhile(store, embedder):
    target = embedder.fingerprint
    store.items.put([HANDBOOK], target)
    [task] = store.tasks.claim(target, "me", 5, 60.0)
    store.items.put([HANDBOOK._replace(body="# New\nAnother text altogether.")], target)
    vectors = embedder.embed(embedded_passages(task.text))
    assert store.tasks.finish(target, [(task, vector) for vector in vectors]) == 0
    assert count_of(store, target) == 0
    assert store.check() == []
    work(store, embedder)
    assert store.tasks.counts(target).ready == 1
    assert store.check() == []


def test_an_edit_takes_all_vectors_of_the_old_text_away(store, embedder):
    hang(store, embedder, HANDBOOK)
    store.items.put([HANDBOOK._replace(body="# Only\nOne part now.")], embedder.fingerprint)
    assert count_of(store, embedder.fingerprint) == 0
    work(store, embedder)
    assert count_of(store, embedder.fingerprint) == 2
    assert store.check() == []


def test_embedding_the_same_text_again_replaces_every_passage(store, embedder):
    hang(store, embedder, HANDBOOK)
    entry = entry_of(store, HANDBOOK)
    text = entry.key, entry.content_hash, embedding_text(HANDBOOK)
    assert store.tasks.enqueue(embedder.fingerprint, [text]) == 1
    assert count_of(store, embedder.fingerprint) == 3  # the old serve until the new are there
    work(store, embedder)
    assert count_of(store, embedder.fingerprint) == 3
    assert store.check() == []


def test_a_document_that_is_removed_leaves_no_vector(store, embedder):
    hang(store, embedder, HANDBOOK, make_item("send"))
    purge(store)
    assert count_of(store, embedder.fingerprint) == 0


def test_another_model_is_switched_to_when_each_item_has_all_its_vectors(store, embedder):
    other = HashedEmbedder(128)
    for each in (embedder, other):
        store.models.want(Model(each.fingerprint, ModelSpec("test")), chosen=True)
        if each is embedder:
            hang(store, each, HANDBOOK, make_item("send"))
    assert not store.models.activate(other.fingerprint)
    entries = store.tasks.unembedded(other.fingerprint, 0, 10)
    texts = [(each.key, each.content_hash, embedding_text(each.item)) for each in entries]
    store.tasks.enqueue(other.fingerprint, texts)
    work(store, other)
    assert store.models.activate(other.fingerprint)
    assert store.check() == []
    third = HashedEmbedder(64)
    store.models.want(Model(third.fingerprint, ModelSpec("test")), chosen=True)
    store.tasks.enqueue(third.fingerprint, texts)
    work(store, third)
    assert store.models.activate(third.fingerprint)
    assert store.models.prune() == 4  # of the first model: three of the document, one of the tool
    assert store.check() == []


def test_what_lacks_one_passage_is_named_by_the_check(store, embedder):
    hang(store, embedder, HANDBOOK)
    delete = "DELETE FROM vectors WHERE passage = 1"
    if isinstance(store, SqliteStore):
        store.database.rows(delete)
    else:
        store.database.write(lambda tx: tx.execute(delete))
    assert store.check() == [
        f"{HANDBOOK.id} lacks the vectors of some passages;"
        f" embed it again with: pegboard refresh {HANDBOOK.id}"
    ]


def test_one_damaged_vector_makes_the_whole_item_wait_for_new_ones(sqlite_store, embedder):
    hang(sqlite_store, embedder, HANDBOOK)
    sqlite_store.database.rows("UPDATE vectors SET vector = x'00' WHERE passage = 2")
    [entry] = sqlite_store.tasks.unembedded(embedder.fingerprint, 0, 10)
    assert entry.item.id == HANDBOOK.id
    sqlite_store.items.put([HANDBOOK], embedder.fingerprint, rewrite=True)
    work(sqlite_store, embedder)
    assert sqlite_store.check() == []


# By codes, on SQLite.


def assert_as_exact(board, queries, limit=5, **filters):
    for query in queries:
        hits, truth = ask(board, query, limit, **filters), exactly(board, query, limit, **filters)
        assert names(hits)[:1] == names(truth)[:1]
        assert len(hits) == len(truth) == len({hit.key for hit in hits})
        scores = {hit.key: hit.score for hit in exactly(board, query, 10**6, **filters)}
        assert all(hit.score == scores[hit.key] for hit in hits)


def test_codes_name_each_document_once_with_its_exact_score(board, other):
    hang_all(board, shelf := library(120, 5))
    queries = [near(vectors[part], part, 0.4) for vectors in shelf.values() for part in (0, 2, 4)]
    for store in (board, other, opened(board.database.path)):
        assert_as_exact(store, queries[::7])
    assert board.check() == []


def test_among_tools_the_best_passage_decides(board):
    crowded = crowd(300)
    hang_all(board, library(60, 4))
    hang_all(board, {name: [vector] for name, vector in crowded.items()}, category="box")
    queries = [near(vector, n, 0.5) for n, vector in enumerate(list(crowded.values())[::20])]
    assert_as_exact(board, queries)
    assert_as_exact(board, queries, categories=("box",))


def test_few_documents_that_fill_all_that_is_near_do_not_hide_the_rest(board):
    place = gauss("place")
    hang_all(
        board, {f"big{n}": [near(place, 64 * n + p, 0.3) for p in range(64)] for n in range(6)}
    )
    hang_all(board, {f"far{n}": [gauss(("far", n))] for n in range(500)})
    hits = ask(board, place, 10)
    assert len({hit.key for hit in hits}) == 10
    assert hits == exactly(board, place, 10)


OPERATIONS = st.tuples(
    st.sampled_from(["add", "replace", "delete", "seal", "reopen"]),
    st.integers(1, 12),
    st.integers(0, 2**32),
)


@settings(
    max_examples=30,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
@given(st.lists(OPERATIONS, min_size=4, max_size=16))
def test_whatever_happens_to_documents_every_process_finds_what_is_there(
    tmp_path_factory, operations
):
    path = tmp_path_factory.mktemp("board") / "board.db"
    stores = [opened(path, create=True), opened(path)]
    there = {}
    for step, (what, count, seed) in enumerate(operations):
        rng = random.Random(seed)
        store = rng.choice(stores)
        some = rng.sample(sorted(there), min(count, len(there)))
        if what in ("add", "replace"):
            chosen = some if what == "replace" else [f"t{step}x{n}" for n in range(count)]
            made = {
                name: [gauss((step, seed, name, p)) for p in range(len(there.get(name, [0] * 3)))]
                for name in chosen
            }
            hang_all(store, made)
            there |= made
        elif what == "delete":
            keys = ",".join(str(entry_of(store, document(name)).key) for name in some)
            store.database.rows(f"DELETE FROM item_terms WHERE rowid IN ({keys})")
            store.database.rows(f"DELETE FROM items WHERE key IN ({keys})")
            there = {name: there[name] for name in there if name not in some}
        elif what == "seal":
            store.tasks.adopt(MODEL)
        else:
            stores[0].close()
            stores[0] = opened(path)
        ask(store, gauss(seed), 3)
    for store in stores:
        for name, vectors in there.items():
            assert names(ask(store, rng.choice(vectors), 3))[0] == name
        assert store.check() == []
        store.close()


# By the index, on PostgreSQL.


@pytest.fixture
def indexed(postgres_store, monkeypatch):
    """A board large enough for an index, as far as it knows, and for nothing but the index."""
    monkeypatch.setattr(nearest, "INDEXED_FROM", 50)
    monkeypatch.setattr(nearest, "FEW", 0)
    hang_all(postgres_store, library(80, 5))
    assert postgres_store.nearest.build(MODEL) == ["knowledge_vectors_hnsw_1"]
    return postgres_store


def test_the_index_gives_each_document_once(indexed):
    for name, vectors in list(library(80, 5).items())[::8]:
        for vector in vectors:
            hits = ask(indexed, vector, 10)
            assert names(hits)[0] == name
            assert len({hit.key for hit in hits}) == 10
            assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)


def test_where_few_documents_fill_the_index_all_are_compared(indexed):
    place = gauss("place")
    hang_all(
        indexed, {f"big{n}": [near(place, 64 * n + p, 0.3) for p in range(64)] for n in range(4)}
    )
    hits = ask(indexed, place, 12)
    assert len({hit.key for hit in hits}) == 12
    assert set(names(hits)[:4]) == {f"big{n}" for n in range(4)}


@pytest.mark.parametrize("function", ["search_knowledge_hybrid", "search_all_hybrid"])
def test_functions_for_sql_find_a_document_once_by_its_best_passage(
    postgres_store, postgres_url, function
):
    hang_all(postgres_store, shelf := library(20, 4))
    said = [float(value) for value in np.frombuffer(shelf["d7"][3], "<f4")]
    with psycopg.connect(postgres_url) as connection:
        rows = connection.execute(
            f"SELECT * FROM {function}(NULL, %s::vector, 20)", [str(said)]
        ).fetchall()
        seen = connection.execute("SELECT title FROM knowledge_embeddings").fetchall()
    found = [row[1 if function == "search_knowledge_hybrid" else 2] for row in rows]
    assert found[0] == "d7"
    assert sorted(found) == sorted(shelf)
    assert sorted(title for (title,) in seen) == sorted(shelf)


# Boards from before.

TOOL = make_item("send")
BEFORE = 2
"""The version of texts in which a document was one passage."""


def found_before(store, embedder):
    """What a search by the vectors finds that passages brought."""
    with_passages = embedder.fingerprint._replace(text_version=3)
    hits = store.index.vector(embedder.embed_query("send"), with_passages, Filters(), 5)
    return [hit.id for hit in hits]


def test_vectors_of_tools_are_searched_until_new_ones_are_made_on_sqlite(tmp_path):
    path = tmp_path / "board.db"
    connection = apsw.Connection(str(path))
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}; PRAGMA journal_mode = WAL")
    connection.execute("CREATE TABLE migrations (number INTEGER PRIMARY KEY, name, applied_at)")
    for number, name, text in migrations("sqlite")[:8]:
        connection.execute(text)
        connection.execute("INSERT INTO migrations VALUES (?, ?, 0)", (number, name))
    connection.execute(
        "INSERT INTO fingerprints VALUES (1, 'test', 'hashed-ngrams', 256, ?)", (BEFORE,)
    )
    embedder = HashedEmbedder()
    for key, item in enumerate((TOOL, HANDBOOK), start=1):
        text = passages(item)[0].text
        row = (key, item.id, item.kind, item.name, item.description, source_hash(text), BEFORE)
        connection.execute(
            "INSERT INTO items (key, id, kind, name, description, source_hash, text_version, scope,"
            " source, short_name, embedding_status, content_hash, created_at, updated_at, body)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, 'mcptools', 'tools', '', 'ready', '', 0, 0, ?)",
            (*row, item.body),
        )
        connection.execute(
            "INSERT INTO vectors (item_key, fingerprint, source_hash, vector, created_at)"
            " VALUES (?, 1, ?, ?, 0)",
            (key, source_hash(text), embedder.embed([text])[0]),
        )
    connection.execute("INSERT INTO code_blocks VALUES (1, 1, 2, x'00', x'00')")
    connection.close()
    store = SqliteStore(path)
    target = embedder.fingerprint
    waiting = store.tasks.unembedded(target, 0, 9)
    assert [each.item.id for each in waiting] == [TOOL.id, HANDBOOK.id]
    assert store.database.rows("SELECT seq, item_key, passage FROM vectors") == [(1, 1, 0)]
    assert found_before(store, embedder) == [TOOL.id]
    texts = [(each.key, each.content_hash, embedding_text(each.item)) for each in waiting]
    store.tasks.enqueue(target, texts)
    work(store, embedder)
    assert one(store, "SELECT min(seq) FROM vectors WHERE item_key = 2") > 2  # and not 2 again
    assert store.tasks.counts(target).ready == 2
    store.close()


def test_vectors_of_tools_are_searched_until_new_ones_are_made_on_postgres(empty_database):
    upgrade(empty_database, "here", through=5)
    embedder = HashedEmbedder()
    with psycopg.connect(empty_database) as connection:
        connection.execute(
            "INSERT INTO fingerprints (provider, model, dimension, text_version)"
            " VALUES ('test', 'hashed-ngrams', 256, %s)",
            [BEFORE],
        )
        for item in (TOOL, HANDBOOK):
            text = passages(item)[0].text
            vector = np.frombuffer(embedder.embed([text])[0], "<f4").tolist()
            connection.execute(
                "WITH i AS (INSERT INTO items (id, kind, name, description, body, source_hash,"
                "   text_version, embedding_status)"
                "   VALUES (%(id)s, %(kind)s, %(name)s, %(description)s, %(body)s, %(hash)s,"
                "     %(version)s, 'ready') RETURNING *)"
                " INSERT INTO vectors (kind, item_key, fingerprint, namespace, source_hash,"
                "   embedding) SELECT kind, key, 1, namespace, source_hash, %(vector)s FROM i",
                item._asdict()
                | {"kind": item.kind.value, "hash": source_hash(text), "version": BEFORE}
                | {"vector": str(vector), "input_schema": None, "output_schema": None}
                | {"executor": None, "tags": None, "aliases": None},
            )
    upgrade(empty_database, "here")
    store = PostgresStore(empty_database)
    try:
        target = embedder.fingerprint
        assert target.text_version == TEXT_VERSION
        waiting = store.tasks.unembedded(target, 0, 9)
        assert [each.item.id for each in waiting] == [TOOL.id, HANDBOOK.id]
        assert found_before(store, embedder) == [TOOL.id]
    finally:
        store.close()


def test_whoever_reads_sees_all_passages_of_a_text_while_it_is_hung_again(board, path):
    def parts(n):
        return {"doc": [gauss(("doc", n, part)) for part in range(3)]}

    hang_all(board, parts(0))
    stop, seen = threading.Event(), set()

    def look():
        store = opened(path)
        while not stop.is_set():
            seen.add(one(store, "SELECT count(*) FROM vectors"))
        store.close()

    thread = threading.Thread(target=look)
    thread.start()
    try:
        for n in range(1, 40):
            hang_all(board, parts(n))
    finally:
        stop.set()
        thread.join(30)
    assert seen == {3}
