-- name: standing
SELECT author, visibility, deprecated, replacement, coalesce(latest_version, '') FROM items WHERE key = :key;

-- name: kept
SELECT version, content_hash, yanked_at IS NOT NULL FROM item_versions
WHERE item_key = :key AND published_by IS NOT NULL;

-- name: yank
UPDATE item_versions SET yanked_at = CASE WHEN :yanked THEN :now END, yanked_by = CASE WHEN :yanked THEN :by ELSE '' END,
  yank_reason = CASE WHEN :yanked THEN :reason ELSE '' END
WHERE item_key = :key AND version = :version;

-- name: unhang
-- All its versions are taken back: it is as missing as what its source has no more.
UPDATE items SET active = 0, held = 0, drift = 'missing', drift_at = :now WHERE key = :key;

-- name: decide
UPDATE items SET author = :author, visibility = :visibility, deprecated = :deprecated, replacement = :replacement,
  content_hash = :content_hash, updated_at = :now
WHERE key = :key;

-- name: count_version
UPDATE item_versions SET download_count = download_count + 1
WHERE version = :version AND published_by IS NOT NULL
  AND item_key = (SELECT key FROM items WHERE namespace = :namespace AND id = :id)
RETURNING item_key;

-- name: count_item
UPDATE items SET download_count = download_count + 1 WHERE key = :key;
