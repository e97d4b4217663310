-- name: existing
-- What put has to know about an item that may be there already.
SELECT key, source, active, content_hash, origin, origin_hash, text_version,
       manual_override, description, imported_description, approved_hash, drift, held, off_at IS NOT NULL,
       tags, imported_tags
FROM items WHERE namespace = :namespace AND id = :id;

-- name: author
SELECT author FROM items WHERE key = :key;

-- name: insert_item
INSERT INTO items (
  namespace, id, kind, active, terms, scope, source, name, title, short_name, name_key, category, subcategory,
  tool_type, tags, visibility, author, source_protocol, routing_domain, semantic_namespace, sensitivity_tier,
  target_personas, semantic_weight, skills, official, source_hash, embedding_status, content_hash,
  text_version, latest_version, created_at, updated_at, origin, origin_hash, endpoint, aliases, keywords,
  tech_stack, examples, executor, signature, description, imported_description, input_schema,
  output_schema, body, approved_hash, drift, held, links, permissions, deprecated,
  replacement
) VALUES (
  :namespace, :id, :kind, :active, :terms, :scope, :source, :name, :title, :short_name, :name_key, :category, :subcategory,
  :tool_type, :tags, :visibility, :author, :source_protocol, :routing_domain, :semantic_namespace, :sensitivity_tier,
  :target_personas, :semantic_weight, :skills, :official, :source_hash, :embedding_status, :content_hash,
  :text_version, :latest_version, :now, :now, :origin, :origin_hash, :endpoint, :aliases, :keywords,
  :tech_stack, :examples, :executor, :signature, :description, :imported_description, :input_schema,
  :output_schema, :body, :approved_hash, :drift, :held, :links, :permissions, :deprecated,
  :replacement
) RETURNING key;

-- name: update_item
-- A source's new word on an item. What people decided, and counts, stay as they are.
UPDATE items SET
  kind = :kind, active = :active, terms = :terms, scope = :scope, source = :source, name = :name, title = :title,
  short_name = :short_name, name_key = :name_key,
  category = :category, subcategory = :subcategory, tool_type = :tool_type, tags = :tags,
  visibility = :visibility, author = :author, source_protocol = :source_protocol,
  routing_domain = :routing_domain, semantic_namespace = :semantic_namespace,
  sensitivity_tier = :sensitivity_tier, target_personas = :target_personas,
  semantic_weight = :semantic_weight, skills = :skills, official = :official, source_hash = :source_hash,
  embedding_status = :embedding_status, embedding_error = '', content_hash = :content_hash,
  text_version = :text_version,
  approved_hash = :approved_hash, drift = :drift, held = :held, links = :links, permissions = :permissions,
  deprecated = :deprecated, replacement = :replacement,
  drift_at = CASE WHEN :drift = 'none' THEN NULL WHEN drift = :drift THEN drift_at ELSE :now END,
  latest_version = :latest_version, updated_at = :now,
  origin = :origin, origin_hash = :origin_hash, endpoint = :endpoint, aliases = :aliases,
  keywords = :keywords, tech_stack = :tech_stack, examples = :examples, executor = :executor,
  signature = :signature, description = :description, imported_description = :imported_description,
  imported_tags = :imported_tags, input_schema = :input_schema, output_schema = :output_schema, body = :body
WHERE key = :key;

-- name: touch_origin
UPDATE items SET origin = :origin, origin_hash = :origin_hash WHERE key = :key;

-- name: drop_terms
DELETE FROM item_terms WHERE rowid = :key;

-- name: add_terms
INSERT INTO item_terms (rowid, name, title, aliases, labels, description, parameters, body)
VALUES (:key, :name, :title, :aliases, :labels, :description, :parameters, :body);

-- name: put_card
INSERT INTO item_cards (item_key, card) VALUES (:key, :card)
ON CONFLICT (item_key) DO UPDATE SET card = excluded.card;

-- name: get
SELECT * FROM items WHERE namespace = :namespace AND id = :id;

-- name: ids
SELECT id, namespace FROM items ORDER BY key;

-- name: version_of
SELECT key, version, manifest, manifest_text, content_hash, changelog, release, side_file
FROM item_versions WHERE item_key = :key AND version = :version;

-- name: files_of
SELECT path, content, storage_key, sha256, media_type, executable
FROM version_files WHERE version_key = :version_key ORDER BY path;

-- name: with_id
SELECT * FROM items WHERE active AND id = :name ORDER BY namespace;

-- name: named
SELECT * FROM items WHERE active AND (short_name = :name OR name = :name) ORDER BY namespace, id;

-- name: named_by_last_part
-- Knowledge, as its links call it.
SELECT * FROM items WHERE active AND kind = 'knowledge'
  AND substr(id, length(rtrim(id, replace(id, ':', ''))) + 1) = :name
ORDER BY namespace, id;

-- name: named_with_namespace
SELECT * FROM items WHERE active AND namespace || '/' || id = :name;

-- name: page
SELECT * FROM items WHERE key > :after ORDER BY key LIMIT :limit;

-- name: origins
-- An id that was taken may be free by now, so its origin is looked at again each time; so is an
-- item whose text was made by an older version, or that is missing or held back.
SELECT origin, origin_hash FROM items
WHERE source = :source AND (active OR drift = 'none') AND text_version = :text_version
UNION ALL
SELECT origin, origin_hash FROM rejections WHERE source = :source AND code <> 'id_taken';

