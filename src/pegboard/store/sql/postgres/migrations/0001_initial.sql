-- The first schema. The namespace is the tenant: it is part of every primary and foreign key, so that the
-- tables can be spread over several servers by it. What is compared byte by byte is collated so.

CREATE EXTENSION IF NOT EXISTS vector;

-- Tags and skills as numbers: an index entry has a bound on its size, and a tag may exceed it.
CREATE FUNCTION label_keys(labels text[]) RETURNS integer[] LANGUAGE sql IMMUTABLE PARALLEL SAFE STRICT
RETURN ARRAY(SELECT hashtext(label) FROM unnest(labels) AS each(label));

CREATE TABLE items (
  key bigint GENERATED ALWAYS AS IDENTITY,
  namespace text COLLATE "C" NOT NULL DEFAULT 'public',
  uid uuid NOT NULL DEFAULT gen_random_uuid(),
  id text COLLATE "C" NOT NULL,
  kind text NOT NULL DEFAULT 'tool'
    CONSTRAINT items_kind_check CHECK (kind IN ('tool', 'skill', 'directive', 'knowledge')),
  active boolean NOT NULL DEFAULT true,
  scope text COLLATE "C" NOT NULL DEFAULT '',
  source text COLLATE "C" NOT NULL DEFAULT '',
  name text COLLATE "C" NOT NULL DEFAULT '',
  short_name text COLLATE "C" NOT NULL DEFAULT '',
  name_key text COLLATE "C" NOT NULL DEFAULT '',
  category text COLLATE "C" NOT NULL DEFAULT '',
  subcategory text COLLATE "C" NOT NULL DEFAULT '',
  tool_type text
    CONSTRAINT tools_tool_type_check CHECK (tool_type IN ('python', 'bash', 'api', 'docker', 'mcp')),
  tags text[] NOT NULL DEFAULT '{}',
  skills text[] NOT NULL DEFAULT '{}',
  visibility text NOT NULL DEFAULT 'public'
    CONSTRAINT tools_visibility_check CHECK (visibility IN ('public', 'unlisted', 'private')),
  author text COLLATE "C" NOT NULL DEFAULT '',
  source_protocol text NOT NULL DEFAULT '',
  routing_domain text NOT NULL DEFAULT '',
  semantic_namespace text NOT NULL DEFAULT '',
  sensitivity_tier text NOT NULL DEFAULT '',
  target_personas text[] NOT NULL DEFAULT '{}',
  semantic_weight double precision NOT NULL DEFAULT 1.0,
  official boolean NOT NULL DEFAULT false,

  source_hash text NOT NULL DEFAULT '',
  embedding_status text NOT NULL DEFAULT 'disabled'
    CONSTRAINT items_embedding_status_check
    CHECK (embedding_status IN ('pending', 'ready', 'failed', 'disabled', 'blank')),
  embedding_model text NOT NULL DEFAULT '',
  embedding_dimension integer,
  embedded_at timestamptz,
  embedding_error text NOT NULL DEFAULT '',

  content_hash text NOT NULL DEFAULT '',
  text_version integer NOT NULL DEFAULT 0,
  approved_hash text NOT NULL DEFAULT '',
  drift text NOT NULL DEFAULT 'none'
    CONSTRAINT items_drift_check CHECK (drift IN ('none', 'changed', 'missing')),
  drift_at timestamptz,
  description_source text NOT NULL DEFAULT 'source',
  manual_override boolean NOT NULL DEFAULT false,
  override_at timestamptz,
  override_by text NOT NULL DEFAULT '',
  download_count integer NOT NULL DEFAULT 0,
  quality_score double precision
    CONSTRAINT items_quality_score_check CHECK (quality_score BETWEEN 0 AND 9.99),
  success_rate double precision
    CONSTRAINT items_success_rate_check CHECK (success_rate BETWEEN 0 AND 9.99),
  estimated_cost_usd double precision
    CONSTRAINT items_estimated_cost_check CHECK (estimated_cost_usd BETWEEN 0 AND 99999999.99),
  latest_version text,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),

  origin text COLLATE "C" NOT NULL DEFAULT '',
  origin_hash text NOT NULL DEFAULT '',
  endpoint text NOT NULL DEFAULT '',
  aliases text[] NOT NULL DEFAULT '{}',
  keywords text[] NOT NULL DEFAULT '{}',
  tech_stack text[] NOT NULL DEFAULT '{}',
  examples text[] NOT NULL DEFAULT '{}',
  executor json NOT NULL DEFAULT '{}',
  signature json,
  description text NOT NULL DEFAULT '',
  imported_description text NOT NULL DEFAULT '',
  input_schema json NOT NULL DEFAULT '{}',
  output_schema json NOT NULL DEFAULT '{}',
  body text NOT NULL DEFAULT '',
  PRIMARY KEY (key, namespace),
  UNIQUE (namespace, id)
) WITH (fillfactor = 85); -- embedding marks rows, and finds room for them on the same page

