-- MCP servers, and what an item was when it was approved.

CREATE TABLE mcp_servers (
  name TEXT PRIMARY KEY REFERENCES sources (name) ON DELETE CASCADE,
  config TEXT NOT NULL, -- as it was written: references to secrets, never secrets
  enabled INTEGER NOT NULL DEFAULT 1 CHECK (enabled IN (0, 1)),
  declared_in TEXT NOT NULL DEFAULT '',
  health TEXT NOT NULL DEFAULT 'unknown' CHECK (health IN ('unknown', 'live', 'down')),
  error TEXT NOT NULL DEFAULT '',
  tools INTEGER NOT NULL DEFAULT 0,
  checked_at REAL,
  created_at REAL NOT NULL,
  updated_at REAL NOT NULL
) STRICT;

-- Only of items that have changed since: the others are still what was approved.
CREATE TABLE approved_definitions (
  item_key INTEGER PRIMARY KEY REFERENCES items (key) ON DELETE CASCADE,
  definition TEXT NOT NULL
) STRICT;

CREATE INDEX items_changed ON items (drift) WHERE drift = 'changed';
