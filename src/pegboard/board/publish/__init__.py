"""Releases: packed, published, pulled, compared with what lies there, put in place."""
