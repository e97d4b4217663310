-- Which model's vectors are searched, which one's are being made, and how to ask each of them.

CREATE TABLE models (
  fingerprint INTEGER PRIMARY KEY REFERENCES fingerprints (key),
  spec TEXT NOT NULL -- as it was written: a reference to a key, never the key
) STRICT;

-- One row. The switch is one update of it, so that whoever searches sees the old or the new.
CREATE TABLE model_choice (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  active INTEGER REFERENCES models (fingerprint),
  wanted INTEGER REFERENCES models (fingerprint) CHECK (wanted <> active), -- while it is being built
  previous INTEGER REFERENCES models (fingerprint),
  chosen INTEGER NOT NULL DEFAULT 0 CHECK (chosen IN (0, 1)) -- by a person, and so no settings change it
) STRICT;

INSERT INTO model_choice (one) VALUES (1);

-- Namespaces take turns: each one's tasks must be found without passing those of the others.
DROP INDEX embedding_tasks_claim;
CREATE INDEX embedding_tasks_claim
  ON embedding_tasks (fingerprint, status, attempts, namespace, next_attempt_at, id);
CREATE INDEX embedding_tasks_running ON embedding_tasks (lease_owner) WHERE status = 'running';
