"""nearest_keys, behind search as functions in SQL, goes by the index where each text is another."""

import json

import psycopg
from nearest_parts import gauss

DIMENSION = 16
FILL = f"""
INSERT INTO fingerprints (provider, model, dimension, text_version)
VALUES ('test', 'gauss', {DIMENSION}, 1);
INSERT INTO items (id, name, source_hash)
SELECT 'tool:' || n, 'tool' || n, md5(n::text) FROM generate_series(1, 3000) AS n;
INSERT INTO vectors (kind, item_key, fingerprint, namespace, source_hash, embedding)
SELECT kind, key, 1, namespace, source_hash, l2_normalize(
  (SELECT array_agg(random() - 0.5) FROM generate_series(1, {DIMENSION}) WHERE key > 0)::vector)
FROM items;
CREATE INDEX tool_vectors_hnsw_1 ON tool_vectors
USING hnsw ((embedding::vector({DIMENSION})) vector_ip_ops) WHERE fingerprint = 1;
ANALYZE;
LOAD 'auto_explain';
SET auto_explain.log_min_duration = 0;
SET auto_explain.log_nested_statements = on;
SET client_min_messages = log
"""


def test_the_planner_does_not_think_that_next_to_nothing_has_its_own_hash(postgres_url):
    plans: list[str] = []
    with psycopg.connect(postgres_url, autocommit=True) as sql:
        sql.execute(FILL)
        sql.add_notice_handler(lambda notice: plans.append(notice.message_primary or ""))
        query = json.dumps(memoryview(gauss("here", DIMENSION)).cast("f").tolist())
        [(keys,)] = sql.execute("SELECT nearest_keys('tool', %s::vector, 40)", [query]).fetchall()
    assert len(keys) == 40
    assert "Index Scan using tool_vectors_hnsw_1" in "\n".join(plans)
