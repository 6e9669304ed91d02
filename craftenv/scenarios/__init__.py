"""Scenarios and suites of the 3D world, and how they are made and proved."""
