"""Measures of the grid world: steps a second with random moves, reset at every end."""

import random
import time

from oresight.gridenv.env import GridEnv
from oresight.gridenv.gymenv import GridGymEnv
from oresight.gridenv.model import DIRECTION_NAMES
from oresight.gridenv.suites import get_scenario

SCENARIO = "low-large-0"


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
