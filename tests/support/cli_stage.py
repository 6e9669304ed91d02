"""What the tests of the commands share: what a command did."""


class Ran:
    """What a command did: exit code, standard output, standard error."""

    def __init__(self, code: int, out: str, err: str) -> None:
        self.code, self.out, self.err = code, out, err

    def one_sentence(self) -> str:
        """The error, which is a single line without a traceback."""
        assert "Traceback" not in self.out + self.err
        lines = [line for line in self.err.splitlines() if line.strip()]
        assert len(lines) == 1, self.err
        return lines[0]
