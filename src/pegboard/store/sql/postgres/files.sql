-- name: board
SELECT id FROM board;

-- name: known
-- Where contents lie already, by their hash.
SELECT sha256, storage_key FROM version_files
WHERE storage_key IS NOT NULL AND sha256 = ANY(%(hashes)s::text[]) ORDER BY sha256, storage_key;

-- name: known_and_held
-- The same for a put: whoever deletes them waits until it has referred to them as well.
SELECT sha256, storage_key FROM version_files
WHERE storage_key IS NOT NULL AND sha256 = ANY(%(hashes)s::text[]) ORDER BY sha256, storage_key FOR SHARE;

-- name: in_use
SELECT storage_key FROM version_files
WHERE storage_key IS NOT NULL AND storage_key = ANY(%(keys)s::text[]);
