-- How runs ended: never what they were given or gave back. They outlive the item.

CREATE TABLE item_runs (
  key INTEGER PRIMARY KEY,
  namespace TEXT NOT NULL,
  item_id TEXT NOT NULL,
  version TEXT NOT NULL,
  at REAL NOT NULL,
  outcome TEXT NOT NULL CHECK (
    outcome IN ('ok', 'invalid_arguments', 'denied', 'timeout', 'killed', 'failed', 'unavailable')),
  seconds REAL NOT NULL CHECK (seconds >= 0),
  who TEXT NOT NULL
) STRICT;

CREATE INDEX item_runs_item ON item_runs (item_id, at);
CREATE INDEX item_runs_at ON item_runs (at);
