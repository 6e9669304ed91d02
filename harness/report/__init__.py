"""Pages that researchers read and show: a study on one page, and a replay of each episode."""
