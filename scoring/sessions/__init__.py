"""People's sessions: read, cut into decisions, and set beside runs."""
