"""Draws the pictures that explain the metric: `python docs/make_images.py` writes them into docs/images.

The cases, stale scores and errors in them come out of the scorer, and the screenshots out of the game.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from oresight.craftenv.env import CraftEnv
from oresight.craftenv.scenarios.suites import get_scenario
from oresight.gridenv.mapfile import parse_map
from oresight.gridenv.model import Cell, Exploration, GridMap
from oresight.harness.protocols import Pixels
from oresight.harness.report.plots import drawing_style, saved, sheet
from oresight.harness.wording import case_words, verdict_words
from oresight.scoring.craft.adapter import CraftScorer
from oresight.scoring.decisions import ScoredDecision
from oresight.scoring.grid.adapter import GridScenario, GridScorer
from oresight.scoring.parameters import Parameters

IMAGES = Path(__file__).parent / "images"

_INK, _FAINT = "#20262f", "#7b8492"
_OBSERVED, _UNOBSERVED, _HIDDEN = "#f4f1ea", "#bcd7f0", "#c9ced6"
_PENDING, _WAITING, _ACHIEVED, _AGENT, _ERROR = "#f6b73c", "#c9ced6", "#3fae6a", "#1769e0", "#c0392b"
_LETTERS = {"R": "right", "L": "left", "U": "up", "D": "down"}
_SCENARIO = "valley-2"


@dataclass(frozen=True)
class Walked:
    """A walk over a map: the cells stood on, the decisions as scored, and what is known at the end."""

    cells: tuple[Cell, ...]
    decisions: tuple[ScoredDecision, ...]
    exploration: Exploration


def walk(map_: GridMap, moves: str) -> Walked:
    """Walk and score; moves are the letters R, L, U and D."""
    scorer = GridScorer(Parameters(), GridScenario(map_, "partial"))
    exploration = Exploration(map_)
    cells, decisions = [exploration.position], []
    for letter in moves:
        decisions.append(scorer.score(_LETTERS[letter]))
        exploration.move(_LETTERS[letter])
        cells.append(exploration.position)
    return Walked(tuple(cells), tuple(decisions), exploration)


def make_map(rows: Sequence[str], nodes: dict[str, list[list[str]]], goal: str) -> GridMap:
    """Make a map of rows of characters, the top one first: # is no cell, @ the start, a letter a node's cell."""
    cells: list[list[int]] = []
    places: dict[str, list[int]] = {}
    for y, row in enumerate(reversed(rows)):
        for x, character in enumerate(row):
            if character != "#":
                cells.append([x, y])
                places[character] = [x, y]
    return parse_map(
        {
            "cells": cells,
            "start": places["@"],
            "nodes": [{"id": name, "cell": places[name], "options": options} for name, options in nodes.items()],
            "goal": goal,
        }
    )


def draw_map(axes: Any, map_: GridMap, walked: Walked, path: bool = False) -> None:
    """Draw what is known after a walk, hidden cells greyed."""
    from matplotlib.patches import Circle, Rectangle

    known = walked.exploration
    for cell in sorted(map_.cells):
        if cell in known.observed:
            colour, letter = _OBSERVED, ""
        elif cell in known.unobserved:
            colour, letter = _UNOBSERVED, "?"
        else:
            colour, letter = _HIDDEN, ""
        axes.add_patch(Rectangle((cell[0] - 0.47, cell[1] - 0.47), 0.94, 0.94, facecolor=colour, linewidth=0))
        axes.text(*cell, letter, ha="center", va="center", color="#5f8fbd", fontsize=10)
    pending = {node.id for node in known.pending}
    for node in map_.nodes:
        if node.cell not in known.observed:
            continue
        state = _PENDING if node.id in pending else (_ACHIEVED if node.id in known.achieved else _WAITING)
        axes.add_patch(Circle(node.cell, 0.33, facecolor=state, edgecolor=_INK, linewidth=0.8))
        axes.text(*node.cell, node.id, ha="center", va="center", color=_INK, fontsize=9, weight="bold")
    if path:
        for number, (a, b) in enumerate(zip(walked.cells, walked.cells[1:], strict=False)):
            shift = (0.10 if number % 2 else -0.10) if len(set(walked.cells)) < len(walked.cells) else 0.0
            dx, dy = b[0] - a[0], b[1] - a[1]
            axes.annotate(
                "",
                (b[0] + shift * dy, b[1] + shift * dx),
                (a[0] + shift * dy, a[1] + shift * dx),
                arrowprops={"arrowstyle": "->", "color": _AGENT, "linewidth": 1.3, "shrinkA": 0, "shrinkB": 2},
            )
    x, y = walked.cells[-1]
    axes.add_patch(Circle((x + 0.28, y - 0.28), 0.15, facecolor=_AGENT, edgecolor="white", linewidth=0.8, zorder=5))
    axes.set_aspect("equal")
    axes.axis("off")
    axes.autoscale_view()


