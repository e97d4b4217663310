-- name: existing
-- What put has to know about items that may be there already. They stay as they are until it is done.
SELECT i.namespace, i.id, i.key, i.source, i.active, i.content_hash, i.origin, i.origin_hash, i.text_version,
  i.manual_override, i.description, i.imported_description, i.approved_hash, i.drift, i.held, i.off_at IS NOT NULL,
  i.tags, i.imported_tags
FROM unnest(%(namespaces)s::text[], %(ids)s::text[]) AS wanted (namespace, id)
JOIN items i ON i.namespace = wanted.namespace AND i.id = wanted.id
ORDER BY i.namespace, i.id FOR UPDATE OF i;

-- name: insert_items
INSERT INTO items (
  namespace, id, kind, active, scope, source, name, title, card, short_name, name_key, category, subcategory,
  tool_type, tags, skills, visibility, author, source_protocol, routing_domain, semantic_namespace,
  sensitivity_tier, target_personas, semantic_weight, official, source_hash, embedding_status,
  content_hash, text_version, approved_hash, drift, latest_version, origin, origin_hash, endpoint,
  aliases, keywords, tech_stack, examples, executor, signature, description, imported_description,
  input_schema, output_schema, body, held, links, permissions, deprecated, replacement)
SELECT
  x.namespace, x.id, x.kind, x.active, x.scope, x.source, x.name, x.title, x.card, x.short_name, x.name_key, x.category,
  x.subcategory, x.tool_type, x.tags, x.skills, x.visibility, x.author, x.source_protocol,
  x.routing_domain, x.semantic_namespace, x.sensitivity_tier, x.target_personas, x.semantic_weight,
  x.official, x.source_hash, x.embedding_status, x.content_hash, x.text_version, x.approved_hash,
  x.drift, x.latest_version, x.origin, x.origin_hash, x.endpoint, x.aliases, x.keywords, x.tech_stack,
  x.examples, x.executor, x.signature, x.description, x.imported_description, x.input_schema,
  x.output_schema, x.body, x.held, x.links, x.permissions, x.deprecated, x.replacement
FROM json_to_recordset(%(rows)s::json) AS x (
  -- include: row
)
ORDER BY x.place RETURNING namespace, id, key;

-- name: update_items
-- A source's new word on items. What people decided, and counts, stay as they are.
UPDATE items SET
  kind = x.kind, active = x.active, scope = x.scope, source = x.source, name = x.name, title = x.title, card = x.card,
  short_name = x.short_name, name_key = x.name_key, category = x.category, subcategory = x.subcategory, tool_type =
  x.tool_type, tags = x.tags, skills = x.skills, visibility = x.visibility, author = x.author,
  source_protocol = x.source_protocol, routing_domain = x.routing_domain, semantic_namespace =
  x.semantic_namespace, sensitivity_tier = x.sensitivity_tier, target_personas = x.target_personas,
  semantic_weight = x.semantic_weight, official = x.official, source_hash = x.source_hash,
  embedding_status = x.embedding_status, content_hash = x.content_hash, text_version = x.text_version,
  approved_hash = x.approved_hash, drift = x.drift, latest_version = x.latest_version, origin =
  x.origin, origin_hash = x.origin_hash, endpoint = x.endpoint, aliases = x.aliases, keywords =
  x.keywords, tech_stack = x.tech_stack, examples = x.examples, executor = x.executor, signature =
  x.signature, description = x.description, imported_description = x.imported_description, imported_tags =
  x.imported_tags, input_schema = x.input_schema, output_schema = x.output_schema, body = x.body, held = x.held, links = x.links,
  permissions = x.permissions, deprecated = x.deprecated, replacement = x.replacement,
  embedding_error = '', updated_at = now(),
  drift_at = CASE WHEN x.drift = 'none' THEN NULL WHEN items.drift = x.drift THEN drift_at ELSE now() END
FROM json_to_recordset(%(rows)s::json) AS x (
  -- include: row
)
WHERE items.key = x.key AND items.namespace = x.namespace;

-- name: touch_origins
UPDATE items SET origin = x.origin, origin_hash = x.origin_hash
FROM json_to_recordset(%(rows)s::json) AS x (key bigint, origin text, origin_hash text)
WHERE items.key = x.key;

-- name: drop_terms
DELETE FROM item_terms WHERE item_key = ANY(%(keys)s);

-- name: add_terms
INSERT INTO item_terms (term, item_key, namespace, frequency, length)
SELECT * FROM unnest(%(terms)s::text[], %(keys)s::bigint[], %(namespaces)s::text[], %(frequencies)s::real[],
  %(lengths)s::integer[]);

