"""What is read from a board, in the same way whatever its database is."""
