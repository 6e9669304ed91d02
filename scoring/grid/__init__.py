"""The metric's adapter of the grid world."""
