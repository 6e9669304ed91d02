"""People beside agents: sessions are a condition of a comparison like any other, and a row of the calibration table."""

import json
from pathlib import Path
from typing import Any

import pytest

from experiments.calibration.people import HOW_TO, person_of
from experiments.calibration.table import player_rows, suite_worlds
from oresight.harness.analysis.compare import compare, load_conditions
from oresight.harness.errors import UsageError
from oresight.harness.records.people import Played, read_sessions
from oresight.harness.running.runner import RunPlan, run
from oresight.harness.worlds import find_worlds
from support.cli_stage import Ran
from support.places import TESTS
from support.session_stage import proof_of, record

IDLE = ["wait"] * 3
HERE = TESTS


def played(out: Path, *scenarios: str, agent: str = "oracle") -> Path:
    run(RunPlan(agent, "raw", find_worlds("craft", scenarios), frames="none", size=None), out)
    return out


def read(place: Path) -> Played:
    found = read_sessions(place)
    assert found is not None
    return found


def change_header(session: Path, edit: Any) -> None:
    file = session / "session.jsonl"
    head, _, rest = file.read_text().partition("\n")
    header = json.loads(head)
    edit(header)
    file.write_text(json.dumps(header) + "\n" + rest)


# --- comparison ---


def test_a_person_who_decides_like_an_agent_has_its_figures(tmp_path: Path) -> None:
    agent = played(tmp_path / "oracle", "outcrop-0", "outcrop-1")
    for name in ("outcrop-0", "outcrop-1"):
        record(tmp_path / "me" / name, name, proof_of(name))
    found = compare(load_conditions([agent, tmp_path / "me"]))
    assert found.shared == ("outcrop-0", "outcrop-1")
    first, second = found.columns
    assert (first.label, second.label) == ("oracle, raw", "me, human")
    assert second.pooled.to_json() == first.pooled.to_json()
    assert second.cost is None
    assert {name: each.value for name, each in second.differences.items()} == {
        "success": 0.0,
        "exploration_error_lenient": 0.0,
        "exploration_error_strict": 0.0,
        "exploitation_error_lenient": 0.0,
        "exploitation_error_strict": 0.0,
        "score": 0.0,
        "decisions_used": 0.0,
        "budget_used": 0.0,
        "budget_used_success": 0.0,
    }
    assert found.complete and found.notes == ()


def test_a_session_left_early_is_a_failure_and_that_is_said(tmp_path: Path) -> None:
    record(tmp_path / "me", "outcrop-0", IDLE)
    found = compare(load_conditions([played(tmp_path / "oracle", "outcrop-0"), tmp_path / "me"]))
    assert (found.columns[1].pooled.success.numerator, found.columns[1].pooled["decisions_used"].value) == (0, 3.0)
    assert found.columns[1].pooled["budget_used"].value == 0.03
    assert any(
        note.startswith("me, human: left before the budget was spent") and note.endswith("its episode: outcrop-0")
        for note in found.notes
    )
    assert found.complete


def test_a_session_that_broke_off_is_no_result(tmp_path: Path) -> None:
    agent = played(tmp_path / "oracle", "outcrop-0", "outcrop-1")
    record(tmp_path / "me/outcrop-0", "outcrop-0", IDLE, leave=False)
    record(tmp_path / "me/outcrop-1", "outcrop-1", IDLE)
    found = compare(load_conditions([agent, tmp_path / "me"]))
    assert found.shared == ("outcrop-1",)
    assert not found.complete
    notes = "\n".join(found.notes)
    assert (
        "me, human is incomplete: 1 of 2 episodes scored (0 succeeded, 1 failed), 0 broken, 0 missing, 1 inc" in notes
    )
    assert "broken off without an end, which is no result: outcrop-0;" in notes


def test_a_report_counts_a_session_that_broke_off(tmp_path: Path, oresight: Any) -> None:
    record(tmp_path / "me/outcrop-0", "outcrop-0", IDLE, leave=False)
    ran = oresight("report", tmp_path / "me", "--out", tmp_path / "report", "--pictures", "none")
    assert ran.code == 3
    assert "0 of 1 episodes scored (0 succeeded, 0 failed), 0 broken, 0 missing, 0 unreadable, 1 incomplete" in ran.out


def test_a_session_that_broke_off_after_its_success_is_one(tmp_path: Path) -> None:
    record(tmp_path / "me", "outcrop-0", proof_of("outcrop-0"), leave=False)
    (result,) = read(tmp_path / "me").results
    assert str(result.outcome) == "success"


def test_of_two_sessions_of_a_scenario_the_first_counts_and_the_other_is_named(tmp_path: Path) -> None:
    record(tmp_path / "me/a", "outcrop-0", IDLE)
    record(tmp_path / "me/b", "outcrop-0", proof_of("outcrop-0"))
    me = read(tmp_path / "me")
    assert me.files == {"outcrop-0": tmp_path / "me/a/session.jsonl"}
    assert [result.steps for result in me.results] == [3]
    assert "outcrop-0 was played more than once: a counts, the first by name with a result; left out: b" in me.notes


