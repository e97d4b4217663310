-- name: pending_without_task
SELECT i.id || ' waits for a vector but has no task' FROM items i
WHERE i.active AND i.embedding_status = 'pending' AND NOT EXISTS
  (SELECT 1 FROM embedding_tasks t WHERE t.entity_id = i.key AND t.source_hash = i.source_hash
     AND t.status <> 'failed');

-- name: failed_without_task
SELECT i.id || ' is marked failed but has no task to retry' FROM items i
WHERE i.active AND i.embedding_status = 'failed' AND NOT EXISTS
  (SELECT 1 FROM embedding_tasks t WHERE t.entity_id = i.key AND t.source_hash = i.source_hash
     AND t.status = 'failed');

-- name: ready_without_vector
SELECT i.id || ' is marked ready but has no vector of its text' FROM items i
WHERE i.active AND i.embedding_status = 'ready' AND NOT EXISTS
  (SELECT 1 FROM vectors v WHERE v.item_key = i.key AND v.source_hash = i.source_hash);

-- name: stale_vector
SELECT DISTINCT i.id || ' has a vector of a text it no longer has' FROM items i
JOIN vectors v ON v.item_key = i.key WHERE v.source_hash <> i.source_hash OR v.kind <> i.kind;

-- name: wrong_dimension
SELECT DISTINCT i.id || ' has a vector of the wrong length' FROM items i
JOIN vectors v ON v.item_key = i.key JOIN fingerprints f ON f.key = v.fingerprint
WHERE vector_dims(v.embedding) <> f.dimension;

-- name: passage_missing
SELECT i.id || ' lacks the vectors of some passages; embed it again with: pegboard refresh ' || i.id FROM items i
WHERE i.key IN (SELECT item_key FROM vectors GROUP BY item_key, fingerprint HAVING count(*) <= max(passage));

-- name: stale_task
SELECT i.id || ' has a task for a text it no longer has' FROM items i
JOIN embedding_tasks t ON t.entity_id = i.key WHERE t.source_hash <> i.source_hash;

-- name: idle_with_task
SELECT i.id || ' is ' || CASE WHEN i.active THEN i.embedding_status ELSE 'inactive' END || ' but has a task'
FROM items i JOIN embedding_tasks t ON t.entity_id = i.key
WHERE NOT i.active OR i.embedding_status IN ('disabled', 'blank');

-- name: wrongly_active
SELECT i.id || ' is ' || CASE WHEN i.active THEN 'active' ELSE 'inactive' END || ', and should not be' FROM items i
WHERE i.active <> (i.off_at IS NULL AND NOT i.held AND i.drift <> 'missing');

-- name: item_without_terms
SELECT i.id || ' cannot be found by words' FROM items i
WHERE NOT EXISTS (SELECT 1 FROM item_texts t WHERE t.item_key = i.key AND t.kind = i.kind);

-- name: terms_missing
SELECT i.id || ' cannot be found by all of its words' FROM items i JOIN item_texts t ON t.item_key = i.key
WHERE t.length > 0 AND NOT EXISTS (SELECT 1 FROM item_terms p WHERE p.item_key = i.key);

-- name: wrongly_published
SELECT i.id || CASE WHEN v.published_by IS NULL THEN ' is published, and its version ' || v.version || ' is not'
  ELSE ' is not published, and its version ' || v.version || ' is' END
FROM items i JOIN item_versions v ON v.item_key = i.key WHERE (i.source = 'published') <> (v.published_by IS NOT NULL);

-- name: version_missing
SELECT i.id || ' names version ' || latest_version || ', which is not there' FROM items i
WHERE latest_version IS NOT NULL AND NOT EXISTS
  (SELECT 1 FROM item_versions v WHERE v.item_key = i.key AND v.version = i.latest_version);

-- name: orphan
-- The foreign keys let none in; a restore that leaves them out may.
SELECT DISTINCT 'table ' || o.name || ' refers to a row of items that is not there' FROM (
  SELECT 'vectors' AS name, item_key, namespace FROM vectors
  UNION ALL SELECT 'embedding_tasks', entity_id, host_id FROM embedding_tasks
  UNION ALL SELECT 'item_terms', item_key, namespace FROM item_terms
  UNION ALL SELECT 'item_texts', item_key, namespace FROM item_texts
  UNION ALL SELECT 'item_versions', item_key, namespace FROM item_versions
  UNION ALL SELECT 'item_links', item_key, namespace FROM item_links) AS o
WHERE NOT EXISTS (SELECT 1 FROM items i WHERE i.key = o.item_key AND i.namespace = o.namespace);

-- name: broken_index
SELECT 'the index ' || c.relname || ' is not whole; drop it, and a worker makes it anew'
FROM pg_index x JOIN pg_class c ON c.oid = x.indexrelid JOIN pg_inherits h ON h.inhrelid = x.indrelid
WHERE h.inhparent = 'vectors'::regclass AND NOT x.indisvalid;
