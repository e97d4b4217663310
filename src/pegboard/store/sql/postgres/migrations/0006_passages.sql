-- A document has a vector for each passage of its text, numbered from 0; a tool has one, as before.

ALTER TABLE vectors ADD COLUMN passage smallint NOT NULL DEFAULT 0
  CONSTRAINT vectors_passage_check CHECK (passage BETWEEN 0 AND 63);
ALTER TABLE vectors DROP CONSTRAINT vectors_pkey;
ALTER TABLE vectors ADD PRIMARY KEY (item_key, fingerprint, passage, kind, namespace);
CREATE INDEX vectors_passages ON vectors (fingerprint) WHERE passage > 0;

-- The text of tools is the same as before, so their vectors are good. Those of documents were made from another
-- text: they wait until they are queued anew.
UPDATE fingerprints SET text_version = 3 WHERE text_version = 2;
UPDATE items SET text_version = 3 WHERE text_version = 2 AND kind = 'tool';
DELETE FROM vectors WHERE kind <> 'tool';
DELETE FROM embedding_tasks t USING items i WHERE i.key = t.entity_id AND i.namespace = t.host_id AND i.kind <> 'tool';
UPDATE items SET embedding_status = 'disabled', embedding_error = ''
WHERE kind <> 'tool' AND embedding_status <> 'blank';

-- Each item once, with the vector of what it is.

CREATE OR REPLACE VIEW directive_embeddings WITH (security_invoker = true) AS
SELECT i.uid AS id, i.uid AS directive_id, NULL::text AS version, v.embedding, t.content, t.fts, t.name,
  t.description, i.category, i.tags, i.signature ->> 'value' AS signature, i.updated_at AS validated_at,
  v.created_at, v.created_at AS updated_at
FROM items i JOIN vectors v ON v.kind = 'directive' AND v.item_key = i.key AND v.namespace = i.namespace
  AND v.source_hash = i.source_hash
JOIN item_texts t ON t.kind = 'directive' AND t.item_key = i.key AND t.namespace = i.namespace
WHERE i.kind = 'directive' AND i.active AND v.fingerprint = (SELECT active_fingerprint())
  AND v.passage = 0;

CREATE OR REPLACE VIEW skill_embeddings WITH (security_invoker = true) AS
SELECT i.uid AS id, i.uid AS skill_id, NULL::text AS version, v.embedding, t.content, t.fts, t.name,
  t.description, i.category, i.tags, i.signature ->> 'value' AS signature, i.updated_at AS validated_at,
  v.created_at, v.created_at AS updated_at
FROM items i JOIN vectors v ON v.kind = 'skill' AND v.item_key = i.key AND v.namespace = i.namespace
  AND v.source_hash = i.source_hash
JOIN item_texts t ON t.kind = 'skill' AND t.item_key = i.key AND t.namespace = i.namespace
WHERE i.kind = 'skill' AND i.active AND v.fingerprint = (SELECT active_fingerprint())
  AND v.passage = 0;

CREATE OR REPLACE VIEW knowledge_embeddings WITH (security_invoker = true) AS
SELECT i.uid AS id, i.uid AS knowledge_id, v.embedding, t.content, t.fts, t.name AS title, i.subcategory AS entry_type,
  i.tags, i.updated_at AS validated_at, v.created_at, v.created_at AS updated_at
FROM items i JOIN vectors v ON v.kind = 'knowledge' AND v.item_key = i.key AND v.namespace = i.namespace
  AND v.source_hash = i.source_hash
JOIN item_texts t ON t.kind = 'knowledge' AND t.item_key = i.key AND t.namespace = i.namespace
WHERE i.kind = 'knowledge' AND i.active AND v.fingerprint = (SELECT active_fingerprint())
  AND v.passage = 0;

-- Only a library that is loaded has settings which somebody who is no superuser may give to a function.
DO $$ BEGIN PERFORM '[1]'::vector; END $$;

