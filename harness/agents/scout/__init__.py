"""The bundled vision agent of the 3D world: it decides from pictures alone."""
