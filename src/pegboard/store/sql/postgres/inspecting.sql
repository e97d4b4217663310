-- name: server
SELECT current_setting('server_version'), pg_is_in_recovery(), current_setting('transaction_read_only') = 'on',
  pg_database_size(current_database()), current_schema();

-- name: extensions
SELECT extname, extversion FROM pg_extension ORDER BY extname;

-- name: applied
SELECT number, name, applied_at::text FROM pegboard_migrations ORDER BY number;

-- name: tables
-- Of the board, with about how many rows where somebody has counted, else -1.
SELECT c.relname, c.reltuples::bigint, pg_total_relation_size(c.oid)
FROM pg_class c WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind = 'r'
  AND NOT EXISTS (SELECT 1 FROM pg_depend d WHERE d.objid = c.oid AND d.deptype = 'e')
ORDER BY c.relname;

-- name: count_rows
SELECT count(*) FROM {table};

-- name: indexes
SELECT c.relname, t.relname, m.amname, pg_relation_size(c.oid), x.indisvalid
FROM pg_index x JOIN pg_class c ON c.oid = x.indexrelid JOIN pg_class t ON t.oid = x.indrelid
JOIN pg_am m ON m.oid = c.relam
WHERE t.relnamespace = current_schema()::regnamespace AND t.relkind = 'r' ORDER BY t.relname, c.relname;

-- name: vectors
SELECT c.relname, v.fingerprint, concat_ws('/', f.provider, f.model, f.dimension, f.text_version), f.dimension,
  count(*)
FROM vectors v JOIN pg_class c ON c.oid = v.tableoid JOIN fingerprints f ON f.key = v.fingerprint
GROUP BY 1, 2, 3, 4 ORDER BY 1, 2;

-- name: connections
SELECT count(*), count(*) FILTER (WHERE application_name = 'pegboard'),
  current_setting('max_connections')::integer
FROM pg_stat_activity WHERE datname = current_database();

-- name: tasks
SELECT status, count(*), extract(epoch FROM clock_timestamp() - min(created_ts))::float8
FROM embedding_tasks GROUP BY status ORDER BY status;

-- name: standbys
-- What each server that follows this one has made of the log.
SELECT coalesce(nullif(application_name, ''), client_addr::text, 'standby'), state, sync_state,
  pg_wal_lsn_diff(sent_lsn, replay_lsn)::bigint FROM pg_stat_replication ORDER BY 1;
