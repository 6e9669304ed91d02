"""The page on which one episode is stepped through."""
