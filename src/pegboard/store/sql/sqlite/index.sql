-- name: named
-- A plus before a parameter: see nearest.sql.
SELECT i.key, i.id FROM items i WHERE i.name_key = +:name_key
  -- include: filters
ORDER BY i.id, i.key LIMIT +:limit;

-- name: entries
SELECT * FROM items WHERE key IN (SELECT value FROM json_each(:keys));
