-- Who may see and change what, for whoever comes as `anon` or `authenticated`: docs/explanation/rights.md. The owner of the
-- tables is not bound by any of this. Nothing here fails, or does harm, when it is run again, if 0007 follows.

DO $$
DECLARE
  wanted text;
BEGIN
  FOREACH wanted IN ARRAY ARRAY['anon', 'authenticated', 'service_role'] LOOP
    IF to_regrole(wanted) IS NULL THEN
      BEGIN
        EXECUTE format('CREATE ROLE %I NOLOGIN', wanted);
      EXCEPTION
        WHEN duplicate_object OR unique_violation THEN
          NULL; -- made for another database of this server, just now
        WHEN insufficient_privilege THEN
          RAISE insufficient_privilege USING
            MESSAGE = format('the role %s is missing, and %s may not make it', wanted, current_user),
            HINT = format('let an administrator run: CREATE ROLE %s NOLOGIN', wanted);
      END;
    END IF;
    -- Whoever made a role may give it to others, but does not have it.
    IF NOT pg_has_role(current_user, wanted, 'SET') AND pg_has_role(current_user, wanted, 'MEMBER WITH ADMIN OPTION')
    THEN
      EXECUTE format('GRANT %I TO CURRENT_USER WITH SET TRUE, INHERIT FALSE', wanted);
    END IF;
  END LOOP;
  EXECUTE format('REVOKE CREATE ON SCHEMA %I FROM PUBLIC, anon, authenticated', current_schema());
  EXECUTE format('GRANT USAGE ON SCHEMA %I TO anon, authenticated, service_role', current_schema());
END $$;

-- Logins that are one caller and no other, whatever they say of themselves.
CREATE TABLE IF NOT EXISTS logins (
  login name PRIMARY KEY,
  subject text NOT NULL,
  namespaces text[] NOT NULL DEFAULT '{}'
);

-- What is known of the caller, as Supabase has it: `sub`, and `namespaces` in `app_metadata`, which users cannot
-- edit. Only a login that may act for the whole board is believed what it says.
CREATE OR REPLACE FUNCTION caller_claims() RETURNS jsonb
LANGUAGE sql STABLE PARALLEL SAFE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
  SELECT CASE
    -- In here current_user is whoever owns this function, and so the board.
    WHEN pg_has_role(session_user, 'service_role', 'MEMBER') OR pg_has_role(session_user, current_user, 'MEMBER')
    THEN CASE WHEN pg_input_is_valid(said, 'jsonb') THEN said::jsonb END
    ELSE (SELECT jsonb_build_object('sub', l.subject,
        'app_metadata', jsonb_build_object('namespaces', to_jsonb(l.namespaces)))
      FROM logins l WHERE l.login = session_user) END
  FROM current_setting('request.jwt.claims', true) AS said;
END;

CREATE OR REPLACE FUNCTION caller_subject() RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
  SELECT CASE jsonb_typeof(claims -> 'sub') WHEN 'string' THEN nullif(claims ->> 'sub', '') END
  FROM caller_claims() AS claims;
END;

