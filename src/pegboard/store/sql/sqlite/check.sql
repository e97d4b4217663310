-- name: pending_without_task
SELECT i.id || ' waits for a vector but has no task' FROM items i
WHERE i.active AND i.embedding_status = 'pending' AND NOT EXISTS
  (SELECT 1 FROM embedding_tasks t WHERE t.item_key = i.key AND t.source_hash = i.source_hash
     AND t.status <> 'failed');

-- name: failed_without_task
SELECT i.id || ' is marked failed but has no task to retry' FROM items i
WHERE i.active AND i.embedding_status = 'failed' AND NOT EXISTS
  (SELECT 1 FROM embedding_tasks t WHERE t.item_key = i.key AND t.source_hash = i.source_hash
     AND t.status = 'failed');

-- name: ready_without_vector
SELECT i.id || ' is marked ready but has no vector of its text' FROM items i
WHERE i.active AND i.embedding_status = 'ready' AND NOT EXISTS
  (SELECT 1 FROM vectors v WHERE v.item_key = i.key AND v.source_hash = i.source_hash);

-- name: stale_vector
SELECT DISTINCT i.id || ' has a vector of a text it no longer has' FROM items i
JOIN vectors v ON v.item_key = i.key WHERE v.source_hash <> i.source_hash;

-- name: wrong_dimension
SELECT DISTINCT i.id || ' has a vector of the wrong length' FROM items i
JOIN vectors v ON v.item_key = i.key JOIN fingerprints f ON f.key = v.fingerprint
WHERE length(v.vector) <> 4 * f.dimension;

-- name: passage_missing
SELECT i.id || ' lacks the vectors of some passages; embed it again with: pegboard refresh ' || i.id FROM items i
WHERE i.key IN (SELECT item_key FROM vectors GROUP BY item_key, fingerprint HAVING count(*) <= max(passage));

-- name: stale_task
SELECT i.id || ' has a task for a text it no longer has' FROM items i
JOIN embedding_tasks t ON t.item_key = i.key WHERE t.source_hash <> i.source_hash;

-- name: idle_with_task
SELECT i.id || ' is ' || CASE WHEN i.active THEN i.embedding_status ELSE 'inactive' END || ' but has a task'
FROM items i JOIN embedding_tasks t ON t.item_key = i.key
WHERE NOT i.active OR i.embedding_status IN ('disabled', 'blank');

-- name: wrongly_active
SELECT i.id || ' is ' || CASE WHEN i.active THEN 'active' ELSE 'inactive' END || ', and should not be' FROM items i
WHERE i.active <> (i.off_at IS NULL AND NOT i.held AND i.drift <> 'missing');

-- name: item_without_terms
SELECT i.id || ' cannot be found by words' FROM items i WHERE i.key NOT IN (SELECT rowid FROM item_terms);

-- name: item_without_card
SELECT i.id || ' has no ranking card' FROM items i WHERE i.key NOT IN (SELECT item_key FROM item_cards);

-- name: terms_without_item
SELECT 'the text index has row ' || rowid || ' without an item' FROM item_terms
WHERE rowid NOT IN (SELECT key FROM items);

-- name: wrongly_published
SELECT i.id || CASE WHEN v.published_by IS NULL THEN ' is published, and its version ' || v.version || ' is not'
  ELSE ' is not published, and its version ' || v.version || ' is' END
FROM items i JOIN item_versions v ON v.item_key = i.key WHERE (i.source = 'published') <> (v.published_by IS NOT NULL);

-- name: version_missing
SELECT i.id || ' names version ' || latest_version || ', which is not there' FROM items i
WHERE latest_version IS NOT NULL AND NOT EXISTS
  (SELECT 1 FROM item_versions v WHERE v.item_key = i.key AND v.version = i.latest_version);

-- name: code_missing
-- A block must hold the code of every live vector in its range; any more do no harm.
WITH RECURSIVE place (n) AS (
  SELECT 0 UNION ALL
  SELECT n + 1 FROM place WHERE n + 1 < (SELECT max(length(keys) / 8) FROM code_blocks)),
sealed AS MATERIALIZED (
  SELECT b.fingerprint, substr(b.keys, 8 * n + 1, 8) AS key,
    substr(b.codes, n * (f.dimension / 8) + 1, f.dimension / 8) AS code
  FROM code_blocks b JOIN fingerprints f ON f.key = b.fingerprint
  CROSS JOIN place WHERE n < length(b.keys) / 8)
SELECT DISTINCT i.id || ' may be overlooked by meaning; embed it again with: pegboard refresh ' || i.id
FROM code_blocks b CROSS JOIN vectors v
  ON v.fingerprint = b.fingerprint AND v.seq BETWEEN b.first_seq AND b.last_seq
JOIN fingerprints f ON f.key = v.fingerprint JOIN items i ON i.key = v.item_key
WHERE CASE WHEN f.dimension % 8 = 0 AND length(v.vector) = 4 * f.dimension THEN NOT EXISTS
  (SELECT 1 FROM sealed s WHERE s.key = unhex(format('%016X', v.item_key | (v.passage << 56)))
     AND s.fingerprint = v.fingerprint AND s.code = vec_quantize_binary(v.vector)) END;
