"""Sources: which a board has, and bringing it up to date with them."""
