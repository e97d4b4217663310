-- name: known
SELECT version, content_hash FROM item_versions WHERE item_key = :key;

-- name: drop
-- What the version that is put takes the place of. It is left where it is if it is there already. What was
-- published goes only with its item.
DELETE FROM item_versions WHERE item_key = :key AND (:elsewhere
  OR published_by IS NULL AND (version = :version OR version = '0.0.0+' || substr(content_hash, 1, 12))
    AND (version, content_hash, manifest, manifest_text, changelog, side_file)
      IS NOT (:version, :content_hash, :manifest, :manifest_text, :changelog, :side_file));

-- name: there
SELECT key FROM item_versions WHERE item_key = :key AND version = :version;

-- name: add
INSERT INTO item_versions (item_key, version, manifest, manifest_text, content_hash, changelog, release, side_file,
  published_by, signer, created_at)
VALUES (:key, :version, :manifest, :manifest_text, :content_hash, :changelog, :release, :side_file,
  :published_by, :signer, :now) RETURNING key;

-- name: drop_files
DELETE FROM version_files WHERE version_key = :version_key;

-- name: add_file
INSERT INTO version_files (version_key, path, media_type, sha256, size_bytes, executable, content, storage_key)
VALUES (:version_key, :path, :media_type, :sha256, :size_bytes, :executable, :content, :storage_key);

-- name: drop_oldest
DELETE FROM item_versions WHERE key IN (
  SELECT key FROM item_versions WHERE item_key = :key AND published_by IS NULL
  ORDER BY version IS :version DESC, created_at DESC, key DESC LIMIT -1 OFFSET :most);

-- name: listed
SELECT v.published_by IS NOT NULL, v.version, v.content_hash, v.created_at, v.changelog, v.yanked_at, v.yanked_by,
  v.yank_reason, coalesce(v.published_by, ''), v.signer,
  (SELECT coalesce(sum(f.size_bytes), 0) FROM version_files f WHERE f.version_key = v.key), v.download_count
FROM items i JOIN item_versions v ON v.item_key = i.key
WHERE i.namespace = :namespace AND i.id = :id ORDER BY v.created_at DESC, v.key DESC;

-- name: published
-- Of every published item in which version it hangs, if it does, and all that it has.
SELECT i.id, i.namespace, CASE WHEN i.drift <> 'missing' THEN i.latest_version END, v.version, v.yanked_at IS NOT NULL
FROM items i LEFT JOIN item_versions v ON v.item_key = i.key AND v.published_by IS NOT NULL
WHERE i.source = 'published' ORDER BY i.key;

-- name: older
-- All that are not the latest of their item.
SELECT i.id, i.namespace, v.version FROM item_versions v JOIN items i ON i.key = v.item_key
WHERE v.version IS NOT i.latest_version ORDER BY v.key;
