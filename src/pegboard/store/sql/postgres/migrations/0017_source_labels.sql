-- The source and the namespace of an item are among its labels in the text index. Pegboard itself writes the terms and
-- ranking cards of the items that are stored already.
SELECT 1;
