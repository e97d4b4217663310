"""The composition root: settings in, a working board out."""
