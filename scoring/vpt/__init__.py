"""Recordings of the real game, VPT-style: read, cut into decisions and scored."""
