"""The simulation: terrain, world, player and referee's facts. Knows nothing of pixels."""
