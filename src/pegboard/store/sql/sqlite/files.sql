-- name: board
SELECT id FROM board;

-- name: known
-- Where contents lie already, by their hash.
SELECT DISTINCT sha256, storage_key FROM version_files
WHERE storage_key IS NOT NULL AND sha256 IN (SELECT value FROM json_each(:hashes))
ORDER BY sha256, storage_key;

-- name: in_use
SELECT DISTINCT storage_key FROM version_files
WHERE storage_key IS NOT NULL AND storage_key IN (SELECT value FROM json_each(:keys));

-- name: large
-- Every large file, by its hash and where it lies. For boards of every schema.
SELECT DISTINCT sha256, storage_key FROM version_files WHERE storage_key IS NOT NULL
ORDER BY storage_key;
