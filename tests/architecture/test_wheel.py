"""The wheel works by itself: built, installed into a clean environment and used far from the source folder."""

import json
import os
import subprocess
import sys
import venv
from pathlib import Path

import pytest

from support.places import ROOT


def _run(*command: str | Path, cwd: Path, env: dict[str, str] | None = None) -> str:
    done = subprocess.run([str(part) for part in command], cwd=cwd, env=env, capture_output=True, text=True)
    assert done.returncode == 0, f"{command} failed:\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.mark.slow
@pytest.mark.gl
def test_the_wheel_plays_an_episode_in_a_clean_environment_without_the_source_folder(tmp_path: Path) -> None:
    _run(sys.executable, "-m", "build", "--wheel", "--outdir", tmp_path / "dist", cwd=ROOT)
    (wheel,) = (tmp_path / "dist").glob("*.whl")
    venv.create(tmp_path / "venv", with_pip=True)
    binaries = tmp_path / "venv" / "bin"
    _run(binaries / "python", "-m", "pip", "install", "-q", "--disable-pip-version-check", wheel, cwd=tmp_path)
    away = tmp_path / "away"
    away.mkdir()
    # What a user has of his own beside it is in nobody's way.
    (away / "scoring.py").write_text("raise SystemExit('the scoring of somebody else')\n")
    (away / "harness").mkdir()
    (away / "harness" / "__init__.py").write_text("raise SystemExit('the harness of somebody else')\n")
    # Nothing of the source folder may help: neither the path nor an inherited setting.
    env = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}

    where = _run(
        binaries / "python", "-c", "from oresight import craftenv; print(craftenv.__file__)", cwd=away, env=env
    )
    assert Path(where.strip()).is_relative_to(tmp_path / "venv")

    _run(
        binaries / "oresight", "run", "craft", "--agent", "oracle", "--scenario", "outcrop-0", "--out", "r",
        cwd=away, env=env,
    )  # fmt: skip
    scored = json.loads(_run(binaries / "oresight", "score", "r", "--json", cwd=away, env=env))
    assert [episode["outcome"] for episode in scored["episodes"]] == ["success"]
    replayed = _run(binaries / "oresight", "replay", away / "r" / "episodes" / "outcrop-0", cwd=away, env=env)
    assert "outcrop-0" in replayed
    code = "import oresight; print(oresight.open_run('r').episodes[0].state.value)"
    assert _run(binaries / "python", "-c", code, cwd=away, env=env).strip() == "finished"
