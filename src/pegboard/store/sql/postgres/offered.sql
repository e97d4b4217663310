-- name: page
-- Published items that are found, with when the version was published that hangs.
SELECT i.*, extract(epoch FROM v.created_at)::float8 AS published_at FROM items i
JOIN item_versions v ON v.item_key = i.key AND v.namespace = i.namespace AND v.version = i.latest_version
WHERE i.source = 'published' AND i.active AND i.visibility = 'public'
  AND (%(category)s::text IS NULL OR i.category = %(category)s)
  AND (%(tag)s::text IS NULL OR %(tag)s = ANY(i.tags))
  AND (%(namespaces)s::text[] IS NULL OR i.namespace = ANY(%(namespaces)s::text[]))
ORDER BY CASE WHEN %(order)s = 'newest' THEN -extract(epoch FROM v.created_at)::float8
    WHEN %(order)s = 'downloads' THEN -i.download_count::float8 END,
  i.name COLLATE "C", i.id COLLATE "C", i.namespace COLLATE "C"
LIMIT %(limit)s OFFSET %(start)s;

-- name: total
SELECT count(*) FROM items i
WHERE i.source = 'published' AND i.active AND i.visibility = 'public'
  AND (%(category)s::text IS NULL OR i.category = %(category)s)
  AND (%(tag)s::text IS NULL OR %(tag)s = ANY(i.tags))
  AND (%(namespaces)s::text[] IS NULL OR i.namespace = ANY(%(namespaces)s::text[]));

-- name: categories
-- The largest first; those of items with the tag that is asked for.
SELECT i.category, count(*) FROM items i
WHERE i.source = 'published' AND i.active AND i.visibility = 'public'
  AND (%(tag)s::text IS NULL OR %(tag)s = ANY(i.tags))
  AND (%(namespaces)s::text[] IS NULL OR i.namespace = ANY(%(namespaces)s::text[]))
GROUP BY i.category ORDER BY count(*) DESC, i.category COLLATE "C" LIMIT %(most)s;

-- name: tags
-- The most used first; those of items in the category that is asked for.
SELECT t.tag, count(DISTINCT i.key) FROM items i, unnest(i.tags) AS t (tag)
WHERE i.source = 'published' AND i.active AND i.visibility = 'public'
  AND (%(category)s::text IS NULL OR i.category = %(category)s)
  AND (%(namespaces)s::text[] IS NULL OR i.namespace = ANY(%(namespaces)s::text[]))
GROUP BY t.tag ORDER BY count(DISTINCT i.key) DESC, t.tag COLLATE "C" LIMIT %(most)s;
