-- What is published: versions that never change, and a log of what was decided that cannot be changed either.

ALTER TABLE items ADD COLUMN replacement TEXT NOT NULL DEFAULT '';

ALTER TABLE item_versions DROP COLUMN yanked; -- nothing has used it
ALTER TABLE item_versions ADD COLUMN release TEXT NOT NULL DEFAULT '';
ALTER TABLE item_versions ADD COLUMN side_file TEXT NOT NULL DEFAULT '';
ALTER TABLE item_versions ADD COLUMN published_by TEXT; -- NULL for what is not published
ALTER TABLE item_versions ADD COLUMN signer TEXT NOT NULL DEFAULT '';
ALTER TABLE item_versions ADD COLUMN yanked_at REAL;
ALTER TABLE item_versions ADD COLUMN yanked_by TEXT NOT NULL DEFAULT '';
ALTER TABLE item_versions ADD COLUMN yank_reason TEXT NOT NULL DEFAULT '';
ALTER TABLE item_versions ADD COLUMN download_count INTEGER NOT NULL DEFAULT 0;

-- It outlives what it is about.
CREATE TABLE audit_log (
  key INTEGER PRIMARY KEY,
  at REAL NOT NULL,
  who TEXT NOT NULL,
  action TEXT NOT NULL,
  namespace TEXT NOT NULL DEFAULT '',
  item_id TEXT NOT NULL DEFAULT '',
  version TEXT NOT NULL DEFAULT '',
  detail TEXT NOT NULL DEFAULT ''
) STRICT;

CREATE INDEX audit_log_item ON audit_log (item_id, key);

CREATE TRIGGER audit_log_change BEFORE UPDATE ON audit_log
BEGIN SELECT RAISE(ABORT, 'the audit log is never changed'); END;
CREATE TRIGGER audit_log_remove BEFORE DELETE ON audit_log
BEGIN SELECT RAISE(ABORT, 'the audit log is never changed'); END;
-- INSERT OR REPLACE removes what is in its way without a word.
CREATE TRIGGER audit_log_replace BEFORE INSERT ON audit_log
WHEN EXISTS (SELECT 1 FROM audit_log WHERE key = NEW.key)
BEGIN SELECT RAISE(ABORT, 'the audit log is never changed'); END;
