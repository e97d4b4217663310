-- name: add
INSERT INTO board_tokens (id, name, role, namespaces, digest, created_at, expires_at)
VALUES (%(id)s, %(name)s, %(role)s, %(namespaces)s::text[], %(digest)s, to_timestamp(%(created_at)s),
  to_timestamp(%(expires_at)s::float8)) ON CONFLICT DO NOTHING RETURNING id;

-- name: added
-- Also if it was added by a first try of whose end nobody heard.
SELECT digest = %(digest)s FROM board_tokens WHERE id = %(id)s;

-- name: find
SELECT digest, id, name, role, namespaces, extract(epoch FROM created_at)::float8, extract(epoch FROM expires_at)::float8,
  extract(epoch FROM used_at)::float8
FROM board_tokens WHERE id = %(id)s;

-- name: listed
SELECT id, name, role, namespaces, extract(epoch FROM created_at)::float8, extract(epoch FROM expires_at)::float8,
  extract(epoch FROM used_at)::float8
FROM board_tokens ORDER BY name;

-- name: remove
DELETE FROM board_tokens WHERE id = %(id)s RETURNING name;

-- name: used
UPDATE board_tokens SET used_at = to_timestamp(%(at)s)
WHERE id = %(id)s AND coalesce(used_at < to_timestamp(%(at)s), true);
