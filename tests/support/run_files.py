"""The files of a run that a test writes by hand: run.json and result.json in full."""

from typing import Any

NOTHING_COUNTED = {
    "explore_errors": 0,
    "explore_eligible": 0,
    "exploit_errors": 0,
    "exploit_eligible": 0,
    "error_decisions": 0,
}


def result_json(name: str, outcome: str, steps: int, budget: int, **others: Any) -> dict[str, Any]:
    """The result of an episode of which nothing was scored."""
    success = outcome == "success"
    score = {
        "decisions": steps,
        "scored_decisions": 0,
        "steps_taken": steps,
        "budget": budget,
        "acquired": int(success),
        "target_count": 1,
        "lenient": NOTHING_COUNTED,
        "strict": NOTHING_COUNTED,
    }
    told = {"id": name, "scenario": name, "agent": "hand", "memory": "raw", "outcome": outcome}
    return {
        "format": "oresight.result", "version": 1, **told, "steps": steps, "budget": budget, "score": score, **others
    }  # fmt: skip


def run_json(episodes: list[str], world: str = "craft") -> dict[str, Any]:
    """The run.json of an agent that plays these episodes."""
    config = {"world": world, "agent": "hand", "memory": "raw", "episodes": episodes, "frames": "none", "size": None}
    return {"format": "oresight.run", "version": 1, "config": config, "versions": {"oresight": "1"}}
