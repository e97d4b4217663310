-- name: ranked
-- BM25 with a weight for each field, from the text index alone: items come later, and only the first.
SELECT rowid, -bm25(item_terms, :name_weight, :title_weight, :aliases_weight, :labels_weight,
    :description_weight, :parameters_weight, :body_weight) AS score
FROM item_terms WHERE item_terms MATCH :match ORDER BY score DESC, rowid LIMIT :limit;

-- name: ranked_by_all
-- Items with a term of the lead, by BM25 over all terms; without an id if the filters leave them out. For the
-- first plus see scores, for the second nearest.sql.
SELECT r.key, i.id, r.score
FROM (SELECT rowid AS key, -bm25(item_terms, :name_weight, :title_weight, :aliases_weight, :labels_weight,
      :description_weight, :parameters_weight, :body_weight) AS score
    FROM item_terms
    WHERE item_terms MATCH :match
      AND +rowid IN (SELECT l.rowid FROM item_terms l WHERE l.item_terms MATCH :lead)
    ORDER BY score DESC, rowid LIMIT +:limit) r
LEFT JOIN items i INDEXED BY items_seen ON i.key = r.key
  -- include: filters
ORDER BY r.score DESC, r.key;

-- name: ranked_within
-- The same for what filters leave, when too few of the first are among it. The plus: see nearest.sql.
SELECT i.key, i.id, -bm25(item_terms, :name_weight, :title_weight, :aliases_weight, :labels_weight,
    :description_weight, :parameters_weight, :body_weight) AS score
FROM item_terms JOIN items i ON i.key = item_terms.rowid
WHERE item_terms MATCH :match
  -- include: filters
ORDER BY score DESC, i.id, i.key LIMIT +:limit;

-- name: within_by_all
-- The same over all terms, for items with a term of the lead.
SELECT i.key, i.id, -bm25(item_terms, :name_weight, :title_weight, :aliases_weight, :labels_weight,
    :description_weight, :parameters_weight, :body_weight) AS score
FROM item_terms JOIN items i ON i.key = item_terms.rowid
WHERE item_terms MATCH :match
  AND +item_terms.rowid IN (SELECT l.rowid FROM item_terms l WHERE l.item_terms MATCH :lead)
  -- include: filters
ORDER BY score DESC, i.id, i.key LIMIT +:limit;

-- name: let_through
SELECT i.key, i.id FROM items i INDEXED BY items_seen
WHERE i.key IN (SELECT value FROM json_each(:keys))
  -- include: filters
;

-- name: scores
-- The plus keeps SQLite from running the match once for each row: to go through the matches once more
-- is cheap, as long as only these few are scored.
SELECT rowid, -bm25(item_terms, :name_weight, :title_weight, :aliases_weight, :labels_weight,
    :description_weight, :parameters_weight, :body_weight)
FROM item_terms
WHERE item_terms MATCH :match AND +rowid IN (SELECT value FROM json_each(:keys));

-- name: best
-- The best score of items that may have it. Scoring all that match would take many times as long.
SELECT -bm25(item_terms, :name_weight, :title_weight, :aliases_weight, :labels_weight,
    :description_weight, :parameters_weight, :body_weight) AS score
FROM item_terms
WHERE item_terms MATCH :match
  AND +rowid IN (SELECT s.rowid FROM item_terms s WHERE s.item_terms MATCH :some)
ORDER BY score DESC LIMIT 1;

-- name: having
SELECT term, doc FROM item_vocabulary WHERE term IN (SELECT value FROM json_each(:terms));

-- name: last_key
SELECT coalesce(max(key), 0) FROM items;

-- name: frequencies
-- Known terms only: the first match of each is proof enough, and the commonest were counted before.
SELECT t.value, coalesce((SELECT items FROM common_terms c WHERE c.term = t.value), 0)
FROM json_each(:terms) t
WHERE EXISTS (SELECT 1 FROM item_terms
  WHERE item_terms MATCH '"' || replace(t.value, '"', '""') || '"');

-- name: near
SELECT DISTINCT word FROM word_variants WHERE variant IN (SELECT value FROM json_each(:variants));

-- name: beginning
-- In the table's own order, so that a short beginning of many words is left after a few.
SELECT word FROM word_variants
WHERE variant >= :beginning AND variant < :beginning || char(0x10ffff) AND variant = word
ORDER BY variant LIMIT :limit;

-- name: unknown_words
SELECT w.value FROM json_each(:words) w
WHERE NOT EXISTS (SELECT 1 FROM word_variants v WHERE v.variant = w.value AND v.word = w.value);

-- name: add_variant
INSERT OR IGNORE INTO word_variants (variant, word) VALUES (:variant, :word);

-- name: add_words_there
INSERT OR IGNORE INTO namespace_words (word, namespace) SELECT value, :namespace FROM json_each(:words);

-- name: last_census
SELECT (SELECT count(*) FROM items), (SELECT items FROM census);

-- name: merge
INSERT INTO item_terms (item_terms, rank) VALUES ('merge', :pages);

-- name: forget_census
DELETE FROM census;

-- name: record_census
INSERT INTO census (items, taken_at) SELECT count(*), :now FROM items;

-- name: forget_common
DELETE FROM common_terms;

-- name: count_common
INSERT INTO common_terms (term, items)
SELECT term, doc FROM item_vocabulary WHERE doc >= :least;
