-- name: stored
SELECT * FROM items WHERE key = %(key)s AND namespace = %(namespace)s FOR UPDATE;

-- name: last_put
-- An edit leaves alone when an item was last put: a sync goes by it.
UPDATE items SET updated_at = %(updated_at)s WHERE key = %(key)s;

-- name: override
UPDATE items SET description_source = CASE WHEN %(own)s THEN 'manual' ELSE 'source' END, manual_override = %(own)s,
  override_at = CASE WHEN %(own)s THEN now() END, override_by = %(by)s
WHERE key = %(key)s;

-- name: override_tags
-- Whether they are a person's is told by imported_tags.
UPDATE items SET tags_override_at = CASE WHEN %(own)s THEN now() END, tags_override_by = %(by)s
WHERE key = %(key)s;

-- name: switch_off
UPDATE items SET active = false, off_at = now(), off_by = %(by)s, off_reason = %(reason)s WHERE key = %(key)s;

-- name: switch_on
UPDATE items SET active = (drift <> 'missing' AND NOT held), off_at = NULL, off_by = '', off_reason = ''
WHERE key = %(key)s RETURNING active;

-- name: note
INSERT INTO item_history (namespace, item_key, item_id, event, who, detail)
SELECT i.namespace, i.key, i.id, w.event, %(by)s, w.detail
FROM unnest(%(keys)s::bigint[], %(events)s::text[], %(details)s::text[]) WITH ORDINALITY
  AS w (key, event, detail, place)
JOIN items i ON i.key = w.key ORDER BY w.place;

-- name: forget_old_notes
DELETE FROM item_history WHERE key = ANY(ARRAY(
  SELECT o.key FROM items i CROSS JOIN LATERAL (
    SELECT h.key FROM item_history h WHERE h.item_id = i.id AND h.namespace = i.namespace
    ORDER BY h.key DESC OFFSET %(most)s) AS o
  WHERE i.key = ANY(%(keys)s)));

-- name: history
SELECT namespace, item_id, extract(epoch FROM at)::float8, event, who, detail FROM item_history
WHERE item_id = %(id)s AND (%(namespace)s::text IS NULL OR namespace = %(namespace)s) ORDER BY key DESC;

-- name: drop_links
-- Those that the items do not have any more; what the others mean is known already.
DELETE FROM item_links l WHERE l.item_key = ANY(%(keys)s) AND NOT EXISTS (
  SELECT 1 FROM unnest(%(linking)s::bigint[], %(relations)s::text[], %(targets)s::text[]) AS w (key, relation, target)
  WHERE w.key = l.item_key AND w.relation = l.relation AND w.target = l.target);

-- name: add_links
INSERT INTO item_links (namespace, item_key, relation, target)
SELECT i.namespace, w.key, w.relation, w.target
FROM unnest(%(linking)s::bigint[], %(relations)s::text[], %(targets)s::text[]) AS w (key, relation, target)
JOIN items i ON i.key = w.key
WHERE NOT EXISTS (SELECT 1 FROM item_links l
  WHERE l.item_key = w.key AND l.relation = w.relation AND l.target = w.target);

-- name: lock_links
-- Whoever comes second sees what the first has found.
SELECT pg_advisory_xact_lock(hashtextextended('pegboard links of ' || current_schema(), 0));

-- name: misled
-- Links that mean something else than is written, by what is on the board now. See the port for what comes
-- before what; of several that come first, none is meant.
WITH link AS MATERIALIZED (
  SELECT l.key, l.relation, l.target, l.target_key, i.key AS item_key, i.namespace, i.kind, i.source, i.author
  FROM item_links l JOIN items i ON i.key = l.item_key AND i.namespace = l.namespace),
