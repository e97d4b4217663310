AND (:active IS NULL OR i.active = :active) AND i.visibility = 'public'
AND (:kinds IS NULL OR i.kind IN (SELECT value FROM json_each(:kinds)))
AND (:namespaces IS NULL OR i.namespace IN (SELECT value FROM json_each(:namespaces)))
AND (:categories IS NULL OR i.category IN (SELECT value FROM json_each(:categories)))
AND (:tool_types IS NULL OR i.tool_type IN (SELECT value FROM json_each(:tool_types)))
AND (:sources IS NULL OR i.scope IN (SELECT value FROM json_each(:sources))
     OR i.source IN (SELECT value FROM json_each(:sources)))
AND (:tags IS NULL OR EXISTS (SELECT 1 FROM json_each(i.tags) t
     WHERE t.value IN (SELECT value FROM json_each(:tags))))
AND (:live IS NULL OR (i.active AND i.tool_type IS NOT NULL AND (i.tool_type <> 'mcp'
     OR i.source IN (SELECT value FROM json_each(:live)))))
-- What few searches ask for is looked up in an index of its own, and only by them.
AND (coalesce(:authors, :protocols, :domains, :semantic_namespaces, :sensitivity_tiers, :personas,
     :skills) IS NULL OR EXISTS (
  SELECT 1 FROM items f INDEXED BY items_seen_further WHERE f.key = i.key
  AND (:authors IS NULL OR f.author IN (SELECT value FROM json_each(:authors)))
  AND (:protocols IS NULL OR f.source_protocol IN (SELECT value FROM json_each(:protocols)))
  AND (:domains IS NULL OR f.routing_domain IN (SELECT value FROM json_each(:domains)))
  AND (:semantic_namespaces IS NULL
       OR f.semantic_namespace IN (SELECT value FROM json_each(:semantic_namespaces)))
  AND (:sensitivity_tiers IS NULL
       OR f.sensitivity_tier IN (SELECT value FROM json_each(:sensitivity_tiers)))
  AND (:personas IS NULL OR EXISTS (SELECT 1 FROM json_each(f.target_personas) p
       WHERE p.value IN (SELECT value FROM json_each(:personas))))
  AND (:skills IS NULL OR EXISTS (SELECT 1 FROM json_each(f.skills) s
       WHERE s.value IN (SELECT value FROM json_each(:skills)))
       OR f.key IN (SELECT l.target_key FROM items s CROSS JOIN item_links l ON l.item_key = s.key
         WHERE s.name IN (SELECT value FROM json_each(:skills)) AND s.kind = 'skill' AND l.relation = 'uses'
           AND s.active AND s.visibility = 'public'
           AND (:namespaces IS NULL OR s.namespace IN (SELECT value FROM json_each(:namespaces)))))))
-- Whoever may not see an item does not learn what it is tied to.
AND (:linked IS NULL OR i.key IN (
  SELECT l.target_key FROM items e CROSS JOIN item_links l ON l.item_key = e.key
  WHERE e.id IN (SELECT value FROM json_each(:linked)) AND e.active AND e.visibility = 'public'
    AND (:namespaces IS NULL OR e.namespace IN (SELECT value FROM json_each(:namespaces)))
  UNION ALL
  SELECT l.item_key FROM items e CROSS JOIN item_links l ON l.target_key = e.key
  WHERE e.id IN (SELECT value FROM json_each(:linked)) AND e.active AND e.visibility = 'public'
    AND (:namespaces IS NULL OR e.namespace IN (SELECT value FROM json_each(:namespaces)))))
