"""What the store asks of a board with many items is looked up in indexes: the server's own plans.

They are those of the statements that are really run, with the values they are run with.
"""

import re
import time
from collections.abc import Callable, Iterator
from typing import NamedTuple

import psycopg
import pytest
from nearest_parts import gauss

from making import make_item
from pegboard.model.calls import Outcome
from pegboard.model.content import Version
from pegboard.model.items import Filters, Fingerprint, Item, ItemId, Task, WordQuery
from pegboard.model.runs import Run
from pegboard.store.postgres import database
from pegboard.store.postgres.store import PostgresStore
from pegboard.text import TEXT_VERSION
from postgres_server import fresh

ITEMS = 20_000
DIMENSION = 16
EMBEDDED = Fingerprint("test", "embedded", DIMENSION, TEXT_VERSION)
QUEUED = Fingerprint("test", "queued", DIMENSION, TEXT_VERSION)
TRIED = Fingerprint("test", "tried", DIMENSION, TEXT_VERSION)
FILL = f"""
INSERT INTO items (namespace, id, scope, source, name, short_name, name_key, category, tags, origin,
  source_hash, embedding_status, content_hash, text_version)
SELECT 'n' || g % 200, 'mcptools:c' || g % 50 || ':tool' || g, 'mcptools', 'source' || g % 200,
  'tool' || g, 'c' || g % 50 || '__tool' || g, 'tool' || g, 'c' || g % 50, ARRAY['tag' || g % 500],
  'folder' || g % 1000 || '/tool' || g || '.py', 'hash', 'ready', 'content', {TEXT_VERSION}
FROM generate_series(1, {ITEMS}) AS g;
INSERT INTO item_terms SELECT term, key, namespace, 1.0, 4
FROM items, LATERAL (VALUES (name), ('common'), ('word' || key % 100), ('some' || key % 1000))
  AS t (term);
INSERT INTO item_texts (kind, item_key, namespace, length, name)
SELECT kind, key, namespace, 4, name FROM items;
INSERT INTO word_variants SELECT name, name, namespace FROM items;
INSERT INTO item_links (namespace, item_key, relation, target, target_key, target_namespace)
SELECT namespace, key, 'uses', 'tool' || key + 200, key + 200, namespace FROM items
WHERE key <= {ITEMS} - 200;
INSERT INTO item_history (namespace, item_key, item_id, event)
SELECT namespace, key, id, 'missing' FROM items;
INSERT INTO item_runs (namespace, uid, item_key, item_id, version, at, outcome, seconds, who)
SELECT namespace, gen_random_uuid(), key, id, '', now() - key * interval '1 second', 'ok', 1, ''
FROM items;
INSERT INTO item_versions (namespace, item_key, version, manifest, content_hash)
SELECT namespace, key, number, '{{}}', 'hash'
FROM items, unnest(ARRAY['1.0.0', '1.1.0']) AS each (number);
INSERT INTO version_files (namespace, version_key, path, media_type, sha256, size_bytes, content)
SELECT namespace, key, 'main.py', 'text/plain', encode(sha256(''), 'hex'), 0, ''
FROM item_versions;
INSERT INTO fingerprints (provider, model, dimension, text_version)
VALUES ('test', 'embedded', {DIMENSION}, {TEXT_VERSION}),
  ('test', 'queued', {DIMENSION}, {TEXT_VERSION}), ('test', 'tried', {DIMENSION}, {TEXT_VERSION});
INSERT INTO vectors (kind, item_key, fingerprint, namespace, source_hash, embedding)
SELECT kind, key, 1, namespace, source_hash, l2_normalize(
  (SELECT array_agg(random() - 0.5) FROM generate_series(1, {DIMENSION}) WHERE key > 0)::vector)
FROM items;
INSERT INTO embedding_tasks (host_id, entity_type, entity_id, source_hash, source_text, fingerprint)
SELECT namespace, kind, key, source_hash, name, 2 FROM items;
INSERT INTO embedding_tasks (host_id, entity_type, entity_id, source_hash, source_text, fingerprint,
  status, attempt_count, lease_owner, lease_until)
SELECT namespace, kind, key, source_hash, name, 3,
  CASE key % 2 WHEN 0 THEN 'pending' ELSE 'running' END, 1 + key % 4,
  CASE key % 2 WHEN 1 THEN 'owner' || key % 100 END,
  now() + CASE WHEN key % 2 = 1 THEN interval '1 hour' * (key % 3 - 1) END
FROM items WHERE key % 4 < 2;
ANALYZE
"""
WATCHED = (
    "&options=-csession_preload_libraries%3Dauto_explain%20-cclient_min_messages%3Dlog"
    "%20-cauto_explain.log_min_duration%3D0"
)
LARGE = (
    "items|item_terms|item_texts|tool_texts|vectors|tool_vectors|embedding_tasks|word_variants"
    "|item_links|item_history|item_runs|item_versions|version_files"
)


class Watched(NamedTuple):
    store: PostgresStore
    plans: list[str]

    def of(self, step: Callable[[PostgresStore], object]) -> str:
        """The plans of all that a step asks of the database."""
        self.plans.clear()
        step(self.store)
        assert self.plans
        return "\n".join(self.plans)


