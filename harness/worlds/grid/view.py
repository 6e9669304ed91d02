"""What the drawing of a grid episode is made of: the cells as they became known, and the task DAG."""

from oresight.harness.records.scored import Story
from oresight.harness.worlds.grid.account import GridAccount
from oresight.harness.worlds.view import NEVER, Numbers, View
from oresight.scoring.grid.adapter import GridScenario

# On a larger map the cells that the agent never knew of are left out.
HIDDEN_CELLS_MAX = 4000


def grid_view(story: Story, scenario: GridScenario, account: GridAccount) -> View:
    """Return the map and its task DAG."""
    map_ = scenario.map
    numbers = Numbers(map_.start)
    shown = sorted(map_.cells if len(map_.cells) <= HIDDEN_CELLS_MAX else account.seen)
    order = {node.id: place for place, node in enumerate(map_.nodes)}
    drawing = {
        "cells": [[*cell, account.seen.get(cell, NEVER), account.observed.get(cell, NEVER)] for cell in shown],
        "left_out": len(map_.cells) - len(shown),
        "nodes": [
            {
                "id": node.id,
                "at": list(node.cell),
                "options": [[order[parent] for parent in option] for option in node.options],
                "found": account.found.get(node.id, NEVER),
                "achieved": account.achieved.get(node.id, NEVER),
                "goal": node.id == map_.goal,
            }
            for node in map_.nodes
        ],
        "start": list(map_.start),
        "at": [list(moment.after) for moment in account.moments],
        "pending": [[order[node.id] for node in moment.pending] for moment in account.moments],
    }
    events = [2 if each.achieved is not None else 1 if each.found is not None else 0 for each in account.moments]
    ends = [numbers.of(step.judged.node) for step in story.steps]
    return View(
        nodes=numbers.nodes,
        ends=ends,
        events=events,
        drawing=drawing,
        script="replay_grid.js",
        event_names=("", "node found", "node achieved"),
        map_title="Map",
        dag=True,
    )
