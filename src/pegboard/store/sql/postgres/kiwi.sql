-- The first queries ask the old database, in which only the schema of the old tables is on the search path.
-- A row comes as JSON: whatever columns there are, and whatever a timestamp or a number may be.

-- name: old_session
SELECT set_config('search_path', quote_ident(%(schema)s), true), set_config('timezone', 'UTC', true),
  set_config('statement_timeout', '0', true), set_config('idle_in_transaction_session_timeout', '0', true);

-- name: old_tables
-- Tables, no views: a board has views of the same names.
SELECT c.relname, ARRAY(SELECT a.attname::text FROM pg_attribute a
    WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped) AS columns
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname = %(schema)s AND c.relkind IN ('r', 'p', 'f') AND c.relname = ANY(%(tables)s);

-- name: count_rows
SELECT count(*) FROM {table};

-- name: scripts
-- In an order by which rows and their versions can be read side by side.
SELECT row_to_json(t)::text FROM (SELECT * FROM scripts ORDER BY id::text COLLATE "C") AS t;

-- name: script_versions
SELECT row_to_json(t)::text FROM (SELECT * FROM script_versions ORDER BY script_id::text COLLATE "C", id::text COLLATE "C") AS t;

-- name: directives
SELECT row_to_json(t)::text FROM (SELECT * FROM directives ORDER BY id::text COLLATE "C") AS t;

-- name: directive_versions
SELECT row_to_json(t)::text FROM (SELECT * FROM directive_versions ORDER BY directive_id::text COLLATE "C", id::text COLLATE "C") AS t;

-- name: knowledge_entries
SELECT row_to_json(t)::text FROM (SELECT * FROM knowledge_entries ORDER BY zettel_id::text COLLATE "C") AS t;

-- name: knowledge_relationships
SELECT row_to_json(t)::text FROM (SELECT * FROM knowledge_relationships ORDER BY from_zettel_id::text COLLATE "C", to_zettel_id::text COLLATE "C") AS t;

-- name: old_embeddings
SELECT row_to_json(t)::text FROM (SELECT * FROM item_embeddings
  WHERE item_id::text = ANY(%(ids)s) ORDER BY item_id::text COLLATE "C") AS t;

-- name: embedded_ids
SELECT item_id::text FROM item_embeddings ORDER BY 1;

-- The rest is about the board.

-- name: there
-- What is on the board under these ids, and what came from these old rows.
SELECT id, uid::text, source, origin, origin_hash, active, text_version, embedding_status, source_hash, manual_override,
  description, imported_tags IS NOT NULL, tags FROM items
WHERE namespace = %(namespace)s
  AND (id = ANY(%(ids)s) OR uid = ANY(%(uids)s::uuid[]) OR source = %(source)s AND origin = ANY(%(origins)s));

-- name: versions_elsewhere
-- Versions with these ids that belong to something else.
SELECT v.uid::text, i.id FROM item_versions v JOIN items i ON i.key = v.item_key AND i.namespace = v.namespace
WHERE v.namespace = %(namespace)s AND v.uid = ANY(%(version_uids)s::uuid[])
  AND NOT (i.source = %(source)s AND i.origin = ANY(%(origins)s));

-- name: drop_renamed
-- What came from these rows under another id than they have now.
DELETE FROM items i USING unnest(%(origins)s::text[], %(ids)s::text[]) AS w (origin, id)
WHERE i.namespace = %(namespace)s AND i.source = %(source)s AND i.origin = w.origin AND i.id <> w.id;

-- name: set_aside
-- Two rows that took one another's name would meet on the way.
UPDATE items SET uid = gen_random_uuid()
WHERE namespace = %(namespace)s AND source = %(source)s AND id = ANY(%(ids)s);

-- name: carry
UPDATE items i SET uid = x.uid, download_count = x.download_count, quality_score = x.quality_score,
  success_rate = x.success_rate, estimated_cost_usd = x.estimated_cost_usd,
  created_at = coalesce(x.created_at, i.created_at),
  updated_at = coalesce(x.updated_at, x.created_at, i.updated_at)
FROM json_to_recordset(%(rows)s::json) AS x (id text, uid uuid, download_count integer,
  quality_score float8, success_rate float8, estimated_cost_usd float8, created_at timestamptz,
  updated_at timestamptz)
WHERE i.namespace = %(namespace)s AND i.id = x.id RETURNING i.id, i.key;

-- name: forget
DELETE FROM kiwi_nulls WHERE item_key = ANY(%(keys)s);

-- name: remember
INSERT INTO kiwi_nulls (item_key, namespace, version, columns, number)
SELECT x.item_key, %(namespace)s, x.version, ARRAY(SELECT json_array_elements_text(x.columns)), x.number
FROM json_to_recordset(%(rows)s::json) AS x (item_key bigint, version text, columns json, number text);

-- name: drop_versions
-- Every version that there was comes over, with the number that it is given there.
DELETE FROM item_versions WHERE item_key = ANY(%(keys)s);

-- name: add_versions
INSERT INTO item_versions
  (uid, namespace, item_key, version, manifest, content_hash, changelog, published_at, created_at)
SELECT x.uid, %(namespace)s, x.item_key, x.version, x.manifest, x.content_hash, x.changelog,
  coalesce(x.created_at, now()), coalesce(x.created_at, now())
FROM json_to_recordset(%(rows)s::json) AS x (uid uuid, item_key bigint, version text, manifest json,
  content_hash text, changelog text, created_at timestamptz);

-- name: add_file
INSERT INTO version_files
  (version_key, namespace, path, media_type, sha256, size_bytes, executable, content, created_at)
SELECT key, namespace, %(path)s, %(media_type)s, %(sha256)s, %(size_bytes)s, %(executable)s, %(content)s, created_at
FROM item_versions WHERE uid = %(uid)s AND namespace = %(namespace)s;

-- name: waiting
-- Those of these items that still have these texts, and wait for a vector.
SELECT i.key, i.id, i.source_hash FROM unnest(%(ids)s::text[], %(hashes)s::text[]) AS w (id, hash)
JOIN items i ON i.namespace = %(namespace)s AND i.id = w.id AND i.source_hash = w.hash
WHERE i.active AND i.embedding_status IN ('pending', 'failed')
ORDER BY i.namespace, i.id FOR NO KEY UPDATE OF i;

-- name: relate
-- Between entries that are there; what is related already stays as it is.
INSERT INTO written_relationships (id, namespace, from_zettel_id, to_zettel_id, relationship_type, created_at)
SELECT coalesce(x.id, gen_random_uuid()), %(namespace)s, x.from_id, x.to_id, x.kind, coalesce(x.created_at, now())
FROM json_to_recordset(%(rows)s::json)
  AS x (id uuid, from_id text, to_id text, kind text, created_at timestamptz)
ON CONFLICT (from_zettel_id, to_zettel_id, relationship_type, namespace) DO NOTHING;

-- name: related
SELECT from_zettel_id, to_zettel_id, relationship_type FROM written_relationships WHERE namespace = %(namespace)s;
