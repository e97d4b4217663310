-- What people decide about items, what became of items, and which items refer to which.

ALTER TABLE items
  ADD COLUMN links json NOT NULL DEFAULT '[]',
  ADD COLUMN permissions json NOT NULL DEFAULT '[]',
  ADD COLUMN deprecated boolean NOT NULL DEFAULT false,
  -- An item is active unless it is missing, held back, or switched off by a person.
  ADD COLUMN held boolean NOT NULL DEFAULT false,
  ADD COLUMN off_at timestamptz,
  ADD COLUMN off_by text NOT NULL DEFAULT '',
  ADD COLUMN off_reason text NOT NULL DEFAULT '';
UPDATE items SET held = true WHERE drift = 'changed' AND NOT active;

-- Knowledge is also linked to by the last part of its id.
CREATE INDEX items_last_part ON items (split_part(id, ':', -1)) WHERE kind = 'knowledge';

-- Derived from the links of items. What a link means is looked up after each sync. No foreign key says that it is
-- there: it may be in the namespace that everybody sees, and so on another server. A number is never given twice.
CREATE TABLE item_links (
  key bigint GENERATED ALWAYS AS IDENTITY,
  namespace text COLLATE "C" NOT NULL,
  item_key bigint NOT NULL,
  relation text COLLATE "C" NOT NULL,
  target text COLLATE "C" NOT NULL, -- as it is written
  target_key bigint,
  target_namespace text COLLATE "C",
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (key, namespace),
  FOREIGN KEY (item_key, namespace) REFERENCES items (key, namespace) ON DELETE CASCADE
);

CREATE INDEX item_links_item ON item_links (item_key);
CREATE INDEX item_links_target ON item_links (target_key);

-- It outlives the item.
CREATE TABLE item_history (
  key bigint GENERATED ALWAYS AS IDENTITY,
  namespace text COLLATE "C" NOT NULL,
  item_key bigint NOT NULL,
  item_id text COLLATE "C" NOT NULL,
  at timestamptz NOT NULL DEFAULT now(),
  event text NOT NULL,
  who text NOT NULL DEFAULT '',
  detail text NOT NULL DEFAULT '',
  PRIMARY KEY (key, namespace)
);

CREATE INDEX item_history_item ON item_history (item_id, namespace);

-- The name of old shows what was written under it, and what knowledge entries say themselves.
ALTER TABLE knowledge_relationships RENAME TO written_relationships;

CREATE VIEW knowledge_relationships WITH (security_invoker = true) AS
SELECT id, namespace, from_zettel_id, to_zettel_id, relationship_type, created_at FROM written_relationships
UNION ALL
SELECT md5(l.namespace || '/' || l.key)::uuid, l.namespace, i.id, t.id, l.relation, l.created_at
FROM item_links l
JOIN items i ON i.key = l.item_key AND i.namespace = l.namespace AND i.kind = 'knowledge' AND i.active
JOIN items t ON t.key = l.target_key AND t.namespace = l.namespace AND t.kind = 'knowledge' AND t.active
WHERE NOT EXISTS (SELECT FROM written_relationships w WHERE w.namespace = l.namespace
  AND w.from_zettel_id = i.id AND w.to_zettel_id = t.id AND w.relationship_type = l.relation);

ALTER VIEW knowledge_relationships ALTER COLUMN namespace SET DEFAULT 'public';

