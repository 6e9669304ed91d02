"""Our own studies of the metric and of the worlds; they make pages of docs and are no part of the package."""
