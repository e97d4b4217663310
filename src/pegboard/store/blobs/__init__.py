"""Files that are too large for the database: where they go, and that what comes back is right."""
