-- Large files lie outside the database. Boards that share a place tell theirs apart by this name.

CREATE TABLE board (id TEXT NOT NULL) STRICT;
INSERT INTO board VALUES (lower(hex(randomblob(8))));

CREATE INDEX version_files_sha256 ON version_files (sha256, storage_key) WHERE storage_key IS NOT NULL;
CREATE INDEX version_files_storage_key ON version_files (storage_key) WHERE storage_key IS NOT NULL;