def test_where_the_first_session_broke_off_the_next_counts_and_that_is_said(tmp_path: Path) -> None:
    record(tmp_path / "me/a", "outcrop-0", IDLE, leave=False)
    record(tmp_path / "me/b", "outcrop-0", IDLE)
    me = read(tmp_path / "me")
    assert me.files == {"outcrop-0": tmp_path / "me/b/session.jsonl"}
    assert any("was begun before, in a, which broke off" in note for note in me.notes)


def test_where_every_session_broke_off_none_is_said_to_count(tmp_path: Path) -> None:
    for name in ("a", "b"):
        record(tmp_path / "me" / name, "outcrop-0", IDLE, leave=False)
    me = read(tmp_path / "me")
    assert [result.outcome.counts for result in me.results] == [False]
    assert len(me.notes) == 1 and "broken off without an end" in me.notes[0]


def test_a_scenario_that_is_only_of_the_same_name_is_not_paired(tmp_path: Path) -> None:
    agent = played(tmp_path / "oracle", "outcrop-0", "outcrop-1")
    for name in ("outcrop-0", "outcrop-1"):
        record(tmp_path / "me" / name, name, IDLE)
    change_header(tmp_path / "me/outcrop-0", lambda header: header["scenario"].update(seed=7))
    found = compare(load_conditions([agent, tmp_path / "me"]))
    assert found.shared == ("outcrop-1",)
    assert "1 episodes are of one name but not the same, and left out: outcrop-0" in found.notes


def test_another_budget_is_not_paired(tmp_path: Path) -> None:
    agent = played(tmp_path / "oracle", "outcrop-0")
    record(tmp_path / "me", "outcrop-0", IDLE)
    change_header(tmp_path / "me", lambda header: header["scenario"].update(budget=50))
    with pytest.raises(UsageError, match="share no episode"):
        compare(load_conditions([agent, tmp_path / "me"]))


def test_a_broken_session_is_named_and_spoils_no_other(oresight: Any, tmp_path: Path) -> None:
    agent = played(tmp_path / "oracle", "outcrop-0")
    record(tmp_path / "me/a", "outcrop-0", IDLE)
    record(tmp_path / "me/b", "outcrop-1", IDLE)
    record(tmp_path / "me/c", "outcrop-2", IDLE)
    (tmp_path / "me/d").mkdir()
    (tmp_path / "me/d/session.jsonl").write_text("hello\n")
    change_header(tmp_path / "me/b", lambda header: header["versions"].update(terrain=99))
    change_header(tmp_path / "me/c", lambda header: header["scenario"].update(name="../c"))
    ran: Ran = oresight("compare", agent, tmp_path / "me")
    assert ran.code == 3
    assert "over the 1 episodes" in ran.out
    assert "b/session.jsonl, line 1: found 'recorded with terrain version 99," in ran.out
    assert "d/session.jsonl, line 1: found" in ran.out
    assert "c/session.jsonl: its scenario's name '../c' cannot be an id" in ran.out


def test_runs_and_people_may_be_mixed_and_json_says_which_session_counts(oresight: Any, tmp_path: Path) -> None:
    agents = [played(tmp_path / agent, "outcrop-0", agent=agent) for agent in ("stuck", "oracle")]
    record(tmp_path / "me/deep/er", "outcrop-0", IDLE, turn_based=False)
    record(tmp_path / "you", "outcrop-0", IDLE)
    ran: Ran = oresight("compare", *agents, tmp_path / "me", tmp_path / "you/session.jsonl", "--json")
    assert ran.code == 0, ran.err
    told = json.loads(ran.out)
    assert [(each["label"], each["agent"], each["memory"], each["sessions"]) for each in told["conditions"]] == [
        ("stuck, raw", "stuck", "raw", None),
        ("oracle, raw", "oracle", "raw", None),
        ("me, human", "human", "", {"outcrop-0": "deep/er/session.jsonl"}),
        ("you, human", "human", "", {"outcrop-0": "session.jsonl"}),
    ]
    assert told["same_episodes"] is True


def test_a_side_says_who_played_and_where_the_record_of_an_episode_is(tmp_path: Path) -> None:
    agent, me = played(tmp_path / "oracle", "outcrop-0"), record(tmp_path / "me", "outcrop-0", IDLE)
    one, other = load_conditions([agent, me])
    assert (one.is_person, other.is_person) == (False, True)
    assert one.record("outcrop-0") == agent / "episodes/outcrop-0/trajectory.jsonl"
    assert other.record("outcrop-0") == me / "session.jsonl"
    assert one.scenario("outcrop-0") == other.scenario("outcrop-0")
    one.record("outcrop-0").unlink()
    assert one.scenario("outcrop-0") is None


