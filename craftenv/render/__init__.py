"""Pictures of the simulated world. Reads `craftenv.sim`, never the reverse."""
