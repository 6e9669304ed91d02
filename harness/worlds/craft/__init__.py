"""The 3D world for the harness."""

NAME = "craft"
