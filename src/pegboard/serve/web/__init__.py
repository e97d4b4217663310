"""The page: a board for people, in a browser."""
