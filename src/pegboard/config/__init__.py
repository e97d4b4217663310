"""Settings: what can be set, and what holds here."""
