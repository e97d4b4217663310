-- What is published: versions that never change, and a log of what was decided that cannot be changed either.

ALTER TABLE items ADD COLUMN replacement text NOT NULL DEFAULT '';

ALTER TABLE item_versions
  DROP COLUMN yanked, -- nothing has used it
  ADD COLUMN release text NOT NULL DEFAULT '',
  ADD COLUMN side_file text NOT NULL DEFAULT '',
  ADD COLUMN published_by text, -- NULL for what is not published
  ADD COLUMN signer text NOT NULL DEFAULT '',
  ADD COLUMN yanked_at timestamptz,
  ADD COLUMN yanked_by text NOT NULL DEFAULT '',
  ADD COLUMN yank_reason text NOT NULL DEFAULT '',
  ADD COLUMN download_count bigint NOT NULL DEFAULT 0;

-- It outlives what it is about.
CREATE TABLE audit_log (
  key bigint GENERATED ALWAYS AS IDENTITY,
  namespace text COLLATE "C" NOT NULL DEFAULT '', -- none where it is about the whole board
  uid uuid NOT NULL DEFAULT gen_random_uuid(), -- so that to write it twice is to write it once
  at timestamptz NOT NULL DEFAULT clock_timestamp(),
  who text NOT NULL,
  action text NOT NULL,
  item_id text COLLATE "C" NOT NULL DEFAULT '',
  version text NOT NULL DEFAULT '',
  detail text NOT NULL DEFAULT '',
  PRIMARY KEY (key, namespace),
  UNIQUE (uid, namespace)
);

CREATE INDEX audit_log_item ON audit_log (item_id, key);

-- For everybody, whoever owns the board among them, and also while it is being replicated.
CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'the audit log is never changed' USING ERRCODE = 'insufficient_privilege';
END $$;

CREATE TRIGGER refuse_change BEFORE UPDATE OR DELETE OR TRUNCATE ON audit_log
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
ALTER TABLE audit_log ENABLE ALWAYS TRIGGER refuse_change;

-- Lines about items are written by what is done to them, so that nobody can leave one out or make one up. Who did it
-- is the caller or, where the board itself writes, whoever it says.
CREATE FUNCTION audit_who() RETURNS text LANGUAGE sql STABLE
RETURN coalesce(caller_subject(), current_setting('pegboard.by', true), '');

CREATE FUNCTION audit_version() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
BEGIN
  INSERT INTO audit_log (who, action, namespace, item_id, version, detail)
  SELECT audit_who(),
    CASE WHEN TG_OP = 'INSERT' THEN 'publish' WHEN NEW.yanked_at IS NULL THEN 'unyank' ELSE 'yank' END,
    i.namespace, i.id, NEW.version,
    CASE WHEN TG_OP = 'INSERT' THEN '' WHEN NEW.yanked_at IS NOT NULL THEN NEW.yank_reason
      ELSE left(coalesce(current_setting('pegboard.reason', true), ''), 2000) END
  FROM items i WHERE i.key = NEW.item_key AND i.namespace = NEW.namespace;
  RETURN NULL;
END $$;

CREATE TRIGGER audit_publishing AFTER INSERT ON item_versions FOR EACH ROW
  WHEN (NEW.published_by IS NOT NULL) EXECUTE FUNCTION audit_version();
CREATE TRIGGER audit_yanking AFTER UPDATE OF yanked_at ON item_versions FOR EACH ROW
  WHEN (NEW.published_by IS NOT NULL AND (OLD.yanked_at IS NULL) <> (NEW.yanked_at IS NULL))
  EXECUTE FUNCTION audit_version();

CREATE FUNCTION audit_item() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
BEGIN
  IF TG_OP = 'DELETE' THEN
    INSERT INTO audit_log (who, action, namespace, item_id) VALUES (audit_who(), 'remove', OLD.namespace, OLD.id);
    RETURN NULL;
  END IF;
  INSERT INTO audit_log (who, action, namespace, item_id, detail)
  SELECT audit_who(), done.action, NEW.namespace, NEW.id, done.detail
  FROM (VALUES
    (1, 'transfer', NEW.author <> OLD.author, OLD.author || ' to ' || NEW.author),
    (2, 'visibility', NEW.visibility <> OLD.visibility, OLD.visibility || ' to ' || NEW.visibility),
    (3, 'deprecate', (NEW.deprecated, NEW.replacement) <> (OLD.deprecated, OLD.replacement),
      CASE WHEN NOT NEW.deprecated THEN 'no longer' WHEN NEW.replacement = '' THEN ''
        ELSE 'use ' || NEW.replacement END)) AS done (place, action, holds, detail)
  WHERE done.holds ORDER BY done.place;
  RETURN NULL;
END $$;

CREATE TRIGGER audit_deciding AFTER UPDATE OF author, visibility, deprecated, replacement ON items FOR EACH ROW
  WHEN (OLD.source = 'published' AND (NEW.author, NEW.visibility, NEW.deprecated, NEW.replacement)
    <> (OLD.author, OLD.visibility, OLD.deprecated, OLD.replacement))
  EXECUTE FUNCTION audit_item();
CREATE TRIGGER audit_removing AFTER DELETE ON items FOR EACH ROW
  WHEN (OLD.source = 'published') EXECUTE FUNCTION audit_item();

-- What a policy lets pass when its source is synced was approved by nobody in particular.
CREATE FUNCTION audit_approval() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
BEGIN
  IF caller_subject() IS NOT NULL OR current_setting('pegboard.act', true) = 'approve' THEN
    INSERT INTO audit_log (who, action, namespace, item_id, version)
    VALUES (audit_who(), 'approve', NEW.namespace, NEW.id, coalesce(NEW.latest_version, ''));
  END IF;
  RETURN NULL;
END $$;

CREATE TRIGGER audit_approving AFTER UPDATE OF approved_hash ON items FOR EACH ROW
  WHEN (OLD.drift = 'changed' AND NEW.drift = 'none' AND NEW.approved_hash NOT IN ('', OLD.approved_hash))
  EXECUTE FUNCTION audit_approval();

-- A download by somebody who is bound by policies: of what he can see or has the id of, and one at a time.
CREATE FUNCTION count_download(namespace text, id text, version text) RETURNS void LANGUAGE sql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
  WITH counted AS (
    UPDATE item_versions v SET download_count = v.download_count + 1
    FROM item_by_id(count_download.namespace, count_download.id) i
    WHERE v.item_key = i.key AND v.namespace = i.namespace AND v.version = count_download.version
      AND v.published_by IS NOT NULL
    RETURNING v.item_key, v.namespace)
  UPDATE items i SET download_count = i.download_count + 1 FROM counted c
  WHERE i.key = c.item_key AND i.namespace = c.namespace;
END;

DO $$
DECLARE
  each regprocedure;
BEGIN
  FOREACH each IN ARRAY ARRAY['refuse_change()', 'audit_who()', 'audit_version()', 'audit_item()', 'audit_approval()',
    'count_download(text, text, text)']::regprocedure[]
  LOOP
    IF EXISTS (SELECT FROM pg_proc p WHERE p.oid = each AND p.prosqlbody IS NULL) THEN
      EXECUTE format('ALTER FUNCTION %s SET search_path = %I, pg_temp', each, current_schema());
    END IF;
    EXECUTE format('REVOKE ALL ON FUNCTION %s FROM PUBLIC, anon, authenticated, service_role', each);
  END LOOP;
  GRANT EXECUTE ON FUNCTION count_download(text, text, text) TO authenticated, service_role;
END $$;
