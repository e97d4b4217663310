-- Vectors in the order of their hanging, and the sign bits of many at a time.

ALTER TABLE vectors RENAME TO old_vectors;

-- A new vector has a greater number than any before it, also where it replaces one: whoever has read
-- up to a number finds all that has come since, whichever process hung it. No row is ever updated.
CREATE TABLE vectors (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  item_key INTEGER NOT NULL REFERENCES items (key) ON DELETE CASCADE,
  fingerprint INTEGER NOT NULL REFERENCES fingerprints (key),
  source_hash TEXT NOT NULL,
  vector BLOB NOT NULL,
  created_at REAL NOT NULL,
  UNIQUE (item_key, fingerprint)
) STRICT;

INSERT INTO vectors (item_key, fingerprint, source_hash, vector, created_at)
SELECT item_key, fingerprint, source_hash, vector, created_at FROM old_vectors ORDER BY rowid;

DROP TABLE old_vectors;

-- Ends in seq, as every index ends in the row's number.
CREATE INDEX vectors_fingerprint ON vectors (fingerprint);

-- Derived from vectors, and safe to drop: all from first_seq to last_seq, those deleted since included.
CREATE TABLE code_blocks (
  fingerprint INTEGER NOT NULL REFERENCES fingerprints (key),
  first_seq INTEGER NOT NULL,
  last_seq INTEGER NOT NULL,
  keys BLOB NOT NULL, -- of the items, 8 bytes each, the highest first
  codes BLOB NOT NULL, -- the sign bits of their vectors, in the same order
  PRIMARY KEY (fingerprint, first_seq)
) STRICT;

-- What search by meaning asks of an item, without the item's own wide row.
CREATE INDEX items_seen ON items
  (key, active, visibility, kind, namespace, category, tool_type, scope, source, tags, id);
