-- name: board
SELECT id FROM board;

-- name: known
-- Where contents lie already, by their hash, as far as each namespace can be believed.
SELECT DISTINCT sha256, storage_key, namespace FROM version_files
WHERE storage_key IS NOT NULL AND sha256 = ANY(%(hashes)s::text[]) ORDER BY sha256, storage_key, namespace;

-- name: known_and_held
-- The same for a put: whoever deletes them waits until it has referred to them as well.
SELECT sha256, storage_key FROM version_files
WHERE storage_key IS NOT NULL AND sha256 = ANY(%(hashes)s::text[]) ORDER BY sha256, storage_key FOR SHARE;

-- name: sees_all
-- Whether no policy hides a file from whoever asks: that of service_role is for those who have its rights at once.
SELECT NOT row_security_active('version_files') OR pg_has_role('service_role', 'USAGE');

-- name: in_use
-- As far as whoever asks can see: a key that is not in here may be that of another tenant.
SELECT storage_key FROM version_files
WHERE storage_key IS NOT NULL AND storage_key = ANY(%(keys)s::text[]);
