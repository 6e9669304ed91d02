"""The grid world. Nothing here yet: it arrives with the grid release."""
