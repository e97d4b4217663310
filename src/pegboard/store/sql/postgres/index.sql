-- name: listed
SELECT i.* FROM items i WHERE (i.id, i.namespace) > (%(id)s, %(namespace)s)
  -- include: filters
ORDER BY i.id, i.namespace LIMIT %(limit)s;

-- name: entries
SELECT * FROM items WHERE key = ANY(%(keys)s);
