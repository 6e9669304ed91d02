"""The grid world for the harness."""
