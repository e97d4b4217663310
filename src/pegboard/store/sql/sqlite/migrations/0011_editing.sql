-- Tags that people give. What the source says is kept beside them, and only there.

ALTER TABLE items ADD COLUMN imported_tags TEXT;
ALTER TABLE items ADD COLUMN tags_override_at REAL;
ALTER TABLE items ADD COLUMN tags_override_by TEXT NOT NULL DEFAULT '';
