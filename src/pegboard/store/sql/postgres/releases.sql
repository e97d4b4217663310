-- name: standing
SELECT author, visibility, deprecated, replacement, coalesce(latest_version, '') FROM items WHERE key = %(key)s;

-- name: kept
SELECT version, content_hash, yanked_at IS NOT NULL FROM item_versions
WHERE item_key = %(key)s AND published_by IS NOT NULL;

-- name: yank
UPDATE item_versions SET yanked_at = CASE WHEN %(yanked)s THEN now() END,
  yanked_by = CASE WHEN %(yanked)s THEN %(by)s ELSE '' END, yank_reason = CASE WHEN %(yanked)s THEN %(reason)s ELSE '' END
WHERE item_key = %(key)s AND version = %(version)s;

-- name: unhang
-- All its versions are taken back: it is as missing as what its source has no more.
UPDATE items SET active = false, held = false, drift = 'missing', drift_at = now() WHERE key = %(key)s;

-- name: decide
UPDATE items SET author = %(author)s, visibility = %(visibility)s, deprecated = %(deprecated)s,
  replacement = %(replacement)s, content_hash = %(content_hash)s, updated_at = now()
WHERE key = %(key)s;

-- name: is_bound
-- Whether policies bind whoever asks.
SELECT row_security_active('items') AND NOT pg_has_role('service_role', 'USAGE');

-- name: counted
SELECT v.item_key, v.download_count FROM items i JOIN item_versions v ON v.item_key = i.key AND v.namespace = i.namespace
WHERE i.namespace = %(namespace)s AND i.id = %(id)s AND v.version = %(version)s AND v.published_by IS NOT NULL
FOR UPDATE OF i, v;

-- name: count_version
UPDATE item_versions SET download_count = download_count + 1 WHERE item_key = %(key)s AND version = %(version)s;

-- name: count_item
UPDATE items SET download_count = download_count + 1 WHERE key = %(key)s;

-- name: count_for_caller
SELECT count_download(%(namespace)s, %(id)s, %(version)s);
