-- name: has_vector
-- Those of all passages are hung together; one that is damaged spoils them all. So it is below.
SELECT count(*) FROM vectors v JOIN fingerprints f ON f.key = v.fingerprint
WHERE v.item_key = :key AND v.fingerprint = :fingerprint AND v.source_hash = :source_hash
HAVING min(length(v.vector) = 4 * f.dimension);

-- name: drop_stale_vectors
DELETE FROM vectors WHERE item_key = :key AND source_hash <> :source_hash;

-- name: drop_other_tasks
-- Of another text. One of the same text stays: it may be for the model that is being built.
DELETE FROM embedding_tasks WHERE item_key = :key AND source_hash <> :source_hash;

-- name: drop_tasks
DELETE FROM embedding_tasks WHERE item_key = :key;

-- name: add_task
-- Queued again, a task starts afresh, unless a worker has it in hand.
INSERT INTO embedding_tasks
  (namespace, entity_type, item_key, fingerprint, source_hash, text, created_at, updated_at)
SELECT namespace, kind, key, :fingerprint, :source_hash, :text, :now, :now FROM items WHERE key = :key
ON CONFLICT (item_key, source_hash, fingerprint) DO UPDATE SET
  status = 'pending', attempts = 0, next_attempt_at = 0, last_error = '', updated_at = excluded.updated_at
WHERE status <> 'running';

-- name: await_vector
-- Only if the item is still the one whose text was made.
UPDATE items SET source_hash = :source_hash, embedding_status = 'pending', embedding_error = ''
WHERE key = :key AND active AND content_hash = :content_hash RETURNING key;

-- name: unembedded
SELECT i.* FROM items i
WHERE i.key > :after AND i.active AND i.embedding_status <> 'blank'
  AND (SELECT min(length(v.vector) = 4 * f.dimension) FROM vectors v JOIN fingerprints f ON f.key = v.fingerprint
    WHERE v.item_key = i.key AND v.fingerprint = :fingerprint AND v.source_hash = i.source_hash) IS NOT 1
  AND NOT EXISTS (SELECT 1 FROM embedding_tasks t
    WHERE t.item_key = i.key AND t.fingerprint = :fingerprint AND t.source_hash = i.source_hash)
ORDER BY i.key LIMIT :limit;

-- name: drop_tasks_of_others
DELETE FROM embedding_tasks WHERE fingerprint <> :fingerprint AND fingerprint IS NOT :beside;

-- name: adopt
-- Items that wait although their vector is there: a model that was left and came back.
UPDATE items SET embedding_status = 'ready', embedding_error = '',
  embedding_model = :model, embedding_dimension = :dimension
WHERE active AND embedding_status IN ('pending', 'failed', 'disabled')
  AND (SELECT min(length(v.vector) = 4 * :dimension) FROM vectors v
    WHERE v.item_key = items.key AND v.fingerprint = :fingerprint AND v.source_hash = items.source_hash)
  AND NOT EXISTS (SELECT 1 FROM embedding_tasks t WHERE t.item_key = items.key);

-- name: disable
UPDATE items SET embedding_status = 'disabled', embedding_error = ''
WHERE embedding_status IN ('pending', 'failed') RETURNING key;

-- name: drop_all_tasks
DELETE FROM embedding_tasks;

-- name: due
SELECT 1 WHERE EXISTS (SELECT 1 FROM embedding_tasks
    WHERE fingerprint = :fingerprint AND status = 'pending' AND next_attempt_at <= :now)
  OR EXISTS (SELECT 1 FROM embedding_tasks
    WHERE fingerprint = :fingerprint AND status = 'running' AND lease_until <= :now);

-- name: namespaces
-- Those with fresh tasks, in the order of their names: one seek in the index each.
WITH RECURSIVE turn (place, namespace) AS (
  SELECT 1, (SELECT min(t.namespace) FROM embedding_tasks t
    WHERE t.fingerprint = :fingerprint AND t.status = 'pending' AND t.attempts = 0
      AND t.namespace > :after)
  UNION ALL
  SELECT place + 1, (SELECT min(t.namespace) FROM embedding_tasks t
    WHERE t.fingerprint = :fingerprint AND t.status = 'pending' AND t.attempts = 0
      AND t.namespace > turn.namespace)
  FROM turn WHERE turn.namespace IS NOT NULL AND place < :limit)
SELECT namespace FROM turn WHERE namespace IS NOT NULL;

-- name: claim_fresh
-- A claim counts as an attempt at once: a worker that dies of a text cannot count it later.
UPDATE embedding_tasks SET
  status = 'running', attempts = 1, lease_owner = :owner, lease_until = :lease_until, updated_at = :now
WHERE id IN (
  SELECT id FROM embedding_tasks
  WHERE fingerprint = :fingerprint AND status = 'pending' AND attempts = 0 AND namespace = :namespace
    AND next_attempt_at <= :now
  ORDER BY next_attempt_at, id LIMIT :limit)
RETURNING id, item_key, source_hash, text, attempts;

-- name: claim_again
-- One that was tried before, or whose worker left it. Alone, so that if it kills this worker too,
-- no other task is blamed.
UPDATE embedding_tasks SET
  status = 'running', attempts = attempts + 1, lease_owner = :owner, lease_until = :lease_until,
  updated_at = :now
