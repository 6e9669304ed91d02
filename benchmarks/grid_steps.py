"""How many steps a second the grid world makes, beside MiniGrid's Empty-16x16 in the same run.

MiniGrid is installed into an environment of its own, made for this run and thrown away (needs network for pip; --peer
takes the Python of one that exists). Both are stepped with random actions and reset at every end, ours in three ways:
steps alone, steps with the text read, and through gymnasium. Rounds alternate; the median counts.

Example: python benchmarks/grid_steps.py --json
"""

import argparse
import json
import random
import statistics
import subprocess
import sys
import tempfile
import time
import venv
from collections.abc import Callable
from pathlib import Path
from typing import Any

from gridenv.env import GridEnv
from gridenv.gymenv import GridGymEnv
from gridenv.model import DIRECTION_NAMES
from gridenv.suites import get_scenario

SCENARIO = "low-large-0"
PEER = "MiniGrid-Empty-16x16-v0"
PEER_VERSION = "minigrid==3.0.0"
OUR_STEPS = 200_000
PEER_STEPS = 20_000
ROUNDS = 5
TARGET_RATIO = 10

_PEER_CODE = f"""
import random, sys, time
import gymnasium, minigrid
env = gymnasium.make("{PEER}")
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


def peer_rate(python: Path, steps: int) -> float:
    """Return MiniGrid's steps a second, measured in a process of its own."""
    done = subprocess.run(
        [str(python), "-W", "ignore", "-c", _PEER_CODE, str(steps)], capture_output=True, text=True, check=True
    )
    return float(done.stdout.split()[-1])


def own_rate(steps: int, read_text: bool) -> float:
    """Return our steps a second, without or with reading every observation's text."""
    draw = random.Random(0)
    actions = [draw.choice(DIRECTION_NAMES) for _ in range(steps)]
    env = GridEnv(get_scenario(SCENARIO))
    env.reset()
    begin = time.perf_counter()
    for action in actions:
        done = env.step(action)
        if read_text:
            _ = done.observation.text
        if done.terminated or done.truncated:
            env.reset()
    return steps / (time.perf_counter() - begin)


def gymnasium_rate(steps: int) -> float:
    """Return our steps a second through the gymnasium interface, texts included."""
    draw = random.Random(0)
    actions = [draw.randrange(4) for _ in range(steps)]
    env = GridGymEnv(scenario=SCENARIO)
    env.reset()
    begin = time.perf_counter()
    for action in actions:
        _, _, terminated, truncated, _ = env.step(action)
        if terminated or truncated:
            env.reset()
    return steps / (time.perf_counter() - begin)


def install_peer(folder: Path) -> Path:
    """Make an environment with MiniGrid in it, and return its Python."""
    venv.create(folder, with_pip=True)
    python = folder / "bin" / "python"
    subprocess.run([str(python), "-m", "pip", "install", "--quiet", PEER_VERSION], check=True)
    return python


def measure(python: Path, steps: int) -> dict[str, Any]:
    """Measure all in alternating rounds, and return ratios first."""
    ways: dict[str, Callable[[], float]] = {
        "steps": lambda: own_rate(steps, read_text=False),
        "steps with text": lambda: own_rate(steps, read_text=True),
        "gymnasium": lambda: gymnasium_rate(steps // 4),
        PEER: lambda: peer_rate(python, PEER_STEPS),
    }
    rates: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(ROUNDS):
        for name, way in ways.items():
            rates[name].append(way())
    medians = {name: statistics.median(values) for name, values in rates.items()}
    return {
        "ratio_to_minigrid": {name: medians[name] / medians[PEER] for name in ways if name != PEER},
        "steps_per_s": medians,
        "rounds": rates,
        "python": sys.version.split()[0],
    }


def main() -> None:
    """Measure and print; exit code 1 where the plain steps miss the target ratio."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="print JSON in place of lines")
    parser.add_argument("--peer", type=Path, help="Python of an environment that has minigrid")
    parser.add_argument("--steps", type=int, default=OUR_STEPS, help="our steps a round")
    arguments = parser.parse_args()
    if arguments.peer is not None:
        found = measure(arguments.peer, arguments.steps)
    else:
        with tempfile.TemporaryDirectory() as folder:
            found = measure(install_peer(Path(folder)), arguments.steps)
    if arguments.json:
        print(json.dumps(found, indent=1))
    else:
        for name, ratio in found["ratio_to_minigrid"].items():
            print(f"{ratio:6.1f} x {PEER}: {name}")
        for name, rate in found["steps_per_s"].items():
            print(f"{rate:>12,.0f} steps/s  {name}")
    if found["ratio_to_minigrid"]["steps"] < TARGET_RATIO:
        sys.exit(f"the steps are less than {TARGET_RATIO} times as fast as {PEER}")


if __name__ == "__main__":
    main()
