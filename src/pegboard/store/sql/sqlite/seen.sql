-- The tables of a board as one caller may see them (docs/explanation/rights.md): each of these views stands before the table of
-- its name. What has no view here cannot be read at all. Namespaces in which there may be something for the caller
-- are `open_namespaces`, and those that he is a member of `own_namespaces`.

-- name: items
CREATE TEMP VIEW items AS SELECT * FROM main.items i
WHERE i.namespace IN (SELECT value FROM json_each(open_namespaces()))
  AND (i.visibility = 'public' OR i.author = (SELECT caller_subject())
    OR i.visibility = 'unlisted' AND i.namespace IN (SELECT value FROM json_each(own_namespaces())));

-- name: item_versions
CREATE TEMP VIEW item_versions AS SELECT * FROM main.item_versions v
WHERE EXISTS (SELECT 1 FROM temp.items i WHERE i.key = v.item_key);

-- name: version_files
CREATE TEMP VIEW version_files AS SELECT * FROM main.version_files f
WHERE EXISTS (SELECT 1 FROM temp.item_versions v WHERE v.key = f.version_key);

-- name: approved_definitions
CREATE TEMP VIEW approved_definitions AS SELECT * FROM main.approved_definitions a
WHERE EXISTS (SELECT 1 FROM temp.items i WHERE i.key = a.item_key);

-- name: item_cards
CREATE TEMP VIEW item_cards AS SELECT * FROM main.item_cards c
WHERE EXISTS (SELECT 1 FROM temp.items i WHERE i.key = c.item_key);

-- name: vectors
CREATE TEMP VIEW vectors AS SELECT * FROM main.vectors v
WHERE EXISTS (SELECT 1 FROM temp.items i WHERE i.key = v.item_key);

-- name: item_links
CREATE TEMP VIEW item_links AS SELECT * FROM main.item_links l
WHERE EXISTS (SELECT 1 FROM temp.items i WHERE i.key = l.item_key);

-- name: embedding_tasks
-- For members.
CREATE TEMP VIEW embedding_tasks AS SELECT * FROM main.embedding_tasks t
WHERE t.namespace IN (SELECT value FROM json_each(own_namespaces()))
  AND EXISTS (SELECT 1 FROM temp.items i WHERE i.key = t.item_key);

-- name: item_history
-- For members who see the item. What is older than it was of another one with its id.
CREATE TEMP VIEW item_history AS SELECT * FROM main.item_history h
WHERE h.namespace IN (SELECT value FROM json_each(own_namespaces()))
  AND EXISTS (SELECT 1 FROM temp.items i
    WHERE i.namespace = h.namespace AND i.id = h.item_id AND i.created_at <= h.at);

-- name: item_runs
-- All of them for members who see the item, else only one's own.
CREATE TEMP VIEW item_runs AS SELECT * FROM main.item_runs r
WHERE r.namespace IN (SELECT value FROM json_each(open_namespaces()))
  AND (r.who = (SELECT caller_subject()) OR r.namespace IN (SELECT value FROM json_each(own_namespaces())))
  AND EXISTS (SELECT 1 FROM temp.items i
    WHERE i.namespace = r.namespace AND i.id = r.item_id AND i.created_at <= r.at);

-- name: sources
-- Where things come from is for members.
CREATE TEMP VIEW sources AS SELECT * FROM main.sources s
WHERE s.namespace IN (SELECT value FROM json_each(own_namespaces()));

-- name: mcp_servers
CREATE TEMP VIEW mcp_servers AS SELECT * FROM main.mcp_servers m
WHERE EXISTS (SELECT 1 FROM temp.sources s WHERE s.name = m.name);

-- name: rejections
CREATE TEMP VIEW rejections AS SELECT * FROM main.rejections r
WHERE coalesce((SELECT s.namespace FROM main.sources s WHERE s.name = r.source), 'public')
  IN (SELECT value FROM json_each(own_namespaces()));
