-- name: named
SELECT i.key, i.id FROM items i WHERE i.name_key = %(name_key)s
  -- include: filters
ORDER BY i.id, i.key LIMIT %(limit)s;

-- name: entries
SELECT * FROM items WHERE key = ANY(%(keys)s);
