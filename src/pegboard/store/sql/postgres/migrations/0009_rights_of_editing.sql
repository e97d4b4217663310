-- Tags that people give, and who may: docs/explanation/rights.md. What the source says is kept beside them, and only there. It goes on
-- with 0002 and 0007: nothing here fails, or does harm, when all three are run again, one after the other.

ALTER TABLE items
  ADD COLUMN IF NOT EXISTS imported_tags text[],
  ADD COLUMN IF NOT EXISTS tags_override_at timestamptz,
  ADD COLUMN IF NOT EXISTS tags_override_by text NOT NULL DEFAULT '';

GRANT UPDATE (imported_tags, tags_override_at, tags_override_by) ON items TO authenticated;
-- Beside `sound` and `sound_too`, and for the same reasons.
DROP POLICY IF EXISTS sound_tags ON items;
CREATE POLICY sound_tags ON items AS RESTRICTIVE TO authenticated USING (true) WITH CHECK (
  plain_list(imported_tags)
  AND coalesce(tags_override_at, updated_at) BETWEEN '0002-01-01 00:00+00' AND '9999-01-01 00:00+00');

-- As before, with what can happen since.
DROP POLICY IF EXISTS add ON item_history;
CREATE POLICY add ON item_history FOR INSERT TO authenticated WITH CHECK (
  namespace = ANY ((SELECT caller_namespaces())::text[]) AND who IN ('', (SELECT caller_subject()))
  AND event IN ('missing', 'returned', 'changed', 'held', 'approved', 'described', 'tagged', 'reset', 'deactivated',
    'activated', 'purged', 'removed')
  AND length(detail) <= 2000
  AND EXISTS (SELECT FROM items i WHERE i.key = item_key AND i.namespace = item_history.namespace
    AND i.id = item_id AND i.author = (SELECT caller_subject())));
