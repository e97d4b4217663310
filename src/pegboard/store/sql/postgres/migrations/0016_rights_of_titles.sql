-- Who may write the columns of 0015: docs/explanation/rights.md. Continues 0002, 0007, 0009 and 0013: all five can be
-- run again in this order.

GRANT INSERT (title, card), UPDATE (title, card) ON items TO authenticated;
