"""A real window, driven by injected keys and mouse."""
