-- name: have_vectors
-- Those of all passages are hung together, so the first speaks for them.
SELECT v.item_key FROM unnest(%(keys)s::bigint[], %(hashes)s::text[], %(kinds)s::text[]) AS w (key, hash, kind)
JOIN vectors v ON v.item_key = w.key AND v.fingerprint = %(fingerprint)s::integer AND v.source_hash = w.hash
  AND v.kind = w.kind AND v.passage = 0;

-- name: drop_stale_vectors
DELETE FROM vectors v
USING unnest(%(keys)s::bigint[], %(hashes)s::text[], %(kinds)s::text[]) AS w (key, hash, kind)
WHERE v.item_key = w.key AND (v.source_hash <> w.hash OR v.kind <> w.kind);

-- name: drop_stale_texts
DELETE FROM vectors v USING unnest(%(keys)s::bigint[], %(hashes)s::text[]) AS w (key, hash)
WHERE v.item_key = w.key AND v.source_hash <> w.hash;

-- name: drop_other_tasks
-- Of another text. One of the same text stays: it may be for the model that is being built.
DELETE FROM embedding_tasks t
USING unnest(%(keys)s::bigint[], %(hashes)s::text[]) AS w (key, hash)
WHERE t.entity_id = w.key AND t.source_hash <> w.hash;

-- name: add_tasks
-- Queued again, a task starts afresh, unless a worker has it in hand. Whoever waits for work is told.
WITH added AS (
  INSERT INTO embedding_tasks
    (host_id, entity_type, entity_id, source_version, fingerprint, source_hash, source_text)
  SELECT i.namespace, i.kind, i.key, i.text_version, %(fingerprint)s::integer, w.hash, w.text
  FROM unnest(%(keys)s::bigint[], %(hashes)s::text[], %(texts)s::text[]) WITH ORDINALITY
    AS w (key, hash, text, place)
  JOIN items i ON i.key = w.key ORDER BY w.place
  ON CONFLICT (entity_id, source_hash, fingerprint, entity_type, host_id) DO UPDATE SET
    status = 'pending', attempt_count = 0, next_attempt_ts = '-infinity', last_error = '', update_ts = now()
  WHERE embedding_tasks.status <> 'running' RETURNING 1)
SELECT pg_notify('pegboard_tasks', '') FROM (SELECT count(*) AS added FROM added) AS counted WHERE counted.added > 0;

-- name: await_vectors
-- Only of items that are still those whose texts were made.
UPDATE items i SET source_hash = w.hash, embedding_status = 'pending', embedding_error = ''
FROM unnest(%(keys)s::bigint[], %(contents)s::text[], %(hashes)s::text[]) AS w (key, content_hash, hash)
WHERE i.key = w.key AND i.active AND i.content_hash = w.content_hash RETURNING i.key;

-- name: unembedded
SELECT i.* FROM items i
WHERE i.key > %(after)s AND i.active AND i.embedding_status <> 'blank'
  AND NOT EXISTS (SELECT 1 FROM vectors v
    WHERE v.item_key = i.key AND v.fingerprint = %(fingerprint)s::integer AND v.source_hash = i.source_hash)
  AND NOT EXISTS (SELECT 1 FROM embedding_tasks t
    WHERE t.entity_id = i.key AND t.fingerprint = %(fingerprint)s::integer AND t.source_hash = i.source_hash)
ORDER BY i.key LIMIT %(limit)s;

-- name: drop_tasks_of_others
DELETE FROM embedding_tasks
WHERE fingerprint <> %(fingerprint)s::integer AND fingerprint IS DISTINCT FROM %(beside)s::integer;

-- name: adopt
-- Items that wait although their vector is there: a model that was left and came back.
UPDATE items SET embedding_status = 'ready', embedding_error = '',
  embedding_model = %(model)s, embedding_dimension = %(dimension)s
WHERE active AND embedding_status IN ('pending', 'failed', 'disabled')
  AND EXISTS (SELECT 1 FROM vectors v WHERE v.item_key = items.key
    AND v.fingerprint = %(fingerprint)s::integer AND v.source_hash = items.source_hash)
  AND NOT EXISTS (SELECT 1 FROM embedding_tasks t WHERE t.entity_id = items.key);

-- name: disable
UPDATE items SET embedding_status = 'disabled', embedding_error = ''
WHERE embedding_status IN ('pending', 'failed') RETURNING key;

-- name: drop_all_tasks
DELETE FROM embedding_tasks;

-- name: claim_fresh
-- An equal share from each namespace that has something to do, from the one after the last that was served and
-- once round, so that none waits for another's backfill: one seek in the index each. A claim counts as an attempt
-- at once: a worker that dies of a text cannot count it later.
WITH RECURSIVE ahead (place, host_id) AS (
  SELECT 1, (SELECT t.host_id FROM embedding_tasks t
    WHERE t.fingerprint = %(fingerprint)s::integer AND t.status = 'pending' AND t.attempt_count = 0
      AND t.host_id > %(served)s ORDER BY t.host_id LIMIT 1)
  UNION ALL
  SELECT place + 1, (SELECT t.host_id FROM embedding_tasks t
    WHERE t.fingerprint = %(fingerprint)s::integer AND t.status = 'pending' AND t.attempt_count = 0
      AND t.host_id > ahead.host_id ORDER BY t.host_id LIMIT 1)
  FROM ahead WHERE ahead.host_id IS NOT NULL AND place < %(limit)s),
