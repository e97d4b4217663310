-- The names under which other programs know a registry: tables of old as views, and search as functions. Items
-- are written through the gate, so the views let only figures be changed and rows be removed.

-- A row whose document jsonb cannot hold, such as one with \u0000, must not spoil the others.
CREATE FUNCTION as_jsonb(document json) RETURNS jsonb LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE AS $$
BEGIN
  IF pg_input_is_valid(document::text, 'jsonb') THEN
    RETURN document::text::jsonb; -- not a CASE: its branches can be worked out before they are chosen
  END IF;
  RETURN to_jsonb(document::text);
END $$;

CREATE FUNCTION as_text(content bytea) RETURNS text LANGUAGE plpgsql IMMUTABLE STRICT AS $$
BEGIN
  RETURN convert_from(content, 'UTF8');
EXCEPTION WHEN character_not_in_repertoire OR untranslatable_character THEN
  RETURN NULL; -- it is no text
END $$;

-- The one place here that knows whose vectors are searched; on a board where nothing was chosen yet, the newest.
CREATE FUNCTION active_fingerprint() RETURNS integer LANGUAGE sql STABLE PARALLEL SAFE
RETURN coalesce((SELECT active FROM model_choice), (SELECT max(key) FROM fingerprints));

-- Tables of items.

CREATE VIEW tools WITH (security_invoker = true) AS
SELECT uid AS id, id AS tool_id, namespace, name, tool_type, description, category, subcategory, tags, tech_stack,
  official AS is_official, visibility, download_count, quality_score::numeric(3, 2) AS quality_score,
  success_rate::numeric(3, 2) AS success_rate, estimated_cost_usd::numeric(10, 2) AS estimated_cost_usd,
  latest_version, created_at, updated_at
FROM items WHERE kind = 'tool' AND active;

CREATE VIEW directives WITH (security_invoker = true) AS
SELECT uid AS id, id AS directive_id, namespace, name, description, category, subcategory, tags, tech_stack,
  official AS is_official, visibility, download_count, quality_score::numeric(3, 2) AS quality_score,
  success_rate::numeric(3, 2) AS success_rate, estimated_cost_usd::numeric(10, 2) AS estimated_cost_usd,
  latest_version, created_at, updated_at
FROM items WHERE kind = 'directive' AND active;

CREATE VIEW skills WITH (security_invoker = true) AS
SELECT uid AS id, id AS skill_id, namespace, name, description, category, subcategory, tags, tech_stack,
  official AS is_official, visibility, download_count, quality_score::numeric(3, 2) AS quality_score,
  success_rate::numeric(3, 2) AS success_rate, estimated_cost_usd::numeric(10, 2) AS estimated_cost_usd,
  latest_version, created_at, updated_at
FROM items WHERE kind = 'skill' AND active;

-- The type of an entry is its subcategory.
CREATE VIEW knowledge_entries WITH (security_invoker = true) AS
SELECT uid AS id, id AS zettel_id, namespace, name AS title, body AS content, subcategory AS entry_type, category, tags,
  source_protocol AS source_type, endpoint AS source_url, latest_version AS version, visibility, download_count,
  quality_score::numeric(3, 2) AS quality_score, success_rate::numeric(3, 2) AS success_rate,
  estimated_cost_usd::numeric(10, 2) AS estimated_cost_usd, created_at, updated_at
FROM items WHERE kind = 'knowledge' AND active;

CREATE FUNCTION write_figures() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  figures constant text[] := '{download_count,quality_score,success_rate,estimated_cost_usd}';
BEGIN
  IF TG_OP = 'INSERT' OR to_jsonb(NEW) - figures <> to_jsonb(OLD) - figures THEN
    RAISE EXCEPTION 'only figures of % can be written here: %', TG_TABLE_NAME, array_to_string(figures, ', ')
      USING ERRCODE = 'feature_not_supported',
        HINT = 'what an item says comes through the gate: put it into a source and run pegboard sync';
  END IF;
  -- One that stays keeps the digits that the view does not show.
  UPDATE items i SET download_count = NEW.download_count,
    quality_score = CASE WHEN NEW.quality_score IS DISTINCT FROM OLD.quality_score
      THEN NEW.quality_score ELSE i.quality_score END,
    success_rate = CASE WHEN NEW.success_rate IS DISTINCT FROM OLD.success_rate
      THEN NEW.success_rate ELSE i.success_rate END,
    estimated_cost_usd = CASE WHEN NEW.estimated_cost_usd IS DISTINCT FROM OLD.estimated_cost_usd
      THEN NEW.estimated_cost_usd ELSE i.estimated_cost_usd END
  WHERE i.uid = OLD.id AND i.namespace = OLD.namespace;
  RETURN CASE WHEN FOUND THEN NEW END;
