-- name: mark
-- What FTS5 writes with every change of the text index: its figures, and of what parts it is made.
SELECT group_concat(hex(block), ' ') FROM item_terms_data WHERE id IN (1, 10);

-- name: items
SELECT key, terms, namespace FROM items INDEXED BY items_counted WHERE visibility = 'public' ORDER BY key;

-- name: instances
-- Every place where a term stands, by item: the key of the item, and in the lowest bits the field.
SELECT doc * 8 + CASE col WHEN 'name' THEN 0 WHEN 'title' THEN 1 WHEN 'aliases' THEN 2 WHEN 'labels' THEN 3
  WHEN 'description' THEN 4 WHEN 'parameters' THEN 5 ELSE 6 END
FROM item_instances WHERE term = :term;

-- name: matching
SELECT rowid FROM item_terms WHERE item_terms MATCH :match ORDER BY rowid;