round (place, host_id) AS (
  SELECT (SELECT count(host_id) FROM ahead) + 1, (SELECT t.host_id FROM embedding_tasks t
    WHERE t.fingerprint = %(fingerprint)s::integer AND t.status = 'pending' AND t.attempt_count = 0
      AND t.host_id <= %(served)s ORDER BY t.host_id LIMIT 1)
  UNION ALL
  SELECT place + 1, (SELECT t.host_id FROM embedding_tasks t
    WHERE t.fingerprint = %(fingerprint)s::integer AND t.status = 'pending' AND t.attempt_count = 0
      AND t.host_id > round.host_id AND t.host_id <= %(served)s ORDER BY t.host_id LIMIT 1)
  FROM round WHERE round.host_id IS NOT NULL AND place < %(limit)s),
chosen AS MATERIALIZED (
  SELECT host_id, count(*) OVER () AS many FROM (SELECT * FROM ahead UNION ALL SELECT * FROM round) AS turn
  WHERE host_id IS NOT NULL AND place <= %(limit)s ORDER BY place),
due AS MATERIALIZED (
  SELECT t.task_id, t.host_id FROM chosen CROSS JOIN LATERAL (
    SELECT e.task_id, e.host_id FROM embedding_tasks e
    WHERE e.fingerprint = %(fingerprint)s::integer AND e.host_id = chosen.host_id AND e.status = 'pending'
      AND e.attempt_count = 0 AND e.next_attempt_ts <= now()
    ORDER BY e.next_attempt_ts, e.task_id
    LIMIT greatest(%(limit)s::bigint / chosen.many, 1) FOR UPDATE SKIP LOCKED) AS t
  LIMIT %(limit)s)
UPDATE embedding_tasks e SET status = 'running', attempt_count = 1, lease_owner = %(owner)s,
  lease_until = now() + make_interval(secs => %(lease)s), update_ts = now()
FROM due WHERE e.task_id = due.task_id AND e.host_id = due.host_id
RETURNING e.task_id, e.entity_id, e.source_hash, e.source_text, e.attempt_count, e.host_id;

-- name: claim_more
-- What the shares left over, in whatever order.
WITH due AS MATERIALIZED (
  SELECT task_id, host_id FROM embedding_tasks
  WHERE fingerprint = %(fingerprint)s::integer AND status = 'pending' AND attempt_count = 0 AND next_attempt_ts <= now()
  ORDER BY host_id, next_attempt_ts, task_id LIMIT %(limit)s FOR UPDATE SKIP LOCKED)
UPDATE embedding_tasks e SET status = 'running', attempt_count = 1, lease_owner = %(owner)s,
  lease_until = now() + make_interval(secs => %(lease)s), update_ts = now()
FROM due WHERE e.task_id = due.task_id AND e.host_id = due.host_id
RETURNING e.task_id, e.entity_id, e.source_hash, e.source_text, e.attempt_count;

-- name: claim_again
-- One that was tried before, or whose worker left it. Alone, so that if it kills this worker too, no other
-- task is blamed.
WITH tried AS (
  SELECT task_id, host_id, attempt_count FROM embedding_tasks
  WHERE fingerprint = %(fingerprint)s::integer AND status = 'pending' AND attempt_count > 0 AND next_attempt_ts <= now()
  ORDER BY attempt_count, task_id LIMIT 1 FOR UPDATE SKIP LOCKED),
left_behind AS (
  SELECT task_id, host_id, attempt_count FROM embedding_tasks
  WHERE fingerprint = %(fingerprint)s::integer AND status = 'running' AND lease_until <= now()
  ORDER BY attempt_count, task_id LIMIT 1 FOR UPDATE SKIP LOCKED),
due AS (
  SELECT task_id, host_id FROM (SELECT * FROM tried UNION ALL SELECT * FROM left_behind) AS both_kinds
  ORDER BY attempt_count, task_id LIMIT 1)
UPDATE embedding_tasks e SET status = 'running', attempt_count = e.attempt_count + 1, lease_owner = %(owner)s,
  lease_until = now() + make_interval(secs => %(lease)s), update_ts = now()
FROM due WHERE e.task_id = due.task_id AND e.host_id = due.host_id
RETURNING e.task_id, e.entity_id, e.source_hash, e.source_text, e.attempt_count;

-- name: lock_items
-- Whoever puts these waits until their vectors hang, and then finds them. In the order in which put locks.
SELECT key, source_hash FROM items WHERE key = ANY(%(keys)s) ORDER BY namespace, id FOR NO KEY UPDATE;

