-- name: ranked
-- BM25 as FTS5 of SQLite has it: k1 1.2, b 0.75, fields weighted. A weight comes with the factor k1 + 1 in it,
-- and `tilt` is k1 * b / average length. From the terms alone; only the first are then looked at for the filters.
-- Where items are looked for by some terms and scored by all, what the others add to the score comes with it.
-- Rounded before it is sorted by: the terms of two items may be added up in another order, and what scores the
-- same goes by its id.
WITH asked AS (SELECT * FROM unnest(%(terms)s::text[], %(weights)s::float8[]) AS t (term, weight)),
matched AS MATERIALIZED (
  SELECT p.item_key, round(sum(a.weight * p.frequency
    / (p.frequency + 0.3 + p.length * %(tilt)s::float8)) * 1e9) / 1e9 AS score
  FROM asked a JOIN item_terms p ON p.term = a.term
  GROUP BY p.item_key HAVING count(*) >= %(least)s
  ORDER BY score DESC, p.item_key LIMIT %(limit)s),
placed AS (
  SELECT item_key, score, row_number() OVER (ORDER BY score DESC, item_key) AS place FROM matched),
others AS (
  SELECT p.item_key, sum(a.weight * p.frequency / (p.frequency + 0.3 + p.length * %(tilt)s::float8)) AS score
  FROM unnest(%(other_terms)s::text[], %(other_weights)s::float8[]) AS a (term, weight)
  CROSS JOIN LATERAL (SELECT t.item_key, t.frequency, t.length FROM item_terms t
    WHERE t.term = a.term AND t.item_key = ANY(
      ARRAY(SELECT item_key FROM placed WHERE place <= %(scored)s)) OFFSET 0) AS p
  GROUP BY p.item_key)
SELECT p.item_key, i.id, p.score, w.score
FROM placed p LEFT JOIN others w ON w.item_key = p.item_key LEFT JOIN items i ON i.key = CASE WHEN p.place <= %(looked_at)s THEN p.item_key END
  -- include: filters
ORDER BY p.place;

-- name: ranked_within
-- The same for what filters leave, when too few of the first are among it.
WITH asked AS (SELECT * FROM unnest(%(terms)s::text[], %(weights)s::float8[]) AS t (term, weight))
SELECT i.key, i.id, round(sum(a.weight * p.frequency
  / (p.frequency + 0.3 + p.length * %(tilt)s::float8)) * 1e9) / 1e9 AS score
FROM asked a JOIN item_terms p ON p.term = a.term JOIN items i ON i.key = p.item_key
WHERE (%(namespaces)s::text[] IS NULL OR p.namespace = ANY(%(namespaces)s::text[]))
  -- include: filters
GROUP BY i.key, i.id HAVING count(*) >= %(least)s
ORDER BY score DESC, i.id, i.key LIMIT %(limit)s;

-- name: let_through
SELECT i.key, i.id FROM items i WHERE i.key = ANY(%(keys)s)
  -- include: filters
;

-- name: scores
SELECT p.item_key, sum(a.weight * p.frequency
  / (p.frequency + 0.3 + p.length * %(tilt)s::float8))
FROM unnest(%(terms)s::text[], %(weights)s::float8[]) AS a (term, weight)
CROSS JOIN LATERAL (SELECT t.item_key, t.frequency, t.length FROM item_terms t
  WHERE t.term = a.term AND t.item_key = ANY(%(keys)s) OFFSET 0) AS p
GROUP BY p.item_key;

-- name: best
-- The best score of all items. An item scores less than the weights of its terms together.
SELECT max(f.score) FROM (
  SELECT sum(a.weight * p.frequency / (p.frequency + 0.3 + p.length * %(tilt)s::float8)) AS score
  FROM unnest(%(terms)s::text[], %(weights)s::float8[]) AS a (term, weight)
  JOIN item_terms p ON p.term = a.term
  GROUP BY p.item_key HAVING sum(a.weight) > %(least)s) AS f;

