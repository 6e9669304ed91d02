"""The calibration table: what the metric says of behaviours and players that everybody can judge."""
