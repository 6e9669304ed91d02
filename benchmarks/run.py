"""All benchmarks in one run, beside the peers on the same machine: `python -m benchmarks.run --out docs`.

Every measurement is a process of its own; what is compared is measured in alternating rounds, and the median counts.
Rates differ from machine to machine and from minute to minute, so the ratios come first. Writes benchmarks.md and
benchmarks.json into the folder; exits with 1 where a goal is missed.
"""

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.goals import Results, rows_of, to_markdown
from benchmarks.peers import Peers
from oresight.harness.worlds import own_version

ROUNDS = 5
WORKERS = (1, 2, 4)
SCORED_LENGTHS = (300, 10_000, 100_000, 1_000_000)


def measured(call: str) -> Any:
    """Evaluate a call such as `craft.first_frame()` in a process of its own, and return what it returns.

    Args:
        call: A function of a module of `benchmarks`.
    """
    module = call.partition(".")[0]
    code = f"import json\nfrom benchmarks import {module}\nprint(json.dumps({call}))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{call} failed: {done.stderr.strip() or done.stdout.strip()}")
    return json.loads(done.stdout.strip().splitlines()[-1])


def alternating(ways: dict[str, Callable[[], float]], rounds: int) -> dict[str, float]:
    """Return the median of each way over rounds in which they take turns."""
    found: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(rounds):
        for name, way in ways.items():
            found[name].append(way())
    return {name: statistics.median(values) for name, values in found.items()}


def measure(peers: Peers, rounds: int, say: Callable[[str], None]) -> Results:
    """Measure everything."""
    say("the 3D world beside Miniworld's Maze")
    # What is not compiled yet is compiled now.
    measured("craft.rendered(80, 60, 50)")
    measured("craft.plain(craft.MOVES, 50, True)")
    results: Results = {
        "rendered": alternating(
            {
                "craft 640x480": lambda: measured("craft.rendered(640, 480, 400)"),
                "miniworld 640x480": lambda: peers.miniworld(640, 480, 150),
                "craft 80x60": lambda: measured("craft.rendered(80, 60, 1500)"),
                "miniworld 80x60": lambda: peers.miniworld(80, 60, 1000),
            },
            rounds,
        )
    }
    say("a picture beside a textured quad")
    frames = [measured("craft.frames(12)") for _ in range(rounds)]
    results["frames"] = {name: statistics.median(each[name] for each in frames) for name in frames[0]}
    say("the 3D world without pictures")
    results["plain"] = alternating(
        {
            "looks": lambda: measured("craft.plain(craft.LOOKS, 20000, False)"),
            "moves": lambda: measured("craft.plain(craft.MOVES, 5000, False)"),
            "looks with facts": lambda: measured("craft.plain(craft.LOOKS, 2000, True)"),
            "moves with facts": lambda: measured("craft.plain(craft.MOVES, 1000, True)"),
        },
        rounds,
    )
    results["first frame"] = alternating({"seconds": lambda: measured("craft.first_frame()")}, rounds)
    say("memory over a thousand reopenings, and a walk of 5,000 decisions")
    results["memory"] = measured("craft.memory()")
    results["long walk"] = measured("craft.long_walk()")
    say("the grid world beside MiniGrid")
    results["grid"] = alternating(
        {
            "steps": lambda: measured("grid.own_rate(200000, False)"),
            "steps with text": lambda: measured("grid.own_rate(200000, True)"),
            "gymnasium": lambda: measured("grid.gymnasium_rate(50000)"),
            "minigrid": lambda: peers.minigrid(20000),
        },
        rounds,
    )
    say("the scorer up to a million steps")
    results["scorer"] = {}
    for length in SCORED_LENGTHS:
        rates = measured(f"scorer.speed({length})").values()
        results["scorer"] |= {f"slowest at {length}": min(rates), f"fastest at {length}": max(rates)}
    results["scorer memory"] = measured("scorer.memory()")
    say("the harness beside a model that answers at once, workers, and the suites")
    runs = [measured("harness_runs.overhead()") for _ in range(rounds)]
    results["harness"] = {name: statistics.median(run[name] for run in runs) for name in runs[0]}
    results["workers"] = measured(f"harness_runs.episodes_by_workers({WORKERS})")
    results["suites"] = measured("harness_runs.suites()")
    say("the report of a large study")
    results["report"] = measured("report.large_study(2)")
    return results


def machine() -> dict[str, str]:
    """Return what the measurements were made on."""
    found = {"python": platform.python_version(), "system": platform.system(), "cores": str(os.cpu_count())}
    info = Path("/proc/cpuinfo")
    if info.is_file():
        models = [line.partition(":")[2].strip() for line in info.read_text().splitlines() if "model name" in line]
        found["processor"] = models[0] if models else "unknown"
    found["opengl"] = measured("craft.opengl()")
    return found


def main() -> None:
    """Measure, write the table and print it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("docs"), help="folder of benchmarks.md and benchmarks.json")
    parser.add_argument("--peer", type=Path, help="Python of an environment that has miniworld and minigrid")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="how often each comparison is repeated")
    arguments = parser.parse_args()
    load = os.getloadavg()[0]
    if load > 0.5:
        print(f"others are at work here (load {load:.1f}): rates will be too low, ratios less so", file=sys.stderr)
    peers = Peers(arguments.peer)
    results = measure(peers, arguments.rounds, lambda words: print(f"{words} ...", file=sys.stderr, flush=True))
    rows = rows_of(results)
    record = {
        "oresight": own_version(),
        "machine": machine(),
        "peers": peers.versions(),
        "rounds": arguments.rounds,
        "load_at_start": round(load, 2),
        "goals": [row.to_json() for row in rows],
        "measured": results,
    }
    arguments.out.mkdir(parents=True, exist_ok=True)
    (arguments.out / "benchmarks.json").write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    page = to_markdown(record)
    (arguments.out / "benchmarks.md").write_text(page, encoding="utf-8")
    print(page)
    if missed := [row.what for row in rows if not row.met]:
        sys.exit(f"missed: {'; '.join(missed)}")


if __name__ == "__main__":
    main()
