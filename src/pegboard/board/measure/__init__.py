"""How well search does, what would do better, and what a new item would change."""
