-- name: add
INSERT INTO board_tokens (id, name, role, namespaces, digest, created_at, expires_at)
VALUES (:id, :name, :role, :namespaces, :digest, :created_at, :expires_at) ON CONFLICT DO NOTHING
RETURNING id;

-- name: find
SELECT digest, id, name, role, namespaces, created_at, expires_at, used_at FROM board_tokens WHERE id = :id;

-- name: listed
SELECT id, name, role, namespaces, created_at, expires_at, used_at FROM board_tokens ORDER BY name;

-- name: remove
DELETE FROM board_tokens WHERE id = :id RETURNING name;

-- name: used
UPDATE board_tokens SET used_at = :at WHERE id = :id AND coalesce(used_at < :at, true);
