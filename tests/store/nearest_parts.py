"""Boards whose vectors are chosen by the test, small but searched by their codes."""

from zlib import crc32

import numpy as np

from making import make_item
from pegboard.model.items import Filters, Fingerprint, ItemId, Task, Vector
from pegboard.store.sqlite.index import SqliteIndex
from pegboard.store.sqlite.nearest import Reach
from pegboard.store.sqlite.store import SqliteStore
from pegboard.store.sqlite.tasks import SqliteTasks

BLOCK = 16
NEAR = Reach(few=0, least=10)
"""So that even a small board is searched by its codes."""
ALL = Reach(few=10**9)
DIMENSION = 256
MODEL = Fingerprint("test", "gauss", DIMENSION, 1)


def opened(path, *, create=False, reach=NEAR):
    store = SqliteStore(path, create=create)
    store.tasks = SqliteTasks(store.database, BLOCK)
    store.index = SqliteIndex(store.database, reach)
    return store


def unit(values):
    row = np.asarray(values, dtype=np.float64)
    return Vector((row / np.linalg.norm(row)).astype("<f4").tobytes())


def gauss(seed, dimension=DIMENSION):
    return unit(np.random.default_rng(crc32(repr(seed).encode())).standard_normal(dimension))


def near(vector, seed, noise=0.5):
    values = np.frombuffer(vector, "<f4")
    drift = np.random.default_rng(seed).standard_normal(len(values))
    return unit(values + drift * noise / len(values) ** 0.5)


def crowd(count, dimension=DIMENSION):
    """Vectors by name, a dozen around each of a few centres."""
    centres = [gauss(("centre", n), dimension) for n in range(max(count // 12, 1))]
    return {f"t{n}": near(centres[n % len(centres)], n) for n in range(count)}


def key_of(store, name):
    return entry(store, name).key


def entry(store, name):
    return store.items.get(ItemId(f"mcptools:mail:{name}"), "public")


def hang(store, vectors, target=MODEL, **fields):
    """Items by these names, each with its vector; those that are there get another one."""
    store.items.put([make_item(name, **fields) for name in vectors], None)
    found = [entry(store, name) for name in vectors]
    tasks = [Task(0, each.key, each.embedding.source_hash, "", 1) for each in found]
    assert store.tasks.finish(target, list(zip(tasks, vectors.values(), strict=True))) == len(tasks)


def drop(store, *names):
    """Remove items altogether, as a purge does."""
    keys = ",".join(str(key_of(store, name)) for name in names)
    store.database.rows(f"DELETE FROM item_terms WHERE rowid IN ({keys})")
    store.database.rows(f"DELETE FROM items WHERE key IN ({keys})")


def ask(store, query, limit=5, target=MODEL, **filters):
    return store.index.vector(query, target, Filters(**filters), limit)


def exactly(store, query, limit=5, target=MODEL, **filters):
    return SqliteIndex(store.database, ALL).vector(query, target, Filters(**filters), limit)


def names(hits):
    return [hit.id.rpartition(":")[2] for hit in hits]


def one(store, sql):
    return store.database.rows(sql)[0][0]


def recall(store, queries, limit, **filters):
    shares = []
    for query in queries:
        wanted = {hit.key for hit in exactly(store, query, limit, **filters)}
        got = {hit.key for hit in ask(store, query, limit, **filters)}
        shares.append(len(wanted & got) / len(wanted) if wanted else 1.0)
    return sum(shares) / len(shares)


def assert_sound(store, vectors, **filters):
    """Each vector finds its own item first; hits are live, exactly scored, ordered and complete."""
    everything = {hit.key: hit for hit in exactly(store, gauss("any"), 10**6, **filters)}
    for name, vector in vectors.items():
        hits = ask(store, vector, 3, **filters)
        truth = {hit.key: hit.score for hit in exactly(store, vector, 10**6, **filters)}
        assert len(hits) == min(3, len(everything))
        assert {hit.key: hit.score for hit in hits} == {hit.key: truth[hit.key] for hit in hits}
        assert hits == sorted(hits, key=lambda hit: (-hit.score, hit.id, hit.key))
        if key_of(store, name) in truth:
            assert names(hits)[0] == name
