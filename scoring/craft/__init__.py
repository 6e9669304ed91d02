"""The metric's adapter of the 3D world."""