-- Those that the caller is a member of.
CREATE OR REPLACE FUNCTION caller_namespaces() RETURNS text[]
LANGUAGE sql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
  SELECT ARRAY(
    SELECT named #>> '{}' FROM jsonb_array_elements(CASE jsonb_typeof(said) WHEN 'array' THEN said ELSE '[]' END)
      AS each (named)
    WHERE jsonb_typeof(named) = 'string')
  FROM (SELECT caller_claims() #> '{app_metadata,namespaces}') AS claims (said);
END;

-- Those in which there may be something for the caller to see.
CREATE OR REPLACE FUNCTION open_namespaces() RETURNS text[]
LANGUAGE sql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
  SELECT caller_namespaces() || 'public'::text;
END;

-- Also one that is not listed, for whoever knows its id.
CREATE OR REPLACE FUNCTION item_by_id(namespace text, id text) RETURNS SETOF items
LANGUAGE sql STABLE PARALLEL SAFE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
  SELECT i FROM items i -- the whole row: i.* would stay without columns that come later
  WHERE i.namespace = item_by_id.namespace AND i.id = item_by_id.id
    AND i.namespace = ANY ((SELECT open_namespaces())::text[])
    AND (i.visibility <> 'private' OR i.author = (SELECT caller_subject()));
END;

-- What callers write is read with the rights of the board, and one row that cannot be read could stop everybody. An
-- object that Python's reader takes: not too deep, no number too long, and nothing hidden behind a key of the same name.
CREATE OR REPLACE FUNCTION readable_object(found json) RETURNS boolean LANGUAGE sql STABLE PARALLEL SAFE
RETURN CASE WHEN found IS JSON OBJECT WITH UNIQUE KEYS AND pg_input_is_valid(found::text, 'jsonb')
  THEN NOT jsonb_path_exists(found::jsonb, 'strict $.**{100}')
    AND NOT jsonb_path_exists(found::jsonb, 'strict $.** ? (@ >= 1e250 || @ <= -1e250)')
  ELSE false END;

CREATE OR REPLACE FUNCTION readable_signature(found json) RETURNS boolean LANGUAGE sql STABLE PARALLEL SAFE
RETURN CASE WHEN readable_object(found) THEN (
  SELECT count(*) = 4 AND bool_and(key IN ('signer', 'algorithm', 'value', 'signed_at')
    AND json_typeof(value) = 'string') FROM json_each(found))
  ELSE false END;

CREATE OR REPLACE FUNCTION plain_list(found text[]) RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN array_ndims(found) > 1 THEN false ELSE array_position(found, NULL) IS NULL END;

DO $$
DECLARE
  callable regprocedure;
BEGIN
  FOREACH callable IN ARRAY ARRAY['caller_claims()', 'caller_subject()', 'caller_namespaces()',
    'open_namespaces()', 'item_by_id(text, text)', 'readable_object(json)', 'readable_signature(json)',
    'plain_list(text[])']::regprocedure[]
  LOOP
    EXECUTE format('REVOKE ALL ON FUNCTION %s FROM PUBLIC', callable);
    EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO anon, authenticated, service_role', callable);
  END LOOP;
END $$;

-- Nobody has anything but what follows. A partition can be asked directly, so each is a table like any other.
DO $$
DECLARE
  each regclass;
  counter regclass;
  policy name;
BEGIN
  FOR each IN
    SELECT relid FROM pg_partition_tree('item_texts') UNION ALL SELECT relid FROM pg_partition_tree('vectors')
    UNION ALL SELECT unnest(ARRAY['items', 'item_versions', 'version_files', 'item_terms', 'approved_definitions',
      'embedding_tasks', 'word_variants', 'common_terms', 'census', 'sources', 'rejections', 'mcp_servers',
      'fingerprints', 'models', 'model_choice', 'board', 'pegboard_migrations', 'logins']::regclass[])
  LOOP
    EXECUTE format('ALTER TABLE %s ENABLE ROW LEVEL SECURITY', each);
    -- Supabase gives what is new to everybody, with the right to TRUNCATE it.
    EXECUTE format('REVOKE ALL ON %s FROM PUBLIC, anon, authenticated, service_role', each);
    FOR counter IN
      SELECT c.oid FROM pg_depend d JOIN pg_class c ON c.oid = d.objid AND c.relkind = 'S' WHERE d.refobjid = each
    LOOP
      EXECUTE format('REVOKE ALL ON SEQUENCE %s FROM PUBLIC, anon, authenticated, service_role', counter);
    END LOOP;
    EXECUTE format('GRANT SELECT ON %s TO anon, authenticated', each);
    EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON %s TO service_role', each);
    FOR policy IN SELECT polname FROM pg_policy WHERE polrelid = each LOOP
      EXECUTE format('DROP POLICY %I ON %s', policy, each);
    END LOOP;
    EXECUTE format('CREATE POLICY service ON %s TO service_role USING (true) WITH CHECK (true)', each);
  END LOOP;
  FOR each IN
    SELECT relid FROM pg_partition_tree('item_texts') UNION ALL SELECT relid FROM pg_partition_tree('vectors')
    UNION ALL SELECT unnest(ARRAY['item_versions', 'item_terms', 'approved_definitions']::regclass[])
  LOOP
    -- What belongs to an item is seen by whoever sees the item: its policies hold in here too. EXISTS would be
    -- turned into a list of all items that the caller may see, which is too long where few rows are wanted.
    EXECUTE format('CREATE POLICY read ON %1$s FOR SELECT TO anon, authenticated USING (
      namespace = ANY ((SELECT open_namespaces())::text[])
      AND (SELECT true FROM items i WHERE i.key = item_key AND i.namespace = %1$s.namespace))', each);
  END LOOP;
  -- What is nobody's in particular.
  FOREACH each IN ARRAY
    ARRAY['fingerprints', 'models', 'model_choice', 'board', 'pegboard_migrations']::regclass[]
  LOOP
    EXECUTE format('CREATE POLICY read ON %s FOR SELECT TO anon, authenticated USING (true)', each);
  END LOOP;
END $$;

-- (SELECT f()) is worked out once a statement, f() would be once a row.
CREATE POLICY read_public ON items FOR SELECT TO anon USING (namespace = 'public' AND visibility = 'public');
CREATE POLICY read ON items FOR SELECT TO authenticated USING (
  namespace = ANY ((SELECT open_namespaces())::text[])
  AND (visibility = 'public' OR author = (SELECT caller_subject())
    OR visibility = 'unlisted' AND namespace = ANY ((SELECT caller_namespaces())::text[])));
CREATE POLICY read ON version_files FOR SELECT TO anon, authenticated USING (
  namespace = ANY ((SELECT open_namespaces())::text[])
  AND EXISTS (SELECT FROM item_versions v WHERE v.key = version_key AND v.namespace = version_files.namespace));
-- Spelling and statistics are of items that all who may come here can find.
CREATE POLICY read ON word_variants FOR SELECT TO anon, authenticated USING (
  namespace = ANY ((SELECT open_namespaces())::text[]));
CREATE POLICY read ON census FOR SELECT TO anon, authenticated USING (
  namespace = ANY ((SELECT open_namespaces())::text[]));
CREATE POLICY read ON common_terms FOR SELECT TO anon, authenticated USING (
  namespace = ANY ((SELECT open_namespaces())::text[])
  AND items >= (SELECT greatest(c.items / 1000, 20) FROM census c WHERE c.namespace = common_terms.namespace));
CREATE POLICY read ON logins FOR SELECT TO authenticated USING (login = session_user);
-- Where things come from is for members. They cannot change it: whoever syncs starts these servers.
CREATE POLICY read ON sources FOR SELECT TO authenticated USING (
  namespace = ANY ((SELECT caller_namespaces())::text[]));
CREATE POLICY read ON rejections FOR SELECT TO authenticated USING (
  namespace = ANY ((SELECT caller_namespaces())::text[]));
CREATE POLICY read ON mcp_servers FOR SELECT TO authenticated USING (
  namespace = ANY ((SELECT caller_namespaces())::text[]));

-- Authors write what Pegboard writes for them, and no column more: a number chosen by hand could be that of
-- another tenant's row, and counts, scores and marks are not for authors to give.
GRANT INSERT (
  namespace, id, kind, active, scope, source, name, short_name, name_key, category, subcategory, tool_type, tags,
  skills, visibility, author, source_protocol, routing_domain, semantic_namespace, sensitivity_tier,
  target_personas, semantic_weight, official, source_hash, embedding_status, content_hash, text_version,
  approved_hash, drift, latest_version, origin, origin_hash, endpoint, aliases, keywords, tech_stack, examples,
  executor, signature, description, imported_description, input_schema, output_schema, body
), UPDATE (
  kind, active, scope, source, name, short_name, name_key, category, subcategory, tool_type, tags, skills,
  visibility, author, source_protocol, routing_domain, semantic_namespace, sensitivity_tier, target_personas,
  semantic_weight, official, source_hash, embedding_status, embedding_error, content_hash, text_version,
  approved_hash, drift, drift_at, latest_version, origin, origin_hash, endpoint, aliases, keywords, tech_stack,
  examples, executor, signature, description, imported_description, input_schema, output_schema, body, updated_at
), DELETE ON items TO authenticated;

-- No `namespace` among what may be updated: an item stays where it is.
CREATE POLICY add ON items FOR INSERT TO authenticated WITH CHECK (
  namespace = ANY ((SELECT caller_namespaces())::text[]) AND author = (SELECT caller_subject()));
CREATE POLICY change ON items FOR UPDATE TO authenticated USING (
  namespace = ANY ((SELECT caller_namespaces())::text[]) AND author = (SELECT caller_subject()));
CREATE POLICY remove ON items FOR DELETE TO authenticated USING (
  namespace = ANY ((SELECT caller_namespaces())::text[]) AND author = (SELECT caller_subject()));
-- What an item says is used with the rights of the board: it may name only servers and sources of its own
-- namespace, and must not be such that nobody could read the board any more. Python's calendar ends with the year
-- 9999; the gate lets no item through that is half as long.
CREATE POLICY sound ON items AS RESTRICTIVE TO authenticated USING (true) WITH CHECK (
  NOT official AND semantic_weight BETWEEN 0 AND 10 AND length(items::text) <= 20000000
  AND updated_at BETWEEN '0002-01-01 00:00+00' AND '9999-01-01 00:00+00'
  AND coalesce(drift_at, updated_at) BETWEEN '0002-01-01 00:00+00' AND '9999-01-01 00:00+00'
  AND plain_list(tags) AND plain_list(skills) AND plain_list(target_personas) AND plain_list(aliases)
  AND plain_list(keywords) AND plain_list(tech_stack) AND plain_list(examples)
  AND readable_object(executor) AND readable_object(input_schema) AND readable_object(output_schema)
  AND (signature IS NULL OR readable_signature(signature))
  AND (source = '' OR EXISTS (
    SELECT FROM sources s WHERE s.name = items.source AND s.namespace = items.namespace))
  AND (executor ->> 'server' IS NULL OR EXISTS (
    SELECT FROM sources s WHERE s.name = items.executor ->> 'server' AND s.namespace = items.namespace)));

GRANT INSERT (namespace, item_key, version, manifest, manifest_text, content_hash, changelog), DELETE
  ON item_versions TO authenticated;
GRANT INSERT, DELETE ON item_terms, item_texts, approved_definitions TO authenticated;
GRANT DELETE ON vectors TO authenticated; -- one of the wrong length would end every search
DO $$
DECLARE
  each regclass;
  own CONSTANT text := 'namespace = ANY ((SELECT caller_namespaces())::text[])
    AND EXISTS (SELECT FROM items i WHERE i.key = item_key AND i.namespace = %1$s.namespace
      AND i.author = (SELECT caller_subject()))';
BEGIN
  FOREACH each IN ARRAY
    ARRAY['item_versions', 'item_terms', 'item_texts', 'approved_definitions', 'vectors']::regclass[]
  LOOP
    EXECUTE format('CREATE POLICY add ON %1$s FOR INSERT TO authenticated WITH CHECK (' || own || ')', each);
    EXECUTE format('CREATE POLICY remove ON %1$s FOR DELETE TO authenticated USING (' || own || ')', each);
  END LOOP;
END $$;
CREATE POLICY sound ON item_versions AS RESTRICTIVE TO authenticated USING (true) WITH CHECK (
  readable_object(manifest) AND length(item_versions::text) <= 20000000);
CREATE POLICY sound ON approved_definitions AS RESTRICTIVE TO authenticated USING (true) WITH CHECK (
  readable_object(definition) AND length(definition::text) <= 20000000);
CREATE POLICY sound ON item_terms AS RESTRICTIVE TO authenticated USING (true) WITH CHECK (
  frequency > 0 AND frequency < 1000000 AND length BETWEEN 0 AND 1000000);
CREATE POLICY sound ON item_texts AS RESTRICTIVE TO authenticated USING (true) WITH CHECK (
  length BETWEEN 0 AND 1000000);

GRANT INSERT (version_key, namespace, path, media_type, sha256, size_bytes, executable, content, storage_key),
  UPDATE (path), DELETE ON version_files TO authenticated;
CREATE POLICY add ON version_files FOR INSERT TO authenticated WITH CHECK (
  namespace = ANY ((SELECT caller_namespaces())::text[])
  AND EXISTS (SELECT FROM item_versions v JOIN items i ON i.key = v.item_key AND i.namespace = v.namespace
    WHERE v.key = version_key AND v.namespace = version_files.namespace AND i.author = (SELECT caller_subject())));
CREATE POLICY remove ON version_files FOR DELETE TO authenticated USING (
  namespace = ANY ((SELECT caller_namespaces())::text[])
  AND EXISTS (SELECT FROM item_versions v JOIN items i ON i.key = v.item_key AND i.namespace = v.namespace
    WHERE v.key = version_key AND v.namespace = version_files.namespace AND i.author = (SELECT caller_subject())));
-- A key that no put has made would lead nowhere, or to what belongs to others; a path leads out of no folder.
CREATE POLICY sound ON version_files AS RESTRICTIVE TO authenticated USING (true) WITH CHECK (
  size_bytes >= 0 AND path !~ '^/|\\|(^|/)\.\.(/|$)|^$'
  AND (storage_key IS NULL OR sha256 ~ '^[0-9a-f]{64}$' AND right(storage_key, 8) ~ '^[0-9a-f]{8}$'
    AND left(storage_key, -8) = format('%s/%s/%s-', (SELECT id FROM board), left(sha256, 2), sha256)));

-- A file is held while another refers to the same content (FOR SHARE), and never changed.
CREATE POLICY hold ON version_files FOR UPDATE TO authenticated USING (
  namespace = ANY ((SELECT caller_namespaces())::text[])
  AND EXISTS (SELECT FROM item_versions v JOIN items i ON i.key = v.item_key AND i.namespace = v.namespace
    WHERE v.key = version_key AND v.namespace = version_files.namespace AND i.author = (SELECT caller_subject())))
WITH CHECK (false);

GRANT INSERT (host_id, entity_type, entity_id, source_version, fingerprint, source_hash, source_text),
  UPDATE (status, attempt_count, next_attempt_ts, last_error, update_ts), DELETE ON embedding_tasks TO authenticated;
CREATE POLICY own ON embedding_tasks TO authenticated USING (
  host_id = ANY ((SELECT caller_namespaces())::text[])
  AND EXISTS (SELECT FROM items i WHERE i.key = entity_id AND i.namespace = host_id
    AND i.author = (SELECT caller_subject())));
-- Callers queue, workers count attempts. One who is both is a worker.
CREATE POLICY sound ON embedding_tasks AS RESTRICTIVE TO authenticated USING (true) WITH CHECK (
  (SELECT pg_has_role('service_role', 'USAGE')) OR status = 'pending' AND attempt_count = 0
  AND next_attempt_ts <= now() AND update_ts <= now() AND length(source_text) <= 100000
  AND length(last_error) <= 100000);

GRANT INSERT ON word_variants TO authenticated;
CREATE POLICY add ON word_variants FOR INSERT TO authenticated WITH CHECK (
  namespace = ANY ((SELECT caller_namespaces())::text[]));
