-- name: move_source
-- A name is one source's: under another namespace it is the same one, moved.
UPDATE sources SET namespace = %(namespace)s WHERE name = %(name)s AND namespace <> %(namespace)s
  AND NOT EXISTS (SELECT 1 FROM sources s WHERE s.name = %(name)s AND s.namespace = %(namespace)s);

-- name: drop_moved_rejections
DELETE FROM rejections r WHERE r.source = %(name)s AND r.namespace <> %(namespace)s AND EXISTS
  (SELECT 1 FROM rejections n WHERE n.source = r.source AND n.origin = r.origin AND n.namespace = %(namespace)s);

-- name: move_rejections
UPDATE rejections SET namespace = %(namespace)s WHERE source = %(name)s AND namespace <> %(namespace)s;

-- name: add_source
INSERT INTO sources (name, kind, location, namespace)
VALUES (%(name)s, %(kind)s, %(location)s, %(namespace)s)
ON CONFLICT (name, namespace) DO UPDATE SET kind = excluded.kind, location = excluded.location;

-- name: sources
SELECT name, kind, location, namespace, extract(epoch FROM synced_at)::float8 FROM sources ORDER BY name;

-- name: mark_synced
UPDATE sources SET synced_at = now() WHERE name = %(name)s;

-- name: reject
INSERT INTO rejections (source, origin, namespace, origin_hash, code, reason)
SELECT r.source, r.origin, coalesce(s.namespace, 'public'), r.origin_hash, r.code, r.reason
FROM unnest(%(sources)s::text[], %(origins)s::text[], %(hashes)s::text[], %(codes)s::text[], %(reasons)s::text[])
  AS r (source, origin, origin_hash, code, reason)
LEFT JOIN sources s ON s.name = r.source
ORDER BY 1, 2
ON CONFLICT (source, origin, namespace) DO UPDATE SET origin_hash = excluded.origin_hash, code = excluded.code,
  reason = excluded.reason, rejected_at = now();

-- name: settle_admitted
DELETE FROM rejections WHERE source = %(source)s AND origin = ANY(%(admitted)s::text[]);

-- name: settle_vanished
DELETE FROM rejections WHERE source = %(source)s AND origin <> ALL(%(seen)s::text[]);

-- name: rejections
SELECT source, origin, origin_hash, code, reason, extract(epoch FROM rejected_at)::float8
FROM rejections ORDER BY source, origin;

-- name: remove_source_rejections
DELETE FROM rejections WHERE source = %(name)s;

-- name: items_of_source
SELECT key FROM items WHERE source = %(name)s ORDER BY namespace, id FOR UPDATE;

-- name: remove_items
DELETE FROM items WHERE key = ANY(%(keys)s);

-- name: remove_source
DELETE FROM sources WHERE name = %(name)s RETURNING name;

-- name: put_server
INSERT INTO mcp_servers (name, namespace, config, enabled, declared_in)
VALUES (%(name)s, %(namespace)s, %(config)s, %(enabled)s, %(declared_in)s)
ON CONFLICT (name, namespace) DO UPDATE SET
  config = excluded.config, enabled = excluded.enabled, declared_in = excluded.declared_in, updated_at = now()
WHERE mcp_servers.config::text <> excluded.config::text OR mcp_servers.enabled <> excluded.enabled
  OR mcp_servers.declared_in <> excluded.declared_in;

-- name: servers
SELECT name, config::text, enabled, declared_in, health, error, tools,
  extract(epoch FROM checked_at)::float8 AS checked_at
FROM mcp_servers ORDER BY name;

-- name: servers_down
SELECT name FROM mcp_servers WHERE health = 'down';

-- name: mark_server
UPDATE mcp_servers SET health = %(health)s, error = %(error)s, tools = %(tools)s,
  checked_at = to_timestamp(%(checked_at)s::float8)
WHERE name = %(name)s;
