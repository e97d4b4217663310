"""The seams: what the stages promise one another, where there is more than one way to keep it."""
