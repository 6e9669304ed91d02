"""What the tests of the golden records share: what there is, and what of a command's answer is held to be equal.

Held are numbers, outcomes and hashes. Left out are words, which may be put better, and times.
"""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from support.places import DATA

GOLDEN = DATA / "golden"
EXPECTED = GOLDEN / "expected"

SCORED = {
    "scout": ("played/scout",),
    "pictures": ("played/pictures",),
    "frontier": ("played/frontier",),
    "forgetful": ("played/forgetful",),
    "seven": ("played/seven",),
    "model": ("played/model",),
    "broken": ("played/broken",),
    "torn": ("played/torn",),
    "study": ("played/study",),
    "branches": ("played/branches",),
    "craft-branches": ("played/craft-branches",),
    "me": ("sessions/me",),
    "cut": ("sessions/cut",),
    "vpt": ("recordings/vpt.jsonl",),
    "vpt-iron": ("recordings/vpt.jsonl", "--target", "iron_ore"),
    "corridors": ("recordings/corridors.json",),
    "map": ("maps/seven.json",),
    "all": ("played", "sessions", "recordings"),
    "grid-pairs": ("played/forgetful", "played/broken", "--alpha", "1,3", "--k", "1,2"),
    "craft-pairs": ("played/pictures", "sessions/me", "recordings/vpt.jsonl", "--alpha", "0.15,3", "--k", "1,3"),
}
# Their steps are held elsewhere; of all together, so are the episodes.
WITHOUT_STEPS = {"all", "grid-pairs", "craft-pairs"}
WITHOUT_EPISODES = {"all"}

COMPARED = {
    "explorers": ("played/frontier", "played/forgetful"),
    "mixed": ("played/frontier", "played/broken", "played/torn"),
    "study": ("played/study",),
    "branches": ("played/branches",),
    "person": ("played/pictures", "sessions/me"),
}

# The commands that made these runs; each is complete.
RUNS = {
    "frontier": "grid --agent frontier --demand low --size small --seeds 0,1,2",
    "forgetful": "grid --agent frontier(window=2,noise=0.2) --demand low --size small --seeds 0,1,2",
    "seven": "grid --agent depth-first --map maps/seven.json",
    "study": "study.toml",
    "scout": "craft --agent scout --scenario outcrop-0 --size 160x120 --frames none",
    "pictures": "craft --agent oracle --scenario outcrop-1 --size 80x60 --frames all",
    "model": (
        "grid --model compatible:m-1@http://127.0.0.1:11434/v1 --memory tree+notes "
        "--demand low --size small --seeds 1 --prices prices.json"
    ),
}
BRANCHES = {
    "branches": "played/forgetful/episodes/low-small-2 --at 30 --agent same,frontier --rollouts 2",
    "craft-branches": (
        "played/pictures/episodes/outcrop-1 --at 12 --model scripted:replies.txt "
        "--memory screenshots(2) --rollouts 2 --frames last"
    ),
}
# Those that are quickly played anew, without pictures and without asking anybody.
PLAYED_ANEW = ("frontier", "forgetful", "seven", "study", "branches")

WATCHED = (*RUNS, *BRANCHES, "broken", "torn")

REPORTED = ("played/frontier", "played/forgetful", "played/pictures", "sessions/me", "played/model")

_WORDS = {"method", "reason", "problems", "notes", "remarks"}


def command_of(name: str, out: str) -> list[str]:
    """The command that made a run or branches, with another folder."""
    command = f"run {RUNS[name]}" if name in RUNS else f"branch {BRANCHES[name]}"
    return [*command.split(), "--out", out]


def numbers(told: Any) -> Any:
    """An answer without its words and times."""
    if isinstance(told, Mapping):
        return {key: numbers(value) for key, value in told.items() if key not in _WORDS and not _is_time(key)}
    return [numbers(value) for value in told] if isinstance(told, list) else told


def _is_time(key: str) -> bool:
    return key.startswith("timing") or key in ("latency_s", "seconds_since_written")


def scores(told: Any, name: str) -> Any:
    """What `score --json` said: counts, rates, and of each episode the summary and its steps."""
    pooled = told["pooled"]
    found = {"pooled": numbers(pooled.get("results", [pooled]))}
    if name not in WITHOUT_EPISODES:
        found["episodes"] = [_episode(episode, name not in WITHOUT_STEPS) for episode in told["episodes"]]
    return found


