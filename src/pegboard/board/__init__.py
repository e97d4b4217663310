"""The use cases, where the stages meet."""