END $$;

CREATE TRIGGER write_figures INSTEAD OF INSERT OR UPDATE ON tools FOR EACH ROW EXECUTE FUNCTION write_figures();
CREATE TRIGGER write_figures INSTEAD OF INSERT OR UPDATE ON directives FOR EACH ROW EXECUTE FUNCTION write_figures();
CREATE TRIGGER write_figures INSTEAD OF INSERT OR UPDATE ON skills FOR EACH ROW EXECUTE FUNCTION write_figures();
CREATE TRIGGER write_figures INSTEAD OF INSERT OR UPDATE ON knowledge_entries
  FOR EACH ROW EXECUTE FUNCTION write_figures();

-- An entry names others; which ones is known to whoever reads its source.
CREATE TABLE knowledge_relationships (
  id uuid NOT NULL DEFAULT gen_random_uuid(),
  namespace text COLLATE "C" NOT NULL DEFAULT 'public',
  from_zettel_id text COLLATE "C" NOT NULL,
  to_zettel_id text COLLATE "C" NOT NULL,
  relationship_type text COLLATE "C" NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (from_zettel_id, to_zettel_id, relationship_type, namespace),
  FOREIGN KEY (namespace, from_zettel_id) REFERENCES items (namespace, id) ON UPDATE CASCADE ON DELETE CASCADE,
  FOREIGN KEY (namespace, to_zettel_id) REFERENCES items (namespace, id) ON UPDATE CASCADE ON DELETE CASCADE
);

CREATE INDEX knowledge_relationships_to ON knowledge_relationships (to_zettel_id, namespace);

-- Versions and their files.

CREATE VIEW tool_versions WITH (security_invoker = true) AS
SELECT v.uid AS id, i.uid AS tool_id, v.version, as_jsonb(v.manifest) AS manifest, v.manifest_text AS manifest_yaml,
  v.content_hash, v.changelog, v.version = i.latest_version AS is_latest, v.published_at, v.created_at
FROM items i JOIN item_versions v ON v.item_key = i.key AND v.namespace = i.namespace
WHERE i.kind = 'tool' AND i.active;

CREATE VIEW tool_version_files WITH (security_invoker = true) AS
SELECT f.uid AS id, v.uid AS tool_version_id, f.path, f.media_type, f.sha256,
  CASE WHEN f.size_bytes <= 2147483647 THEN f.size_bytes::integer END AS size_bytes, f.executable AS is_executable,
  as_text(f.content) AS content_text, f.storage_key, f.created_at
FROM items i JOIN item_versions v ON v.item_key = i.key AND v.namespace = i.namespace
JOIN version_files f ON f.version_key = v.key AND f.namespace = v.namespace
WHERE i.kind = 'tool' AND i.active;

CREATE VIEW directive_versions WITH (security_invoker = true) AS
SELECT v.uid AS id, i.uid AS directive_id, v.version,
  coalesce(f.content, v.manifest_text, CASE WHEN v.version = i.latest_version THEN i.body END) AS content,
  v.content_hash, v.changelog, v.version = i.latest_version AS is_latest, v.created_at
FROM items i JOIN item_versions v ON v.item_key = i.key AND v.namespace = i.namespace
LEFT JOIN LATERAL (
  SELECT as_text(f.content) AS content FROM version_files f
  WHERE f.version_key = v.key AND f.namespace = v.namespace ORDER BY f.path LIMIT 1) AS f ON true
WHERE i.kind = 'directive' AND i.active;

-- What readers of scripts know: Python tools, each with the one file that is run.

CREATE VIEW scripts_compat WITH (security_invoker = true) AS
SELECT id, name, category, subcategory, description, is_official, download_count, quality_score, tech_stack, tags,
  success_rate, estimated_cost_usd, latest_version, created_at, updated_at
FROM tools WHERE tool_type = 'python';

CREATE VIEW script_versions_compat WITH (security_invoker = true) AS
SELECT v.uid AS id, i.uid AS script_id, v.version, as_text(f.content) AS content, v.content_hash, v.changelog,
  v.created_at
