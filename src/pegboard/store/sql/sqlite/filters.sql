AND i.active AND i.visibility = 'public'
AND (:kinds IS NULL OR i.kind IN (SELECT value FROM json_each(:kinds)))
AND (:namespaces IS NULL OR i.namespace IN (SELECT value FROM json_each(:namespaces)))
AND (:categories IS NULL OR i.category IN (SELECT value FROM json_each(:categories)))
AND (:tool_types IS NULL OR i.tool_type IN (SELECT value FROM json_each(:tool_types)))
AND (:sources IS NULL OR i.scope IN (SELECT value FROM json_each(:sources))
     OR i.source IN (SELECT value FROM json_each(:sources)))
AND (:tags IS NULL OR EXISTS (SELECT 1 FROM json_each(i.tags) t
     WHERE t.value IN (SELECT value FROM json_each(:tags))))
AND (:live IS NULL OR (i.tool_type = 'mcp' AND i.source IN (SELECT value FROM json_each(:live))))
