"""Search on PostgreSQL from a thousand items to a hundred thousand, held against HNSW alone.

The items are those of `growth.py`, spread over a hundred namespaces; their vectors come from the
test embedder, of 384 numbers like the packaged model's. The queries' vectors are made beforehand
and cost nothing here. Each search is followed by the bare query of the vector index with the same
vector, so that whatever else the machine does hits both alike. `--server` takes a server that is
there already, and keeps its boards for the next run.
"""

import argparse
import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import psycopg
from psycopg import sql
from psycopg.conninfo import make_conninfo

from growth import BATCH, Tools
from growth_search import FLAGS, WARM_UP, Ready, embedded_texts, questions, understood
from pegboard import Pegboard
from pegboard.app.pegboard import located
from pegboard.model.items import Filters, Item, ItemId
from pegboard.store.postgres.store import PostgresStore
from pegboard.store.postgres.vector import to_database
from report import Check, at_least, at_most, mean, options, quantile, save
from trial_postgres import QUICK, TrialPostgres

SIZES = (1_000, 10_000, 100_000)
LARGEST = SIZES[-1]
TENANTS = 100
TOP = 10
BARE = """
SELECT item_key FROM tool_vectors WHERE fingerprint = %(fingerprint)s
ORDER BY embedding::vector(384) <#> %(query)s LIMIT 10
"""
EXACT = """
SELECT i.id FROM tool_vectors v JOIN items i ON i.key = v.item_key AND i.namespace = v.namespace
WHERE v.fingerprint = %(fingerprint)s AND (%(tenant)s::text IS NULL OR i.namespace = %(tenant)s)
ORDER BY (v.embedding <#> %(query)s) + 0, i.id LIMIT 10
"""


def main() -> None:
    found = options(__doc__)
    found.add_argument("--server", help="address of a server with pgvector that is there already")
    found.add_argument(
        "--sizes",
        type=lambda text: [int(each) for each in text.split(",")],
        default=list(SIZES),
        help="numbers of items, with commas between them",
    )
    found.add_argument("--queries", type=int, default=200, help="timed queries (%(default)s)")
    args = found.parse_args()
    tools = Tools(args.data / "scale")
    rows: dict[int, dict[str, Any]] = {}
    with serving(args) as server:
        for size in args.sizes:
            url, built = board_of(server, size, tools)
            rows[size] = asked(url, args.data, args.queries) | built
            print(size, json.dumps(rows[size]), flush=True)
    save(args, "postgres_scale", {"checks": checks(rows), "sizes": rows})


def checks(rows: dict[int, dict[str, Any]]) -> dict[str, Check]:
    if LARGEST not in rows:
        return {}
    row = rows[LARGEST]
    return {
        "search / HNSW alone, p50": at_most(row["search / HNSW alone"]["p50"], 2.0),
        "search p95 / HNSW alone p50": at_most(row["search / HNSW alone"]["p95"], 4.0),
        "recall@10 in one namespace of a hundred": at_least(
            row["recall@10"]["one namespace"], 0.95
        ),
    }


@contextmanager
def serving(args: argparse.Namespace) -> Iterator[str]:
    if args.server:
        yield args.server
        return
    trial = TrialPostgres(QUICK | {"shared_buffers": "1GB", "max_wal_size": "8GB"})
    try:
        trial.create()
        trial.start()
        yield trial.url()
    finally:
        trial.remove()


def board_of(server: str, size: int, tools: Tools) -> tuple[str, dict[str, Any]]:
    name = f"pegboard_scale_{size}"
    url = make_conninfo(server, dbname=name)
    with psycopg.connect(server, autocommit=True) as connection:
        known = connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", [name])
        if not known.fetchone():
            connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
    store = PostgresStore(url, create=True)
    try:
        built = built_board(store, size, tools)
    finally:
        store.close()
    return url, built


