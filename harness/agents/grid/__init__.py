"""Bundled agents of the grid world: they read its words as a text model would."""
