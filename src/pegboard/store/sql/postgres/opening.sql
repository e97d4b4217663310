-- name: settle
-- A scan of the vector index goes on until enough of what it finds passes the filters. Nothing takes for ever;
-- whoever has set other bounds, in the address or on the server, keeps them.
SELECT set_config('hnsw.iterative_scan', 'relaxed_order', false),
  set_config('hnsw.ef_search', '100', false),
  set_config('hnsw.max_scan_tuples', '20000', false),
  set_config('jit', 'off', false),
  set_config('datestyle', 'ISO', false),
  set_config('statement_timeout', coalesce(nullif(current_setting('statement_timeout'), '0'), '60s'), false),
  set_config('lock_timeout', coalesce(nullif(current_setting('lock_timeout'), '0'), '30s'), false),
  set_config('idle_in_transaction_session_timeout',
    coalesce(nullif(current_setting('idle_in_transaction_session_timeout'), '0'), '60s'), false),
  set_config('timezone', 'UTC', false);

-- name: lock
SELECT pg_advisory_xact_lock(hashtextextended('pegboard schema of ' || current_schema(), 0));

-- name: has_migrations
SELECT to_regclass('pegboard_migrations') IS NOT NULL;

-- name: make_migrations
CREATE TABLE IF NOT EXISTS pegboard_migrations (
  number integer PRIMARY KEY, name text NOT NULL, applied_at timestamptz NOT NULL DEFAULT now());

-- name: schema_number
SELECT coalesce(max(number), 0) FROM pegboard_migrations;

-- name: record
INSERT INTO pegboard_migrations (number, name) VALUES (%(number)s, %(name)s);
