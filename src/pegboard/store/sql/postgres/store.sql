-- name: facts
SELECT current_setting('server_version'), (SELECT extversion FROM pg_extension WHERE extname = 'vector'),
  pg_database_size(current_database());

-- name: schema
SELECT max(number) FROM pegboard_migrations;

-- name: puts_on
-- Who is connected, whether he can act as a caller, is believed who that is, and may act for the whole board.
SELECT session_user::text, pg_has_role(session_user, 'anon', 'SET') AND pg_has_role(session_user, 'authenticated', 'SET'),
  pg_has_role(session_user, 'service_role', 'USAGE')
    OR pg_has_role(session_user, (SELECT relowner FROM pg_class WHERE oid = 'items'::regclass), 'USAGE');
