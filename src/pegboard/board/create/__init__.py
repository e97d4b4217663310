"""Tools that are made while others work."""
