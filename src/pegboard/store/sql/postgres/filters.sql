AND (%(active)s::boolean IS NULL OR i.active = %(active)s::boolean) AND i.visibility = 'public'
AND (%(kinds)s::text[] IS NULL OR i.kind = ANY(%(kinds)s::text[]))
AND (%(namespaces)s::text[] IS NULL OR i.namespace = ANY(%(namespaces)s::text[]))
AND (%(categories)s::text[] IS NULL OR i.category = ANY(%(categories)s::text[]))
AND (%(tool_types)s::text[] IS NULL OR i.tool_type = ANY(%(tool_types)s::text[]))
AND (%(sources)s::text[] IS NULL OR i.scope = ANY(%(sources)s::text[]) OR i.source = ANY(%(sources)s::text[]))
AND (%(tags)s::text[] IS NULL
     OR (label_keys(i.tags) && label_keys(%(tags)s::text[]) AND i.tags && %(tags)s::text[]))
AND (%(live)s::text[] IS NULL OR (i.active AND i.tool_type = 'mcp' AND i.source = ANY(%(live)s::text[])))
AND (%(authors)s::text[] IS NULL OR i.author = ANY(%(authors)s::text[]))
AND (%(protocols)s::text[] IS NULL OR i.source_protocol = ANY(%(protocols)s::text[]))
AND (%(domains)s::text[] IS NULL OR i.routing_domain = ANY(%(domains)s::text[]))
AND (%(semantic_namespaces)s::text[] IS NULL OR i.semantic_namespace = ANY(%(semantic_namespaces)s::text[]))
AND (%(sensitivity_tiers)s::text[] IS NULL OR i.sensitivity_tier = ANY(%(sensitivity_tiers)s::text[]))
AND (%(personas)s::text[] IS NULL OR i.target_personas && %(personas)s::text[])
AND (%(skills)s::text[] IS NULL
     OR (label_keys(i.skills) && label_keys(%(skills)s::text[]) AND i.skills && %(skills)s::text[]))
