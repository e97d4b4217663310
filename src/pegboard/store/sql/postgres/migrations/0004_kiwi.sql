-- What rows of an older registry (pegboard db import-kiwi) had and a board cannot have: empty columns, and version
-- numbers that are not semantic. Whoever reads the old names is shown them as they were. Of an item (version '') and of
-- each of its versions.
CREATE TABLE kiwi_nulls (
  item_key bigint NOT NULL,
  namespace text COLLATE "C" NOT NULL,
  version text NOT NULL DEFAULT '',
  columns text[] NOT NULL,
  number text,
  PRIMARY KEY (item_key, version, namespace),
  FOREIGN KEY (item_key, namespace) REFERENCES items (key, namespace) ON DELETE CASCADE
);

ALTER TABLE kiwi_nulls ENABLE ROW LEVEL SECURITY;
REVOKE ALL ON kiwi_nulls FROM PUBLIC, anon, authenticated, service_role;
GRANT SELECT ON kiwi_nulls TO anon, authenticated;
GRANT SELECT, INSERT, UPDATE, DELETE ON kiwi_nulls TO service_role;
CREATE POLICY service ON kiwi_nulls TO service_role USING (true) WITH CHECK (true);
CREATE POLICY read ON kiwi_nulls FOR SELECT TO anon, authenticated USING (
  namespace = ANY ((SELECT caller_namespaces() || 'public'::text)::text[]) AND EXISTS (
    SELECT FROM items i WHERE i.key = kiwi_nulls.item_key AND i.namespace = kiwi_nulls.namespace));

-- Shown as empty only while it is what an empty value became.
CREATE OR REPLACE VIEW scripts_compat WITH (security_invoker = true) AS
SELECT i.uid AS id, i.name,
  nullif(i.category, CASE WHEN 'category' = ANY (n.columns) THEN '' END) AS category,
  nullif(i.subcategory, CASE WHEN 'subcategory' = ANY (n.columns) THEN '' END) AS subcategory,
  nullif(i.description, CASE WHEN 'description' = ANY (n.columns) THEN '' END) AS description,
  nullif(i.official, CASE WHEN 'is_official' = ANY (n.columns) THEN false END) AS is_official,
  nullif(i.download_count, CASE WHEN 'download_count' = ANY (n.columns) THEN 0 END) AS download_count,
  i.quality_score::numeric(3, 2) AS quality_score,
  nullif(i.tech_stack, CASE WHEN 'tech_stack' = ANY (n.columns) THEN '{}'::text[] END) AS tech_stack,
  nullif(i.tags, CASE WHEN 'tags' = ANY (n.columns) THEN '{}'::text[] END) AS tags,
  i.success_rate::numeric(3, 2) AS success_rate, i.estimated_cost_usd::numeric(10, 2) AS estimated_cost_usd,
  CASE WHEN 'version' = ANY (l.columns) THEN NULL ELSE coalesce(l.number, i.latest_version) END AS latest_version,
  CASE WHEN 'created_at' = ANY (n.columns) THEN NULL ELSE i.created_at END AS created_at,
  nullif(i.updated_at, CASE WHEN 'updated_at' = ANY (n.columns) THEN i.created_at END) AS updated_at
FROM items i LEFT JOIN kiwi_nulls n ON n.item_key = i.key AND n.namespace = i.namespace AND n.version = ''
LEFT JOIN kiwi_nulls l ON l.item_key = i.key AND l.namespace = i.namespace AND l.version = i.latest_version
WHERE i.kind = 'tool' AND i.active AND i.tool_type = 'python';

CREATE OR REPLACE VIEW script_versions_compat WITH (security_invoker = true) AS
SELECT v.uid AS id, i.uid AS script_id,
  CASE WHEN 'version' = ANY (n.columns) THEN NULL ELSE coalesce(n.number, v.version) END AS version,
  as_text(f.content) AS content,
  CASE WHEN 'content_hash' = ANY (n.columns) THEN NULL ELSE v.content_hash END AS content_hash,
  CASE WHEN 'changelog' = ANY (n.columns) THEN NULL ELSE v.changelog END AS changelog,
  CASE WHEN 'created_at' = ANY (n.columns) THEN NULL ELSE v.created_at END AS created_at
FROM items i JOIN item_versions v ON v.item_key = i.key AND v.namespace = i.namespace
LEFT JOIN version_files f ON f.version_key = v.key AND f.namespace = v.namespace
  AND f.path = coalesce(i.executor ->> 'entrypoint', 'main.py')
LEFT JOIN kiwi_nulls n ON n.item_key = i.key AND n.namespace = i.namespace AND n.version = v.version
WHERE i.kind = 'tool' AND i.active AND i.tool_type = 'python';
