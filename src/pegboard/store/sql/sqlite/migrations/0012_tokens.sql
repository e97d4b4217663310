-- By whom the board may be asked over the network. Of a token only a hash is kept.

CREATE TABLE board_tokens (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  role TEXT NOT NULL CHECK (role IN ('reader', 'author', 'admin')),
  namespaces TEXT NOT NULL CHECK (json_type(namespaces) = 'array'),
  digest BLOB NOT NULL CHECK (length(digest) = 32),
  created_at REAL NOT NULL,
  expires_at REAL,
  used_at REAL
) STRICT;
