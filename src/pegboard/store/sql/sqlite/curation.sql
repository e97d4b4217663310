-- name: stored
SELECT * FROM items WHERE key = :key AND id = :id AND namespace = :namespace;

-- name: last_put
-- An edit leaves alone when an item was last put: a sync goes by it.
UPDATE items SET updated_at = :updated_at WHERE key = :key;

-- name: override
UPDATE items SET description_source = CASE WHEN :own THEN 'manual' ELSE 'source' END, manual_override = :own,
  override_at = CASE WHEN :own THEN :now END, override_by = :by
WHERE key = :key;

-- name: override_tags
-- Whether they are a person's is told by imported_tags.
UPDATE items SET tags_override_at = CASE WHEN :own THEN :now END, tags_override_by = :by WHERE key = :key;

-- name: switch_off
UPDATE items SET active = 0, off_at = :now, off_by = :by, off_reason = :reason WHERE key = :key;

-- name: switch_on
UPDATE items SET active = (drift <> 'missing' AND NOT held), off_at = NULL, off_by = '', off_reason = ''
WHERE key = :key RETURNING active;

-- name: note
INSERT INTO item_history (namespace, item_id, at, event, who, detail)
SELECT namespace, id, :now, :event, :by, :detail FROM items WHERE key IN (SELECT value FROM json_each(:keys))
ORDER BY key;

-- name: forget_old_notes
DELETE FROM item_history WHERE key IN (
  SELECT h.key FROM items i JOIN item_history h ON h.item_id = i.id AND h.namespace = i.namespace
  WHERE i.key IN (SELECT value FROM json_each(:keys)) AND h.key <= (
    SELECT n.key FROM item_history n WHERE n.item_id = i.id AND n.namespace = i.namespace
    ORDER BY n.key DESC LIMIT 1 OFFSET :most));

-- name: history
SELECT namespace, item_id, at, event, who, detail FROM item_history
WHERE item_id = :id AND (:namespace IS NULL OR namespace = :namespace) ORDER BY key DESC;

-- name: drop_links
-- Those that the item does not have any more; what the others mean is known already.
DELETE FROM item_links WHERE item_key = :key AND NOT EXISTS (
  SELECT 1 FROM json_each(:links) w
  WHERE w.value ->> 'relation' = relation AND w.value ->> 'target' = target);

-- name: add_links
INSERT INTO item_links (item_key, relation, target)
SELECT DISTINCT :key, w.value ->> 'relation', w.value ->> 'target' FROM json_each(:links) w
WHERE NOT EXISTS (SELECT 1 FROM item_links l
  WHERE l.item_key = :key AND l.relation = w.value ->> 'relation' AND l.target = w.value ->> 'target');

-- name: misled
-- Links that mean something else than is written, by what is on the board now. See the port for what comes
-- before what; of several that come first, none is meant. The plus is for the index over last parts: it is one
-- of no type, and SQLite does not look a column of texts up in such.
WITH called (link, target_key, way) AS (
  SELECT l.key, t.key, 1 FROM item_links l JOIN items t ON t.id = l.target
  UNION ALL
  SELECT l.key, t.key, 2 FROM item_links l JOIN items t ON t.short_name = l.target
  UNION ALL
  SELECT l.key, t.key, 3 FROM item_links l JOIN items t ON t.name = l.target
  UNION ALL
  SELECT l.key, t.key, 3 FROM item_links l JOIN items i ON i.key = l.item_key AND i.kind = 'knowledge'
  JOIN items t ON t.kind = 'knowledge'
    AND substr(t.id, length(rtrim(t.id, replace(t.id, ':', ''))) + 1) = +l.target),
ranked (link, target_key, place) AS (
  SELECT c.link, c.target_key, rank() OVER (PARTITION BY c.link ORDER BY c.way, t.namespace <> i.namespace,
    t.kind <> CASE l.relation WHEN 'uses' THEN 'tool' ELSE i.kind END, t.source <> i.source)
  FROM called c CROSS JOIN item_links l ON l.key = c.link CROSS JOIN items i ON i.key = l.item_key
  CROSS JOIN items t ON t.key = c.target_key
  WHERE t.active AND t.namespace IN (i.namespace, 'public')
    AND (t.visibility = 'public' OR t.author = i.author)
    AND (c.way = 1 OR t.key <> i.key)), -- its own name is no other's
meant (link, target_key) AS (
  SELECT link, min(target_key) FROM ranked WHERE place = 1
  GROUP BY link HAVING min(target_key) = max(target_key))
SELECT l.key, m.target_key FROM item_links l LEFT JOIN meant m ON m.link = l.key
WHERE l.target_key IS NOT m.target_key;

-- name: lead
UPDATE item_links SET target_key = :target_key WHERE key = :key;

-- name: ties
SELECT l.relation, 1, l.target, t.id, t.namespace, t.name, t.kind
FROM item_links l LEFT JOIN items t ON t.key = l.target_key AND t.active WHERE l.item_key = :key
UNION ALL
SELECT l.relation, 0, l.target, i.id, i.namespace, i.name, i.kind
FROM item_links l JOIN items i ON i.key = l.item_key AND i.active WHERE l.target_key = :key
ORDER BY 2 DESC, 1, 3, 4, 5;

-- name: loose_links
SELECT i.source, i.namespace, i.id, l.relation, l.target
FROM item_links l JOIN items i ON i.key = l.item_key AND i.active
LEFT JOIN items t ON t.key = l.target_key AND t.active
WHERE t.key IS NULL AND (:source IS NULL OR i.source = :source)
ORDER BY i.namespace, i.id, l.relation, l.target;