-- What search asks of an item, without the item's own wide row.
CREATE INDEX items_seen ON items (key) INCLUDE (namespace, id, active, visibility);
CREATE UNIQUE INDEX items_uid ON items (uid, namespace);
CREATE INDEX items_source ON items (source, origin);
CREATE INDEX items_id ON items (id, namespace);
CREATE INDEX items_name ON items (name);
CREATE INDEX items_short_name ON items (short_name);
CREATE INDEX items_name_key ON items (name_key);
CREATE INDEX items_namespace ON items (namespace, category);
CREATE INDEX items_category ON items (category);
CREATE INDEX items_tool_type ON items (kind, tool_type);
CREATE INDEX items_author ON items (author) WHERE author <> '';
CREATE INDEX items_tags ON items USING gin (label_keys(tags));
CREATE INDEX items_skills ON items USING gin (label_keys(skills));
CREATE INDEX items_changed ON items (drift) WHERE drift = 'changed';

CREATE TABLE item_versions (
  key bigint GENERATED ALWAYS AS IDENTITY,
  namespace text COLLATE "C" NOT NULL,
  uid uuid NOT NULL DEFAULT gen_random_uuid(),
  item_key bigint NOT NULL,
  version text NOT NULL,
  manifest json NOT NULL,
  manifest_text text,
  content_hash text NOT NULL,
  changelog text NOT NULL DEFAULT '',
  yanked boolean NOT NULL DEFAULT false,
  published_at timestamptz NOT NULL DEFAULT now(),
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (key, namespace),
  UNIQUE (item_key, version, namespace),
  FOREIGN KEY (item_key, namespace) REFERENCES items (key, namespace) ON DELETE CASCADE
);

CREATE UNIQUE INDEX item_versions_uid ON item_versions (uid, namespace);

CREATE TABLE version_files (
  key bigint GENERATED ALWAYS AS IDENTITY,
  namespace text COLLATE "C" NOT NULL,
  uid uuid NOT NULL DEFAULT gen_random_uuid(),
  version_key bigint NOT NULL,
  path text COLLATE "C" NOT NULL,
  media_type text NOT NULL,
  sha256 text NOT NULL,
  size_bytes bigint NOT NULL,
  executable boolean NOT NULL DEFAULT false,
  content bytea,
  storage_key text,
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (key, namespace),
  UNIQUE (version_key, path, namespace),
  FOREIGN KEY (version_key, namespace) REFERENCES item_versions (key, namespace) ON DELETE CASCADE
);

CREATE INDEX version_files_storage_key ON version_files (storage_key) WHERE storage_key IS NOT NULL;
CREATE INDEX version_files_sha256 ON version_files (sha256, storage_key) WHERE storage_key IS NOT NULL;

-- Large files lie elsewhere. Boards that share a place tell theirs apart by this name.
CREATE TABLE board (
  one integer PRIMARY KEY CHECK (one = 1),
  id text NOT NULL
);

INSERT INTO board VALUES (1, substr(replace(gen_random_uuid()::text, '-', ''), 1, 16));

-- The words of each item, ready-made by pegboard.text: how often, weighted by the field, and among how many.
-- This is what BM25 needs; a tsvector has no place for it.
CREATE TABLE item_terms (
  term text COLLATE "C" NOT NULL,
  item_key bigint NOT NULL,
  namespace text COLLATE "C" NOT NULL,
  frequency real NOT NULL,
  length integer NOT NULL,
  PRIMARY KEY (term, item_key, namespace) INCLUDE (frequency, length),
  FOREIGN KEY (item_key, namespace) REFERENCES items (key, namespace) ON DELETE CASCADE
) WITH (autovacuum_vacuum_insert_scale_factor = 0.05);

