"""The neighbouring systems that ours is measured beside, in an environment of their own.

The environment is made once under the user's cache folder, since its packages (an old pyglet among them) do not go with
ours; `python -m benchmarks.run --peer PYTHON` takes one that exists. Each measurement is a process of its own.
"""

import json
import os
import subprocess
import sys
import venv
from pathlib import Path

import platformdirs

PACKAGES = ("miniworld>=2.1", "minigrid>=3.0")
MINIWORLD = "MiniWorld-Maze-v0"
MINIGRID = "MiniGrid-Empty-16x16-v0"

# Moves and turns, as ours: two of the three moving forward.
_MINIWORLD_CODE = f"""
import random, sys, time
import gymnasium, miniworld
width, height, steps = map(int, sys.argv[1:])
env = gymnasium.make("{MINIWORLD}", obs_width=width, obs_height=height)
env.reset(seed=0)
draw = random.Random(0)
actions = [draw.choice((0, 1, 2, 2)) for _ in range(steps)]
for action in actions[:20]:
    env.step(action)
begin = time.perf_counter()
for action in actions:
    picture, _, terminated, truncated, _ = env.step(action)
    if terminated or truncated:
        env.reset()
rate = steps / (time.perf_counter() - begin)
assert picture.shape == (height, width, 3), picture.shape
print(rate)
"""

_MINIGRID_CODE = f"""
import random, sys, time
import gymnasium, minigrid
env = gymnasium.make("{MINIGRID}")
env.reset(seed=0)
draw = random.Random(0)
actions = [draw.randrange(7) for _ in range(int(sys.argv[1]))]
begin = time.perf_counter()
for action in actions:
    _, _, terminated, truncated, _ = env.step(action)
    if terminated or truncated:
        env.reset()
print(len(actions) / (time.perf_counter() - begin))
"""

_VERSIONS_CODE = """
import importlib.metadata, json
print(json.dumps({name: importlib.metadata.version(name) for name in ("miniworld", "minigrid", "pyglet", "numpy")}))
"""


class Peers:
    """The peers' Python; made on first use."""

    def __init__(self, python: Path | None = None) -> None:
        self._python = python or _environment()

    def versions(self) -> dict[str, str]:
        """Return the versions that are measured."""
        found: dict[str, str] = json.loads(self._run(_VERSIONS_CODE))
        return found

    def miniworld(self, width: int, height: int, steps: int) -> float:
        """Return Miniworld's rendered steps a second in its Maze."""
        return float(self._run(_MINIWORLD_CODE, width, height, steps))

    def minigrid(self, steps: int) -> float:
        """Return MiniGrid's steps a second in its empty room of 16 x 16."""
        return float(self._run(_MINIGRID_CODE, steps))

    def _run(self, code: str, *arguments: int) -> str:
        command = [str(self._python), "-W", "ignore", "-c", code, *map(str, arguments)]
        # Without it the old pyglet wants a display.
        environment = {**os.environ, "PYGLET_HEADLESS": "1"}
        done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
        if done.returncode:
            sys.exit(f"a peer could not be measured: {done.stderr.strip().splitlines()[-1]}")
        return done.stdout.strip().splitlines()[-1]


def _environment() -> Path:
    folder = platformdirs.user_cache_path("oresight") / "benchmark-peers"
    python = folder / "bin" / "python"
    mark = folder / "complete"
    if not mark.is_file() or mark.read_text() != " ".join(PACKAGES):
        print(f"making the peers' environment: {', '.join(PACKAGES)}", file=sys.stderr)
        venv.create(folder, with_pip=True, clear=True)
        subprocess.run([str(python), "-m", "pip", "install", "--quiet", *PACKAGES], check=True)
        mark.write_text(" ".join(PACKAGES))
    return python
