-- name: entries
SELECT * FROM items WHERE key = ANY(%(keys)s);
