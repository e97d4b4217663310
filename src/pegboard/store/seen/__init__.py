"""A board with the rights of one caller, the same on every database (docs/rights.md)."""