-- name: keep_approved
-- What an item is now, before a changed definition takes its place.
INSERT OR IGNORE INTO approved_definitions (item_key, definition)
SELECT key, json_object('name', name, 'title', title, 'aliases', json(aliases), 'description', imported_description,
  'input_schema', json(input_schema), 'output_schema', json(output_schema), 'executor', json(executor))
FROM items WHERE key = :key;

-- name: forget_approved
DELETE FROM approved_definitions WHERE item_key = :key;

-- name: changed
-- Items that are not what was approved, held back or not, with what that was.
SELECT i.*, a.definition FROM items i JOIN approved_definitions a ON a.item_key = i.key
WHERE i.drift = 'changed' ORDER BY i.namespace, i.id;

-- name: approve
UPDATE items SET active = (off_at IS NULL), held = 0, drift = 'none', drift_at = NULL,
  approved_hash = :approved_hash
WHERE key = :key AND drift = 'changed' AND content_hash = :content_hash
RETURNING active, coalesce(latest_version, '');

-- name: mark_embedding
UPDATE items SET embedding_status = :status WHERE key = :key;

-- name: hold
UPDATE items SET active = 0, held = 1 WHERE source = :source AND drift = 'changed' AND NOT held RETURNING key;

-- name: accept
-- Whatever it is now is approved by the next sync, which is made to look at it again; what was held back has lost
-- its task, and gets one then.
UPDATE items SET active = (off_at IS NULL), held = 0, drift = 'none', drift_at = NULL, approved_hash = '',
  origin_hash = '', embedding_status = CASE WHEN embedding_status IN ('pending', 'failed') AND NOT EXISTS
    (SELECT 1 FROM embedding_tasks t WHERE t.item_key = items.key) THEN 'disabled' ELSE embedding_status END
WHERE source = :source AND drift = 'changed' RETURNING key;

-- name: forget_accepted
DELETE FROM approved_definitions
WHERE item_key IN (SELECT key FROM items WHERE source = :source AND drift = 'none');

-- name: census
SELECT scope, category, count(*) FROM items WHERE active AND visibility = 'public'
  AND (:namespaces IS NULL OR namespace IN (SELECT value FROM json_each(:namespaces)))
GROUP BY scope, category ORDER BY scope, category;

-- name: listed
SELECT * FROM items WHERE active AND visibility = 'public'
  AND id >= :id AND (id > :id OR namespace > :namespace)
  AND (:categories IS NULL OR category IN (SELECT value FROM json_each(:categories)))
  AND (:namespaces IS NULL OR namespace IN (SELECT value FROM json_each(:namespaces)))
ORDER BY id, namespace LIMIT :limit;

-- name: origins_under
-- As origins, for what is at or under some paths; '0' is the character after '/'.
SELECT i.origin, i.origin_hash FROM json_each(:under) u CROSS JOIN items i
WHERE i.source = :source AND i.origin >= u.value AND i.origin < u.value || '0'
  AND (i.origin = u.value OR substr(i.origin, 1, length(u.value) + 1) = u.value || '/')
  AND (i.active OR i.drift = 'none') AND i.text_version = :text_version
UNION ALL
SELECT r.origin, r.origin_hash FROM json_each(:under) u CROSS JOIN rejections r
WHERE r.source = :source AND r.origin >= u.value AND r.origin < u.value || '0'
  AND (r.origin = u.value OR substr(r.origin, 1, length(u.value) + 1) = u.value || '/')
  AND r.code <> 'id_taken';

-- name: retire_under
-- As retire, for what is at or under some paths.
UPDATE items SET active = 0, held = 0, drift = 'missing', drift_at = :now
WHERE key IN (
    SELECT i.key FROM json_each(:under) u CROSS JOIN items i
    WHERE i.source = :source AND i.origin >= u.value AND i.origin < u.value || '0'
      AND (i.origin = u.value OR substr(i.origin, 1, length(u.value) + 1) = u.value || '/'))
  AND drift <> 'missing' AND updated_at < :began
  AND origin NOT IN (SELECT value FROM json_each(:seen))
  AND id NOT IN (SELECT value FROM json_each(:seen))
RETURNING key;

-- name: drop_tasks_of
DELETE FROM embedding_tasks WHERE item_key IN (SELECT value FROM json_each(:keys));

-- name: retire
UPDATE items SET active = 0, held = 0, drift = 'missing', drift_at = :now
WHERE source = :source AND drift <> 'missing' AND updated_at < :began
  AND origin NOT IN (SELECT value FROM json_each(:seen))
  AND id NOT IN (SELECT value FROM json_each(:seen))
RETURNING key;

-- name: drop_tasks_of_retired
DELETE FROM embedding_tasks
WHERE item_key IN (SELECT key FROM items WHERE source = :source AND NOT active);

-- name: long_missing
SELECT key FROM items WHERE source = :source AND drift = 'missing' AND drift_at < :before;

-- name: purge_terms
DELETE FROM item_terms WHERE rowid IN (SELECT value FROM json_each(:keys));

-- name: purge
DELETE FROM items WHERE key IN (SELECT value FROM json_each(:keys));