-- name: drop_texts
DELETE FROM item_texts WHERE item_key = ANY(%(keys)s);

-- name: add_texts
INSERT INTO item_texts (kind, item_key, namespace, length, name, description, content)
SELECT * FROM unnest(%(kinds)s::text[], %(keys)s::bigint[], %(namespaces)s::text[], %(lengths)s::integer[],
  %(names)s::text[], %(descriptions)s::text[], %(contents)s::text[]);

-- name: unknown_words
SELECT w.word, w.namespace FROM unnest(%(words)s::text[], %(namespaces)s::text[]) AS w (word, namespace)
WHERE NOT EXISTS (SELECT 1 FROM word_variants v
  WHERE v.variant = w.word AND v.word = w.word AND v.namespace = w.namespace);

-- name: add_variants
-- In one order, so that two who add the same words wait for one another and not in a circle.
INSERT INTO word_variants (variant, word, namespace)
SELECT variant, word, namespace
FROM unnest(%(variants)s::text[], %(words)s::text[], %(namespaces)s::text[]) AS v (variant, word, namespace)
ORDER BY 1, 2, 3 ON CONFLICT DO NOTHING;

-- name: get
SELECT * FROM items WHERE namespace = %(namespace)s AND id = %(id)s;

-- name: ids
SELECT id, namespace FROM items ORDER BY key;

-- name: version_of
SELECT key, version, manifest, manifest_text, content_hash, changelog, release, side_file
FROM item_versions WHERE item_key = %(key)s AND version = %(version)s;

-- name: files_of
SELECT path, content, sha256, media_type, executable, size_bytes, storage_key
FROM version_files WHERE version_key = %(version_key)s ORDER BY path;

-- name: with_id
SELECT * FROM items WHERE active AND id = %(name)s ORDER BY namespace;

-- name: named
SELECT * FROM items WHERE active AND (short_name = %(name)s OR name = %(name)s) ORDER BY namespace, id;

-- name: named_by_last_part
-- Knowledge, as its links call it.
SELECT * FROM items WHERE active AND kind = 'knowledge' AND split_part(id, ':', -1) = %(name)s
ORDER BY namespace, id;

-- name: named_with_namespace
-- A namespace has at most one slash, and an id is all that comes after it.
SELECT * FROM items
WHERE active AND (namespace, id) IN (
  SELECT split_part(%(name)s, '/', 1), substr(%(name)s, strpos(%(name)s, '/') + 1)
  UNION ALL
  SELECT split_part(%(name)s, '/', 1) || '/' || split_part(%(name)s, '/', 2),
    substr(%(name)s, length(split_part(%(name)s, '/', 1) || '/' || split_part(%(name)s, '/', 2)) + 2))
ORDER BY namespace, id;

-- name: page
SELECT * FROM items WHERE key > %(after)s ORDER BY key LIMIT %(limit)s;

-- name: origins
-- An id that was taken may be free by now, so its origin is looked at again each time; so is an
-- item whose text was made by an older version, or that is missing or held back.
SELECT origin, origin_hash FROM items
WHERE source = %(source)s AND (active OR drift = 'none') AND text_version = %(text_version)s
UNION ALL
SELECT origin, origin_hash FROM rejections WHERE source = %(source)s AND code <> 'id_taken';

-- name: origins_under
-- As origins, for what is at or under some paths; '0' is the character after '/'.
SELECT i.origin, i.origin_hash FROM unnest(%(under)s::text[]) AS u (path) JOIN items i
  ON i.source = %(source)s AND i.origin >= u.path AND i.origin < u.path || '0'
WHERE (i.origin = u.path OR starts_with(i.origin, u.path || '/'))
  AND (i.active OR i.drift = 'none') AND i.text_version = %(text_version)s
UNION ALL
SELECT r.origin, r.origin_hash FROM unnest(%(under)s::text[]) AS u (path) JOIN rejections r
  ON r.source = %(source)s AND r.origin >= u.path AND r.origin < u.path || '0'
WHERE (r.origin = u.path OR starts_with(r.origin, u.path || '/')) AND r.code <> 'id_taken';

-- name: retire
UPDATE items SET active = false, held = false, drift = 'missing', drift_at = now()
WHERE source = %(source)s AND drift <> 'missing' AND updated_at < to_timestamp(%(began)s)
  AND NOT EXISTS (SELECT 1 FROM unnest(%(seen)s::text[]) AS s (origin) WHERE s.origin = items.origin)
  AND NOT EXISTS (SELECT 1 FROM unnest(%(seen)s::text[]) AS s (id) WHERE s.id = items.id)
