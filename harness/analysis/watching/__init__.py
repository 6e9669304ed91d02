"""Following a run or a study while somebody else plays it, from what is on disk alone."""
