"""A board in one SQLite file."""