@pytest.fixture(scope="module")
def watched(postgres_server) -> Iterator[Watched]:
    plans: list[str] = []
    with (
        pytest.MonkeyPatch.context() as patch,
        fresh(postgres_server, postgres_server.template) as url,
    ):
        with psycopg.connect(url) as connection:
            connection.execute(FILL)

        def settle(connection):
            settled(connection)
            connection.add_notice_handler(lambda said: plans.append(said.message_primary or ""))

        settled = database.settle
        patch.setattr(database, "settle", settle)
        store = PostgresStore(url + WATCHED)
        store.items.take_census()
        assert store.nearest.build(EMBEDDED) == ["tool_vectors_hnsw_1"]
        yield Watched(store, plans)
        store.close()


def task_of(store: PostgresStore, key: int) -> Task:
    return Task(0, key, "hash", "text", 1)


def words(*terms: str) -> WordQuery:
    return WordQuery(terms, terms)


def run_of(item_id: str, namespace: str) -> Run:
    return Run(namespace, ItemId(item_id), "", time.time(), Outcome.OK, 1.0)


def versioned(number: str) -> Item:
    return make_item(
        "tool600",
        id=ItemId("mcptools:c0:tool600"),
        namespace="n0",
        source="source0",
        version=Version(number, "hash"),
    )