def cases() -> Any:
    """Draw the four cases on one small map: what is known decides what is asked of the next decision."""
    map_ = make_map(("B.@.A", "##.##", "##G##"), {"A": [], "B": [["A"]], "G": [["B"]]}, "G")
    panels = (
        ("", "R", "nothing is pending\nexplore: come nearer to some unobserved cell"),
        (
            "LLRRRR",
            "L",
            "B is pending, not the goal; one cell is unobserved\neither: nearer to B, or to the unobserved cell",
        ),
        ("LLRRDDUURR", "L", "B is pending, all cells are observed\ngo for what is pending"),
        ("LLRRDDUURRLLLL", "R", "the goal G is pending\ngo for it, and for nothing else"),
    )
    figure, axes = sheet(4, 12.4, 2.5)
    for place, (moves, following, words) in zip(axes, panels, strict=True):
        place.grid(False)
        draw_map(place, map_, walk(map_, moves))
        scored = walk(map_, moves + following).decisions[-1]
        place.set_title(f"{case_words(scored).partition(':')[0]}", loc="left", weight="bold")
        place.text(0.0, -0.06, words, transform=place.transAxes, va="top", color=_INK, fontsize=9)
    return figure


def stale() -> Any:
    """Three walks over what is known already, with the stale score after each decision."""
    ring = make_map(("..##", "@...", "###G"), {"G": []}, "G")
    dead_end = make_map(("###.G", "....@", "###.#"), {"G": []}, "G")
    panels = (
        (dead_end, "LLLLRRR", "into a dead end and back: no error"),
        (ring, "RULDRULDRUL", "round and round: a loop is closed"),
        (dead_end, "LLRLRLR", "to and fro: the same edge again and again"),
    )
    figure, axes = sheet(3, 12.4, 4.4, rows=2)
    for column, (map_, moves, words) in enumerate(panels):
        walked = walk(map_, moves)
        above, below = axes[column], axes[3 + column]
        above.grid(False)
        draw_map(above, map_, walked, path=True)
        above.set_title(words, loc="left")
        steps = [decision.step for decision in walked.decisions]
        below.bar(steps, [decision.stale for decision in walked.decisions], color=_FAINT, width=0.6)
        wrong = [decision for decision in walked.decisions if decision.error is not None]
        heights = [decision.stale + 0.12 for decision in wrong]
        below.scatter([decision.step for decision in wrong], heights, marker="x", color=_ERROR, zorder=3, label="error")
        below.set_xticks(steps, [_letter(decision.action) for decision in walked.decisions])
        highest = max(decision.stale for decision in walked.decisions)
        below.set_ylim(0, max(highest, 3) + 0.6)
        below.set_yticks(range(max(highest, 3) + 1))
        below.set_ylabel("stale score after it")
        if wrong:
            below.legend(loc="upper left")
    return figure


def _letter(action: str | None) -> str:
    return next(letter for letter, name in _LETTERS.items() if name == action)


def readings(scenario_name: str = _SCENARIO) -> Any:
    """Decisions of an episode in the 3D world: what was seen after each, and what the referee says of it."""
    scenario = get_scenario(scenario_name)
    shots: list[tuple[Pixels, ScoredDecision]] = []
    with CraftEnv(scenario) as env:
        image = env.reset().image
        assert image is not None
        start = env.facts()
        scorer = CraftScorer(Parameters(), scenario.model_dump(mode="json", exclude={"proof"}), start)
        # Aside and back again, so that the proof still holds.
        for action in ("look_left", "wait", "look_right", *scenario.proof):
            transition = env.step(action)
            scored = scorer.score(action, env.facts())
            assert transition.observation.image is not None
            shots.append((transition.observation.image, scored))
    kinds = ("view", "no gain", "ore", "aimed", "acquired", "position")
    chosen: dict[str, tuple[Pixels, ScoredDecision]] = {}
    for picture, scored in shots:
        for kind in (*scored.reasons, *scored.causes):
            if kind in kinds and kind not in chosen:
                chosen[kind] = (picture, scored)
                break
    found = sorted(chosen.values(), key=lambda each: each[1].step)
    figure, axes = sheet(3, 12.4, 3.6 * -(-len(found) // 3), rows=-(-len(found) // 3))
    for place in axes:
        place.axis("off")
    for place, (picture, scored) in zip(axes, found, strict=False):
        place.imshow(picture)
        place.set_title(
            f"{scored.step}: {scored.action}\n{case_words(scored)}; {verdict_words(scored)}", loc="left", fontsize=10
        )
    return figure


def main() -> None:
    """Draw everything."""
    with drawing_style():
        for name, figure in (("metric-cases", cases()), ("metric-stale", stale())):
            (IMAGES / f"{name}.svg").write_bytes(saved(figure, "svg"))
        (IMAGES / "metric-craft.png").write_bytes(saved(readings(), "png", dpi=90))


if __name__ == "__main__":
    main()
