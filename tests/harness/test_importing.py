"""A person's sessions are imported as a run, which every command reads like an agent's."""

import json
from pathlib import Path
from typing import Any

import pytest

from oresight.harness.errors import ForeignFolderError, ReplayRefusedError, UsageError
from oresight.harness.records.importing import import_sessions
from oresight.harness.records.reader import State, open_run
from oresight.harness.running.replay import replay
from oresight.harness.worlds.craft.session_score import score_session
from oresight.scoring.rescoring import Settings
from oresight.scoring.score import score_paths
from support.session_stage import WALK_AND_TURN, proof_of, record

IDLE = ["wait"] * 3


@pytest.mark.parametrize("pairs", [None, "1,3"])
@pytest.mark.parametrize("turn_based", [True, False])
def test_an_imported_session_scores_as_the_session_does(tmp_path: Path, turn_based: bool, pairs: str | None) -> None:
    played = [*proof_of("outcrop-0")[:12], *([] if turn_based else [WALK_AND_TURN]), *IDLE]
    me = record(tmp_path / "me", "outcrop-0", played, turn_based=turn_based)
    import_sessions(me, tmp_path / "run")
    settings = Settings.parse(pairs, pairs)
    as_run = score_paths([tmp_path / "run"], settings=settings)
    as_session = score_paths([me], settings=settings, score_session=score_session)
    assert as_run.complete, as_run.problems
    (one,), (other,) = as_run.episodes, as_session.episodes
    assert (one.agent, one.memory, one.scenario) == (other.agent, other.memory, other.scenario)
    assert one.results == other.results
    assert as_run.totals_to_json()["pooled"] == as_session.totals_to_json()["pooled"]


def test_it_is_an_ordinary_run_with_the_session_beside_its_decisions(tmp_path: Path) -> None:
    me = record(tmp_path / "me", "outcrop-0", IDLE)
    import_sessions(me, tmp_path / "run")
    run = open_run(tmp_path / "run")
    (episode,) = run.episodes
    assert (run.config.agent, run.config.memory, run.config.world, episode.state) == (
        "human",
        "",
        "craft",
        State.FINISHED,
    )
    assert [(line.action, line.ticks) for line in episode.decisions()] == [
        ("wait", (1 + 20 * place, 20 + 20 * place)) for place in range(3)
    ]
    copied = episode.folder / "session.jsonl"
    assert copied.read_bytes() == (me / "session.jsonl").read_bytes()
    assert json.loads((tmp_path / "run/summary.json").read_text())["counts"]["scored"] == 1
    with pytest.raises(ReplayRefusedError, match=r"replay the session\.jsonl beside it"):
        replay(episode.folder)


def test_the_first_session_of_a_scenario_counts_and_a_broken_one_is_incomplete(tmp_path: Path) -> None:
    record(tmp_path / "me/a", "outcrop-0", IDLE)
    record(tmp_path / "me/b", "outcrop-0", proof_of("outcrop-0"))
    record(tmp_path / "me/c", "outcrop-1", IDLE, leave=False)
    imported = import_sessions(tmp_path / "me", tmp_path / "run")
    assert any("a counts, the first by name with a result; left out: b" in note for note in imported.notes)
    states = {each.name: each.state for each in open_run(tmp_path / "run").episodes}
    assert states == {"outcrop-0": State.FINISHED, "outcrop-1": State.INCOMPLETE}
    assert (imported.summary.counts.scored, imported.summary.counts.incomplete) == (1, 1)


def test_importing_again_changes_nothing_and_another_folder_is_refused(tmp_path: Path) -> None:
    me = record(tmp_path / "me", "outcrop-0", IDLE)
    import_sessions(me, tmp_path / "run")
    before = {path: path.read_bytes() for path in (tmp_path / "run").rglob("*") if path.is_file()}
    import_sessions(me, tmp_path / "run")
    assert {path: path.read_bytes() for path in (tmp_path / "run").rglob("*") if path.is_file()} == before
    you = record(tmp_path / "you", "outcrop-1", IDLE)
    with pytest.raises(ForeignFolderError, match="holds another run"):
        import_sessions(you, tmp_path / "run")
    with pytest.raises(UsageError, match="holds no session that can be read"):
        import_sessions(tmp_path / "run/summary.json", tmp_path / "other")


def test_the_command_says_what_counts_and_a_replay_finds_the_session(oresight: Any, tmp_path: Path) -> None:
    record(tmp_path / "me", "outcrop-0", IDLE)
    done = oresight("import", tmp_path / "me", "--out", tmp_path / "run")
    assert (done.code, done.out.splitlines()[0]) == (
        0,
        "1 of 1 episodes scored (0 succeeded, 1 failed), 0 broken, 0 missing",
    )
    again = oresight("replay", tmp_path / "run/episodes/outcrop-0")
    assert again.code == 0 and "60 ticks replayed" in again.out
