"""Model clients: one file per protocol, behind `base.ModelClient`; `registry` makes one from a name."""
