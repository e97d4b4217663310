-- What people decide about items, what became of items, and which items refer to which.

ALTER TABLE items ADD COLUMN links TEXT NOT NULL DEFAULT '[]';
ALTER TABLE items ADD COLUMN permissions TEXT NOT NULL DEFAULT '[]';
ALTER TABLE items ADD COLUMN deprecated INTEGER NOT NULL DEFAULT 0 CHECK (deprecated IN (0, 1));

-- An item is active unless it is missing, held back, or switched off by a person.
ALTER TABLE items ADD COLUMN held INTEGER NOT NULL DEFAULT 0 CHECK (held IN (0, 1));
ALTER TABLE items ADD COLUMN off_at REAL;
ALTER TABLE items ADD COLUMN off_by TEXT NOT NULL DEFAULT '';
ALTER TABLE items ADD COLUMN off_reason TEXT NOT NULL DEFAULT '';
UPDATE items SET held = 1 WHERE drift = 'changed' AND NOT active;

-- Derived from the links of items. What a link means is looked up after each sync.
CREATE TABLE item_links (
  key INTEGER PRIMARY KEY,
  item_key INTEGER NOT NULL REFERENCES items (key) ON DELETE CASCADE,
  relation TEXT NOT NULL,
  target TEXT NOT NULL, -- as it is written
  target_key INTEGER REFERENCES items (key) ON DELETE SET NULL
) STRICT;

CREATE INDEX item_links_item ON item_links (item_key);
CREATE INDEX item_links_target ON item_links (target_key);

-- Knowledge is also linked to by the last part of its id. SQLite has no word for that: what is left of an id
-- when all characters that are no colon are taken from its end has the length of the other parts.
CREATE INDEX items_last_part ON items (substr(id, length(rtrim(id, replace(id, ':', ''))) + 1))
  WHERE kind = 'knowledge';

-- It outlives the item.
CREATE TABLE item_history (
  key INTEGER PRIMARY KEY,
  namespace TEXT NOT NULL,
  item_id TEXT NOT NULL,
  at REAL NOT NULL,
  event TEXT NOT NULL,
  who TEXT NOT NULL DEFAULT '',
  detail TEXT NOT NULL DEFAULT ''
) STRICT;

CREATE INDEX item_history_item ON item_history (item_id, namespace);
