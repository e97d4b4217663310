-- name: more_than
-- A row if there are more vectors of this fingerprint than so many.
SELECT 1 FROM vectors WHERE fingerprint = :fingerprint LIMIT 1 OFFSET :few;

-- name: exact
-- Every vector of this fingerprint that the filters leave is compared. Here and below, a plus keeps
-- SQLite from planning the query anew each time, lest another number want another plan: that takes 0.2 ms.
SELECT i.key, i.id, 1.0 - vec_distance_cosine(v.vector, :query) AS score
FROM items i INDEXED BY items_seen
CROSS JOIN vectors v ON v.item_key = i.key AND v.fingerprint = +:fingerprint
WHERE true
  -- include: filters
ORDER BY score DESC, i.id, i.key LIMIT +:limit;

-- name: has_passages
-- A row if some item has several vectors.
SELECT 1 FROM vectors WHERE fingerprint = :fingerprint AND passage > 0 LIMIT 1;

-- name: exact_best
-- As exact, where the best of an item's vectors counts. It takes a tenth longer.
SELECT i.key, i.id, max(1.0 - vec_distance_cosine(v.vector, :query)) AS score
FROM items i INDEXED BY items_seen
CROSS JOIN vectors v ON v.item_key = i.key AND v.fingerprint = +:fingerprint
WHERE true
  -- include: filters
GROUP BY i.key ORDER BY score DESC, i.id, i.key LIMIT +:limit;

-- name: scored
-- The same for all vectors of chosen items. The filters come first: a vector is 1.5 KB away, and they are not.
SELECT i.key, i.id, 1.0 - vec_distance_cosine(v.vector, :query) AS score
FROM items i INDEXED BY items_seen
CROSS JOIN vectors v ON v.item_key = i.key AND v.fingerprint = +:fingerprint
WHERE i.key IN (SELECT value FROM json_each(:keys))
  -- include: filters
ORDER BY score DESC, i.id, i.key;

-- name: allowed
-- Every item that the filters leave and that has a vector; neither its row nor its vector is read.
SELECT i.key
FROM items i INDEXED BY items_seen
CROSS JOIN vectors v ON v.item_key = i.key AND v.fingerprint = +:fingerprint AND v.passage = 0
WHERE true
  -- include: filters
;

-- name: left
-- Every item that the filters leave.
SELECT i.key FROM items i INDEXED BY items_seen WHERE true
  -- include: filters
;

-- name: passage_scores
SELECT item_key, passage, 1.0 - vec_distance_cosine(vector, :query) FROM vectors
WHERE fingerprint = :fingerprint AND item_key IN (SELECT value FROM json_each(:keys));

-- name: sealed_codes
SELECT coalesce(sum(length(keys) / 8), 0) FROM code_blocks WHERE fingerprint = :fingerprint;

-- name: sealed
-- The next blocks, a few at a time.
SELECT first_seq, last_seq, keys, codes FROM code_blocks
WHERE fingerprint = :fingerprint AND first_seq > :after ORDER BY first_seq LIMIT 64;

-- name: unsealed
-- What was hung after one vector and before another, a few at a time. One of the wrong length has no
-- code; the check names it.
SELECT seq, item_key | (passage << 56), vec_quantize_binary(vector) FROM vectors
WHERE fingerprint = :fingerprint AND seq > :through AND seq < :before AND length(vector) = 4 * :dimension
ORDER BY seq LIMIT 16384;

-- name: live
SELECT count(*) FROM vectors WHERE fingerprint = :fingerprint;

-- name: live_among
-- How many of these items have a vector.
SELECT count(*) FROM vectors
WHERE fingerprint = :fingerprint AND item_key IN (SELECT value FROM json_each(:keys)) AND passage = 0;

-- name: live_names
-- A vector by one number: the key of its item and, in the highest byte, its passage.
SELECT item_key | (passage << 56) FROM vectors WHERE fingerprint = :fingerprint;

-- name: sealed_through
SELECT coalesce(max(last_seq), 0) FROM code_blocks WHERE fingerprint = :fingerprint;

-- name: block_end
-- The last vector of the next block, if so many have gathered.
SELECT seq FROM vectors WHERE fingerprint = :fingerprint AND seq > :through
ORDER BY seq LIMIT 1 OFFSET :size - 1;

-- name: codes_between
SELECT item_key | (passage << 56), vec_quantize_binary(vector) FROM vectors
WHERE fingerprint = :fingerprint AND seq BETWEEN :first AND :last AND length(vector) = 4 * :dimension
ORDER BY seq;

-- name: add_block
INSERT INTO code_blocks (fingerprint, first_seq, last_seq, keys, codes)
VALUES (:fingerprint, :first, :last, :keys, :codes);

-- name: drop_blocks
DELETE FROM code_blocks WHERE fingerprint = :fingerprint AND first_seq BETWEEN :first AND :last;

-- name: block_counts
-- How many codes each block has, and how many of them still have their vector.
SELECT first_seq, last_seq, length(keys) / 8, (SELECT count(*) FROM vectors v
  WHERE v.fingerprint = b.fingerprint AND v.seq BETWEEN b.first_seq AND b.last_seq)
FROM code_blocks b WHERE fingerprint = :fingerprint ORDER BY first_seq;
