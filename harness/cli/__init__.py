"""The command `oresight`: one file per command, which reads its arguments and prints, and leaves the work to others."""
