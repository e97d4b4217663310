-- name: tell
SELECT pg_notify('pegboard_changes', '');

-- name: identify
-- For this transaction only: as whom, and as which of them (docs/explanation/rights.md).
SELECT set_config('role', %(role)s, true), set_config('request.jwt.claims', %(claims)s, true);

-- name: read_only
SELECT pg_is_in_recovery() OR current_setting('default_transaction_read_only') = 'on';

-- name: now
SELECT extract(epoch FROM clock_timestamp())::float8;
