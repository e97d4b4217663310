-- name: state
SELECT 'active', c.chosen, m.calibration, m.spec, f.provider, f.model, f.dimension, f.text_version
FROM model_choice c JOIN models m ON m.fingerprint = c.active JOIN fingerprints f ON f.key = c.active
UNION ALL
SELECT 'wanted', c.chosen, m.calibration, m.spec, f.provider, f.model, f.dimension, f.text_version
FROM model_choice c JOIN models m ON m.fingerprint = c.wanted JOIN fingerprints f ON f.key = c.wanted
UNION ALL
SELECT 'previous', c.chosen, m.calibration, m.spec, f.provider, f.model, f.dimension, f.text_version
FROM model_choice c JOIN models m ON m.fingerprint = c.previous JOIN fingerprints f ON f.key = c.previous;

-- name: remember
INSERT INTO models (fingerprint, spec) VALUES (:fingerprint, :spec)
ON CONFLICT (fingerprint) DO UPDATE SET spec = excluded.spec;

-- name: calibrate
UPDATE models SET calibration = :calibration WHERE fingerprint = :fingerprint;

-- name: want
-- Where nothing can be found by meaning yet, there is nothing to keep: the new model is active at once.
UPDATE model_choice SET chosen = :chosen, wanted = NULL, active = :fingerprint
WHERE active IS NULL OR active = :fingerprint
  OR NOT EXISTS (SELECT 1 FROM vectors v WHERE v.fingerprint = active)
RETURNING active;

-- name: build
UPDATE model_choice SET chosen = :chosen, wanted = :fingerprint;

-- name: choice
SELECT active, wanted FROM model_choice;

-- name: lacking
-- An item that would no longer be found by meaning if this were the active model.
SELECT 1 FROM items i
WHERE i.active AND i.embedding_status <> 'blank'
  AND (SELECT min(length(v.vector) = 4 * :dimension) FROM vectors v
    WHERE v.item_key = i.key AND v.fingerprint = :fingerprint AND v.source_hash = i.source_hash) IS NOT 1
  AND NOT (:skip_failed AND EXISTS (SELECT 1 FROM embedding_tasks t
    WHERE t.item_key = i.key AND t.fingerprint = :fingerprint AND t.source_hash = i.source_hash
      AND t.status = 'failed'))
LIMIT 1;

-- name: switch
UPDATE model_choice SET previous = active, active = wanted, wanted = NULL
WHERE wanted = :fingerprint RETURNING active;

-- name: rename_model
-- What an item says of its vector is said of the one that is searched.
UPDATE items SET embedding_model = :model, embedding_dimension = :dimension
WHERE active AND embedding_status = 'ready'
  AND (embedding_model <> :model OR embedding_dimension IS NOT :dimension);

-- name: kept
SELECT m.spec, m.calibration, (SELECT count(*) FROM vectors v WHERE v.fingerprint = f.key) AS vectors,
  f.provider, f.model, f.dimension, f.text_version
FROM fingerprints f LEFT JOIN models m ON m.fingerprint = f.key
WHERE m.spec IS NOT NULL OR EXISTS (SELECT 1 FROM vectors v WHERE v.fingerprint = f.key)
ORDER BY f.key;

-- name: unused
-- Neither active nor wanted nor previous. A board that has not chosen yet keeps everything.
SELECT f.key FROM fingerprints f, model_choice c
WHERE c.active IS NOT NULL AND f.key <> c.active
  AND f.key IS NOT c.wanted AND f.key IS NOT c.previous
  AND (EXISTS (SELECT 1 FROM vectors v WHERE v.fingerprint = f.key)
    OR EXISTS (SELECT 1 FROM models m WHERE m.fingerprint = f.key))
ORDER BY f.key LIMIT 1;

-- name: prune_blocks
DELETE FROM code_blocks WHERE fingerprint = :fingerprint;

-- name: prune_vectors
DELETE FROM vectors WHERE seq IN
  (SELECT seq FROM vectors WHERE fingerprint = :fingerprint LIMIT :limit) RETURNING seq;

-- name: forget
DELETE FROM models WHERE fingerprint = :fingerprint;
