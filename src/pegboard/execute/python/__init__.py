"""Tools that are Python files."""