def _episode(told: Any, steps: bool) -> Any:
    results = told.get("results", [told])
    return {
        **{key: told[key] for key in ("name", "kind", "scenario", "agent", "memory")},
        "results": [
            {"alpha": each["alpha"], "k": each["k"], "outcome": each["outcome"], "summary": numbers(each["summary"])}
            | ({"steps": [_step(step) for step in each["steps"]]} if steps else {})
            for each in results
        ],
    }


def _step(told: Any) -> list[Any]:
    """Step, action, case, error, stale, and the error of the strict reading."""
    strict = told["strict"]
    return [*(told[key] for key in ("step", "action", "case", "error", "stale")), strict and strict["error"]]


def comparison(told: Any) -> Any:
    """What `compare --json` said; conditions are known by their order, agent and memory."""
    kept = ("agent", "memory", "prompts", "sessions", "counts", "shared", "difference_from_first")
    return {
        **{key: told[key] for key in ("world", "complete", "same_episodes", "shared_episodes")},
        "conditions": [
            numbers({key: each[key] for key in kept} | {"counts": _as_missing(each["counts"])})
            for each in told["conditions"]
        ],
    }


def _as_missing(counts: Mapping[str, Any]) -> dict[str, Any]:
    """Counts as they were when a comparison called missing whatever had no result, also what was begun."""
    others = counts["incomplete"] + counts["unreadable"]
    return {
        **counts,
        "found": counts["found"] - others,
        "missing": counts["missing"] + others,
        "incomplete": 0,
        "unreadable": 0,
    }


def watched(told: Any) -> Any:
    """What `watch --json` said; which episodes came last is a matter of the files' times."""
    kept = ("world", "complete", "planned", "finished", "broken", "success", "errors", "decisions", "usage")
    return {
        "state": told["state"],
        "conditions": [numbers({key: each[key] for key in kept}) for each in told["conditions"]],
    }


def summaries(run: Path) -> Any:
    """The `summary.json` of a run, or of each condition of a folder that holds several."""
    return {
        str(file.parent.relative_to(run)): numbers(json.loads((file.parent / "summary.json").read_bytes()))
        for file in sorted(run.rglob("run.json"))
    }


def rows(run: Path) -> dict[tuple[str, str, str], Any]:
    """The rows of these summaries by agent, memory and episode."""
    found = {}
    for folder, summary in summaries(run).items():
        config = json.loads((run / folder / "run.json").read_bytes())["config"]
        found |= {(config["agent"], config["memory"], row["episode"]): row for row in summary["episodes"]}
    return found


def records(file: Path) -> list[Any]:
    """The whole lines of a trajectory or of a session."""
    return [json.loads(line) for line in file.read_bytes().split(b"\n")[:-1]]


def way(trajectory: Path) -> list[list[Any]]:
    """The state before decision 1, and each decision with the state and the outcome that it led to."""
    header, *decisions = records(trajectory)
    kept = ("step", "action", "state_hash", "outcome")
    return [[header["start"]["state_hash"]], *([line[key] for key in kept] for line in decisions)]


def last_hash(file: Path) -> str:
    """The last hash of a state that a trajectory or a session tells."""
    for line in reversed(records(file)):
        found = line.get("state_hash") or line.get("start", {}).get("state_hash")
        if found:
            return str(found)
    raise AssertionError(f"{file} tells no state")


def recordings() -> Iterator[Path]:
    """Every trajectory and every session of our own, relative to the golden folder."""
    for pattern in ("played/**/trajectory.jsonl", "sessions/**/session.jsonl"):
        yield from sorted(file.relative_to(GOLDEN) for file in GOLDEN.glob(pattern))


def missing(expected: Any, found: Any, where: str = "") -> list[str]:
    """Where what was found lacks something expected; fields that came later may be there as well."""
    if isinstance(expected, dict):
        if not isinstance(found, dict):
            return [f"{where}: {found!r} is no object"]
        return [
            fault
            for key, value in expected.items()
            for fault in (missing(value, found[key], f"{where}.{key}") if key in found else [f"{where}.{key} is gone"])
        ]
    if isinstance(expected, list):
        if not isinstance(found, list) or len(found) != len(expected):
            return [f"{where}: {found!r} has another length than {expected!r}"]
        pairs = enumerate(zip(expected, found, strict=True))
        return [fault for number, pair in pairs for fault in missing(*pair, f"{where}[{number}]")]
    same = expected == found and isinstance(expected, bool) == isinstance(found, bool)
    return [] if same else [f"{where}: {found!r}, and not {expected!r}"]


def expected(name: str) -> Any:
    """A file of `expected`."""
    return json.loads((EXPECTED / f"{name}.json").read_bytes())
