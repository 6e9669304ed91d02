"""Fixtures that several test modules use."""

import sys
from typing import Any

import pytest
from cli_stage import Ran

from harness.cli import main as cli


@pytest.fixture
def oresight(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Any:
    """Runs a command in this process."""

    def run(*arguments: object) -> Ran:
        monkeypatch.setattr(sys, "argv", ["oresight", *map(str, arguments)])
        with pytest.raises(SystemExit) as end:
            cli.main()
        captured = capsys.readouterr()
        return Ran(int(end.value.code or 0), captured.out, captured.err)

    return run
