-- The source and the namespace of an item are among its labels in the text index. Pegboard itself writes the terms and
-- ranking cards of the items that are stored already.

INSERT INTO item_terms (item_terms) VALUES ('delete-all');
DELETE FROM item_cards;
DELETE FROM census; -- so that the next sync merges the new index and counts its terms
