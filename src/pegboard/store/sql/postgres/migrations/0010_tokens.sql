-- By whom the board may be asked over the network. Of a token only a hash is kept.

CREATE TABLE board_tokens (
  id text COLLATE "C" PRIMARY KEY,
  name text COLLATE "C" NOT NULL UNIQUE,
  role text NOT NULL CONSTRAINT board_tokens_role_check CHECK (role IN ('reader', 'author', 'admin')),
  namespaces text[] NOT NULL CONSTRAINT board_tokens_namespaces_check CHECK (
    array_position(namespaces, NULL) IS NULL AND coalesce(array_ndims(namespaces), 1) = 1),
  digest bytea NOT NULL CONSTRAINT board_tokens_digest_check CHECK (length(digest) = 32),
  created_at timestamptz NOT NULL,
  expires_at timestamptz,
  used_at timestamptz
);

-- Neither names nor hashes are for callers: docs/explanation/rights.md. They have no right to the table, and if a later hand gives
-- them one, the policy still shows them no row.
ALTER TABLE board_tokens ENABLE ROW LEVEL SECURITY;
REVOKE ALL ON board_tokens FROM PUBLIC, anon, authenticated, service_role;
GRANT SELECT, INSERT, UPDATE, DELETE ON board_tokens TO service_role;
CREATE POLICY service ON board_tokens TO service_role USING (true) WITH CHECK (true);
CREATE POLICY nobody ON board_tokens TO anon, authenticated USING (false) WITH CHECK (false);