-- As before, but for this: an item is as near as the nearest of its passages.
CREATE OR REPLACE FUNCTION nearest_keys(
  wanted_kind text, query_embedding vector, depth integer,
  wanted_category text DEFAULT NULL, wanted_subcategory text DEFAULT NULL, wanted_tool_type text DEFAULT NULL
) RETURNS bigint[] LANGUAGE plpgsql STABLE
SET hnsw.iterative_scan = 'relaxed_order' SET hnsw.ef_search = 100 SET hnsw.max_scan_tuples = 20000
SET plan_cache_mode = 'force_custom_plan' SET jit = 'off'
AS $$
DECLARE
  few constant integer := 2000;
  whole constant integer := 2000; -- dimensions that an index can have, and with halves of numbers
  halves constant integer := 4000;
  model fingerprints;
  remaining integer;
  indexed_as text;
  reach integer := depth;
  -- The cast is part of the index, and a type cannot be a parameter. The hashes are compared in a CASE, because
  -- the planner would believe that hardly a row has both the same key and the same hash, and no index pays.
  near text := $near$
    SELECT array_agg(key ORDER BY distance, id, key) FROM (SELECT key, id, min(distance) AS distance FROM (
      SELECT i.key, i.id, v.embedding::vector(%1$s) <#> $1::vector(%1$s) AS distance
      FROM vectors v JOIN items i ON i.key = v.item_key AND i.namespace = v.namespace
      WHERE v.kind = $2 AND v.fingerprint = $3
        AND CASE WHEN v.source_hash = i.source_hash THEN true ELSE false END
        AND i.active AND i.visibility = 'public'
        AND ($5 IS NULL OR i.category = $5) AND ($6 IS NULL OR i.subcategory = $6)
        AND ($7 IS NULL OR i.tool_type = $7)
      ORDER BY v.embedding::%2$s(%1$s) <#> $1::%2$s(%1$s) LIMIT $4) AS near GROUP BY key, id) AS items $near$;
  keys bigint[] := '{}';
BEGIN
  SELECT * INTO model FROM fingerprints f WHERE f.key = active_fingerprint();
  IF query_embedding IS NULL OR model.key IS NULL THEN
    RETURN keys;
  END IF;
  IF vector_dims(query_embedding) <> model.dimension THEN
    RAISE EXCEPTION 'query_embedding has % dimensions, the vectors of this board have %',
      vector_dims(query_embedding), model.dimension
      USING ERRCODE = 'invalid_parameter_value',
        HINT = format('make it with the model that made them: %s %s', model.provider, model.model);
  END IF;
  SELECT count(*) INTO remaining FROM (
    SELECT 1 FROM items i WHERE i.kind = wanted_kind AND i.active AND i.visibility = 'public'
      AND (wanted_category IS NULL OR i.category = wanted_category)
      AND (wanted_subcategory IS NULL OR i.subcategory = wanted_subcategory)
      AND (wanted_tool_type IS NULL OR i.tool_type = wanted_tool_type)
    LIMIT few + 1) AS left_over;
  IF remaining > few AND model.dimension <= halves THEN
    indexed_as := 'vector';
    IF model.dimension > whole THEN
      indexed_as := 'halfvec';
      reach := depth + 20; -- a few more, of which the whole vectors decide
    END IF;
    IF EXISTS (SELECT FROM vectors v WHERE v.kind = wanted_kind AND v.fingerprint = model.key AND v.passage > 0) THEN
      reach := 5 * reach;
    END IF;
    EXECUTE format(near, model.dimension, indexed_as) INTO keys USING query_embedding, wanted_kind, model.key, reach,
      wanted_category, wanted_subcategory, wanted_tool_type;
    keys := keys[:depth];
  END IF;
  IF remaining <= few OR cardinality(keys) < depth OR keys IS NULL THEN -- a scan that is given up finds too few
    SELECT array_agg(near.key ORDER BY near.distance, near.id, near.key) INTO keys FROM (
      SELECT i.key, i.id, min(v.embedding <#> query_embedding) AS distance
      FROM items i JOIN vectors v ON v.item_key = i.key AND v.namespace = i.namespace AND v.kind = wanted_kind
        AND v.fingerprint = model.key AND v.source_hash = i.source_hash
      WHERE i.kind = wanted_kind AND i.active AND i.visibility = 'public'
        AND (wanted_category IS NULL OR i.category = wanted_category)
        AND (wanted_subcategory IS NULL OR i.subcategory = wanted_subcategory)
        AND (wanted_tool_type IS NULL OR i.tool_type = wanted_tool_type)
      GROUP BY i.key, i.id ORDER BY distance, i.id, i.key LIMIT depth) AS near;
  END IF;
  RETURN coalesce(keys, '{}');
END $$;

DO $$
DECLARE
  home constant text := (SELECT n.nspname FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace
    WHERE e.extname = 'vector');
BEGIN
  EXECUTE format('ALTER FUNCTION nearest_keys SET search_path = %I, %I, pg_temp', current_schema(), home);
END $$;