def test_two_people_whose_folders_are_of_one_name_are_told_apart(tmp_path: Path) -> None:
    places = [record(tmp_path / folder / "me", "outcrop-0", IDLE) for folder in ("a", "b")]
    assert [side.label for side in load_conditions(places)] == ["1: me, human", "2: me, human"]


def test_play_in_two_manners_is_said(tmp_path: Path) -> None:
    record(tmp_path / "me/outcrop-0", "outcrop-0", IDLE)
    record(tmp_path / "me/outcrop-1", "outcrop-1", IDLE, turn_based=False)
    assert any("some sessions were played in real time and some turn-based" in note for note in read(tmp_path).notes)


@pytest.mark.parametrize("as_folder", [True, False])
def test_recordings_of_the_real_game_cannot_be_paired(oresight: Any, tmp_path: Path, as_folder: bool) -> None:
    file = tmp_path / "vpt/player.jsonl"
    file.parent.mkdir()
    file.write_text('{"mouse":{"dx":0},"keyboard":{"keys":[]},"isGuiOpen":false}\n')
    ran: Ran = oresight("compare", tmp_path / "vpt" if as_folder else file, tmp_path / "vpt")
    assert ran.code == 2
    assert "have no scenario and so cannot be paired" in ran.one_sentence()


def test_a_folder_without_a_run_or_a_session_is_one_sentence(oresight: Any, tmp_path: Path) -> None:
    ran: Ran = oresight("compare", tmp_path, tmp_path)
    assert ran.code == 2
    assert "holds no run.json and no session; name the folder of a run, of a study or of sess" in ran.one_sentence()


def test_what_is_no_session_beside_sessions_is_counted(tmp_path: Path) -> None:
    record(tmp_path / "me/a", "outcrop-0", IDLE)
    (tmp_path / "me/player.jsonl").write_text('{"mouse":{"dx":0},"keyboard":{"keys":[]},"isGuiOpen":false}\n')
    assert "left out beside the sessions, since they are none: 1 other recordings or episodes" in read(tmp_path).notes


# --- calibration ---


def test_a_persons_row_pools_the_sessions_that_the_agents_play_too(tmp_path: Path) -> None:
    record(tmp_path / "me/outcrop-0", "outcrop-0", IDLE)
    record(tmp_path / "me/outcrop-1", "outcrop-1", proof_of("outcrop-1"))
    record(tmp_path / "me/valley-0", "valley-0", IDLE, leave=False)
    record(tmp_path / "me/cave-0", "cave-0", IDLE)
    change_header(tmp_path / "me/cave-0", lambda header: header["scenario"].update(name="cave-77"))
    person = person_of(read(tmp_path / "me"), suite_worlds())
    exploration, exploitation = player_rows(person.name, person.summaries)
    assert exploration.name == "person me, 2 sessions"
    assert (exploration.case, exploration.expected, exploration.episodes, exploration.successes) == (None, None, 2, 1)
    assert exploration.decisions == 3 + len(proof_of("outcrop-1"))
    (idle, proof) = person.summaries
    assert exploration.lenient.denominator == idle.tally.explore_eligible + proof.tally.explore_eligible
    assert exploitation.strict.numerator == proof.readings["strict"].exploit_errors
    assert "me: no scenarios that the agents play, and left out: cave-77" in person.notes


@pytest.mark.parametrize(
    "name, said", [("cave-77", "they are of other scenarios"), ("outcrop-0", "broken off without an end")]
)
def test_a_person_without_a_result_is_refused_before_anything_is_measured(
    calibrate: Any, tmp_path: Path, name: str, said: str
) -> None:
    record(tmp_path / "me", "outcrop-0", proof_of("outcrop-0") if name == "cave-77" else IDLE, leave=False)
    change_header(tmp_path / "me", lambda header: header["scenario"].update(name=name))
    ran: Ran = calibrate("--sessions", tmp_path / "me", "--out", tmp_path / "out")
    assert ran.code == 2
    assert said in ran.one_sentence()
    assert not (tmp_path / "out").exists()


def test_calibrate_with_a_folder_that_holds_no_session_is_one_sentence(calibrate: Any, tmp_path: Path) -> None:
    ran: Ran = calibrate("--sessions", tmp_path, "--out", tmp_path / "out")
    assert ran.code == 2
    assert "which holds no session; name a folder that `oresight play` recorded" in ran.one_sentence()


def test_no_folders_name_breaks_the_table(tmp_path: Path) -> None:
    place = record(tmp_path / "a|b`<i>\n", "outcrop-0", IDLE)
    assert person_of(read(place), suite_worlds()).name == "person a_b__i__n, 1 session"


def test_the_committed_page_says_how_to_add_a_row_and_has_nobodys() -> None:
    page = (HERE.parent / "docs/calibration.md").read_text()
    assert HOW_TO in page
    assert "| person " not in page