CREATE INDEX item_terms_item ON item_terms (item_key);

-- The same item for PostgreSQL's own text search, by kind. Only the functions for SQL clients look here.
CREATE TABLE item_texts (
  kind text NOT NULL,
  item_key bigint NOT NULL,
  namespace text COLLATE "C" NOT NULL,
  length integer NOT NULL, -- terms in item_terms
  name text NOT NULL DEFAULT '',
  description text NOT NULL DEFAULT '',
  content text NOT NULL DEFAULT '',
  fts tsvector GENERATED ALWAYS AS (
    setweight(to_tsvector('english', left(name, 10000) || ' ' -- also by the words of camelCase
      || regexp_replace(left(name, 10000), '([a-z0-9])([A-Z])', '\1 \2', 'g')), 'A') ||
    setweight(to_tsvector('english', left(description, 50000)), 'B') ||
    setweight(to_tsvector('english', left(content, 50000)), 'C')) STORED,
  PRIMARY KEY (item_key, kind, namespace),
  FOREIGN KEY (item_key, namespace) REFERENCES items (key, namespace) ON DELETE CASCADE
) PARTITION BY LIST (kind);

CREATE TABLE tool_texts PARTITION OF item_texts FOR VALUES IN ('tool');
CREATE TABLE skill_texts PARTITION OF item_texts FOR VALUES IN ('skill');
CREATE TABLE directive_texts PARTITION OF item_texts FOR VALUES IN ('directive');
CREATE TABLE knowledge_texts PARTITION OF item_texts FOR VALUES IN ('knowledge');
CREATE INDEX item_texts_fts ON item_texts USING gin (fts);

-- Each word of names, aliases, categories and tags under itself and under itself less one letter.
CREATE TABLE word_variants (
  variant text COLLATE "C" NOT NULL,
  word text COLLATE "C" NOT NULL,
  namespace text COLLATE "C" NOT NULL,
  PRIMARY KEY (variant, word, namespace)
);

-- Terms that a large part of a large board has, counted when the board has changed much. Those of the whole board
-- have no namespace.
CREATE TABLE common_terms (
  term text COLLATE "C" NOT NULL,
  namespace text COLLATE "C" NOT NULL,
  items integer NOT NULL,
  PRIMARY KEY (term, namespace)
);