-- name: hang_vector
INSERT INTO vectors (kind, item_key, fingerprint, passage, namespace, source_hash, embedding)
SELECT kind, key, %(fingerprint)s::integer, %(passage)s::smallint, namespace, source_hash, %(vector)s
FROM items WHERE key = %(key)s
ON CONFLICT (item_key, fingerprint, passage, kind, namespace) DO UPDATE SET
  source_hash = excluded.source_hash, embedding = excluded.embedding, created_at = now();

-- name: drop_done
DELETE FROM embedding_tasks t
USING unnest(%(keys)s::bigint[], %(hashes)s::text[]) AS w (key, hash)
WHERE t.entity_id = w.key AND t.source_hash = w.hash AND t.fingerprint = %(fingerprint)s::integer;

-- name: mark_hung
-- It still waits, or has failed, if a task for the vector of another model is left.
UPDATE items SET embedding_model = %(model)s, embedding_dimension = %(dimension)s, embedded_at = now(),
  embedding_error = CASE WHEN EXISTS (SELECT 1 FROM embedding_tasks t
    WHERE t.entity_id = items.key AND t.status = 'failed') THEN embedding_error ELSE '' END,
  embedding_status = coalesce((SELECT CASE t.status WHEN 'failed' THEN 'failed' ELSE 'pending' END
    FROM embedding_tasks t WHERE t.entity_id = items.key ORDER BY t.status = 'failed' LIMIT 1), 'ready')
WHERE key = ANY(%(keys)s);

-- name: put_back
UPDATE embedding_tasks SET status = %(status)s, last_error = %(error)s, lease_owner = NULL, lease_until = NULL,
  next_attempt_ts = coalesce(to_timestamp(%(retry_at)s::float8), '-infinity'), update_ts = now()
WHERE task_id = %(id)s AND entity_id = %(key)s AND source_hash = %(source_hash)s AND lease_owner = %(owner)s
RETURNING entity_id;

-- name: mark_failed
UPDATE items SET embedding_status = 'failed', embedding_error = %(error)s
WHERE key = %(key)s AND source_hash = %(source_hash)s;

-- name: release
UPDATE embedding_tasks SET status = 'pending', attempt_count = greatest(attempt_count - 1, 0),
  lease_owner = NULL, lease_until = NULL, update_ts = now()
WHERE status = 'running' AND lease_owner = %(owner)s RETURNING task_id;

-- name: reclaim
-- From a worker that died: what it tried counts as tried.
UPDATE embedding_tasks SET status = 'pending', lease_owner = NULL, lease_until = NULL, update_ts = now()
WHERE status = 'running' AND lease_owner = %(owner)s RETURNING task_id;

-- name: owners
SELECT DISTINCT lease_owner FROM embedding_tasks WHERE status = 'running';

-- name: revive
UPDATE embedding_tasks SET status = 'pending', attempt_count = 0, next_attempt_ts = '-infinity',
  last_error = '', update_ts = now()
WHERE status = 'failed' AND (%(key)s::bigint IS NULL OR entity_id = %(key)s) RETURNING entity_id;

-- name: mark_pending
UPDATE items SET embedding_status = 'pending', embedding_error = '' WHERE key = ANY(%(keys)s);

-- name: tell_workers
SELECT pg_notify('pegboard_tasks', '');

-- name: counts
-- As the present model sees it; without one, everything that has a text is disabled.
SELECT CASE
    WHEN i.embedding_status = 'blank' THEN 'blank'
    WHEN %(fingerprint)s::integer IS NULL THEN 'disabled'
    WHEN t.status = 'failed' THEN 'failed'
    WHEN t.status IS NULL AND EXISTS (SELECT 1 FROM vectors v
      WHERE v.item_key = i.key AND v.fingerprint = %(fingerprint)s::integer) THEN 'ready'
    ELSE 'pending' END AS status, count(*)
FROM items i LEFT JOIN embedding_tasks t ON t.entity_id = i.key AND t.source_hash = i.source_hash
  AND t.fingerprint = %(fingerprint)s::integer
WHERE i.active GROUP BY 1;

-- name: waiting
SELECT count(*) FROM embedding_tasks
WHERE fingerprint = %(fingerprint)s::integer AND status IN ('pending', 'running');

-- name: oldest
SELECT extract(epoch FROM min(created_ts))::float8 FROM embedding_tasks
WHERE fingerprint = %(fingerprint)s::integer AND status IN ('pending', 'running');

-- name: done_lately
SELECT count(*), extract(epoch FROM min(embedded_at))::float8, extract(epoch FROM now())::float8
FROM items WHERE embedded_at > now() - make_interval(secs => %(seconds)s);

-- name: stray
SELECT 1 FROM embedding_tasks WHERE fingerprint <> ALL(%(fingerprints)s::integer[]) LIMIT 1;

-- name: without_vector
SELECT count(*) FROM items i
WHERE i.active AND i.embedding_status <> 'blank' AND NOT EXISTS
  (SELECT 1 FROM vectors v WHERE v.item_key = i.key AND v.fingerprint = %(fingerprint)s::integer);
