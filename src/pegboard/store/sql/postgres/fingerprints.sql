-- name: fingerprint
SELECT key FROM fingerprints WHERE provider = %(provider)s AND model = %(model)s
  AND dimension = %(dimension)s AND text_version = %(text_version)s;

-- name: add_fingerprint
INSERT INTO fingerprints (provider, model, dimension, text_version)
VALUES (%(provider)s, %(model)s, %(dimension)s, %(text_version)s)
ON CONFLICT (provider, model, dimension, text_version) DO UPDATE SET provider = excluded.provider
RETURNING key;