-- name: frequencies
-- Known terms: how many items the commonest had when they were last counted, and how many the others have.
-- Whoever does not see the count of the whole board adds up those of what he sees.
SELECT t.term, c.items, CASE WHEN c.items IS NULL
  THEN (SELECT count(*) FROM item_terms p WHERE p.term = t.term) END
FROM unnest(%(terms)s::text[]) AS t (term)
CROSS JOIN LATERAL (SELECT coalesce(
  (SELECT w.items FROM common_terms w WHERE w.term = t.term AND w.namespace = ''),
  (SELECT sum(s.items)::bigint FROM common_terms s WHERE s.term = t.term AND s.namespace <> ''
    HAVING sum(s.items) >= %(least)s)) AS items) AS c
WHERE EXISTS (SELECT 1 FROM item_terms p WHERE p.term = t.term);

-- name: named
SELECT i.key, i.id FROM items i WHERE i.name_key = %(name_key)s
  -- include: filters
ORDER BY i.id, i.key LIMIT %(limit)s;

-- name: first_look
-- The two above in one: every search begins with them.
SELECT f.term, f.items, f.counted, NULL FROM (:frequencies) AS f (term, items, counted)
UNION ALL
SELECT n.id, NULL, NULL, n.key FROM (:named) AS n;

-- name: counted
-- Items and their terms as they were last counted.
SELECT coalesce(sum(items), 0)::bigint, coalesce(sum(terms), 0)::bigint FROM census;

-- name: count
SELECT count(*), coalesce(sum(length), 0)::bigint FROM item_texts;

-- name: like
-- Words that one letter less makes one of the variants; then, beside each beginning, those that begin like it.
SELECT NULL, n.word FROM (SELECT DISTINCT word FROM word_variants WHERE variant = ANY(%(variants)s::text[])) AS n
UNION ALL
SELECT b.beginning, w.word FROM unnest(%(beginnings)s::text[]) AS b (beginning)
CROSS JOIN LATERAL (SELECT DISTINCT word FROM word_variants
  WHERE variant >= b.beginning AND variant < b.beginning || chr(1114111) AND variant = word
  ORDER BY word LIMIT %(limit)s) AS w;

-- name: last_census
SELECT (SELECT count(*) FROM items WHERE visibility = 'public'), (SELECT sum(items)::bigint FROM census);

-- name: lock_census
SELECT pg_try_advisory_xact_lock(hashtextextended('pegboard census of ' || current_schema(), 0));

-- name: forget_census
DELETE FROM census;

-- name: record_census
-- Of what search can find. So nobody learns from it how much there is that is not for everybody to see.
INSERT INTO census (namespace, items, terms)
SELECT t.namespace, count(*), sum(t.length)
FROM item_texts t JOIN items i ON i.key = t.item_key AND i.namespace = t.namespace
WHERE i.visibility = 'public' GROUP BY t.namespace;

-- name: forget_common
DELETE FROM common_terms;

-- name: count_common
-- Those of the whole board, in all namespaces that have them, and those of each namespace by itself: whoever may
-- see only that one is told nothing about others by what is here and what is not.
INSERT INTO common_terms (term, namespace, items)
SELECT p.term, p.namespace, count(*)
FROM item_terms p JOIN items i ON i.key = p.item_key AND i.namespace = p.namespace
JOIN census c ON c.namespace = p.namespace
WHERE i.visibility = 'public' GROUP BY p.term, p.namespace, c.items
HAVING count(*) >= greatest(c.items / %(common)s, %(least_common)s)
  OR p.term IN (SELECT term FROM item_terms GROUP BY term HAVING count(*) >= %(least)s);

-- name: count_common_of_all
INSERT INTO common_terms (term, namespace, items)
SELECT term, '', sum(items) FROM common_terms GROUP BY term HAVING sum(items) >= %(least)s;
