-- name: record
-- Of an item that is still there.
INSERT INTO item_runs (namespace, item_id, version, at, outcome, seconds, who)
SELECT namespace, id, :version, min(:at, :now), :outcome, :seconds, :who FROM items
WHERE namespace = :namespace AND id = :id;

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

-- name: counts_of_item
SELECT count(*), count(*) FILTER (WHERE outcome = 'ok'), max(at), avg(seconds) FILTER (WHERE outcome = 'ok')
FROM item_runs WHERE item_id = :id AND (:namespace IS NULL OR namespace = :namespace);
