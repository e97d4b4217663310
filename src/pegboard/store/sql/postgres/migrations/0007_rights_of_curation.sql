-- Who may see and change what 0005 has brought, for whoever comes as `anon` or `authenticated`: docs/explanation/rights.md. It goes on
-- with 0002: nothing here fails, or does harm, when both are run again, one after the other.

-- Lists of such objects as Python's reader takes; see readable_object.
CREATE OR REPLACE FUNCTION readable_links(found json) RETURNS boolean LANGUAGE sql STABLE PARALLEL SAFE
RETURN CASE WHEN found IS JSON ARRAY WITH UNIQUE KEYS AND pg_input_is_valid(found::text, 'jsonb') THEN NOT EXISTS (
  SELECT FROM json_array_elements(found) AS each (said)
  WHERE CASE WHEN json_typeof(said) = 'object' THEN (
    SELECT count(*) <> 2 OR NOT bool_and(key IN ('relation', 'target') AND json_typeof(value) = 'string')
    FROM json_each(said)) ELSE true END)
  ELSE false END;

CREATE OR REPLACE FUNCTION readable_permissions(found json) RETURNS boolean LANGUAGE sql STABLE PARALLEL SAFE
RETURN CASE WHEN found IS JSON ARRAY WITH UNIQUE KEYS AND pg_input_is_valid(found::text, 'jsonb') THEN NOT EXISTS (
  SELECT FROM json_array_elements(found) AS each (said)
  WHERE CASE WHEN json_typeof(said) = 'object' THEN (
    SELECT count(*) <> 3 OR NOT bool_and(json_typeof(value) = 'string' AND CASE key
      WHEN 'access' THEN value #>> '{}' IN ('read', 'write', 'connect', 'execute')
      WHEN 'resource' THEN
        value #>> '{}' IN ('filesystem', 'network', 'environment', 'secret', 'shell', 'tool')
      ELSE key = 'scope' END)
    FROM json_each(said)) ELSE true END)
  ELSE false END;

CREATE OR REPLACE FUNCTION readable_signature(found json) RETURNS boolean LANGUAGE sql STABLE PARALLEL SAFE
RETURN CASE WHEN readable_object(found) THEN (
  SELECT count(*) FILTER (WHERE key IN ('signer', 'algorithm', 'value', 'signed_at')) = 4
    AND bool_and(key IN ('signer', 'algorithm', 'value', 'signed_at', 'state', 'expires_at')
      AND json_typeof(value) = 'string') FROM json_each(found))
  ELSE false END;

DO $$
DECLARE
  each text;
  policy name;
BEGIN
  FOREACH each IN ARRAY ARRAY['item_links', 'item_history'] LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', each);
    EXECUTE format('REVOKE ALL ON %I FROM PUBLIC, anon, authenticated, service_role', each);
    EXECUTE format('REVOKE ALL ON SEQUENCE %I FROM PUBLIC, anon, authenticated, service_role', each || '_key_seq');
    EXECUTE format('GRANT SELECT ON %I TO anon, authenticated', each);
    EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON %I TO service_role', each);
    FOR policy IN SELECT polname FROM pg_policy WHERE polrelid = each::regclass LOOP
      EXECUTE format('DROP POLICY %I ON %I', policy, each);
    END LOOP;
    EXECUTE format('CREATE POLICY service ON %I TO service_role USING (true) WITH CHECK (true)', each);
  END LOOP;
  REVOKE ALL ON knowledge_relationships FROM PUBLIC, anon, authenticated, service_role;
  GRANT SELECT ON knowledge_relationships TO anon, authenticated, service_role;
  GRANT INSERT (namespace, from_zettel_id, to_zettel_id, relationship_type), DELETE ON knowledge_relationships
    TO authenticated;
  GRANT INSERT, UPDATE, DELETE ON knowledge_relationships TO service_role;
  FOREACH each IN ARRAY ARRAY['write_relationship()', 'readable_links(json)', 'readable_permissions(json)'] LOOP
    EXECUTE format('REVOKE ALL ON FUNCTION %s FROM PUBLIC', each);
    EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO anon, authenticated, service_role', each);
  END LOOP;
  EXECUTE format('ALTER FUNCTION write_relationship() SET search_path = %I, pg_temp', current_schema());
END $$;

CREATE POLICY read ON item_links FOR SELECT TO anon, authenticated USING (
  namespace = ANY ((SELECT open_namespaces())::text[])
  AND (SELECT true FROM items i WHERE i.key = item_key AND i.namespace = item_links.namespace));
-- What a link means is for those to say who see all that it could.
GRANT INSERT (namespace, item_key, relation, target), DELETE ON item_links TO authenticated;
CREATE POLICY add ON item_links FOR INSERT TO authenticated WITH CHECK (
  namespace = ANY ((SELECT caller_namespaces())::text[])
  AND EXISTS (SELECT FROM items i WHERE i.key = item_key AND i.namespace = item_links.namespace
    AND i.author = (SELECT caller_subject())));
CREATE POLICY remove ON item_links FOR DELETE TO authenticated USING (
  namespace = ANY ((SELECT caller_namespaces())::text[])
  AND EXISTS (SELECT FROM items i WHERE i.key = item_key AND i.namespace = item_links.namespace
    AND i.author = (SELECT caller_subject())));

-- For members who see the item. By its number: another one may have its id by now. Nobody writes in another's name, and
-- what is old is removed only by those who see everything: DELETE is allowed, and finds nothing.
CREATE POLICY read ON item_history FOR SELECT TO authenticated USING (
  namespace = ANY ((SELECT caller_namespaces())::text[])
  AND (SELECT true FROM items i WHERE i.key = item_key AND i.namespace = item_history.namespace));
GRANT INSERT (namespace, item_key, item_id, event, who, detail), DELETE ON item_history TO authenticated;
CREATE POLICY add ON item_history FOR INSERT TO authenticated WITH CHECK (
  namespace = ANY ((SELECT caller_namespaces())::text[]) AND who IN ('', (SELECT caller_subject()))
  AND event IN ('missing', 'returned', 'changed', 'held', 'approved', 'described', 'reset', 'deactivated',
    'activated', 'purged')
  AND length(detail) <= 2000
  AND EXISTS (SELECT FROM items i WHERE i.key = item_key AND i.namespace = item_history.namespace
    AND i.id = item_id AND i.author = (SELECT caller_subject())));

GRANT INSERT (links, permissions, deprecated, held), UPDATE (links, permissions, deprecated, held, off_at, off_by,
  off_reason, description_source, manual_override, override_at, override_by) ON items TO authenticated;
-- Beside `sound`, and for the same reasons. That a signature is trusted is for those to say who have checked it.
DROP POLICY IF EXISTS sound_too ON items;
CREATE POLICY sound_too ON items AS RESTRICTIVE TO authenticated USING (true) WITH CHECK (
  readable_links(links) AND readable_permissions(permissions)
  AND (signature IS NULL OR signature ->> 'state' IS DISTINCT FROM 'trusted')
  AND coalesce(off_at, updated_at) BETWEEN '0002-01-01 00:00+00' AND '9999-01-01 00:00+00'
  AND coalesce(override_at, updated_at) BETWEEN '0002-01-01 00:00+00' AND '9999-01-01 00:00+00');
