-- The first schema. Columns that filters read stand first: a scan then never reaches a row's overflow pages.

CREATE TABLE items (
  key INTEGER PRIMARY KEY,
  namespace TEXT NOT NULL DEFAULT 'public',
  id TEXT NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('tool', 'skill', 'directive', 'knowledge')),
  active INTEGER NOT NULL DEFAULT 1 CHECK (active IN (0, 1)),
  scope TEXT NOT NULL,
  source TEXT NOT NULL,
  name TEXT NOT NULL,
  short_name TEXT NOT NULL,
  category TEXT NOT NULL DEFAULT '',
  subcategory TEXT NOT NULL DEFAULT '',
  tool_type TEXT CHECK (tool_type IN ('python', 'bash', 'api', 'docker', 'mcp')),
  tags TEXT NOT NULL DEFAULT '[]',
  visibility TEXT NOT NULL DEFAULT 'public' CHECK (visibility IN ('public', 'unlisted', 'private')),
  author TEXT NOT NULL DEFAULT '',
  source_protocol TEXT NOT NULL DEFAULT '',
  routing_domain TEXT NOT NULL DEFAULT '',
  semantic_namespace TEXT NOT NULL DEFAULT '',
  sensitivity_tier TEXT NOT NULL DEFAULT '',
  target_personas TEXT NOT NULL DEFAULT '[]',
  semantic_weight REAL NOT NULL DEFAULT 1.0,
  official INTEGER NOT NULL DEFAULT 0,

  source_hash TEXT NOT NULL,
  embedding_status TEXT NOT NULL
    CHECK (embedding_status IN ('pending', 'ready', 'failed', 'disabled', 'blank')),
  embedding_model TEXT NOT NULL DEFAULT '',
  embedding_dimension INTEGER,
  embedded_at REAL,
  embedding_error TEXT NOT NULL DEFAULT '',

  content_hash TEXT NOT NULL,
  text_version INTEGER NOT NULL,
  approved_hash TEXT NOT NULL DEFAULT '',
  drift TEXT NOT NULL DEFAULT 'none' CHECK (drift IN ('none', 'changed', 'missing')),
  drift_at REAL,
  description_source TEXT NOT NULL DEFAULT 'source',
  manual_override INTEGER NOT NULL DEFAULT 0,
  override_at REAL,
  override_by TEXT NOT NULL DEFAULT '',
  download_count INTEGER NOT NULL DEFAULT 0,
  quality_score REAL,
  success_rate REAL,
  estimated_cost_usd REAL,
  latest_version TEXT,
  created_at REAL NOT NULL,
  updated_at REAL NOT NULL,

  origin TEXT NOT NULL DEFAULT '',
  origin_hash TEXT NOT NULL DEFAULT '',
  endpoint TEXT NOT NULL DEFAULT '',
  aliases TEXT NOT NULL DEFAULT '[]',
  keywords TEXT NOT NULL DEFAULT '[]',
  tech_stack TEXT NOT NULL DEFAULT '[]',
  examples TEXT NOT NULL DEFAULT '[]',
  executor TEXT NOT NULL DEFAULT '{}',
  signature TEXT,
  description TEXT NOT NULL DEFAULT '',
  imported_description TEXT NOT NULL DEFAULT '',
  input_schema TEXT NOT NULL DEFAULT '{}',
  output_schema TEXT NOT NULL DEFAULT '{}',
  body TEXT NOT NULL DEFAULT '',
  UNIQUE (namespace, id)
) STRICT;

CREATE INDEX items_source ON items (source, origin);
CREATE INDEX items_id ON items (id);
CREATE INDEX items_name ON items (name);
CREATE INDEX items_short_name ON items (short_name);

CREATE TABLE item_versions (
  key INTEGER PRIMARY KEY,
  item_key INTEGER NOT NULL REFERENCES items (key) ON DELETE CASCADE,
  version TEXT NOT NULL,
  manifest TEXT NOT NULL,
  manifest_text TEXT,
  content_hash TEXT NOT NULL,
  changelog TEXT NOT NULL DEFAULT '',
  yanked INTEGER NOT NULL DEFAULT 0,
  created_at REAL NOT NULL,
  UNIQUE (item_key, version)
) STRICT;

CREATE TABLE version_files (
  key INTEGER PRIMARY KEY,
  version_key INTEGER NOT NULL REFERENCES item_versions (key) ON DELETE CASCADE,
  path TEXT NOT NULL,
  media_type TEXT NOT NULL,
  sha256 TEXT NOT NULL,
  size_bytes INTEGER NOT NULL,
  executable INTEGER NOT NULL DEFAULT 0,
  content BLOB,
  storage_key TEXT,
  UNIQUE (version_key, path)
) STRICT;

-- Terms come ready-made from pegboard.text, so this tokenizer only has to cut at spaces.
CREATE VIRTUAL TABLE item_terms USING fts5 (
  name, aliases, labels, description, parameters, body,
  content = '', contentless_delete = 1,
  tokenize = "unicode61 remove_diacritics 0 categories 'L* N* Co M*'"
);

CREATE TABLE fingerprints (
  key INTEGER PRIMARY KEY,
  provider TEXT NOT NULL,
  model TEXT NOT NULL,
  dimension INTEGER NOT NULL,
  text_version INTEGER NOT NULL,
  UNIQUE (provider, model, dimension, text_version)
) STRICT;

-- A vector is here only while its item still has the text it was made from.
CREATE TABLE vectors (
  item_key INTEGER NOT NULL REFERENCES items (key) ON DELETE CASCADE,
  fingerprint INTEGER NOT NULL REFERENCES fingerprints (key),
  source_hash TEXT NOT NULL,
  vector BLOB NOT NULL,
  created_at REAL NOT NULL,
  UNIQUE (item_key, fingerprint)
) STRICT;

-- The outbox. A finished task is deleted in the transaction that hangs its vector.
CREATE TABLE embedding_tasks (
  id INTEGER PRIMARY KEY,
  namespace TEXT NOT NULL,
  entity_type TEXT NOT NULL,
  item_key INTEGER NOT NULL REFERENCES items (key) ON DELETE CASCADE,
  fingerprint INTEGER NOT NULL REFERENCES fingerprints (key),
  source_hash TEXT NOT NULL,
  text TEXT NOT NULL,
  status TEXT NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'running', 'failed')),
  attempts INTEGER NOT NULL DEFAULT 0,
  next_attempt_at REAL NOT NULL DEFAULT 0,
  lease_owner TEXT,
  lease_until REAL,
  last_error TEXT NOT NULL DEFAULT '',
  created_at REAL NOT NULL,
  updated_at REAL NOT NULL,
  UNIQUE (item_key, source_hash, fingerprint)
) STRICT;

CREATE INDEX embedding_tasks_claim
  ON embedding_tasks (fingerprint, status, attempts, next_attempt_at, id);

CREATE TABLE sources (
  name TEXT PRIMARY KEY,
  kind TEXT NOT NULL,
  location TEXT NOT NULL,
  namespace TEXT NOT NULL DEFAULT 'public',
  added_at REAL NOT NULL,
  synced_at REAL
) STRICT;

CREATE TABLE rejections (
  source TEXT NOT NULL,
  origin TEXT NOT NULL,
  origin_hash TEXT NOT NULL,
  code TEXT NOT NULL,
  reason TEXT NOT NULL,
  rejected_at REAL NOT NULL,
  PRIMARY KEY (source, origin)
) STRICT;
