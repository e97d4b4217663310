"""Query, fusion and reasons; pure."""
