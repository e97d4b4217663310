"""Moving the items of a Kiwi database to a board."""
