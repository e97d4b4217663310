"""Vectors and how the board stands: the worker, the models, what is queued."""
