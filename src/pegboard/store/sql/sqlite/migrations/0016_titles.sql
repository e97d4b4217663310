-- Titles of items, their terms in the text index, and ranking cards. Pegboard itself fills both for the items that are
-- stored already; titles come with the next sync.

ALTER TABLE items ADD COLUMN title TEXT NOT NULL DEFAULT '';

-- A summary of each item that reranking reads instead of its wide row.
CREATE TABLE item_cards (
  item_key INTEGER PRIMARY KEY REFERENCES items (key) ON DELETE CASCADE,
  card TEXT NOT NULL
) STRICT;

-- FTS5 cannot add a column, and a contentless table cannot be copied.
DROP TABLE item_instances;
DROP TABLE item_vocabulary;
DROP TABLE item_terms;
CREATE VIRTUAL TABLE item_terms USING fts5 (
  name, title, aliases, labels, description, parameters, body,
  content = '', contentless_delete = 1,
  tokenize = "unicode61 remove_diacritics 0 categories 'L* N* Co M*'"
);
CREATE VIRTUAL TABLE item_vocabulary USING fts5vocab (item_terms, 'row');
CREATE VIRTUAL TABLE item_instances USING fts5vocab (item_terms, 'instance');
DELETE FROM census; -- so that the next sync merges the new index and counts its terms