FROM items i JOIN item_versions v ON v.item_key = i.key AND v.namespace = i.namespace
LEFT JOIN version_files f ON f.version_key = v.key AND f.namespace = v.namespace
  AND f.path = coalesce(i.executor ->> 'entrypoint', 'main.py')
WHERE i.kind = 'tool' AND i.active AND i.tool_type = 'python';

-- Vectors that are searched now. Every one is of the latest version, and its item still has that text.

CREATE VIEW tool_embeddings WITH (security_invoker = true) AS
SELECT i.uid AS id, i.uid AS tool_id, NULL::text AS version, v.embedding, t.content, t.fts, t.name, t.description,
  i.tool_type, i.category, i.tags, as_jsonb(i.input_schema) AS parameters, i.signature ->> 'value' AS signature,
  i.updated_at AS validated_at, v.created_at, v.created_at AS updated_at
FROM items i JOIN vectors v ON v.kind = 'tool' AND v.item_key = i.key AND v.namespace = i.namespace
  AND v.source_hash = i.source_hash
JOIN item_texts t ON t.kind = 'tool' AND t.item_key = i.key AND t.namespace = i.namespace
WHERE i.kind = 'tool' AND i.active AND v.fingerprint = (SELECT active_fingerprint());

CREATE VIEW directive_embeddings WITH (security_invoker = true) AS
SELECT i.uid AS id, i.uid AS directive_id, NULL::text AS version, v.embedding, t.content, t.fts, t.name,
  t.description, i.category, i.tags, i.signature ->> 'value' AS signature, i.updated_at AS validated_at,
  v.created_at, v.created_at AS updated_at
FROM items i JOIN vectors v ON v.kind = 'directive' AND v.item_key = i.key AND v.namespace = i.namespace
  AND v.source_hash = i.source_hash
JOIN item_texts t ON t.kind = 'directive' AND t.item_key = i.key AND t.namespace = i.namespace
WHERE i.kind = 'directive' AND i.active AND v.fingerprint = (SELECT active_fingerprint());

CREATE VIEW skill_embeddings WITH (security_invoker = true) AS
SELECT i.uid AS id, i.uid AS skill_id, NULL::text AS version, v.embedding, t.content, t.fts, t.name,
  t.description, i.category, i.tags, i.signature ->> 'value' AS signature, i.updated_at AS validated_at,
  v.created_at, v.created_at AS updated_at
FROM items i JOIN vectors v ON v.kind = 'skill' AND v.item_key = i.key AND v.namespace = i.namespace
  AND v.source_hash = i.source_hash
JOIN item_texts t ON t.kind = 'skill' AND t.item_key = i.key AND t.namespace = i.namespace
WHERE i.kind = 'skill' AND i.active AND v.fingerprint = (SELECT active_fingerprint());

CREATE VIEW knowledge_embeddings WITH (security_invoker = true) AS
SELECT i.uid AS id, i.uid AS knowledge_id, v.embedding, t.content, t.fts, t.name AS title, i.subcategory AS entry_type,
  i.tags, i.updated_at AS validated_at, v.created_at, v.created_at AS updated_at
FROM items i JOIN vectors v ON v.kind = 'knowledge' AND v.item_key = i.key AND v.namespace = i.namespace
  AND v.source_hash = i.source_hash
JOIN item_texts t ON t.kind = 'knowledge' AND t.item_key = i.key AND t.namespace = i.namespace
WHERE i.kind = 'knowledge' AND i.active AND v.fingerprint = (SELECT active_fingerprint());

-- Search. Each leg gives keys, best first; reciprocal rank fusion makes one ranking of the two. Only what is
-- active and public is found, whoever asks.

-- Only a library that is loaded has settings which somebody who is no superuser may give to a function.
DO $$ BEGIN PERFORM '[1]'::vector; END $$;

