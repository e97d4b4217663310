-- name: record
-- Of an item that is still there. A caller is who it is, whatever it says.
INSERT INTO item_runs (namespace, uid, item_key, item_id, version, at, outcome, seconds, who)
SELECT namespace, %(uid)s, key, id, %(version)s, least(to_timestamp(%(at)s), clock_timestamp()), %(outcome)s,
  %(seconds)s, coalesce(caller_subject(), %(who)s)
FROM items WHERE namespace = %(namespace)s AND id = %(id)s ON CONFLICT DO NOTHING;

-- name: rate
SELECT rate_item(%(namespace)s, %(id)s);

-- name: forget_old
SELECT forget_old_runs();

-- name: forget
DELETE FROM item_runs WHERE key = ANY (ARRAY(
  SELECT key FROM item_runs WHERE at < to_timestamp(%(before)s) ORDER BY at, key LIMIT %(limit)s))
RETURNING key;

-- name: recent
SELECT namespace, item_id, version, extract(epoch FROM at)::float8, outcome, seconds, who FROM item_runs
WHERE %(namespace)s::text IS NULL OR namespace = %(namespace)s ORDER BY at DESC, key DESC LIMIT %(limit)s;

-- name: recent_of_item
SELECT namespace, item_id, version, extract(epoch FROM at)::float8, outcome, seconds, who FROM item_runs
WHERE item_id = %(id)s AND (%(namespace)s::text IS NULL OR namespace = %(namespace)s)
ORDER BY at DESC, key DESC LIMIT %(limit)s;

-- name: counts
SELECT count(*), count(*) FILTER (WHERE outcome = 'ok'), extract(epoch FROM max(at))::float8,
  avg(seconds) FILTER (WHERE outcome = 'ok')
FROM item_runs WHERE %(namespace)s::text IS NULL OR namespace = %(namespace)s;

-- name: lasting
-- How long the latest took that went well.
SELECT seconds FROM item_runs
WHERE outcome = 'ok' AND (%(namespace)s::text IS NULL OR namespace = %(namespace)s)
ORDER BY at DESC, key DESC LIMIT %(limit)s;

-- name: counts_of_item
SELECT count(*), count(*) FILTER (WHERE outcome = 'ok'), extract(epoch FROM max(at))::float8,
  avg(seconds) FILTER (WHERE outcome = 'ok')
FROM item_runs WHERE item_id = %(id)s AND (%(namespace)s::text IS NULL OR namespace = %(namespace)s);

-- name: lasting_of_item
SELECT seconds FROM item_runs
WHERE item_id = %(id)s AND outcome = 'ok' AND (%(namespace)s::text IS NULL OR namespace = %(namespace)s)
ORDER BY at DESC, key DESC LIMIT %(limit)s;
