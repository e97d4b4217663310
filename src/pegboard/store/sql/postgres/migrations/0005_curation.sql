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
