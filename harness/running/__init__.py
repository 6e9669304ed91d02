"""Playing: the loop, an attempt at an episode, runs, limits, forks and replays."""
