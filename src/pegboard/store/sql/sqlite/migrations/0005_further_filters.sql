-- The skills that tools are assigned to, and an index for the filters that few searches have.

ALTER TABLE items ADD COLUMN skills TEXT NOT NULL DEFAULT '[]';

-- Beside items_seen and not in it: every search reads that one, and the narrower it is the quicker.
CREATE INDEX items_seen_further ON items
  (key, author, source_protocol, routing_domain, semantic_namespace, sensitivity_tier, target_personas, skills);