def built_board(store: PostgresStore, size: int, tools: Tools) -> dict[str, Any]:
    embedder = Ready([])
    target = embedder.fingerprint
    have = store.tasks.counts(target).total
    spent = {"putting": 0.0, "hanging": 0.0, "index": 0.0, "counting terms": 0.0}
    for first in range(have, size, BATCH):
        batch = [placed(n, tools) for n in range(first, min(first + BATCH, size))]
        spent["putting"] += timed(partial(store.items.put, batch, target))
        while tasks := store.tasks.claim(target, "scale", BATCH, lease=600.0):
            vectors = embedder.embed([task.text for task in tasks])
            done = list(zip(tasks, vectors, strict=True))
            spent["hanging"] += timed(partial(store.tasks.finish, target, done))
    spent["index"] += timed(partial(store.nearest.build, target))
    spent["counting terms"] += timed(store.items.take_census)
    for table in ("items", "item_terms", "item_texts", "vectors"):
        with psycopg.connect(store.database.url, autocommit=True) as connection:
            connection.execute(sql.SQL("VACUUM ANALYZE {}").format(sql.Identifier(table)))
    new = max(size - have, 1)
    return {
        "build, ms an item": {step: round(1000 * s / new, 3) for step, s in spent.items()},
        "disk, bytes an item": round(int(str(store.facts()["bytes"])) / size),
    }


def placed(number: int, tools: Tools) -> Item:
    item = tools.numbered(number)
    return item._replace(namespace=f"team{number % TENANTS}", id=ItemId(item.id))


def asked(url: str, data: Path, queries: int) -> dict[str, Any]:
    texts = understood(questions(data, WARM_UP + queries))
    store = PostgresStore(url)
    embedder = Ready(embedded_texts(texts, store.index.source_counts()))
    board = Pegboard(store, located(flags=FLAGS).settings)
    board.embedder = embedder
    for text in texts[:WARM_UP]:
        board.search(text, threshold=0.0)
    try:
        return compared(board, store, embedder, texts[WARM_UP:])
    finally:
        board.close()


def compared(
    board: Pegboard, store: PostgresStore, embedder: Ready, texts: list[str]
) -> dict[str, Any]:
    one = Filters(namespaces=("team7",))
    fingerprint = store.database.rows("SELECT max(key) FROM fingerprints")[0][0]
    times: dict[str, list[float]] = {"search": [], "bare": [], "tenant": [], "words": []}
    recall: dict[str, list[float]] = {"whole board": [], "one namespace": []}
    for text in texts:
        vector = embedder.embed_query(text)
        ask = {"query": to_database(vector), "fingerprint": fingerprint}
        times["bare"].append(timed(partial(store.database.rows, BARE, ask)))
        times["search"].append(timed(partial(board.search, text, threshold=0.0)))
        times["words"].append(timed(partial(board.search, text, mode="bm25", threshold=0.0)))
        times["tenant"].append(timed(partial(board.search, text, filters=one, threshold=0.0)))
        for which, filters, tenant in (
            ("whole board", Filters(), None),
            ("one namespace", one, "team7"),
        ):
            hits = store.index.vector(vector, embedder.fingerprint, filters, TOP)
            exact = store.database.rows(EXACT, ask | {"tenant": tenant})
            recall[which].append(len({h.id for h in hits} & {row[0] for row in exact}) / len(exact))
    unit = quantile(times["bare"], 0.5)
    return {
        **{
            f"{name} / HNSW alone": {
                "p50": round(quantile(times[key], 0.5) / unit, 3),
                "p95": round(quantile(times[key], 0.95) / unit, 3),
            }
            for name, key in (
                ("search", "search"),
                ("search by words", "words"),
                ("search in one namespace", "tenant"),
            )
        },
        "recall@10": {which: mean(found) for which, found in recall.items()},
        "ms": {name: round(1000 * quantile(found, 0.5), 2) for name, found in times.items()},
        "queries": len(texts),
    }


def timed(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


if __name__ == "__main__":
    main()
