"""Fixtures that several test modules use."""

import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from experiments.calibration import __main__ as calibration
from oresight.harness.cli import main as cli
from support.cli_stage import Ran


@pytest.fixture
def oresight(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Any:
    """Runs a command in this process."""

    return _Runner(monkeypatch, capsys, cli.main)


@pytest.fixture
def calibrate(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Any:
    """Runs `python -m experiments.calibration` in this process."""
    return _Runner(monkeypatch, capsys, calibration.main)


@dataclass(frozen=True)
class _Runner:
    monkeypatch: pytest.MonkeyPatch
    capsys: pytest.CaptureFixture[str]
    main: Callable[[], None]

    def __call__(self, *arguments: object) -> Ran:
        self.monkeypatch.setattr(sys, "argv", ["oresight", *map(str, arguments)])
        with pytest.raises(SystemExit) as end:
            self.main()
        captured = self.capsys.readouterr()
        return Ran(int(end.value.code or 0), captured.out, captured.err)
