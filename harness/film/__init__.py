"""Videos of recorded episodes, and pictures at decisions."""
