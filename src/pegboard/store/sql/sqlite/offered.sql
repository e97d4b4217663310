-- name: page
-- Published items that are found, with when the version was published that hangs.
SELECT i.*, v.created_at AS published_at FROM items i
JOIN item_versions v ON v.item_key = i.key AND v.version = i.latest_version
WHERE i.source = 'published' AND i.active AND i.visibility = 'public'
  AND (:category IS NULL OR i.category = :category)
  AND (:tag IS NULL OR EXISTS (SELECT 1 FROM json_each(i.tags) t WHERE t.value = :tag))
  AND (:namespaces IS NULL OR i.namespace IN (SELECT value FROM json_each(:namespaces)))
ORDER BY CASE :order WHEN 'newest' THEN -v.created_at WHEN 'downloads' THEN -i.download_count END,
  i.name, i.id, i.namespace
LIMIT :limit OFFSET :start;

-- name: total
SELECT count(*) FROM items i
WHERE i.source = 'published' AND i.active AND i.visibility = 'public'
  AND (:category IS NULL OR i.category = :category)
  AND (:tag IS NULL OR EXISTS (SELECT 1 FROM json_each(i.tags) t WHERE t.value = :tag))
  AND (:namespaces IS NULL OR i.namespace IN (SELECT value FROM json_each(:namespaces)));

-- name: categories
-- The largest first; those of items with the tag that is asked for.
SELECT i.category, count(*) FROM items i
WHERE i.source = 'published' AND i.active AND i.visibility = 'public'
  AND (:tag IS NULL OR EXISTS (SELECT 1 FROM json_each(i.tags) t WHERE t.value = :tag))
  AND (:namespaces IS NULL OR i.namespace IN (SELECT value FROM json_each(:namespaces)))
GROUP BY i.category ORDER BY count(*) DESC, i.category LIMIT :most;

-- name: tags
-- The most used first; those of items in the category that is asked for.
SELECT t.value, count(DISTINCT i.key) FROM items i, json_each(i.tags) t
WHERE i.source = 'published' AND i.active AND i.visibility = 'public'
  AND (:category IS NULL OR i.category = :category)
  AND (:namespaces IS NULL OR i.namespace IN (SELECT value FROM json_each(:namespaces)))
GROUP BY t.value ORDER BY count(DISTINCT i.key) DESC, t.value LIMIT :most;
