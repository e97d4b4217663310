"""Boards on disk."""
