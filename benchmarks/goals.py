"""The goals, what was measured against them, and the page that says so: functions of the results alone."""

from dataclasses import asdict, dataclass
from typing import Any

Results = dict[str, dict[str, float]]


@dataclass(frozen=True)
class Row:
    """A goal and what became of it.

    Attributes:
        what: In words.
        value: As measured.
        goal: The bound.
        unit: Of both.
        at_least: Whether the bound is the least that is wanted, and not the most.
        detail: The figures that the value is made of.
    """

    what: str
    value: float
    goal: float
    unit: str
    at_least: bool
    detail: str = ""

    @property
    def met(self) -> bool:
        """Whether the goal is reached."""
        return self.value >= self.goal if self.at_least else self.value <= self.goal

    def to_json(self) -> dict[str, Any]:
        """As a JSON object."""
        return {**asdict(self), "met": self.met}


def rows_of(results: Results) -> list[Row]:
    """Return every goal with its value, ratios first."""
    drawn, frames, plain = results["rendered"], results["frames"], results["plain"]
    memory, walk, grid, report = results["memory"], results["long walk"], results["grid"], results["report"]
    rows = [
        Row(
            f"rendered decisions beside Miniworld's Maze, {size}",
            drawn[f"craft {size}"] / drawn[f"miniworld {size}"],
            goal,
            "times",
            True,
            f"{drawn[f'craft {size}']:,.0f} against {drawn[f'miniworld {size}']:,.0f} a second",
        )
        for size, goal in (("640x480", 5.0), ("80x60", 3.0))
    ]
    rows += [
        Row(
            f"a 640x480 picture beside a textured quad with readback, {kind} time",
            frames[f"ours_{name}_ms"] / frames[f"quad_{name}_ms"],
            2.0,
            "times",
            False,
            f"{frames[f'ours_{name}_ms']:.2f} ms against {frames[f'quad_{name}_ms']:.2f} ms",
        )
        for kind, name in (("wall", "wall"), ("CPU", "cpu"))
    ]
    rows.append(
        Row(
            "grid steps beside MiniGrid's Empty-16x16",
            grid["steps"] / grid["minigrid"],
            10.0,
            "times",
            True,
            f"{grid['steps']:,.0f} against {grid['minigrid']:,.0f} a second; with the text read"
            f" {grid['steps with text'] / grid['minigrid']:.1f} times, through gymnasium"
            f" {grid['gymnasium'] / grid['minigrid']:.1f} times",
        )
    )
    rows += [
        Row(f"{name}, without pictures", plain[name], goal, "decisions/s", True)
        for name, goal in (
            ("looks", 2000.0),
            ("moves", 500.0),
            ("looks with facts", 500.0),
            ("moves with facts", 250.0),
        )
    ]
    rows += [
        Row("first picture of a world, kernels cached", results["first frame"]["seconds"], 1.0, "s", False),
        Row("memory of one environment", memory["one_environment_mib"], 300.0, "MiB", False),
        Row(
            "growth from the 100th to the 1,000th reopening",
            memory["after_1000_mib"] - memory["after_100_mib"],
            10.0,
            "MiB",
            False,
            f"{memory['after_100_mib']:.0f} to {memory['after_1000_mib']:.0f} MiB",
        ),
        Row(
            "a walk of 5,000 decisions: the last thousand beside the second",
            walk["last_thousand_ms"] / walk["second_thousand_ms"],
            1.5,
            "times",
            False,
            f"{walk['second_thousand_ms']:.2f} to {walk['last_thousand_ms']:.2f} ms a decision with"
            f" picture and facts; {walk['after_1000_mib']:.0f} to {walk['after_5000_mib']:.0f} MiB",
        ),
        Row(
            "scored grid steps, the slowest of all walks up to a million",
            min(value for name, value in results["scorer"].items() if name.startswith("slowest")),
            20_000.0,
            "steps/s",
            True,
        ),
        Row(
            "the harness's own time a decision, with a 640x480 picture",
            results["harness"]["all_in_ms"],
            10.0,
            "ms",
            False,
            f"all in; the SDK and an instant server alone take {results['harness']['sdk_and_server_alone_ms']:.1f}",
        ),
        Row("the suite craft-mine by the scout", results["suites"]["craft_mine_by_scout_s"], 60.0, "s", False),
        Row("the grid's suite main by frontier", results["suites"]["grid_main_by_frontier_s"], 10.0, "s", False),
        Row(
            f"the report of {report['episodes']:,.0f} episodes with {report['decisions']:,.0f} decisions, two workers",
            report["report_s"],
            60.0,
            "s",
            False,
            f"{report['processor_s']:.0f} s of processor time, {report['report_mb']:.0f} MB",
        ),
        Row(
            "its page, opened in Chromium", report["page_opened_s"], 2.0, "s", False, "without the start of the browser"
        ),
    ]
    return rows


