-- Names as they are compared, the spelling of the words in them, and the board's commonest terms.

ALTER TABLE items ADD COLUMN name_key TEXT NOT NULL DEFAULT '';
CREATE INDEX items_name_key ON items (name_key);

-- Each word of names, aliases, categories and tags under itself and under itself less one letter: two
-- words that differ by one typing error have a variant in common. A word stays when its last item goes;
-- it then leads to no item.
CREATE TABLE word_variants (
  variant TEXT NOT NULL,
  word TEXT NOT NULL,
  PRIMARY KEY (variant, word)
) STRICT, WITHOUT ROWID;

-- Terms that a large part of a large board has, counted when the board has changed much.
CREATE TABLE common_terms (
  term TEXT PRIMARY KEY,
  items INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE census (
  items INTEGER NOT NULL,
  taken_at REAL NOT NULL
) STRICT;

CREATE VIRTUAL TABLE item_vocabulary USING fts5vocab (item_terms, 'row');
