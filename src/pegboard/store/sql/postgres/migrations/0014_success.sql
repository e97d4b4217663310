-- How often runs went well, on the item's row: docs/explanation/quality.md.

ALTER TABLE items ADD COLUMN counted_runs integer NOT NULL DEFAULT 0; -- how many its success_rate was made of

CREATE INDEX item_runs_caller ON item_runs (item_key, who, at, key)
WHERE outcome IN ('ok', 'failed', 'timeout', 'killed');

-- Whoever records a run has the item's figures made anew, and cannot choose them. Each caller counts with his last 20 runs, and
-- an item's author not at all. The row is locked before anything is counted, so that of two who record, the later sees both.
CREATE FUNCTION rate_item(namespace text, id text) RETURNS void
LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
  SELECT i.key FROM items i WHERE i.namespace = rate_item.namespace AND i.id = rate_item.id FOR NO KEY UPDATE;
  WITH RECURSIVE item AS (
    SELECT i.key, i.author FROM items i WHERE i.namespace = rate_item.namespace AND i.id = rate_item.id
  ), callers (who) AS (
    (SELECT r.who FROM item_runs r WHERE r.item_key = (SELECT key FROM item)
      AND r.outcome IN ('ok', 'failed', 'timeout', 'killed') ORDER BY r.who LIMIT 1)
    UNION ALL
    SELECT (SELECT r.who FROM item_runs r WHERE r.item_key = (SELECT key FROM item)
      AND r.outcome IN ('ok', 'failed', 'timeout', 'killed') AND r.who > c.who ORDER BY r.who LIMIT 1)
    FROM callers c WHERE c.who IS NOT NULL
  ), counted AS (
    SELECT r.outcome FROM item, (SELECT who FROM callers LIMIT 200) c, LATERAL (
      SELECT l.outcome FROM item_runs l WHERE l.item_key = item.key AND l.who = c.who
        AND l.outcome IN ('ok', 'failed', 'timeout', 'killed') AND l.at >= now() - interval '2160 hours'
      ORDER BY l.at DESC, l.key DESC LIMIT 20) r
    WHERE c.who = '' OR c.who <> item.author
  ), figures AS (
    SELECT count(*)::integer AS runs, count(*) FILTER (WHERE outcome = 'ok') AS ok FROM counted
  ), found AS (
    SELECT i.key, f.runs, CASE WHEN f.runs >= 5 THEN f.ok::float8 / f.runs
      WHEN i.counted_runs < 5 THEN i.success_rate END AS rate -- what was brought along stays until there is better
    FROM items i, figures f WHERE i.key = (SELECT key FROM item)
  )
  UPDATE items i SET success_rate = found.rate, counted_runs = found.runs FROM found
  WHERE i.key = found.key AND (i.success_rate, i.counted_runs) IS DISTINCT FROM (found.rate, found.runs);
END;
REVOKE ALL ON FUNCTION rate_item(text, text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION rate_item(text, text) TO authenticated, service_role;
