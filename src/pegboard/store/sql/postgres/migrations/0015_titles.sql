-- Titles of items and ranking cards. Pegboard itself fills the cards and the text index for the items that are stored
-- already; titles come with the next sync.

ALTER TABLE items
  ADD COLUMN title text NOT NULL DEFAULT '',
  ADD COLUMN card text NOT NULL DEFAULT ''; -- a summary that reranking reads instead of the wide row
