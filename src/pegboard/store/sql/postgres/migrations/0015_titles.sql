-- Titles of items and ranking cards. Pegboard itself fills the cards and the text index for the items that are stored
-- already; titles come with the next sync.

ALTER TABLE items
  ADD COLUMN title text NOT NULL DEFAULT '',
  ADD COLUMN card text NOT NULL DEFAULT ''; -- a summary that reranking reads instead of the wide row

-- The first passage of every text to embed is unchanged, so the vectors stay valid. Items keep the old number: the next
-- sync reads their titles. Items without a source are complete already.
UPDATE fingerprints SET text_version = 4 WHERE text_version = 3;
UPDATE items SET text_version = 4 WHERE text_version = 3 AND source IN ('created', 'published');
