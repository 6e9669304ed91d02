"""One loop runs any agent in either world; one recorder writes it down."""
