-- name: near_at_all
-- Without filters nearly all that is near can be shown. So the index is asked alone, for a few more than are wanted:
-- the planner believes that the join leaves little, and on a board of middle size would rather compare all. Here and
-- below, an item comes once, by the nearest of its passages.
WITH near AS MATERIALIZED (
  SELECT v.item_key, v.namespace, -(v.embedding::vector(:dimension) <#> %(query)s) AS score
  FROM vectors v WHERE v.fingerprint = :fingerprint
  ORDER BY v.embedding::vector(:dimension) <#> %(query)s LIMIT :reach)
SELECT i.key, i.id, max(n.score) AS score
FROM near n JOIN items i ON i.key = n.item_key AND i.namespace = n.namespace WHERE true
  -- include: filters
GROUP BY i.key, i.id ORDER BY score DESC, i.id, i.key LIMIT :limit;

-- name: near
-- By the index of this fingerprint, if it has one: the scan goes on until enough have passed the filters. What
-- it finds is nearly in order, so it is put in order once more. Names with a colon are numbers that stand in the
-- text: a type cannot be a parameter, and a plan that is made for all values needs the others.
SELECT key, id, max(score) AS score FROM (
  SELECT i.key, i.id, -(v.embedding::vector(:dimension) <#> %(query)s) AS score
  FROM vectors v JOIN items i ON i.key = v.item_key AND i.namespace = v.namespace
  WHERE v.fingerprint = :fingerprint
    -- include: filters
  ORDER BY v.embedding::vector(:dimension) <#> %(query)s LIMIT :enough) AS near
GROUP BY key, id ORDER BY score DESC, id, key LIMIT :limit;

-- name: near_by_halves
-- The same for long vectors, whose index has halves of numbers: it finds a few more than are wanted, and the whole
-- vectors decide.
SELECT key, id, max(score) AS score FROM (
  SELECT i.key, i.id, -(v.embedding <#> %(query)s) AS score
  FROM vectors v JOIN items i ON i.key = v.item_key AND i.namespace = v.namespace
  WHERE v.fingerprint = :fingerprint
    -- include: filters
  ORDER BY v.embedding::halfvec(:dimension) <#> %(query)s::halfvec(:dimension) LIMIT :reach) AS near
GROUP BY key, id ORDER BY score DESC, id, key LIMIT :limit;

-- name: exact
-- What the filters leave comes first, and all of it is compared: quicker and better where that is little.
WITH allowed AS MATERIALIZED (
  SELECT i.key, i.id, i.kind, i.namespace FROM items i WHERE true
    -- include: filters
)
SELECT a.key, a.id, max(-(v.embedding <#> %(query)s)) AS score
FROM allowed a JOIN vectors v ON v.item_key = a.key AND v.kind = a.kind AND v.namespace = a.namespace
  AND v.fingerprint = %(fingerprint)s::integer
GROUP BY a.key, a.id ORDER BY score DESC, a.id, a.key LIMIT %(limit)s;

-- name: estimate
-- How many items the planner believes the filters leave.
EXPLAIN (FORMAT JSON) SELECT 1 FROM items i WHERE true
  -- include: filters
;

-- name: many
-- A row if there are more items to be found than so many.
SELECT 1 FROM items WHERE visibility = 'public' LIMIT 1 OFFSET %(few)s;

-- name: size
-- About how many vectors there are.
SELECT sum(greatest(c.reltuples, 0))::bigint FROM pg_inherits h JOIN pg_class c ON c.oid = h.inhrelid
WHERE h.inhparent = 'vectors'::regclass;

-- name: best_passages
SELECT DISTINCT ON (item_key) item_key, -(embedding <#> %(query)s) AS score, passage FROM vectors
WHERE fingerprint = %(fingerprint)s::integer AND item_key = ANY(%(keys)s) ORDER BY item_key, score DESC, passage;

-- name: outgrown
-- A row if the planner knows a fifth more or less of the whole than of its parts. Nobody else counts what is made
-- of partitions, and without it the planner believes that a join leaves next to nothing and no index pays.
SELECT 1 FROM pg_class whole, (
  SELECT sum(greatest(c.reltuples, 0)) AS vectors FROM pg_inherits h JOIN pg_class c ON c.oid = h.inhrelid
  WHERE h.inhparent = 'vectors'::regclass) AS parts
WHERE whole.oid = 'vectors'::regclass AND pg_has_role(whole.relowner, 'USAGE') AND parts.vectors >= %(few)s
  AND abs(parts.vectors - whole.reltuples) * 5 > parts.vectors;

-- name: count_anew
-- And the items, which autovacuum may not have come to yet.
ANALYZE vectors (kind, item_key, fingerprint, namespace), items (key, namespace, kind, active, visibility);

-- name: partitions
-- Those whose indexes this user may make: their owner's.
SELECT c.relname FROM pg_inherits h JOIN pg_class c ON c.oid = h.inhrelid
WHERE h.inhparent = 'vectors'::regclass AND pg_has_role(c.relowner, 'USAGE') ORDER BY 1;

-- name: enough
-- A row if a table has so many vectors of this fingerprint.
SELECT 1 FROM {table} WHERE fingerprint = %(fingerprint)s::integer LIMIT 1 OFFSET %(few)s;

-- name: index_state
-- Whether the index is whole; no row if there is none.
SELECT x.indisvalid FROM pg_index x WHERE x.indexrelid = to_regclass(%(name)s);

-- name: indexed
-- Whether some table has a whole index over the vectors of this fingerprint, and whether items have several of them.
SELECT EXISTS (
  SELECT FROM pg_inherits h JOIN pg_index x ON x.indrelid = h.inhrelid JOIN pg_class c ON c.oid = x.indexrelid
  WHERE h.inhparent = 'vectors'::regclass AND x.indisvalid AND c.relname LIKE %(name)s),
  EXISTS (SELECT FROM vectors WHERE fingerprint = %(fingerprint)s::integer AND passage > 0);

-- name: drop_index
DROP INDEX CONCURRENTLY IF EXISTS {index};

-- name: make_index
CREATE INDEX CONCURRENTLY IF NOT EXISTS {index} ON {table}
USING hnsw ((embedding::vector({dimension})) vector_ip_ops) WITH (m = 16, ef_construction = 64)
WHERE fingerprint = {fingerprint};

-- name: make_index_of_halves
CREATE INDEX CONCURRENTLY IF NOT EXISTS {index} ON {table}
USING hnsw ((embedding::halfvec({dimension})) halfvec_ip_ops) WITH (m = 16, ef_construction = 64)
WHERE fingerprint = {fingerprint};

-- name: try_build
SELECT pg_try_advisory_lock(hashtextextended('pegboard vectors of ' || current_schema(), 0));

-- name: unhurried
SELECT set_config('statement_timeout', '0', false), set_config('maintenance_work_mem', '1GB', false);
