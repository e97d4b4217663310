  place integer, key bigint,
  namespace text, id text, kind text, active boolean, scope text, source text, name text, title text, card text, short_name
  text, name_key text, category text, subcategory text, tool_type text, tags text[], skills text[],
  visibility text, author text, source_protocol text, routing_domain text, semantic_namespace text,
  sensitivity_tier text, target_personas text[], semantic_weight float8, official boolean, source_hash
  text, embedding_status text, content_hash text, text_version integer, approved_hash text, drift text,
  latest_version text, origin text, origin_hash text, endpoint text, aliases text[], keywords text[],
  tech_stack text[], examples text[], executor json, signature json, description text,
  imported_description text, imported_tags text[], input_schema json, output_schema json, body text, held boolean, links json,
  permissions json, deprecated boolean, replacement text
