"""A board with the rights of one caller, alike on every database (docs/explanation/rights.md)."""
