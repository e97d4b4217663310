"""Search: the question's way from the legs to the answer."""
