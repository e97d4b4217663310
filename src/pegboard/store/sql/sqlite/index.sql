-- name: named
-- A plus before a parameter: see nearest.sql.
SELECT i.key, i.id FROM items i WHERE i.name_key = +:name_key
  -- include: filters
ORDER BY i.id, i.key LIMIT +:limit;

-- name: listed
-- In the order of the index, so that a page is read and no more. The plus: see nearest.sql.
SELECT i.* FROM items i
WHERE i.id >= +:id AND (i.id > +:id OR i.namespace > +:namespace)
  -- include: filters
ORDER BY i.id, i.namespace LIMIT +:limit;

-- name: source_counts
SELECT i.source, i.namespace, count(*) FROM items i INDEXED BY items_seen
WHERE true
  -- include: filters
GROUP BY 1, 2 ORDER BY 1, 2;

-- name: cards
SELECT item_key, card FROM item_cards WHERE item_key IN (SELECT value FROM json_each(:keys));

-- name: entries
SELECT i.*, v.content_hash AS version_hash
FROM items i LEFT JOIN item_versions v ON v.item_key = i.key AND v.version = i.latest_version
WHERE i.key IN (SELECT value FROM json_each(:keys));
