-- How often runs went well, on the item's row: docs/explanation/quality.md.

ALTER TABLE items ADD COLUMN counted_runs INTEGER NOT NULL DEFAULT 0; -- how many its success_rate was made of

CREATE INDEX item_runs_caller ON item_runs (namespace, item_id, who, at)
WHERE outcome IN ('ok', 'failed', 'timeout', 'killed');
