"""What a person types on a fresh machine, as far as it can be checked without one."""

import shutil
import subprocess
from pathlib import Path

import pytest

from support.places import ROOT


@pytest.mark.parametrize("script", ["scripts/setup.sh", ".ci/run"])
def test_scripts_are_valid_and_stop_at_the_first_error(script: str) -> None:
    text = (ROOT / script).read_text()
    assert text.startswith("#!/usr/bin/env bash\n")
    assert "set -euo pipefail" in text
    subprocess.run(["bash", "-n", ROOT / script], check=True)


def test_make_offers_what_the_readme_opens_with() -> None:
    make = shutil.which("make")
    if make is None:
        pytest.skip("make is not installed")
    for target in ("demo", "test", "soak", "check"):
        done = subprocess.run([make, "-n", target], cwd=ROOT, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        assert "scripts/setup.sh" in done.stdout


def test_ci_runs_the_same_as_a_person() -> None:
    assert "make test" in (ROOT / ".ci/run").read_text()


def test_without_a_python_setup_is_one_line_that_says_what_to_install(tmp_path: Path) -> None:
    (tmp_path / "scripts").mkdir()
    shutil.copy(ROOT / "scripts/setup.sh", tmp_path / "scripts/setup.sh")
    tools = tmp_path / "bin"
    tools.mkdir()
    for name in ("bash", "dirname", "env", "id"):
        (tools / name).symlink_to(shutil.which(name) or name)
    done = subprocess.run(
        ["bash", "scripts/setup.sh"],
        cwd=tmp_path,
        env={"PATH": str(tools)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert done.stderr.splitlines() == [
        "setup: no Python 3.11 or later found; install python3 and python3-venv, or say PYTHON=/path/to/python3.11"
    ]
