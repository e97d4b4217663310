AND (%(active)s::boolean IS NULL OR i.active = %(active)s::boolean) AND i.visibility = 'public'
AND (%(kinds)s::text[] IS NULL OR i.kind = ANY(%(kinds)s::text[]))
AND (%(namespaces)s::text[] IS NULL OR i.namespace = ANY(%(namespaces)s::text[]))
AND (%(categories)s::text[] IS NULL OR i.category = ANY(%(categories)s::text[]))
AND (%(tool_types)s::text[] IS NULL OR i.tool_type = ANY(%(tool_types)s::text[]))
AND (%(sources)s::text[] IS NULL OR i.scope = ANY(%(sources)s::text[]) OR i.source = ANY(%(sources)s::text[]))
AND (%(tags)s::text[] IS NULL
     OR (label_keys(i.tags) && label_keys(%(tags)s::text[]) AND i.tags && %(tags)s::text[]))
AND (%(live)s::text[] IS NULL OR (i.active AND i.tool_type IS NOT NULL AND (i.tool_type <> 'mcp' OR i.source = ANY(%(live)s::text[]))))
AND (%(authors)s::text[] IS NULL OR i.author = ANY(%(authors)s::text[]))
AND (%(protocols)s::text[] IS NULL OR i.source_protocol = ANY(%(protocols)s::text[]))
AND (%(domains)s::text[] IS NULL OR i.routing_domain = ANY(%(domains)s::text[]))
AND (%(semantic_namespaces)s::text[] IS NULL OR i.semantic_namespace = ANY(%(semantic_namespaces)s::text[]))
AND (%(sensitivity_tiers)s::text[] IS NULL OR i.sensitivity_tier = ANY(%(sensitivity_tiers)s::text[]))
AND (%(personas)s::text[] IS NULL OR i.target_personas && %(personas)s::text[])
AND (%(skills)s::text[] IS NULL
     OR (label_keys(i.skills) && label_keys(%(skills)s::text[]) AND i.skills && %(skills)s::text[])
     OR i.key = ANY(ARRAY(
       SELECT l.target_key FROM items s JOIN item_links l ON l.item_key = s.key AND l.namespace = s.namespace
       WHERE s.name = ANY(%(skills)s::text[]) AND s.kind = 'skill' AND l.relation = 'uses'
         AND s.active AND s.visibility = 'public'
         AND (%(namespaces)s::text[] IS NULL OR s.namespace = ANY(%(namespaces)s::text[])))))
-- Whoever may not see an item does not learn what it is tied to.
AND (%(linked)s::text[] IS NULL OR i.key = ANY(ARRAY(
  WITH ends AS (
    SELECT e.key, e.namespace, e.id FROM items e
    WHERE e.id = ANY(%(linked)s::text[]) AND e.active AND e.visibility = 'public'
      AND (%(namespaces)s::text[] IS NULL OR e.namespace = ANY(%(namespaces)s::text[])))
  SELECT l.target_key FROM ends e JOIN item_links l ON l.item_key = e.key AND l.namespace = e.namespace
  UNION ALL
  SELECT l.item_key FROM ends e JOIN item_links l ON l.target_key = e.key AND l.target_namespace = e.namespace
  UNION ALL
  SELECT t.key FROM ends e JOIN written_relationships w ON w.namespace = e.namespace AND w.from_zettel_id = e.id
  JOIN items t ON t.namespace = w.namespace AND t.id = w.to_zettel_id
  UNION ALL
  SELECT f.key FROM ends e JOIN written_relationships w ON w.namespace = e.namespace AND w.to_zettel_id = e.id
  JOIN items f ON f.namespace = w.namespace AND f.id = w.from_zettel_id)))
