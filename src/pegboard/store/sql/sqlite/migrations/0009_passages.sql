-- A document has a vector for each passage of its text, numbered from 0; a tool has one, as before.

ALTER TABLE vectors RENAME TO old_vectors;
DROP INDEX vectors_fingerprint;

-- A new vector has a greater number than any before it, also where it replaces one. No row is ever updated.
CREATE TABLE vectors (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  item_key INTEGER NOT NULL REFERENCES items (key) ON DELETE CASCADE,
  fingerprint INTEGER NOT NULL REFERENCES fingerprints (key),
  passage INTEGER NOT NULL DEFAULT 0 CHECK (passage BETWEEN 0 AND 63),
  source_hash TEXT NOT NULL,
  vector BLOB NOT NULL,
  created_at REAL NOT NULL,
  UNIQUE (item_key, fingerprint, passage)
) STRICT;

-- Those of documents were made from another text.
INSERT INTO vectors (seq, item_key, fingerprint, source_hash, vector, created_at)
SELECT seq, item_key, fingerprint, source_hash, vector, created_at FROM old_vectors
WHERE item_key IN (SELECT key FROM items WHERE kind = 'tool') ORDER BY seq;

-- Blocks of codes know vectors by these numbers: none is given twice.
DELETE FROM sqlite_sequence WHERE name = 'vectors';
INSERT INTO sqlite_sequence (name, seq) SELECT 'vectors', seq FROM sqlite_sequence WHERE name = 'old_vectors';

DROP TABLE old_vectors;
CREATE INDEX vectors_fingerprint ON vectors (fingerprint);
CREATE INDEX vectors_passages ON vectors (fingerprint) WHERE passage > 0;

-- The text of tools is the same as before, so their vectors are good. Documents wait until they are queued anew.
UPDATE fingerprints SET text_version = 3 WHERE text_version = 2;
UPDATE items SET text_version = 3 WHERE text_version = 2 AND kind = 'tool';
DELETE FROM embedding_tasks WHERE item_key IN (SELECT key FROM items WHERE kind <> 'tool');
UPDATE items SET embedding_status = 'disabled', embedding_error = ''
WHERE kind <> 'tool' AND embedding_status <> 'blank';
