-- name: add_source
INSERT INTO sources (name, kind, location, namespace, added_at)
VALUES (:name, :kind, :location, :namespace, :now)
ON CONFLICT (name) DO UPDATE SET
  kind = excluded.kind, location = excluded.location, namespace = excluded.namespace;

-- name: sources
SELECT name, kind, location, namespace, synced_at FROM sources ORDER BY name;

-- name: mark_synced
UPDATE sources SET synced_at = :now WHERE name = :name;

-- name: reject
INSERT INTO rejections (source, origin, origin_hash, code, reason, rejected_at)
VALUES (:source, :origin, :origin_hash, :code, :reason, :now)
ON CONFLICT (source, origin) DO UPDATE SET
  origin_hash = excluded.origin_hash, code = excluded.code, reason = excluded.reason,
  rejected_at = excluded.rejected_at;

-- name: settle_admitted
DELETE FROM rejections WHERE source = :source AND origin IN (SELECT value FROM json_each(:admitted));

-- name: settle_vanished
DELETE FROM rejections WHERE source = :source AND origin NOT IN (SELECT value FROM json_each(:seen));

-- name: rejections
SELECT source, origin, origin_hash, code, reason, rejected_at FROM rejections ORDER BY source, origin;

-- name: remove_source_rejections
DELETE FROM rejections WHERE source = :name;

-- name: items_of_source
SELECT key FROM items WHERE source = :name;

-- name: remove_source_terms
DELETE FROM item_terms WHERE rowid IN (SELECT key FROM items WHERE source = :name);

-- name: remove_source_items
DELETE FROM items WHERE source = :name;

-- name: remove_source
DELETE FROM sources WHERE name = :name RETURNING name;

-- name: put_server
INSERT INTO mcp_servers (name, config, enabled, declared_in, created_at, updated_at)
VALUES (:name, :config, :enabled, :declared_in, :now, :now)
ON CONFLICT (name) DO UPDATE SET
  config = excluded.config, enabled = excluded.enabled, declared_in = excluded.declared_in,
  updated_at = excluded.updated_at
WHERE config <> excluded.config OR enabled <> excluded.enabled OR declared_in <> excluded.declared_in;

-- name: servers
SELECT name, config, enabled, declared_in, health, error, tools, checked_at FROM mcp_servers ORDER BY name;

-- name: servers_down
SELECT name FROM mcp_servers WHERE health = 'down';

-- name: mark_server
UPDATE mcp_servers SET health = :health, error = :error, tools = :tools, checked_at = :checked_at
WHERE name = :name;
