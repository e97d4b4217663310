-- name: indexed
-- The columns that index terms, cards and spelling are made of. Named one by one: later migrations add others.
SELECT i.key, i.id, i.namespace, i.kind, i.name, i.title, i.description, i.category, i.subcategory, i.tags, i.aliases,
  i.keywords, i.source, i.endpoint, i.executor, i.input_schema, i.body, i.visibility,
  coalesce((SELECT t.content FROM item_texts t
    WHERE t.item_key = i.key AND t.namespace = i.namespace AND t.kind = i.kind), '') AS content
FROM items i WHERE i.key > %(after)s ORDER BY i.key LIMIT %(limit)s;

-- name: set_cards
UPDATE items SET card = x.card FROM unnest(%(keys)s::bigint[], %(cards)s::text[]) AS x (key, card)
WHERE items.key = x.key;
