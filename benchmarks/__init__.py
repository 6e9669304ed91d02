"""What is measured beside the peers, and the goals; run it with `python -m benchmarks.run`."""