NOWHERE = Filters(namespaces=("n7",))
STEPS: dict[str, tuple[Callable[[PostgresStore], object], list[str]]] = {
    "claim": (
        lambda s: s.tasks.claim(QUEUED, "me", 16, 60.0),
        ["embedding_tasks_fresh"],
    ),
    "claim more than the shares": (
        lambda s: s.tasks.claim(QUEUED, "me", 300, 60.0),
        ["embedding_tasks_fresh"],
    ),
    "claim again": (
        lambda s: s.tasks.claim(TRIED, "me", 16, 60.0),
        ["embedding_tasks_again", "embedding_tasks_held"],
    ),
    "claim nothing": (
        lambda s: s.tasks.claim(EMBEDDED, "me", 16, 60.0),
        ["embedding_tasks_fresh", "embedding_tasks_again", "embedding_tasks_held"],
    ),
    "finish": (
        lambda s: s.tasks.finish(QUEUED, [(task_of(s, k), gauss(k, DIMENSION)) for k in (9, 8)]),
        ["items_pkey|items_seen", "embedding_tasks_entity_id"],
    ),
    "fail": (
        lambda s: s.tasks.fail("me", task_of(s, 7), "no luck", None),
        ["embedding_tasks_pkey|embedding_tasks_entity_id"],
    ),
    "release": (lambda s: s.tasks.release("owner3"), ["embedding_tasks_owner"]),
    "owners": (lambda s: s.tasks.owners(), ["embedding_tasks_owner"]),
    "put": (
        lambda s: s.items.put(
            [
                make_item("new", namespace="n1"),
                make_item(
                    "tool1", namespace="n1", id=ItemId("mcptools:c1:tool1"), source="source1"
                ),
            ],
            QUEUED,
        ),
        ["items_namespace_id_key|items_id", "items_pkey|items_seen", "item_terms_item"],
    ),
    "get": (
        lambda s: s.items.get(ItemId("mcptools:c2:tool2"), "n2"),
        ["items_namespace_id_key|items_id"],
    ),
    "named": (lambda s: s.items.named("c3__tool3"), ["items_short_name", "items_name"]),
    "named by the last part of an id": (
        lambda s: s.items.named("no_such"),
        ["items_last_part|items_tool_type"],
    ),
    "named by id": (lambda s: s.items.named("mcptools:c3:tool3"), ["items_id"]),
    "named with its namespace": (
        lambda s: s.items.named("n3/mcptools:c3:tool3"),
        ["items_namespace_id_key|items_id"],
    ),
    "page": (lambda s: s.items.page(500, 20), ["items_pkey|items_seen"]),
    "origins": (lambda s: s.items.origins("source5"), ["items_source"]),
    "origins under": (lambda s: s.items.origins("source5", ["folder5"]), ["items_source"]),
    "retire": (
        lambda s: s.items.retire("source6", ["folder6/tool6.py"], s.now(), 0.0),
        ["items_source", "embedding_tasks_entity_id"],
    ),
    "retire under": (
        lambda s: s.items.retire_under("source8", ["folder8"], [], s.now()),
        ["items_source", "embedding_tasks_entity_id"],
    ),
    "first look": (
        lambda s: s.index.first_look(["some99"], "tool9", Filters(), 10),
        ["items_name_key", "item_terms_pkey"],
    ),
    "whole name in a namespace": (
        lambda s: s.index.first_look([], "tool9", NOWHERE, 10),
        ["items_name_key"],
    ),
    "rare word": (lambda s: s.index.keyword(words("tool9"), Filters(), 10), ["item_terms_pkey"]),
    "words in a namespace": (
        lambda s: s.index.keyword(words("word9", "some9"), NOWHERE, 10),
        ["item_terms_pkey", "items_pkey|items_seen"],
    ),
    "scores by words": (
        lambda s: s.index.keyword_scores(words("common", "word9"), [7, 8, 9]),
        ["item_terms"],
    ),
    "frequencies": (lambda s: s.index.frequencies(["some99"]), ["item_terms_pkey"]),
    "spelling": (lambda s: s.index.words_like(["tool9", "tol9"], [], 5), ["word_variants_pkey"]),
    "beginnings": (
        lambda s: s.index.words_like([], ["tool19", "tool2"], 5),
        ["word_variants_pkey"],
    ),
    "meaning": (
        lambda s: s.index.vector(gauss("q", DIMENSION), EMBEDDED, Filters(), 10),
        ["tool_vectors_hnsw_1", "items_pkey|items_seen"],
    ),
    "meaning in a namespace": (
        lambda s: s.index.vector(gauss("q", DIMENSION), EMBEDDED, NOWHERE, 10),
        ["items_namespace", "tool_vectors_pkey|tool_vectors_fingerprint_namespace_idx"],
    ),
    "meaning with a tag": (
        lambda s: s.index.vector(gauss("q", DIMENSION), EMBEDDED, Filters(tags=("tag9",)), 10),
        ["items_tags", "tool_vectors_pkey"],
    ),
    "words of a skill": (
        lambda s: s.index.keyword(words("common"), Filters(skills=("tool400",)), 10),
        ["item_terms_pkey", "items_name|items_tool_type", "item_links_item"],
    ),
    "meaning of a skill": (
        lambda s: s.index.vector(gauss("q", DIMENSION), EMBEDDED, Filters(skills=("tool400",)), 10),
        ["items_name|items_tool_type", "item_links_item", "items_skills", "tool_vectors_pkey"],
    ),
    "meaning of what is linked": (
        lambda s: s.index.vector(
            gauss("q", DIMENSION), EMBEDDED, Filters(linked=("mcptools:c0:tool400",)), 10
        ),
        ["items_id", "item_links_item", "item_links_target", "tool_vectors_pkey"],
    ),
    "ties": (lambda s: s.curation.ties(400), ["item_links_item", "item_links_target"]),
    "history": (
        lambda s: s.curation.history("mcptools:c0:tool400", "n0"),
        ["item_history_item"],
    ),
    "describe": (
        lambda s: s.curation.describe(s.index.entries([11])[11], "Mine.", "me", QUEUED),
        ["items_pkey|items_seen", "item_history_item"],
    ),
    "record a run": (
        lambda s: s.runs.record(run_of("mcptools:c0:tool400", "n0")),
        ["items_namespace_id_key|items_id"],
    ),
    "forget runs": (lambda s: s.runs.prune(0.0), ["item_runs_at"]),
    "runs": (lambda s: s.runs.recent(), ["item_runs_at"]),
    "runs of an item": (lambda s: s.runs.recent("mcptools:c0:tool400"), ["item_runs_item"]),
    "counts of runs": (lambda s: s.runs.counts("mcptools:c0:tool400"), ["item_runs_item"]),
    "put a version": (
        lambda s: s.items.put([versioned("1.2.0")], None, fixed=True),
        ["item_versions_item_key_version_namespace_key"],
    ),
    "put a version again": (
        lambda s: s.items.put([versioned("1.1.0")], None, rewrite=True),
        ["item_versions_item_key_version_namespace_key", "version_files_version_key_path"],
    ),
    "versions": (
        lambda s: s.items.versions(ItemId("mcptools:c1:tool401"), "n1"),
        ["item_versions_item_key_version_namespace_key"],
    ),
    "a version": (
        lambda s: s.items.version(ItemId("mcptools:c1:tool401"), "n1", "1.0.0"),
        ["item_versions_item_key_version_namespace_key", "version_files_version_key_path"],
    ),
    "scores by meaning": (
        lambda s: s.index.vector_scores(gauss("q", DIMENSION), EMBEDDED, [7, 8, 9]),
        ["tool_vectors_pkey"],
    ),
    "entries": (lambda s: s.index.entries([7, 8, 9]), ["items_pkey|items_seen"]),
    "among": (
        lambda s: s.index.among([7, 8, 9], NOWHERE),
        ["items_pkey|items_seen|items_namespace"],
    ),
}


@pytest.mark.parametrize(("step", "indexes"), STEPS.values(), ids=list(STEPS))
def test_it_goes_by_an_index_and_never_through_the_whole_table(watched, step, indexes):
    plans = watched.of(step)
    assert not re.findall(rf"Seq Scan on (?:public\.)?(?:{LARGE})\b.*", plans), plans
    for index in indexes:
        assert re.search(rf"Index.* (?:using|on) (?:{index})", plans), f"{index}: {plans}"


def test_what_is_meant_to_go_through_everything_is_seen_to_do_so(watched):
    """So these tests would notice."""
    assert "Seq Scan on" in watched.of(lambda s: s.database.rows("SELECT max(body) FROM items"))
