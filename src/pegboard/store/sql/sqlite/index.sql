-- name: keyword
-- BM25 with a weight for each field.
SELECT i.key, i.id, -bm25(item_terms, :name_weight, :aliases_weight, :labels_weight,
    :description_weight, :parameters_weight, :body_weight) AS score
FROM item_terms JOIN items i ON i.key = item_terms.rowid
WHERE item_terms MATCH :match AND i.active AND i.visibility = 'public'
  AND (:kinds IS NULL OR i.kind IN (SELECT value FROM json_each(:kinds)))
  AND (:namespaces IS NULL OR i.namespace IN (SELECT value FROM json_each(:namespaces)))
  AND (:categories IS NULL OR i.category IN (SELECT value FROM json_each(:categories)))
  AND (:tool_types IS NULL OR i.tool_type IN (SELECT value FROM json_each(:tool_types)))
  AND (:sources IS NULL OR i.scope IN (SELECT value FROM json_each(:sources))
       OR i.source IN (SELECT value FROM json_each(:sources)))
  AND (:tags IS NULL OR EXISTS (SELECT 1 FROM json_each(i.tags) t
       WHERE t.value IN (SELECT value FROM json_each(:tags))))
ORDER BY score DESC, i.id, i.key LIMIT :limit;

-- name: vector
-- Exact: every vector of this fingerprint that the filters leave is compared.
SELECT i.key, i.id, 1.0 - vec_distance_cosine(v.vector, :query) AS score
FROM vectors v JOIN items i ON i.key = v.item_key
WHERE v.fingerprint = :fingerprint AND i.active AND i.visibility = 'public'
  AND (:kinds IS NULL OR i.kind IN (SELECT value FROM json_each(:kinds)))
  AND (:namespaces IS NULL OR i.namespace IN (SELECT value FROM json_each(:namespaces)))
  AND (:categories IS NULL OR i.category IN (SELECT value FROM json_each(:categories)))
  AND (:tool_types IS NULL OR i.tool_type IN (SELECT value FROM json_each(:tool_types)))
  AND (:sources IS NULL OR i.scope IN (SELECT value FROM json_each(:sources))
       OR i.source IN (SELECT value FROM json_each(:sources)))
  AND (:tags IS NULL OR EXISTS (SELECT 1 FROM json_each(i.tags) t
       WHERE t.value IN (SELECT value FROM json_each(:tags))))
ORDER BY score DESC, i.id, i.key LIMIT :limit;

-- name: keyword_scores
-- The plus keeps SQLite from running the match once for each row.
SELECT rowid, -bm25(item_terms, :name_weight, :aliases_weight, :labels_weight,
    :description_weight, :parameters_weight, :body_weight)
FROM item_terms
WHERE item_terms MATCH :match AND +rowid IN (SELECT value FROM json_each(:keys));

-- name: vector_scores
SELECT item_key, 1.0 - vec_distance_cosine(vector, :query) FROM vectors
WHERE fingerprint = :fingerprint AND item_key IN (SELECT value FROM json_each(:keys));

-- name: entries
SELECT * FROM items WHERE key IN (SELECT value FROM json_each(:keys));
