-- Who may see and change what 0012 has brought, for whoever comes as `anon` or `authenticated`: docs/explanation/rights.md. It goes on
-- with 0002, 0007 and 0009: nothing here fails, or does harm, when all four are run again, one after the other.

-- What was decided is for admins to read, and the database does not know who is one: Pegboard asks for them. Nobody adds
-- a line by hand but the board itself; those about items are written by what is done to them.
ALTER TABLE audit_log ENABLE ROW LEVEL SECURITY;
REVOKE ALL ON audit_log FROM PUBLIC, anon, authenticated, service_role;
REVOKE ALL ON SEQUENCE audit_log_key_seq FROM PUBLIC, anon, authenticated, service_role;
GRANT SELECT, INSERT ON audit_log TO service_role;
DROP POLICY IF EXISTS service ON audit_log;
CREATE POLICY service ON audit_log TO service_role USING (true) WITH CHECK (true);
DROP POLICY IF EXISTS nobody ON audit_log;
CREATE POLICY nobody ON audit_log TO anon, authenticated USING (false) WITH CHECK (false);

-- As before, but for links that say which versions will do.
CREATE OR REPLACE FUNCTION readable_links(found json) RETURNS boolean LANGUAGE sql STABLE PARALLEL SAFE
RETURN CASE WHEN found IS JSON ARRAY WITH UNIQUE KEYS AND pg_input_is_valid(found::text, 'jsonb') THEN NOT EXISTS (
  SELECT FROM json_array_elements(found) AS each (said)
  WHERE CASE WHEN json_typeof(said) = 'object' THEN (
    SELECT count(*) FILTER (WHERE key IN ('relation', 'target')) <> 2
      OR NOT bool_and(key IN ('relation', 'target', 'range') AND json_typeof(value) = 'string')
    FROM json_each(said)) ELSE true END)
  ELSE false END;

GRANT INSERT (replacement), UPDATE (replacement) ON items TO authenticated;

-- As before, but for what is published: that names no source either.
DROP POLICY IF EXISTS sound ON items;
CREATE POLICY sound ON items AS RESTRICTIVE TO authenticated USING (true) WITH CHECK (
  NOT official AND semantic_weight BETWEEN 0 AND 10 AND length(items::text) <= 20000000
  AND updated_at BETWEEN '0002-01-01 00:00+00' AND '9999-01-01 00:00+00'
  AND coalesce(drift_at, updated_at) BETWEEN '0002-01-01 00:00+00' AND '9999-01-01 00:00+00'
  AND plain_list(tags) AND plain_list(skills) AND plain_list(target_personas) AND plain_list(aliases)
  AND plain_list(keywords) AND plain_list(tech_stack) AND plain_list(examples)
  AND readable_object(executor) AND readable_object(input_schema) AND readable_object(output_schema)
  AND (signature IS NULL OR readable_signature(signature))
  AND (source IN ('', 'published') OR EXISTS (
    SELECT FROM sources s WHERE s.name = items.source AND s.namespace = items.namespace))
  AND (executor ->> 'server' IS NULL OR EXISTS (
    SELECT FROM sources s WHERE s.name = items.executor ->> 'server' AND s.namespace = items.namespace)));

-- A version is published in one's own name and as what it is, and never changed: it is taken back, or let be again.
GRANT INSERT (release, side_file, published_by, signer), UPDATE (yanked_at, yanked_by, yank_reason)
  ON item_versions TO authenticated;
DROP POLICY IF EXISTS publish ON item_versions;
CREATE POLICY publish ON item_versions AS RESTRICTIVE FOR INSERT TO authenticated WITH CHECK (
  published_by IS NULL AND release = '' AND side_file = '' AND signer = ''
  OR published_by = (SELECT caller_subject()) AND version !~ '[+]'
    AND EXISTS (SELECT FROM items i WHERE i.key = item_key AND i.namespace = item_versions.namespace
      AND i.source = 'published'));
DROP POLICY IF EXISTS yank ON item_versions;
CREATE POLICY yank ON item_versions FOR UPDATE TO authenticated USING (
  published_by IS NOT NULL AND namespace = ANY ((SELECT caller_namespaces())::text[])
  AND EXISTS (SELECT FROM items i WHERE i.key = item_key AND i.namespace = item_versions.namespace
    AND i.author = (SELECT caller_subject())))
WITH CHECK (
  CASE WHEN yanked_at IS NULL THEN yanked_by = '' AND yank_reason = ''
    ELSE yanked_by = (SELECT caller_subject()) AND length(yank_reason) <= 2000
      AND yanked_at BETWEEN '1970-01-01 00:00+00' AND clock_timestamp() END);
DROP POLICY IF EXISTS keep ON item_versions;
CREATE POLICY keep ON item_versions AS RESTRICTIVE FOR DELETE TO authenticated USING (published_by IS NULL);

-- Its files come with it: `created_at` is when the transaction began, and nobody can choose it.
DROP POLICY IF EXISTS publish ON version_files;
CREATE POLICY publish ON version_files AS RESTRICTIVE FOR INSERT TO authenticated WITH CHECK (
  EXISTS (SELECT FROM item_versions v WHERE v.key = version_key AND v.namespace = version_files.namespace
    AND (v.published_by IS NULL OR v.created_at = now())));
DROP POLICY IF EXISTS keep ON version_files;
CREATE POLICY keep ON version_files AS RESTRICTIVE FOR DELETE TO authenticated USING (
  EXISTS (SELECT FROM item_versions v WHERE v.key = version_key AND v.namespace = version_files.namespace
    AND v.published_by IS NULL));
