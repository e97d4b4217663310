-- name: facts
SELECT current_setting('server_version'), (SELECT extversion FROM pg_extension WHERE extname = 'vector'),
  pg_database_size(current_database());

-- name: schema
SELECT max(number) FROM pegboard_migrations;