-- By meaning: through the index of the active fingerprint, or by comparing all where there are few,
-- or the filters leave few.
CREATE FUNCTION nearest_keys(
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
    SELECT array_agg(key ORDER BY distance, id, key) FROM (
      SELECT i.key, i.id, v.embedding::vector(%1$s) <#> $1::vector(%1$s) AS distance
      FROM vectors v JOIN items i ON i.key = v.item_key AND i.namespace = v.namespace
      WHERE v.kind = $2 AND v.fingerprint = $3
        AND CASE WHEN v.source_hash = i.source_hash THEN true ELSE false END
        AND i.active AND i.visibility = 'public'
        AND ($5 IS NULL OR i.category = $5) AND ($6 IS NULL OR i.subcategory = $6)
        AND ($7 IS NULL OR i.tool_type = $7)
      ORDER BY v.embedding::%2$s(%1$s) <#> $1::%2$s(%1$s) LIMIT $4) AS near $near$;
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
    EXECUTE format(near, model.dimension, indexed_as) INTO keys USING query_embedding, wanted_kind, model.key, reach,
      wanted_category, wanted_subcategory, wanted_tool_type;
    keys := keys[:depth];
  END IF;
  IF remaining <= few OR cardinality(keys) < depth OR keys IS NULL THEN -- a scan that is given up finds too few
    SELECT array_agg(near.key ORDER BY near.distance, near.id, near.key) INTO keys FROM (
      SELECT i.key, i.id, v.embedding <#> query_embedding AS distance
      FROM items i JOIN vectors v ON v.item_key = i.key AND v.namespace = i.namespace AND v.kind = wanted_kind
        AND v.fingerprint = model.key AND v.source_hash = i.source_hash
      WHERE i.kind = wanted_kind AND i.active AND i.visibility = 'public'
        AND (wanted_category IS NULL OR i.category = wanted_category)
        AND (wanted_subcategory IS NULL OR i.subcategory = wanted_subcategory)
        AND (wanted_tool_type IS NULL OR i.tool_type = wanted_tool_type)
      ORDER BY v.embedding <#> query_embedding, i.id, i.key LIMIT depth) AS near;
  END IF;
  RETURN coalesce(keys, '{}');
END $$;

-- By words: first what has them all, then what has any of the rarer ones, as rare words tell most. A word that
-- thousands have leads to more than can be ranked in time, so no more than so many are taken.
CREATE FUNCTION matching_keys(
  wanted_kind text, query_text text, depth integer, wanted_category text DEFAULT NULL,
  wanted_subcategory text DEFAULT NULL, wanted_tool_type text DEFAULT NULL, namespaces text[] DEFAULT NULL
) RETURNS bigint[] LANGUAGE plpgsql STABLE
SET plan_cache_mode = 'force_custom_plan' SET jit = 'off' SET enable_seqscan = 'off'
SET max_parallel_workers_per_gather = 0 -- the same rows are taken each time
AS $$
DECLARE
  most constant integer := greatest(1000, depth);
  closely constant integer := greatest(200, 5 * depth);
  asked text := left(query_text, 2000);
  every tsquery := websearch_to_tsquery('english', asked);
  rarer tsquery;
  lead tsquery;
  score text;
  more bigint[];
  keys bigint[] := '{}';
BEGIN
  IF every IS NULL OR querytree(every) IN ('', 'T') THEN -- no word, or only such as must not occur
    RETURN keys;
  END IF;
  WITH asked_for AS (
    SELECT lexeme, format('''%s''', replace(replace(lexeme, '\', '\\'), '''', ''''''))::tsquery AS word
    FROM unnest(tsvector_to_array(to_tsvector('english', asked))) AS lexeme LIMIT 64),
  counted AS MATERIALIZED (
    SELECT lexeme, word, greatest(1, coalesce(
      (SELECT sum(c.items) FROM common_terms c
        WHERE c.term = lexeme AND c.namespace <> '' AND (namespaces IS NULL OR c.namespace = ANY (namespaces))),
      (SELECT count(*) FROM (
        SELECT 1 FROM item_texts t JOIN items i ON i.key = t.item_key AND i.namespace = t.namespace
        WHERE t.kind = wanted_kind AND t.fts @@ word AND i.active AND i.visibility = 'public'
          AND (namespaces IS NULL OR i.namespace = ANY (namespaces))
        LIMIT most) AS having_it)))::float8 AS items
    FROM asked_for),
  weighed AS (
    SELECT lexeme, word, items, sum(items) OVER (ORDER BY items, lexeme) - items AS before,
      ln(1 + greatest(max(items) OVER (), (SELECT sum(c.items) FROM census c
        WHERE namespaces IS NULL OR c.namespace = ANY (namespaces))) / items) AS weight
    FROM counted)
  SELECT string_agg(w.word::text, ' | ') FILTER (WHERE w.before < most),
    coalesce(string_agg(format('%s * ts_rank(''{0.1, 0.4, 0.6, 1}'', m.fts, %L)', w.weight, w.word), ' + '
      ORDER BY w.items, w.lexeme), '0')
  INTO rarer, score FROM weighed w;
  IF rarer = every OR every::text ~ '!' THEN
    rarer := NULL; -- nothing more to find, or what must not occur would come in this way
  END IF;
  FOREACH lead IN ARRAY ARRAY[every, rarer] LOOP
    CONTINUE WHEN lead IS NULL OR cardinality(keys) >= depth;
    -- Word by word is slow, so only those are looked at closely that are good by all words at once.
    EXECUTE format($ranked$
      SELECT array_agg(best.item_key ORDER BY best.score DESC, best.id, best.item_key) FROM (
        SELECT m.item_key, m.id, (%s) / ln(2 + length(m.fts)) AS score FROM (
          SELECT * FROM (
            SELECT t.item_key, i.id, t.fts
            FROM item_texts t JOIN items i ON i.key = t.item_key AND i.namespace = t.namespace
            WHERE t.kind = $1 AND t.fts @@ $2 AND ($2 = $3 OR NOT t.fts @@ $3)
              AND i.active AND i.visibility = 'public' AND ($4 IS NULL OR i.namespace = ANY ($4))
              AND ($5 IS NULL OR i.category = $5) AND ($6 IS NULL OR i.subcategory = $6)
              AND ($7 IS NULL OR i.tool_type = $7)
            LIMIT $8) AS taken
          ORDER BY ts_rank('{0.1, 0.4, 0.6, 1}', fts, $2) DESC, id, item_key LIMIT $9) AS m
        ORDER BY score DESC, m.id, m.item_key LIMIT $10) AS best $ranked$, score)
    INTO more USING wanted_kind, lead, every, namespaces, wanted_category, wanted_subcategory, wanted_tool_type,
      most, closely, depth - cardinality(keys);
    keys := keys || coalesce(more, '{}');
  END LOOP;
  RETURN keys;
END $$;

-- The same for callers who are bound by policies. Those would keep the index of words from being used, because
-- comparing words could tell of rows that a policy hides. So it looks with the rights of the board, and only at
-- what every such caller may see: public items of the open namespaces.
CREATE FUNCTION open_matching_keys(
  wanted_kind text, query_text text, depth integer, wanted_category text DEFAULT NULL,
  wanted_subcategory text DEFAULT NULL, wanted_tool_type text DEFAULT NULL
) RETURNS bigint[] LANGUAGE sql STABLE SECURITY DEFINER AS $$
  SELECT matching_keys(wanted_kind, query_text, least(depth, 2000), wanted_category, wanted_subcategory,
    wanted_tool_type, open_namespaces())
$$;

-- Both legs of one kind. `place` is the order of the whole: the best score, then words before meaning, then ids.
CREATE FUNCTION hybrid_keys(
  wanted_kind text, query_text text, query_embedding vector, match_count integer, full_text_weight float8,
  semantic_weight float8, rrf_k integer, wanted_category text DEFAULT NULL, wanted_subcategory text DEFAULT NULL,
  wanted_tool_type text DEFAULT NULL
) RETURNS TABLE (item_key bigint, score float8, match_type text, place bigint) LANGUAGE plpgsql STABLE ROWS 20
AS $$
#variable_conflict use_column
DECLARE
  hits constant integer := least(greatest(coalesce(match_count, 20), 1), 1000);
  k constant integer := coalesce(rrf_k, 60);
  bound constant boolean := row_security_active('items') AND NOT pg_has_role('service_role', 'USAGE');
  by_words bigint[];
  by_meaning bigint[];
BEGIN
  IF k < 0 OR NOT coalesce(full_text_weight BETWEEN 0 AND 1e6 AND semantic_weight BETWEEN 0 AND 1e6, true) THEN
    RAISE EXCEPTION 'rrf_k is %, full_text_weight %, semantic_weight %', k, full_text_weight, semantic_weight
      USING ERRCODE = 'invalid_parameter_value', HINT = 'rrf_k is at least 0, a weight is from 0 to 1000000';
  END IF;
  IF bound THEN
    by_words := open_matching_keys(wanted_kind, query_text, 2 * hits, wanted_category, wanted_subcategory,
      wanted_tool_type);
  ELSE
    by_words := matching_keys(wanted_kind, query_text, 2 * hits, wanted_category, wanted_subcategory,
      wanted_tool_type);
  END IF;
  by_meaning := nearest_keys(wanted_kind, query_embedding, 2 * hits, wanted_category, wanted_subcategory,
    wanted_tool_type);
  RETURN QUERY
  SELECT fused.key, fused.score, fused.match_type,
    row_number() OVER (ORDER BY fused.score DESC, fused.match_type = 'semantic', i.id, i.key)
  FROM (
    SELECT coalesce(f.key, s.key) AS key,
      coalesce(coalesce(full_text_weight, 1) / (k + f.rank_ix), 0)
        + coalesce(coalesce(semantic_weight, 1) / (k + s.rank_ix), 0) AS score,
      CASE WHEN f.key IS NULL THEN 'semantic' WHEN s.key IS NULL THEN 'keyword' ELSE 'both' END AS match_type
    FROM unnest(by_words) WITH ORDINALITY AS f (key, rank_ix)
    FULL JOIN unnest(by_meaning) WITH ORDINALITY AS s (key, rank_ix) ON s.key = f.key) AS fused
  JOIN items i ON i.key = fused.key AND i.key = ANY (by_words || by_meaning) -- so that few are looked up
  ORDER BY 4 LIMIT hits;
END $$;

CREATE FUNCTION search_tools_hybrid(
  query_text text, query_embedding vector, match_count integer DEFAULT 20, full_text_weight float8 DEFAULT 1.0,
  semantic_weight float8 DEFAULT 1.0, rrf_k integer DEFAULT 60, filter_category text DEFAULT NULL,
  filter_tool_type text DEFAULT NULL
) RETURNS TABLE (
  tool_id uuid, name text, description text, tool_type text, category text, score float8, match_type text
) LANGUAGE sql STABLE ROWS 20 AS $$
  SELECT i.uid, i.name, i.description, i.tool_type, i.category, h.score, h.match_type
  FROM hybrid_keys('tool', query_text, query_embedding, match_count, full_text_weight, semantic_weight, rrf_k,
    filter_category, NULL, filter_tool_type) AS h JOIN items i ON i.key = h.item_key ORDER BY h.place
$$;

CREATE FUNCTION search_directives_hybrid(
  query_text text, query_embedding vector, match_count integer DEFAULT 20, full_text_weight float8 DEFAULT 1.0,
  semantic_weight float8 DEFAULT 1.0, rrf_k integer DEFAULT 60, filter_category text DEFAULT NULL
) RETURNS TABLE (
  directive_id uuid, name text, description text, category text, score float8, match_type text
) LANGUAGE sql STABLE ROWS 20 AS $$
  SELECT i.uid, i.name, i.description, i.category, h.score, h.match_type
  FROM hybrid_keys('directive', query_text, query_embedding, match_count, full_text_weight, semantic_weight, rrf_k,
    filter_category) AS h JOIN items i ON i.key = h.item_key ORDER BY h.place
$$;

CREATE FUNCTION search_knowledge_hybrid(
  query_text text, query_embedding vector, match_count integer DEFAULT 20, full_text_weight float8 DEFAULT 1.0,
  semantic_weight float8 DEFAULT 1.0, rrf_k integer DEFAULT 60, filter_entry_type text DEFAULT NULL
) RETURNS TABLE (
  knowledge_id uuid, title text, entry_type text, score float8, match_type text
) LANGUAGE sql STABLE ROWS 20 AS $$
  SELECT i.uid, i.name, i.subcategory, h.score, h.match_type
  FROM hybrid_keys('knowledge', query_text, query_embedding, match_count, full_text_weight, semantic_weight, rrf_k,
    NULL, filter_entry_type) AS h JOIN items i ON i.key = h.item_key ORDER BY h.place
$$;

-- Each kind gives as many as are asked for, so that the best of all are among them.
CREATE FUNCTION search_all_hybrid(
  query_text text, query_embedding vector, match_count integer DEFAULT 20, filter_item_type text DEFAULT NULL
) RETURNS TABLE (
  item_id uuid, item_type text, name text, description text, category text, score float8
) LANGUAGE sql STABLE ROWS 20 AS $$
  SELECT i.uid, i.kind, i.name, i.description, CASE i.kind WHEN 'knowledge' THEN i.subcategory ELSE i.category END,
    h.score
  FROM unnest(ARRAY['directive', 'knowledge', 'skill', 'tool']) AS each (kind)
  CROSS JOIN LATERAL hybrid_keys(each.kind, query_text, query_embedding, match_count, 1, 1, 60) AS h
  JOIN items i ON i.key = h.item_key
  WHERE filter_item_type IS NULL OR each.kind = filter_item_type
  ORDER BY h.score DESC, h.match_type = 'semantic', i.id, i.key
  LIMIT least(greatest(coalesce(match_count, 20), 1), 1000)
$$;

-- Who may do what with these names. Views and functions work with the rights of whoever uses them, but for the
-- one that says so.

ALTER TABLE knowledge_relationships ENABLE ROW LEVEL SECURITY;
CREATE POLICY service ON knowledge_relationships TO service_role USING (true) WITH CHECK (true);
CREATE POLICY read ON knowledge_relationships FOR SELECT TO anon, authenticated USING (
  namespace = ANY ((SELECT open_namespaces())::text[])
  AND (SELECT true FROM items i WHERE i.namespace = knowledge_relationships.namespace AND i.id = from_zettel_id)
  AND (SELECT true FROM items i WHERE i.namespace = knowledge_relationships.namespace AND i.id = to_zettel_id));
CREATE POLICY add ON knowledge_relationships FOR INSERT TO authenticated WITH CHECK (
  namespace = ANY ((SELECT caller_namespaces())::text[])
  AND EXISTS (SELECT FROM items i WHERE i.namespace = knowledge_relationships.namespace AND i.id = from_zettel_id
    AND i.author = (SELECT caller_subject()))
  AND EXISTS (SELECT FROM items i WHERE i.namespace = knowledge_relationships.namespace AND i.id = to_zettel_id));
CREATE POLICY remove ON knowledge_relationships FOR DELETE TO authenticated USING (
  namespace = ANY ((SELECT caller_namespaces())::text[])
  AND EXISTS (SELECT FROM items i WHERE i.namespace = knowledge_relationships.namespace AND i.id = from_zettel_id
    AND i.author = (SELECT caller_subject())));

DO $$
DECLARE
  each text;
  home constant text := (SELECT n.nspname FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace
    WHERE e.extname = 'vector');
BEGIN
  FOREACH each IN ARRAY ARRAY['tools', 'directives', 'skills', 'knowledge_entries', 'knowledge_relationships',
    'tool_versions', 'tool_version_files', 'directive_versions', 'scripts_compat', 'script_versions_compat',
    'tool_embeddings', 'directive_embeddings', 'skill_embeddings', 'knowledge_embeddings']
  LOOP
    EXECUTE format('REVOKE ALL ON %I FROM PUBLIC, anon, authenticated, service_role', each);
    EXECUTE format('GRANT SELECT ON %I TO anon, authenticated, service_role', each);
  END LOOP;
  GRANT UPDATE, DELETE ON tools, directives, skills, knowledge_entries TO service_role;
  GRANT DELETE ON tools, directives, skills, knowledge_entries, knowledge_relationships TO authenticated;
  GRANT INSERT (namespace, from_zettel_id, to_zettel_id, relationship_type) ON knowledge_relationships
    TO authenticated;
  GRANT INSERT, UPDATE, DELETE ON knowledge_relationships TO service_role;
  FOR each IN
    SELECT p.oid::regprocedure FROM pg_proc p WHERE p.pronamespace = current_schema()::regnamespace
      AND p.proname IN ('as_jsonb', 'as_text', 'active_fingerprint', 'write_figures', 'nearest_keys',
        'matching_keys', 'open_matching_keys', 'hybrid_keys', 'search_tools_hybrid', 'search_directives_hybrid',
        'search_knowledge_hybrid', 'search_all_hybrid')
  LOOP
    IF EXISTS (SELECT FROM pg_proc p WHERE p.oid = each::regprocedure AND p.prosqlbody IS NULL) THEN
      EXECUTE format('ALTER FUNCTION %s SET search_path = %I, %I, pg_temp', each, current_schema(), home);
    END IF;
    EXECUTE format('REVOKE ALL ON FUNCTION %s FROM PUBLIC', each);
    EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO anon, authenticated, service_role', each);
  END LOOP;
END $$;
