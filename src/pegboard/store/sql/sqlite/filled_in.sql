-- name: sizes
-- How many terms each item has in each field of the text index, as FTS5 keeps it: one number after the other.
SELECT i.key, d.sz FROM items i JOIN item_terms_docsize d ON d.id = i.key;

-- name: set_terms
UPDATE items SET terms = :terms WHERE key = :key;

-- name: called
SELECT namespace, name, aliases, category, subcategory, tags FROM items WHERE visibility = 'public';

-- name: indexed
-- The columns that index terms, cards and spelling are made of. Named one by one: later migrations add others.
SELECT key, id, namespace, kind, name, title, description, category, subcategory, tags, aliases, keywords, source,
  endpoint, executor, input_schema, body, visibility
FROM items WHERE key > :after ORDER BY key LIMIT :limit;

-- name: add_word
-- What was put before words were kept comes with the next sync.
INSERT OR IGNORE INTO namespace_words (word, namespace) SELECT word, :namespace FROM word_variants
WHERE variant = :word AND word = :word;
