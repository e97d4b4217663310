"""The words as values: what passes from one stage to another, and cannot be changed."""
