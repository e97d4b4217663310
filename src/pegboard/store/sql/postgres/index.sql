-- name: listed
SELECT i.* FROM items i WHERE (i.id, i.namespace) > (%(id)s, %(namespace)s)
  -- include: filters
ORDER BY i.id, i.namespace LIMIT %(limit)s;

-- name: source_counts
SELECT i.source, i.namespace, count(*) FROM items i
WHERE true
  -- include: filters
GROUP BY 1, 2 ORDER BY 1, 2;

-- name: cards
SELECT key, card FROM items WHERE key = ANY(%(keys)s);

-- name: entries
SELECT i.*, v.content_hash AS version_hash
FROM items i LEFT JOIN item_versions v ON v.item_key = i.key AND v.version = i.latest_version
WHERE i.key = ANY(%(keys)s);