RETURNING key;

-- name: retire_under
-- As retire, for what is at or under some paths.
UPDATE items SET active = false, held = false, drift = 'missing', drift_at = now()
WHERE key IN (
    SELECT i.key FROM unnest(%(under)s::text[]) AS u (path) JOIN items i
      ON i.source = %(source)s AND i.origin >= u.path AND i.origin < u.path || '0'
    WHERE i.origin = u.path OR starts_with(i.origin, u.path || '/'))
  AND drift <> 'missing' AND updated_at < to_timestamp(%(began)s)
  AND NOT EXISTS (SELECT 1 FROM unnest(%(seen)s::text[]) AS s (origin) WHERE s.origin = items.origin)
  AND NOT EXISTS (SELECT 1 FROM unnest(%(seen)s::text[]) AS s (id) WHERE s.id = items.id)
RETURNING key;

-- name: drop_tasks_of
DELETE FROM embedding_tasks WHERE entity_id = ANY(%(keys)s);

-- name: drop_tasks_of_retired
DELETE FROM embedding_tasks
WHERE entity_id IN (SELECT key FROM items WHERE source = %(source)s AND NOT active);

-- name: long_missing
SELECT key FROM items WHERE source = %(source)s AND drift = 'missing' AND drift_at < to_timestamp(%(before)s)
ORDER BY namespace, id FOR UPDATE;

-- name: purge
DELETE FROM items WHERE key = ANY(%(keys)s);

-- name: keep_approved
-- What items are now, before changed definitions take their place.
INSERT INTO approved_definitions (item_key, namespace, definition)
SELECT key, namespace, json_build_object('name', name, 'title', title, 'aliases', array_to_json(aliases),
  'description', imported_description, 'input_schema', input_schema, 'output_schema', output_schema,
  'executor', executor)
FROM items WHERE key = ANY(%(keys)s) ON CONFLICT DO NOTHING;

-- name: forget_approved
DELETE FROM approved_definitions WHERE item_key = ANY(%(keys)s);

-- name: changed
-- Items that are not what was approved, held back or not, with what that was.
SELECT i.*, a.definition FROM items i
JOIN approved_definitions a ON a.item_key = i.key AND a.namespace = i.namespace
WHERE i.drift = 'changed' ORDER BY i.namespace, i.id;

-- name: approve
UPDATE items SET active = (off_at IS NULL), held = false, drift = 'none', drift_at = NULL,
  approved_hash = %(approved_hash)s
WHERE key = %(key)s AND drift = 'changed' AND content_hash = %(content_hash)s RETURNING active;

-- name: mark_embedding
UPDATE items SET embedding_status = %(status)s WHERE key = %(key)s;

-- name: hold
UPDATE items SET active = false, held = true
WHERE source = %(source)s AND drift = 'changed' AND NOT held RETURNING key;

-- name: accept
-- Whatever it is now is approved by the next sync, which is made to look at it again; what was held back has lost
-- its task, and gets one then.
UPDATE items SET active = (off_at IS NULL), held = false, drift = 'none', drift_at = NULL, approved_hash = '',
  origin_hash = '', embedding_status = CASE WHEN embedding_status IN ('pending', 'failed') AND NOT EXISTS
    (SELECT 1 FROM embedding_tasks t WHERE t.entity_id = items.key) THEN 'disabled' ELSE embedding_status END
WHERE source = %(source)s AND drift = 'changed' RETURNING key;

-- name: forget_accepted
DELETE FROM approved_definitions
WHERE item_key IN (SELECT key FROM items WHERE source = %(source)s AND drift = 'none');

-- name: census
SELECT scope, category, count(*) FROM items WHERE active AND visibility = 'public'
  AND (%(namespaces)s::text[] IS NULL OR namespace = ANY(%(namespaces)s::text[]))
GROUP BY scope, category ORDER BY scope, category;

-- name: listed
SELECT * FROM items WHERE active AND visibility = 'public'
  AND (id, namespace) > (%(id)s, %(namespace)s)
  AND (%(categories)s::text[] IS NULL OR category = ANY(%(categories)s::text[]))
  AND (%(namespaces)s::text[] IS NULL OR namespace = ANY(%(namespaces)s::text[]))
ORDER BY id, namespace LIMIT %(limit)s;

-- name: author
SELECT author FROM items WHERE key = %(key)s;