WHERE id = (
  SELECT id FROM (
    SELECT id, attempts FROM embedding_tasks
    WHERE fingerprint = :fingerprint AND status = 'pending' AND attempts > 0 AND next_attempt_at <= :now
    UNION ALL
    SELECT id, attempts FROM embedding_tasks
    WHERE fingerprint = :fingerprint AND status = 'running' AND lease_until <= :now)
  ORDER BY attempts, id LIMIT 1)
RETURNING id, item_key, source_hash, text, attempts;

-- name: hang_vector
-- Compare and set: nothing happens if the item's text has changed since.
INSERT OR REPLACE INTO vectors (item_key, fingerprint, passage, source_hash, vector, created_at)
SELECT key, :fingerprint, :passage, source_hash, :vector, :now FROM items
WHERE key = :item_key AND source_hash = :source_hash
RETURNING item_key;

-- name: mark_hung
-- It still waits, or has failed, if a task for the vector of another model is left.
UPDATE items SET embedding_model = :model, embedding_dimension = :dimension, embedded_at = :now,
  embedding_error = CASE WHEN EXISTS (SELECT 1 FROM embedding_tasks t
    WHERE t.item_key = :item_key AND t.status = 'failed') THEN embedding_error ELSE '' END,
  embedding_status = coalesce((SELECT CASE t.status WHEN 'failed' THEN 'failed' ELSE 'pending' END
    FROM embedding_tasks t WHERE t.item_key = :item_key ORDER BY t.status = 'failed' LIMIT 1), 'ready')
WHERE key = :item_key AND source_hash = :source_hash;

-- name: drop_task
-- Not by its id: SQLite gives the id of a deleted task to the next one.
DELETE FROM embedding_tasks
WHERE item_key = :item_key AND source_hash = :source_hash AND fingerprint = :fingerprint;

-- name: put_back
UPDATE embedding_tasks SET status = :status, next_attempt_at = :next_attempt_at, last_error = :error,
  lease_owner = NULL, lease_until = NULL, updated_at = :now
WHERE id = :id AND item_key = :item_key AND source_hash = :source_hash AND lease_owner = :owner
RETURNING item_key;

-- name: mark_failed
UPDATE items SET embedding_status = 'failed', embedding_error = :error
WHERE key = :item_key AND source_hash = :source_hash;

-- name: release
UPDATE embedding_tasks SET status = 'pending', attempts = max(attempts - 1, 0), lease_owner = NULL,
  lease_until = NULL, updated_at = :now
WHERE status = 'running' AND lease_owner = :owner RETURNING id;

-- name: reclaim
-- From a worker that died: what it tried counts as tried.
UPDATE embedding_tasks SET status = 'pending', lease_owner = NULL, lease_until = NULL, updated_at = :now
WHERE status = 'running' AND lease_owner = :owner RETURNING id;

-- name: owners
SELECT DISTINCT lease_owner FROM embedding_tasks WHERE status = 'running';

-- name: revive
UPDATE embedding_tasks SET status = 'pending', attempts = 0, next_attempt_at = 0, last_error = '', updated_at = :now
WHERE status = 'failed' AND (:item_key IS NULL OR item_key = :item_key) RETURNING item_key;

-- name: mark_pending
UPDATE items SET embedding_status = 'pending', embedding_error = '' WHERE key = :item_key;

-- name: counts
-- As the present model sees it; without one, everything that has a text is disabled.
SELECT CASE
    WHEN i.embedding_status = 'blank' THEN 'blank'
    WHEN :fingerprint IS NULL THEN 'disabled'
    WHEN t.status = 'failed' THEN 'failed'
    WHEN t.status IS NULL AND EXISTS (SELECT 1 FROM vectors v
      WHERE v.item_key = i.key AND v.fingerprint = :fingerprint) THEN 'ready'
    ELSE 'pending' END AS status, count(*)
FROM items i LEFT JOIN embedding_tasks t
  ON t.item_key = i.key AND t.source_hash = i.source_hash AND t.fingerprint = :fingerprint
WHERE i.active GROUP BY 1;

-- name: waiting
SELECT count(*) FROM embedding_tasks WHERE fingerprint = :fingerprint AND status <> 'failed';

-- name: oldest
SELECT min(created_at) FROM embedding_tasks WHERE fingerprint = :fingerprint AND status <> 'failed';

-- name: done_lately
-- The newest, and no more of them than tell how quick it goes.
SELECT count(*), min(created_at) FROM (
  SELECT v.created_at FROM vectors v WHERE v.fingerprint = :fingerprint AND v.passage = 0
  ORDER BY v.seq DESC LIMIT :most)
WHERE created_at > :since;

-- name: stray
SELECT 1 FROM embedding_tasks WHERE fingerprint NOT IN (SELECT value FROM json_each(:fingerprints)) LIMIT 1;

-- name: without_vector
SELECT count(*) FROM items i
WHERE i.active AND i.embedding_status <> 'blank' AND NOT EXISTS
  (SELECT 1 FROM vectors v WHERE v.item_key = i.key AND v.fingerprint = :fingerprint);