called AS (
  SELECT 1 AS way, l AS link, t.key, t.namespace, t.kind, t.source, t.author, t.visibility
  FROM link l JOIN items t ON t.id = l.target WHERE t.active
  UNION ALL
  SELECT 2, l, t.key, t.namespace, t.kind, t.source, t.author, t.visibility
  FROM link l JOIN items t ON t.short_name = l.target WHERE t.active AND t.key <> l.item_key
  UNION ALL -- its own name is no other's
  SELECT 3, l, t.key, t.namespace, t.kind, t.source, t.author, t.visibility
  FROM link l JOIN items t ON t.name = l.target WHERE t.active AND t.key <> l.item_key
  UNION ALL
  SELECT 3, l, t.key, t.namespace, t.kind, t.source, t.author, t.visibility
  FROM link l JOIN items t ON split_part(t.id, ':', -1) = l.target AND t.kind = 'knowledge' AND l.kind = 'knowledge'
  WHERE t.active AND t.key <> l.item_key),
ranked AS (
  SELECT (c.link).key AS link, (c.link).target_key AS before, c.key, c.namespace,
    rank() OVER (PARTITION BY (c.link).key ORDER BY c.way, c.namespace <> (c.link).namespace,
      c.kind <> CASE (c.link).relation WHEN 'uses' THEN 'tool' ELSE (c.link).kind END,
      c.source <> (c.link).source) AS place
  FROM called c WHERE c.namespace IN ((c.link).namespace, 'public')
    AND (c.visibility = 'public' OR c.author = (c.link).author)),
meant AS (
  SELECT link, before, CASE WHEN min(key) = max(key) THEN min(key) END AS key, min(namespace) AS namespace
  FROM (
    SELECT link, before, key, namespace FROM ranked WHERE place = 1
    UNION ALL SELECT key, target_key, NULL, NULL FROM link) AS found
  GROUP BY link, before)
SELECT link, key, CASE WHEN key IS NOT NULL THEN namespace END FROM meant WHERE key IS DISTINCT FROM before;

-- name: lead
UPDATE item_links l SET target_key = w.target_key, target_namespace = w.target_namespace
FROM unnest(%(keys)s::bigint[], %(targets)s::bigint[], %(namespaces)s::text[]) AS w (key, target_key, target_namespace)
WHERE l.key = w.key;

-- name: ties
-- Also those that were written for knowledge entries by others than their sources.
SELECT l.relation, true, l.target, t.id, t.namespace, t.name, t.kind
FROM item_links l LEFT JOIN items t ON t.key = l.target_key AND t.namespace = l.target_namespace AND t.active
WHERE l.item_key = %(key)s
UNION ALL
SELECT l.relation, false, l.target, i.id, i.namespace, i.name, i.kind
FROM item_links l JOIN items i ON i.key = l.item_key AND i.namespace = l.namespace AND i.active
WHERE l.target_key = %(key)s
UNION ALL
SELECT w.relationship_type, true, w.to_zettel_id, t.id, t.namespace, t.name, t.kind
FROM items e JOIN written_relationships w ON w.namespace = e.namespace AND w.from_zettel_id = e.id
JOIN items t ON t.namespace = w.namespace AND t.id = w.to_zettel_id AND t.active WHERE e.key = %(key)s
UNION ALL
SELECT w.relationship_type, false, w.to_zettel_id, i.id, i.namespace, i.name, i.kind
FROM items e JOIN written_relationships w ON w.namespace = e.namespace AND w.to_zettel_id = e.id
JOIN items i ON i.namespace = w.namespace AND i.id = w.from_zettel_id AND i.active WHERE e.key = %(key)s
ORDER BY 2 DESC, 1, 3, 4, 5;

-- name: loose_links
SELECT i.source, i.namespace, i.id, l.relation, l.target
FROM item_links l JOIN items i ON i.key = l.item_key AND i.namespace = l.namespace AND i.active
LEFT JOIN items t ON t.key = l.target_key AND t.namespace = l.target_namespace AND t.active
WHERE t.key IS NULL AND (%(source)s::text IS NULL OR i.source = %(source)s)
ORDER BY i.namespace, i.id, l.relation, l.target;