-- What an entry says itself stays as it is: nothing is found to change or to remove.
CREATE FUNCTION write_relationship() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'INSERT' AND NEW.id IS NULL AND NEW.created_at IS NULL THEN -- which is all that authors may
    INSERT INTO written_relationships (namespace, from_zettel_id, to_zettel_id, relationship_type)
    VALUES (NEW.namespace, NEW.from_zettel_id, NEW.to_zettel_id, NEW.relationship_type);
    RETURN NEW;
  ELSIF TG_OP = 'INSERT' THEN
    INSERT INTO written_relationships
    VALUES (coalesce(NEW.id, gen_random_uuid()), NEW.namespace, NEW.from_zettel_id, NEW.to_zettel_id,
      NEW.relationship_type, coalesce(NEW.created_at, now()));
    RETURN NEW;
  ELSIF TG_OP = 'UPDATE' THEN
    UPDATE written_relationships SET id = NEW.id, namespace = NEW.namespace, from_zettel_id = NEW.from_zettel_id,
      to_zettel_id = NEW.to_zettel_id, relationship_type = NEW.relationship_type, created_at = NEW.created_at
    WHERE id = OLD.id AND namespace = OLD.namespace AND from_zettel_id = OLD.from_zettel_id
      AND to_zettel_id = OLD.to_zettel_id AND relationship_type = OLD.relationship_type;
    RETURN CASE WHEN FOUND THEN NEW END;
  END IF;
  DELETE FROM written_relationships
  WHERE id = OLD.id AND namespace = OLD.namespace AND from_zettel_id = OLD.from_zettel_id
    AND to_zettel_id = OLD.to_zettel_id AND relationship_type = OLD.relationship_type;
  RETURN CASE WHEN FOUND THEN OLD END;
END $$;

CREATE TRIGGER write_relationship INSTEAD OF INSERT OR UPDATE OR DELETE ON knowledge_relationships
  FOR EACH ROW EXECUTE FUNCTION write_relationship();

-- Who may see and change what: docs/rights.md.

-- Lists of such objects as Python's reader takes; see readable_object.
CREATE FUNCTION readable_links(found json) RETURNS boolean LANGUAGE sql STABLE PARALLEL SAFE
RETURN CASE WHEN found IS JSON ARRAY WITH UNIQUE KEYS AND pg_input_is_valid(found::text, 'jsonb') THEN NOT EXISTS (
  SELECT FROM json_array_elements(found) AS each (said)
  WHERE CASE WHEN json_typeof(said) = 'object' THEN (
    SELECT count(*) <> 2 OR NOT bool_and(key IN ('relation', 'target') AND json_typeof(value) = 'string')
    FROM json_each(said)) ELSE true END)
  ELSE false END;

CREATE FUNCTION readable_permissions(found json) RETURNS boolean LANGUAGE sql STABLE PARALLEL SAFE
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

-- That a signature is trusted is for those to say who have checked it.
CREATE OR REPLACE FUNCTION readable_signature(found json) RETURNS boolean LANGUAGE sql STABLE PARALLEL SAFE
RETURN CASE WHEN readable_object(found) THEN (
  SELECT count(*) FILTER (WHERE key IN ('signer', 'algorithm', 'value', 'signed_at')) = 4
    AND bool_and(json_typeof(value) = 'string' AND CASE key WHEN 'state' THEN value #>> '{}' <> 'trusted'
      ELSE key IN ('signer', 'algorithm', 'value', 'signed_at', 'expires_at') END) FROM json_each(found))
  ELSE false END;

DO $$
DECLARE
  each text;
BEGIN
  FOREACH each IN ARRAY ARRAY['item_links', 'item_history'] LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', each);
    EXECUTE format('REVOKE ALL ON %I FROM PUBLIC, anon, authenticated, service_role', each);
    EXECUTE format('REVOKE ALL ON SEQUENCE %I FROM PUBLIC, anon, authenticated, service_role', each || '_key_seq');
    EXECUTE format('GRANT SELECT ON %I TO anon, authenticated', each);
    EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON %I TO service_role', each);
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

-- For members who see the item. By its number: another one may have its id by now. Nobody writes in anothers' name, and
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
-- Beside `sound`, and for the same reasons.
CREATE POLICY sound_too ON items AS RESTRICTIVE TO authenticated USING (true) WITH CHECK (
  readable_links(links) AND readable_permissions(permissions)
  AND coalesce(off_at, updated_at) BETWEEN '0002-01-01 00:00+00' AND '9999-01-01 00:00+00'
  AND coalesce(override_at, updated_at) BETWEEN '0002-01-01 00:00+00' AND '9999-01-01 00:00+00');