CREATE TABLE census (
  namespace text COLLATE "C" PRIMARY KEY,
  items bigint NOT NULL,
  terms bigint NOT NULL,
  taken_at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE fingerprints (
  key integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  provider text NOT NULL,
  model text NOT NULL,
  dimension integer NOT NULL,
  text_version integer NOT NULL,
  UNIQUE (provider, model, dimension, text_version)
);

-- How to ask each model: as it was written, a reference to a key and never the key.
CREATE TABLE models (
  fingerprint integer PRIMARY KEY REFERENCES fingerprints (key),
  spec json NOT NULL
);

-- One row: which model's vectors are searched, which one's are being made. The switch is one update of it.
CREATE TABLE model_choice (
  one integer PRIMARY KEY CHECK (one = 1),
  active integer REFERENCES models (fingerprint),
  wanted integer REFERENCES models (fingerprint) CHECK (wanted <> active), -- while it is being built
  previous integer REFERENCES models (fingerprint),
  chosen boolean NOT NULL DEFAULT false -- by a person, and so no settings change it
);

INSERT INTO model_choice (one) VALUES (1);

-- A vector is here only while its item still has the text it was made from. Each kind has its own table, and
-- each fingerprint its own HNSW index in it, made when there are enough vectors (nearest.sql).
CREATE TABLE vectors (
  kind text NOT NULL,
  item_key bigint NOT NULL,
  fingerprint integer NOT NULL REFERENCES fingerprints (key),
  namespace text COLLATE "C" NOT NULL,
  source_hash text NOT NULL,
  embedding vector NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (item_key, fingerprint, kind, namespace),
  FOREIGN KEY (item_key, namespace) REFERENCES items (key, namespace) ON DELETE CASCADE
) PARTITION BY LIST (kind);

CREATE TABLE tool_vectors PARTITION OF vectors FOR VALUES IN ('tool');
CREATE TABLE skill_vectors PARTITION OF vectors FOR VALUES IN ('skill');
CREATE TABLE directive_vectors PARTITION OF vectors FOR VALUES IN ('directive');
CREATE TABLE knowledge_vectors PARTITION OF vectors FOR VALUES IN ('knowledge');
CREATE INDEX vectors_namespace ON vectors (fingerprint, namespace);

-- The outbox. A finished task is deleted in the transaction that hangs its vector. `host_id` is the tenant,
-- that is the namespace; `entity_id` is the key of the item.
CREATE TABLE embedding_tasks (
  host_id text COLLATE "C" NOT NULL,
  task_id bigint GENERATED ALWAYS AS IDENTITY,
  entity_type text NOT NULL,
  entity_id bigint NOT NULL,
  source_table text NOT NULL DEFAULT 'items',
  source_hash text NOT NULL,
  source_version integer NOT NULL DEFAULT 0,
  source_text text NOT NULL,
  fingerprint integer NOT NULL REFERENCES fingerprints (key),
  status text NOT NULL DEFAULT 'pending'
    CONSTRAINT embedding_tasks_status_check CHECK (status IN ('pending', 'running', 'ready', 'failed')),
  attempt_count integer NOT NULL DEFAULT 0,
  next_attempt_ts timestamptz NOT NULL DEFAULT '-infinity',
  lease_owner text,
  lease_until timestamptz,
  last_error text NOT NULL DEFAULT '',
  created_ts timestamptz NOT NULL DEFAULT now(),
  update_ts timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (task_id, host_id),
  UNIQUE (entity_id, source_hash, fingerprint, entity_type, host_id),
  FOREIGN KEY (entity_id, host_id) REFERENCES items (key, namespace) ON DELETE CASCADE
) WITH (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.02);

CREATE INDEX embedding_tasks_fresh ON embedding_tasks (fingerprint, host_id, next_attempt_ts, task_id)
  WHERE status = 'pending' AND attempt_count = 0;
CREATE INDEX embedding_tasks_again ON embedding_tasks (fingerprint, attempt_count, task_id)
  WHERE status = 'pending' AND attempt_count > 0;
CREATE INDEX embedding_tasks_held ON embedding_tasks (fingerprint, lease_until) WHERE status = 'running';
CREATE INDEX embedding_tasks_owner ON embedding_tasks (lease_owner) WHERE status = 'running';
CREATE INDEX embedding_tasks_failed ON embedding_tasks (fingerprint) WHERE status = 'failed';

CREATE TABLE sources (
  name text COLLATE "C" NOT NULL,
  namespace text COLLATE "C" NOT NULL DEFAULT 'public',
  kind text NOT NULL,
  location text NOT NULL,
  added_at timestamptz NOT NULL DEFAULT now(),
  synced_at timestamptz,
  PRIMARY KEY (name, namespace)
);

CREATE TABLE rejections (
  source text COLLATE "C" NOT NULL,
  origin text COLLATE "C" NOT NULL,
  namespace text COLLATE "C" NOT NULL DEFAULT 'public',
  origin_hash text NOT NULL,
  code text NOT NULL,
  reason text NOT NULL,
  rejected_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (source, origin, namespace)
);

CREATE TABLE mcp_servers (
  name text COLLATE "C" NOT NULL,
  namespace text COLLATE "C" NOT NULL DEFAULT 'public',
  config json NOT NULL, -- as it was written: references to secrets, never secrets
  enabled boolean NOT NULL DEFAULT true,
  declared_in text NOT NULL DEFAULT '',
  health text NOT NULL DEFAULT 'unknown'
    CONSTRAINT mcp_servers_health_check CHECK (health IN ('unknown', 'live', 'down')),
  error text NOT NULL DEFAULT '',
  tools integer NOT NULL DEFAULT 0,
  checked_at timestamptz,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (name, namespace),
  FOREIGN KEY (name, namespace) REFERENCES sources (name, namespace) ON UPDATE CASCADE ON DELETE CASCADE
);

-- Only of items that have changed since: the others are still what was approved.
CREATE TABLE approved_definitions (
  item_key bigint NOT NULL,
  namespace text COLLATE "C" NOT NULL,
  definition json NOT NULL,
  PRIMARY KEY (item_key, namespace),
  FOREIGN KEY (item_key, namespace) REFERENCES items (key, namespace) ON DELETE CASCADE
);
