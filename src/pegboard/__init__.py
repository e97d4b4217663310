"""Pegboard: the catalogue in which AI agents find and run tools."""

from pegboard.app.pegboard import Pegboard

__all__ = ["Pegboard"]
__version__ = "0.1.0"
