-- How runs ended: never what they were given or gave back. They outlive the item.

CREATE TABLE item_runs (
  key bigint GENERATED ALWAYS AS IDENTITY,
  namespace text COLLATE "C" NOT NULL,
  uid uuid NOT NULL, -- from whoever records it, so that to do it twice is to do it once
  item_key bigint NOT NULL,
  item_id text COLLATE "C" NOT NULL,
  version text NOT NULL,
  at timestamptz NOT NULL,
  outcome text NOT NULL CONSTRAINT item_runs_outcome_check CHECK (
    outcome IN ('ok', 'invalid_arguments', 'denied', 'timeout', 'killed', 'failed', 'unavailable')),
  seconds double precision NOT NULL CONSTRAINT item_runs_seconds_check CHECK (seconds BETWEEN 0 AND 1e12),
  who text COLLATE "C" NOT NULL,
  PRIMARY KEY (key, namespace),
  UNIQUE (uid, namespace)
);

CREATE INDEX item_runs_item ON item_runs (item_id, at, key);
CREATE INDEX item_runs_at ON item_runs (at, key);

-- Who may see and change it: docs/explanation/rights.md.

ALTER TABLE item_runs ENABLE ROW LEVEL SECURITY;
REVOKE ALL ON item_runs FROM PUBLIC, anon, authenticated, service_role;
REVOKE ALL ON SEQUENCE item_runs_key_seq FROM PUBLIC, anon, authenticated, service_role;
GRANT SELECT ON item_runs TO anon, authenticated;
GRANT SELECT, INSERT, UPDATE, DELETE ON item_runs TO service_role;
CREATE POLICY service ON item_runs TO service_role USING (true) WITH CHECK (true);

-- For whoever sees the item: all of them for members, else only his own, because who else runs what is public is not
-- for everybody to know. By its number: another item may have its id by now.
CREATE POLICY read ON item_runs FOR SELECT TO authenticated USING (
  namespace = ANY ((SELECT open_namespaces())::text[])
  AND (who = (SELECT caller_subject()) OR namespace = ANY ((SELECT caller_namespaces())::text[]))
  AND (SELECT true FROM items i WHERE i.key = item_key AND i.namespace = item_runs.namespace));

-- Nobody records a run in another's name, of what he cannot see, or of a time that is yet to come.
GRANT INSERT (namespace, uid, item_key, item_id, version, at, outcome, seconds, who) ON item_runs TO authenticated;
CREATE POLICY add ON item_runs FOR INSERT TO authenticated WITH CHECK (
  namespace = ANY ((SELECT open_namespaces())::text[]) AND who = (SELECT caller_subject())
  AND at BETWEEN '1970-01-01 00:00+00' AND clock_timestamp() AND length(version) <= 200
  AND EXISTS (SELECT FROM items i WHERE i.key = item_key AND i.namespace = item_runs.namespace AND i.id = item_id));

-- Whoever records a run also removes a few that are too old, whoever's they are, and cannot remove any other.
CREATE FUNCTION forget_old_runs() RETURNS void
LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
  DELETE FROM item_runs WHERE key = ANY (ARRAY(
    SELECT r.key FROM item_runs r WHERE r.at < now() - interval '2160 hours'
    ORDER BY r.at, r.key LIMIT 10 FOR UPDATE SKIP LOCKED));
END;
REVOKE ALL ON FUNCTION forget_old_runs() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION forget_old_runs() TO authenticated, service_role;
