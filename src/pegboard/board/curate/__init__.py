"""What people decide about items, and what changed behind their backs."""
