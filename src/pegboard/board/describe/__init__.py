"""What is there: one item by any of its names, lists of them, versions and how they differ."""
