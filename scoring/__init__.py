"""The error metric: which decisions no reasonable strategy would have made, and of which kind they were."""
