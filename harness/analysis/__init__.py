"""Figures of runs: summaries, comparisons, and a run followed while it is played."""
