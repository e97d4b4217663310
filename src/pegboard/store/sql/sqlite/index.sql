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

-- name: entries
SELECT * FROM items WHERE key IN (SELECT value FROM json_each(:keys));
