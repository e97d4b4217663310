-- name: state
SELECT r.role, c.chosen, m.calibration, m.spec, f.provider, f.model, f.dimension, f.text_version
FROM model_choice c
CROSS JOIN LATERAL (VALUES ('active', c.active), ('wanted', c.wanted), ('previous', c.previous))
  AS r (role, fingerprint)
JOIN models m ON m.fingerprint = r.fingerprint JOIN fingerprints f ON f.key = r.fingerprint;

-- name: remember
INSERT INTO models (fingerprint, spec) VALUES (%(fingerprint)s::integer, %(spec)s)
ON CONFLICT (fingerprint) DO UPDATE SET spec = excluded.spec;

-- name: calibrate
UPDATE models SET calibration = %(calibration)s WHERE fingerprint = %(fingerprint)s::integer;

-- name: want
-- Where nothing can be found by meaning yet, there is nothing to keep: the new model is active at once.
UPDATE model_choice SET chosen = %(chosen)s, wanted = NULL, active = %(fingerprint)s::integer
WHERE active IS NULL OR active = %(fingerprint)s::integer
  OR NOT EXISTS (SELECT 1 FROM vectors v WHERE v.fingerprint = model_choice.active)
RETURNING active;

-- name: build
UPDATE model_choice SET chosen = %(chosen)s, wanted = %(fingerprint)s::integer;

-- name: choice
SELECT active, wanted FROM model_choice FOR UPDATE;

-- name: lacking
-- An item that would no longer be found by meaning if this were the active model.
SELECT 1 FROM items i
WHERE i.active AND i.embedding_status <> 'blank'
  AND NOT EXISTS (SELECT 1 FROM vectors v
    WHERE v.item_key = i.key AND v.fingerprint = %(fingerprint)s::integer AND v.source_hash = i.source_hash)
  AND NOT (%(skip_failed)s AND EXISTS (SELECT 1 FROM embedding_tasks t
    WHERE t.entity_id = i.key AND t.fingerprint = %(fingerprint)s::integer AND t.source_hash = i.source_hash
      AND t.status = 'failed'))
LIMIT 1;

-- name: switch
UPDATE model_choice SET previous = active, active = wanted, wanted = NULL
WHERE wanted = %(fingerprint)s::integer RETURNING active;

-- name: rename_model
-- What an item says of its vector is said of the one that is searched.
UPDATE items SET embedding_model = %(model)s, embedding_dimension = %(dimension)s
WHERE active AND embedding_status = 'ready'
  AND (embedding_model <> %(model)s OR embedding_dimension IS DISTINCT FROM %(dimension)s);

-- name: kept
SELECT m.spec, m.calibration, (SELECT count(*) FROM vectors v WHERE v.fingerprint = f.key) AS vectors,
  f.provider, f.model, f.dimension, f.text_version
FROM fingerprints f LEFT JOIN models m ON m.fingerprint = f.key
WHERE m.spec IS NOT NULL OR EXISTS (SELECT 1 FROM vectors v WHERE v.fingerprint = f.key)
ORDER BY f.key;

-- name: unused
-- Neither active nor wanted nor previous. A board that has not chosen yet keeps everything.
SELECT f.key FROM fingerprints f CROSS JOIN model_choice c
WHERE c.active IS NOT NULL AND f.key <> c.active
  AND f.key IS DISTINCT FROM c.wanted AND f.key IS DISTINCT FROM c.previous
  AND (EXISTS (SELECT 1 FROM vectors v WHERE v.fingerprint = f.key)
    OR EXISTS (SELECT 1 FROM models m WHERE m.fingerprint = f.key))
ORDER BY f.key LIMIT 1;

-- name: prune_vectors
DELETE FROM vectors WHERE fingerprint = %(fingerprint)s::integer AND item_key IN
  (SELECT item_key FROM vectors WHERE fingerprint = %(fingerprint)s::integer LIMIT %(limit)s) RETURNING 1;

-- name: forget
DELETE FROM models WHERE fingerprint = %(fingerprint)s::integer;