def to_markdown(record: dict[str, Any]) -> str:
    """Return the page of what was measured."""
    results: Results = record["measured"]
    machine = record["machine"]
    peers = ", ".join(f"{name} {version}" for name, version in record["peers"].items())
    lines = [
        "# Benchmarks",
        "",
        "Made by `python -m benchmarks.run --out docs`; every number below is measured by that command, on one machine"
        " in one run. Peers and ours take turns, medians count. Rates differ between machines; ratios travel better.",
        "",
        f"{machine.get('processor', 'unknown processor')}, {machine['cores']} cores, {machine['system']}, Python"
        f" {machine['python']}, {machine['opengl']}; {peers}. Load when it began: {record['load_at_start']}.",
        "",
        "| what | measured | goal | |",
        "| --- | --- | --- | --- |",
    ]
    for row in rows_of(results):
        bound = "at least" if row.at_least else "at most"
        detail = f" ({row.detail})" if row.detail else ""
        lines.append(
            f"| {row.what} | {_number(row.value)} {row.unit}{detail} | {bound} {_number(row.goal)} {row.unit} |"
            f" {'met' if row.met else '**missed**'} |"
        )
    lines += ["", "## Without a goal", "", "| what | measured |", "| --- | --- |"]
    workers = results["workers"]
    one = workers["1"]
    lines += [
        f"| grid episodes a second with {number} worker{'s' if number != '1' else ''} | {rate:.1f}"
        f" ({rate / one:.2f} times one) |"
        for number, rate in workers.items()
    ]
    lines += [
        f"| {name.replace('at', 'walk of', 1)} steps, scored steps a second | {rate:,.0f} |"
        for name, rate in results["scorer"].items()
    ]
    lines += [
        f"| peak memory of scoring {int(number):,} episodes of 300 moves from a file | {size:.0f} MiB |"
        for number, size in results["scorer memory"].items()
    ]
    lines.append(
        f"| a decision of the first episode of a run, the SDK and the kernels loaded meanwhile |"
        f" {results['harness']['first_episode_ms']:.1f} ms |"
    )
    lines += ["", _PROFILE]
    return "\n".join(lines)


_PROFILE = """\
## What the profile shows where pictures miss their goals

Both goals are about llvmpipe, Mesa's renderer on the CPU.

- **80x60.** Of the half millisecond that a decision takes, llvmpipe's threads and reading back take a quarter,
  choosing the quads that show a fifth, OpenGL's calls a tenth; the rest is spread over some ten ticks of
  simulation, the words and the hotbar. Nothing is left that is both large and avoidable.
- **A textured quad** touches each pixel once, with one texture read. Of a picture's time the large faces take about
  two fifths, sky and small faces a fifth each, choosing what to draw a sixth, reading back a thirtieth. Faces are
  drawn without overdraw already; even one constant colour in place of texture, light and fog would save a fifth of
  them, so that it is llvmpipe's fixed cost per pixel and per triangle that counts.
"""


def _number(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.2f}".rstrip("0").rstrip(".")
