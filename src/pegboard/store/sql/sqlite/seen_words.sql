-- name: near
SELECT DISTINCT v.word FROM word_variants v WHERE v.variant IN (SELECT value FROM json_each(:variants))
  AND EXISTS (SELECT 1 FROM namespace_words n
    WHERE n.word = v.word AND n.namespace IN (SELECT value FROM json_each(:open)));

-- name: beginning
SELECT DISTINCT word FROM namespace_words
WHERE word >= :beginning AND word < :beginning || char(0x10ffff)
  AND namespace IN (SELECT value FROM json_each(:open))
ORDER BY word LIMIT :limit;

-- name: let_through
SELECT i.key, i.id FROM items i INDEXED BY items_seen
WHERE i.key IN (SELECT value FROM json_each(:keys))
  -- include: filters
;
