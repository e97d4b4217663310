-- What search is weighed by where not all of the board may be seen: how long items are, and how the words of each
-- namespace are spelled. What is in it for items that are there already is written by Pegboard itself.

ALTER TABLE items ADD COLUMN terms INTEGER NOT NULL DEFAULT 0; -- how many it has in the text index
CREATE INDEX items_counted ON items (key, visibility, namespace, terms);

-- Of items that all who may come to the namespace can find. A word stays when its last item goes.
CREATE TABLE namespace_words (
  word TEXT NOT NULL,
  namespace TEXT NOT NULL,
  PRIMARY KEY (word, namespace)
) STRICT, WITHOUT ROWID;

CREATE VIRTUAL TABLE item_instances USING fts5vocab (item_terms, 'instance');
