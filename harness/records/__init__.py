"""The run folder: what is written where, and how it is read."""
