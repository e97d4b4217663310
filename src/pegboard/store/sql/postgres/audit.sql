-- name: act
-- For the lines about items that what follows in this transaction writes: who does it, and what for.
SELECT set_config('pegboard.by', %(by)s, true), set_config('pegboard.act', %(act)s, true),
  set_config('pegboard.reason', %(reason)s, true);

-- name: add
INSERT INTO audit_log (uid, at, who, action, namespace, item_id, version, detail)
VALUES (%(uid)s, to_timestamp(%(at)s), %(who)s, %(action)s, %(namespace)s, %(id)s, %(version)s, %(detail)s)
ON CONFLICT DO NOTHING;

-- name: lines
SELECT extract(epoch FROM at)::float8, who, action, namespace, item_id, version, detail FROM audit_log
WHERE (%(namespace)s::text IS NULL OR namespace = %(namespace)s)
  AND (%(action)s::text IS NULL OR action = %(action)s)
ORDER BY key DESC LIMIT %(limit)s;

-- name: lines_of_item
SELECT extract(epoch FROM at)::float8, who, action, namespace, item_id, version, detail FROM audit_log
WHERE item_id = %(id)s AND (%(namespace)s::text IS NULL OR namespace = %(namespace)s)
  AND (%(action)s::text IS NULL OR action = %(action)s)
ORDER BY key DESC LIMIT %(limit)s;
