"""The grid world: a partly observable map with an unknown DAG of tasks on it."""
