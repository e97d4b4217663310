-- name: known
SELECT item_key, version, content_hash FROM item_versions WHERE item_key = ANY(%(keys)s);

-- name: drop
-- What the versions that are put take the place of. One is left where it is if it is there already. What was
-- published goes only with its item.
DELETE FROM item_versions v
USING unnest(%(keys)s::bigint[], %(elsewhere)s::boolean[], %(versions)s::text[], %(hashes)s::text[],
  %(manifests)s::text[], %(texts)s::text[], %(changelogs)s::text[], %(side_files)s::text[])
  AS w (key, elsewhere, version, content_hash, manifest, manifest_text, changelog, side_file)
WHERE v.item_key = w.key AND (w.elsewhere
  OR v.published_by IS NULL AND (v.version = w.version OR v.version = '0.0.0+' || left(v.content_hash, 12))
    AND (v.version, v.content_hash, v.manifest::text, v.manifest_text, v.changelog, v.side_file)
      IS DISTINCT FROM (w.version, w.content_hash, w.manifest, w.manifest_text, w.changelog, w.side_file));

-- name: there
SELECT v.item_key, v.key FROM unnest(%(keys)s::bigint[], %(versions)s::text[]) AS w (key, version)
JOIN item_versions v ON v.item_key = w.key AND v.version = w.version;

-- name: add
INSERT INTO item_versions (item_key, namespace, version, manifest, manifest_text, content_hash, changelog, release,
  side_file, published_by, signer)
VALUES (%(key)s, %(namespace)s, %(version)s, %(manifest)s, %(manifest_text)s, %(content_hash)s, %(changelog)s,
  %(release)s, %(side_file)s, %(published_by)s, %(signer)s)
RETURNING key;

-- name: drop_files
DELETE FROM version_files WHERE version_key = ANY(%(version_keys)s);

-- name: add_file
INSERT INTO version_files
  (version_key, namespace, path, media_type, sha256, size_bytes, executable, content, storage_key)
VALUES (%(version_key)s, %(namespace)s, %(path)s, %(media_type)s, %(sha256)s, %(size_bytes)s, %(executable)s,
  %(content)s, %(storage_key)s);

-- name: drop_oldest
DELETE FROM item_versions WHERE key = ANY (ARRAY(
  SELECT o.key FROM unnest(%(keys)s::bigint[], %(versions)s::text[]) AS w (key, version) CROSS JOIN LATERAL (
    SELECT v.key FROM item_versions v WHERE v.item_key = w.key AND v.published_by IS NULL
    ORDER BY v.version IS NOT DISTINCT FROM w.version DESC, v.created_at DESC, v.key DESC OFFSET %(most)s) AS o));

-- name: listed
SELECT v.published_by IS NOT NULL, v.version, v.content_hash, extract(epoch FROM v.created_at)::float8, v.changelog,
  extract(epoch FROM v.yanked_at)::float8, v.yanked_by, v.yank_reason, coalesce(v.published_by, ''), v.signer,
  (SELECT coalesce(sum(f.size_bytes), 0)::bigint FROM version_files f
    WHERE f.version_key = v.key AND f.namespace = v.namespace), v.download_count
FROM items i JOIN item_versions v ON v.item_key = i.key AND v.namespace = i.namespace
WHERE i.namespace = %(namespace)s AND i.id = %(id)s ORDER BY v.created_at DESC, v.key DESC;

-- name: published
-- Of every published item in which version it hangs, if it does, and all that it has.
SELECT i.id, i.namespace, CASE WHEN i.drift <> 'missing' THEN i.latest_version END, v.version, v.yanked_at IS NOT NULL
FROM items i LEFT JOIN item_versions v
  ON v.item_key = i.key AND v.namespace = i.namespace AND v.published_by IS NOT NULL
WHERE i.source = 'published' ORDER BY i.key;

-- name: older
-- All that are not the latest of their item.
SELECT i.id, i.namespace, v.version FROM item_versions v JOIN items i ON i.key = v.item_key AND i.namespace = v.namespace
WHERE v.version IS DISTINCT FROM i.latest_version ORDER BY v.key;
