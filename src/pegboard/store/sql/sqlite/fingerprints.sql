-- name: fingerprint
SELECT key FROM fingerprints
WHERE provider = :provider AND model = :model AND dimension = :dimension AND text_version = :text_version;

-- name: add_fingerprint
INSERT INTO fingerprints (provider, model, dimension, text_version)
VALUES (:provider, :model, :dimension, :text_version) RETURNING key;
