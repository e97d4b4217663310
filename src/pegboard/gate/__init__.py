"""The only door: candidate in, item or rejection out."""
