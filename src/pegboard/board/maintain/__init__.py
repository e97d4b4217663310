"""Vectors and how the board stands: filling it, the worker, the models, what is queued."""
