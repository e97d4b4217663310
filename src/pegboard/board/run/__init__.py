"""Calling a tool, and reading what is followed and not run."""
