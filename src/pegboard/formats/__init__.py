"""Notations that others defined, read strictly and written in one way."""
