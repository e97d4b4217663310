-- name: add
INSERT INTO audit_log (at, who, action, namespace, item_id, version, detail)
VALUES (:at, :who, :action, :namespace, :id, :version, :detail);

-- name: lines
SELECT at, who, action, namespace, item_id, version, detail FROM audit_log
WHERE (:namespace IS NULL OR namespace = :namespace) AND (:action IS NULL OR action = :action)
ORDER BY key DESC LIMIT :limit;

-- name: lines_of_item
SELECT at, who, action, namespace, item_id, version, detail FROM audit_log
WHERE item_id = :id AND (:namespace IS NULL OR namespace = :namespace) AND (:action IS NULL OR action = :action)
ORDER BY key DESC LIMIT :limit;
