-- name: record
-- Of an item that is still there.
INSERT INTO item_runs (namespace, item_id, version, at, outcome, seconds, who)
SELECT namespace, id, :version, min(:at, :now), :outcome, :seconds, :who FROM items
WHERE namespace = :namespace AND id = :id;

-- name: rate
-- Each caller counts with his last runs, and an item's author not at all: 0014_success.sql of the other store.
WITH RECURSIVE callers (who) AS (
  SELECT min(who) FROM item_runs
  WHERE namespace = :namespace AND item_id = :id AND outcome IN ('ok', 'failed', 'timeout', 'killed')
  UNION ALL
  SELECT (SELECT min(r.who) FROM item_runs r WHERE r.namespace = :namespace AND r.item_id = :id
    AND r.outcome IN ('ok', 'failed', 'timeout', 'killed') AND r.who > c.who)
  FROM callers c WHERE c.who IS NOT NULL LIMIT :callers
), counted AS (
  SELECT r.outcome FROM items i, callers c JOIN item_runs r ON r.key IN (
    SELECT l.key FROM item_runs l WHERE l.namespace = :namespace AND l.item_id = :id AND l.who = c.who
      AND l.outcome IN ('ok', 'failed', 'timeout', 'killed') AND l.at >= :since
    ORDER BY l.at DESC, l.key DESC LIMIT :most)
  WHERE i.namespace = :namespace AND i.id = :id AND (c.who = '' OR c.who <> i.author)
), figures AS (
  SELECT count(*) AS runs, count(*) FILTER (WHERE outcome = 'ok') AS ok FROM counted
), found AS (
  SELECT i.key, f.runs, CASE WHEN f.runs >= :fewest THEN CAST(f.ok AS REAL) / f.runs
    WHEN i.counted_runs < :fewest THEN i.success_rate END AS rate -- what was brought along stays until there is better
  FROM items i, figures f WHERE i.namespace = :namespace AND i.id = :id
)
UPDATE items SET success_rate = found.rate, counted_runs = found.runs FROM found
WHERE items.key = found.key
  AND (items.success_rate IS NOT found.rate OR items.counted_runs <> found.runs);

-- name: forget
DELETE FROM item_runs WHERE key IN (SELECT key FROM item_runs WHERE at < :before ORDER BY at, key LIMIT :limit)
RETURNING key;

-- name: recent
SELECT namespace, item_id, version, at, outcome, seconds, who FROM item_runs
WHERE :namespace IS NULL OR namespace = :namespace ORDER BY at DESC, key DESC LIMIT :limit;

-- name: recent_of_item
SELECT namespace, item_id, version, at, outcome, seconds, who FROM item_runs
WHERE item_id = :id AND (:namespace IS NULL OR namespace = :namespace) ORDER BY at DESC, key DESC LIMIT :limit;

-- name: counts
SELECT count(*), count(*) FILTER (WHERE outcome = 'ok'), max(at), avg(seconds) FILTER (WHERE outcome = 'ok')
FROM item_runs WHERE :namespace IS NULL OR namespace = :namespace;

-- name: lasting
-- How long the latest took that went well.
SELECT seconds FROM item_runs WHERE outcome = 'ok' AND (:namespace IS NULL OR namespace = :namespace)
ORDER BY at DESC, key DESC LIMIT :limit;

-- name: counts_of_item
SELECT count(*), count(*) FILTER (WHERE outcome = 'ok'), max(at), avg(seconds) FILTER (WHERE outcome = 'ok')
FROM item_runs WHERE item_id = :id AND (:namespace IS NULL OR namespace = :namespace);

-- name: lasting_of_item
SELECT seconds FROM item_runs
WHERE item_id = :id AND outcome = 'ok' AND (:namespace IS NULL OR namespace = :namespace)
ORDER BY at DESC, key DESC LIMIT :limit;
