"""Measures of the 3D world. Each is a function, run in a process of its own by `benchmarks.run`.

Scenarios come from the standard suite; actions are drawn from a fixed seed. Rates are decisions a second of wall time
unless a name says otherwise.
"""

import random
import resource
import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks.quad import Quad
from oresight.craftenv.env import CraftEnv
from oresight.craftenv.render.context import describe
from oresight.craftenv.scenarios.suites import get_scenario, scenario_names

SCENARIO = "outcrop-0"
LOOKS = ("look_left", "look_right", "look_up", "look_down")
MOVES = ("move_forward", "move_backward", "move_left", "move_right")
# As a Miniworld agent: half of it forwards, the rest turns; ours also steps aside and looks up and down.
MIXED = ("move_forward", "move_forward", "move_left", "look_left", "look_left", "look_right", "look_up", "look_down")
_WARM_UP = 20
_WALKED = 5_000
_REOPENINGS = 1_000


def _draw(names: Sequence[str], number: int, seed: int = 0) -> list[str]:
    draw = random.Random(seed)
    return [draw.choice(names) for _ in range(number)]


def _rss_mib() -> float:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1024
    raise RuntimeError("the system does not say how much memory is used")


def opengl() -> str:
    """Return what draws the pictures."""
    info = describe()
    return f"{info.renderer}, OpenGL {info.version}"


def rendered(width: int, height: int, decisions: int) -> float:
    """Return decisions a second with a picture each, looks and moves mixed."""
    with CraftEnv(get_scenario(SCENARIO), width=width, height=height) as env:
        env.reset()
        for action in _draw(MIXED, _WARM_UP, 1):
            env.step(action)
        actions = _draw(MIXED, decisions)
        begin = time.perf_counter()
        for action in actions:
            env.step(action)
        return decisions / (time.perf_counter() - begin)


def plain(names: Sequence[str], decisions: int, facts: bool) -> float:
    """Return decisions a second without pictures."""
    with CraftEnv(get_scenario(SCENARIO), pictures=False) as env:
        env.reset()
        if facts:
            env.facts()
        begin = 0.0
        for number, action in enumerate(_draw(names, _WARM_UP + decisions)):
            if number == _WARM_UP:
                begin = time.perf_counter()
            env.step(action)
            if facts:
                env.facts()
        return decisions / (time.perf_counter() - begin)


def frames(rounds: int) -> dict[str, float]:
    """Return the milliseconds of a 640 x 480 picture of ours and of a textured quad, wall and CPU, taken in turns."""
    quad = Quad(640, 480)
    spent = {"ours_wall_ms": 0.0, "ours_cpu_ms": 0.0, "quad_wall_ms": 0.0, "quad_cpu_ms": 0.0}
    drawn = 0
    for name in scenario_names("craft-mine"):
        with CraftEnv(get_scenario(name)) as env:
            env.reset()
            quad.draw()
            for action in _draw(MIXED, rounds):
                env.step(action)
                for who, draw in (("ours", env.render), ("quad", quad.draw)):
                    draw()
                    wall, cpu = time.perf_counter(), time.process_time()
                    draw()
                    spent[f"{who}_wall_ms"] += (time.perf_counter() - wall) * 1000
                    spent[f"{who}_cpu_ms"] += (time.process_time() - cpu) * 1000
                drawn += 1
    return {name: total / drawn for name, total in spent.items()}


def first_frame() -> float:
    """Return the seconds from opening a world to its first picture, in a process that has drawn nothing yet."""
    scenario = get_scenario(SCENARIO)
    begin = time.perf_counter()
    with CraftEnv(scenario) as env:
        assert env.reset().image is not None
        return time.perf_counter() - begin


def memory() -> dict[str, float]:
    """Return the MiB of a process that plays with pictures and facts, and what reopening a thousand times adds."""
    names = scenario_names("craft-mine")
    found: dict[str, float] = {}
    for number in range(_REOPENINGS):
        with CraftEnv(get_scenario(names[number % len(names)])) as env:
            env.reset()
            env.facts()
            for action in _draw(MIXED, 100 if number == 0 else 2):
                env.step(action)
                env.facts()
            if number == 0:
                found["one_environment_mib"] = _rss_mib()
        if number == 99:
            found["after_100_mib"] = _rss_mib()
    found["after_1000_mib"] = _rss_mib()
    found["peak_mib"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return found


def long_walk() -> dict[str, float]:
    """Return what a decision takes at the start and at the end of a walk of 5,000, and the memory then."""
    with CraftEnv(get_scenario(SCENARIO), width=160, height=120) as env:
        env.reset()
        env.facts()
        # Straight on with a jump at steps: ground that was never seen before, all the way.
        walk = [
            ("jump", "move_forward", "move_forward", "look_left" if n % 40 == 0 else "move_forward")
            for n in range(_WALKED)
        ]
        actions = [action for group in walk for action in group][:_WALKED]
        times: list[float] = []
        sizes: list[float] = []
        for number, action in enumerate(actions, 1):
            begin = time.perf_counter()
            env.step(action)
            env.facts()
            times.append(time.perf_counter() - begin)
            if number in (1_000, _WALKED):
                sizes.append(_rss_mib())
    return {
        # A thousand decisions' seconds are one decision's milliseconds.
        "second_thousand_ms": sum(times[1_000:2_000]),
        "last_thousand_ms": sum(times[-1_000:]),
        "after_1000_mib": sizes[0],
        "after_5000_mib": sizes[1],
    }
