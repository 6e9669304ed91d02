"""The replay page's data: what a reader is told of every decision, in numbers, in words, and in what was sent."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from oresight.harness.report.episode_page import Links
from oresight.harness.report.pool import TEXT_CHARACTERS, TextPool
from oresight.harness.worlds.segment import Segment
from oresight.scoring.core import Answers, Case, Judge
from oresight.scoring.decisions import ScoredDecision
from oresight.scoring.parameters import Parameters
from oresight.scoring.readers.faults import BadInput
from oresight.scoring.records import Outcome
from oresight.scoring.rescoring import Settings
from support.replay_stage import (
    HOSTILE,
    asked,
    block_of,
    data_of,
    first_of_each,
    hostile,
    in_turn,
    page_of,
    played,
    request_told,
    requests_of,
    story_of,
    taking,
    words_of,
)
from support.session_stage import proof_of, record

NOISY = "frontier(window=8,noise=0.1)"


@pytest.fixture(scope="module")
def grid(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return played(tmp_path_factory.mktemp("grid"), "grid", NOISY, "low-large-0")


@pytest.fixture(scope="module")
def craft(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return played(tmp_path_factory.mktemp("craft"), "craft", "random", "outcrop-0")


@pytest.fixture(scope="module")
def oracle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return played(tmp_path_factory.mktemp("oracle"), "craft", "oracle", "outcrop-0")


@pytest.fixture(scope="module")
def bad_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return asked(tmp_path_factory.mktemp("bad"), "grid", "low-small-0", "raw", hostile("up"))[0]


# --- scores ----------------------------------------------------------------------------------------------------------


def test_the_parts_of_the_stale_score_add_up_to_it_at_every_decision(grid: Path, craft: Path) -> None:
    for folder in (grid, craft):
        steps = data_of(folder)["steps"]
        assert [sum(step["p"]) for step in steps] == [step["t"] for step in steps]
        assert max(step["t"] for step in steps) > 0


def test_a_segment_counts_cycles_and_what_is_beyond_k() -> None:
    segment, judge = Segment(2, "a", leaves_out_staying=False), Judge(2, "a")
    told = []
    for step, node in enumerate("babacba", 1):
        verdict = judge.judge(Answers(Case.EXPLORE, True, False, node))
        parts = segment.take(ScoredDecision.of(step, "go", verdict, (), node))  # type: ignore[arg-type]
        assert parts.stale == verdict.stale
        told.append((parts.cycles, parts.edges, parts.nodes))
    # a-b is walked 1, 2, 3 and 4 times, a-c closes the cycle by c-b; a is visited 1 to 4 times, b 1 to 3 times.
    assert told == [(0, 0, 0), (0, 0, 0), (0, 1, 0), (0, 2, 1), (0, 2, 1), (1, 2, 2), (1, 3, 3)]


def test_a_result_is_there_for_every_pair_of_alpha_and_k_and_the_steps_are_of_the_first(grid: Path) -> None:
    parameters = Settings((3.0, 1.0), (2, 1)).parameters(Parameters())
    story = story_of(grid, *parameters)
    assert [(each.alpha, each.k) for each in story.results] == [(3.0, 2), (3.0, 1), (1.0, 2), (1.0, 1)]
    assert [step.scored for step in story.steps] == list(story.results[0].steps)
    assert story.results[1].summary.tally.error_decisions > story.summary.tally.error_decisions


def test_rates_so_far_end_at_the_rates_in_all(craft: Path) -> None:
    data, summary = data_of(craft), story_of(craft).summary
    explored = [step for step in data["steps"] if step["c"] in (1, 4)]
    assert (sum(step["e"] > 0 for step in explored), len(explored)) == summary.tally.explore
    assert sum(step["x"] > 0 for step in explored if "x" in step) == summary.readings["strict"].explore_errors


# --- words -----------------------------------------------------------------------------------------------------------


def test_the_grid_s_reasoning_is_told_with_cells_and_distances(tmp_path: Path) -> None:
    ways = ("up", "down", "left", "up", "up", "down", "up", "down")
    data = data_of(asked(tmp_path, "grid", "low-small-0", "raw", in_turn(*map(taking, ways)))[0])
    assert words_of(data, 1) == {
        "Verdict": "Gain and progress.",
        "Required": "Case 1: explore. Nothing known can be achieved now, and 3 known cells are unobserved.",
        "Targets": "unobserved cells [0, 3], [1, 2], [0, 1]",
        "Gain": "It moved to [0, 3], an unobserved cell: a target was entered.",
        "Stale score": "0: progress begins a new segment here (before: 0 = c 0 + e 0 + n 0).",
    }
    assert words_of(data, 2)["Gain"] == "It moved to [0, 2], nearer to a target: [0, 1] was 2 steps away and is 1."
    # A gain by itself; the third time over the same edge makes it an error.
    assert [step["a"] for step in data["steps"][4:7]] == ["down", "up", "down"]
    told = words_of(data, 7)
    assert told["Verdict"] == "Exploration error: the stale score rose from 0 to 1."
    assert told["Gain"] == "It moved to [0, 3], nearer to a target: [1, 3] was 2 steps away and is 1."
    assert told["Stale score"] == (
        "1 = c 0 + e 1 + n 0, was 0 = c 0 + e 0 + n 0 (k = 2; the segment has 3 moves since decision 4)."
    )


def test_what_can_be_achieved_is_a_target_by_name(grid: Path) -> None:
    data = data_of(grid)
    goal = next(node for node in data["drawing"]["nodes"] if node["goal"])
    either = next(words_of(data, i) for i, step in enumerate(data["steps"], 1) if step["c"] == 4)
    assert re.fullmatch(
        r"Case 4: explore or exploit\. \d known nodes? can be achieved, and \d+ known cells? (is|are) unobserved\.",
        either["Required"],
    )
    assert either["Targets"].startswith("nodes ")
    at_last = next(words_of(data, i) for i, step in enumerate(data["steps"], 1) if step["c"] == 2)
    assert at_last["Targets"] == f"the goal {goal['id']} at [{goal['at'][0]}, {goal['at'][1]}]"


def test_the_3d_world_s_reasoning_is_told_with_what_was_missing(tmp_path: Path) -> None:
    says = ("wait", "look_left", "jump", "slot_2", "slot_2", "move_forward", "mine")
    data = data_of(asked(tmp_path, "craft", "outcrop-0", "raw", in_turn(*map(taking, says)))[0])
    assert words_of(data, 1) == {
        "Verdict": "Exploration error: no gain.",
        "Required": "Case 1: explore. No iron_ore is known that still stands, and 1 is still needed.",
        "Targets": "whatever was never seen or entered; the world has no end",
        "Gain": (
            "None. No position entered that never had been, 0 new block faces (8 make a view), no iron_ore discovered;"
            " the feet moved 0.0 blocks, the view step stayed."
        ),
        "Stale score": (
            "0 = c 0 + e 0 + n 0, as before: the decision ended where it began and adds nothing (k = 2; the segment has"
            " 0 moves since the start)."
        ),
        "Patience": "1 of 24 scored decisions without progress.",
        "Strict reading": "The same.",
    }
    assert words_of(data, 2)["Gain"] == (
        "409 block faces seen that never had been; repositioned (the feet moved 0.0 blocks, the view step changed)."
    )
    assert words_of(data, 3)["Verdict"].startswith("Not scored: a free preparation.")
    assert words_of(data, 5)["Gain"].startswith("None. A slot without effect, or a second one")
    assert words_of(data, 6)["Gain"] == (
        "2 positions entered that never had been; 315 block faces seen that never had been; repositioned (the feet"
        " moved 4.9 blocks, the view step stayed)."
    )


def test_known_ores_are_told_by_distance_and_angle(oracle: Path) -> None:
    data = data_of(oracle)
    last = len(data["steps"])
    assert words_of(data, last - 1)["Gain"] == (
        "None. Nearer to no known ore and aimed at none ([-22, 37, 23]: straight 2.9 blocks to 3.3 blocks, walking 0"
        " steps to 0 steps)."
    )
    told = words_of(data, last)
    assert told["Required"] == (
        "Case 2: go for the goal. 2 iron_ore are known and stand, which covers the 1 still needed."
    )
    assert told["Targets"] == "the iron_ore at [-22, 37, 23] (3.3 blocks away), [-23, 37, 23] (2.5 blocks away)"
    assert told["Gain"].startswith("Iron_ore acquired at [-23, 37, 23]; iron_ore on the way to a known ore removed;")


def test_the_strict_reading_is_told_where_it_differs(craft: Path) -> None:
    data = data_of(craft)
    differing = [i for i, step in enumerate(data["steps"], 1) if step.get("x", step["e"]) != step["e"]]
    assert differing
    for step in differing:
        assert words_of(data, step)["Strict reading"] == "Exploration error: no gain."
        assert "), which is no progress." in words_of(data, step)["Gain"]


def test_what_is_known_before_a_decision_fits_its_case(craft: Path, oracle: Path) -> None:
    for folder in (craft, oracle):
        data = data_of(folder)
        for number, step in enumerate(data["steps"], 1):
            if step["c"]:
                required = words_of(data, number)["Required"]
                assert required.startswith({1: "Case 1: explore. No iron_ore is known", 2: "Case 2"}[step["c"]])
                if step["c"] == 2:
                    known, needed = re.findall(r"(\d+) (?:iron_ore|still)", required)
                    assert int(known) >= int(needed) == 1


# --- drawings --------------------------------------------------------------------------------------------------------


def test_a_grid_s_drawing_says_when_cells_and_nodes_became_known(grid: Path) -> None:
    data = data_of(grid)
    drawing = data["drawing"]
    walked = [drawing["start"], *drawing["at"]]
    for x, y, seen, observed in drawing["cells"]:
        assert observed == (walked.index([x, y]) if [x, y] in walked else -1)
        beside = [i for i, (a, b) in enumerate(walked) if abs(a - x) + abs(b - y) <= 1]
        assert seen == min(beside, default=-1)
    for node in drawing["nodes"]:
        assert node["found"] == (walked.index(node["at"]) if node["at"] in walked else -1)
        assert node["achieved"] == -1 or node["achieved"] >= node["found"] >= 0
    achieved = sorted(node["achieved"] for node in drawing["nodes"] if node["achieved"] > 0)
    assert [i for i, step in enumerate(data["steps"], 1) if step.get("k") == 2] == achieved


def test_a_craft_s_drawing_has_path_ores_and_changed_blocks(oracle: Path) -> None:
    data = data_of(oracle)
    drawing, last = data["drawing"], len(data["steps"])
    assert len(drawing["poses"]) == last + 1 == len(drawing["walks"]) + 1
    walk = drawing["walks"][0]
    first, second = drawing["poses"][0], drawing["poses"][1]
    assert [value / 10 for value in walk[:2]] == pytest.approx([first[0], first[2]], abs=0.06)
    assert [value / 10 for value in walk[-2:]] == pytest.approx([second[0], second[2]], abs=0.06)
    acquired = [ore for ore in drawing["ores"] if ore[6]]
    assert [(ore[:3], ore[5]) for ore in acquired] == [([-23, 37, 23], last)]
    assert [last, -23, 37, 23, "iron_ore", "air"] in drawing["changes"]
    assert drawing["ground"].startswith("data:image/png;base64,")
    left, top, width, depth = drawing["area"]
    assert left <= min(pose[0] for pose in drawing["poses"]) <= left + width
    assert top <= min(pose[2] for pose in drawing["poses"]) <= top + depth


def test_another_terrain_leaves_out_the_surface_and_nothing_else(oracle: Path, tmp_path: Path) -> None:
    other = changed(oracle, tmp_path / "other", '"terrain":1', '"terrain":0')
    here, there = data_of(oracle), data_of(other)
    assert there["drawing"]["ground"] is None
    for name in ("poses", "walks", "ores", "changes"):
        assert there["drawing"][name] == here["drawing"][name]
    assert there["steps"] == here["steps"]


# --- what a model was sent and said ----------------------------------------------------------------------------------


@pytest.mark.parametrize("memory", ["raw", "window:2", "structured", "list+notes", "tree+notes"])
def test_what_was_sent_comes_out_as_it_was(tmp_path: Path, memory: str) -> None:
    ways = ("up", "right", "nonsense", "down", "left", "right", "up")
    answers = in_turn(*(f"{HOSTILE}\n{taking(way)}" for way in ways))
    folder, model = asked(tmp_path, "grid", "low-small-0", memory, answers)
    data = data_of(folder)
    wanted = [request_told(each) for each in first_of_each(model.asked)][: len(data["steps"])]
    assert len(wanted) == len(data["steps"]) > 7
    assert requests_of(data) == wanted


@pytest.mark.gl
def test_the_pictures_that_were_sent_are_told_by_their_step(tmp_path: Path) -> None:
    folder, model = asked(tmp_path, "craft", "outcrop-0", "screenshots:2", in_turn(taking("look_left")), (64, 48))
    data = data_of(folder)
    wanted = [request_told(each) for each in model.asked]
    assert requests_of(data) == wanted
    assert [part for part in requests_of(data)[4][-1] if isinstance(part, int)] == [3, 4, 5]


def test_requests_do_not_grow_a_page_with_the_square_of_its_steps(tmp_path: Path) -> None:
    folder, _ = asked(tmp_path, "grid", "low-small-0", "raw", in_turn(*map(taking, ("up", "right", "down", "left"))))
    requests = data_of(folder)["sent"]["requests"]
    assert max(len(middle) for _, _, middle in requests[1:]) < 12


def test_prompts_of_ones_own_are_said_to_be_missing(tmp_path: Path) -> None:
    folder, _ = asked(tmp_path / "run", "grid", "low-small-0", "raw", in_turn(taking("up")))
    other = changed(folder, tmp_path / "other", '"prompts":"base"', '"prompts":"base+own:0123456789abcdef"')
    sent = data_of(other)["sent"]
    assert "The prompts were base+own:0123456789abcdef, which are not in the record" in sent["note"]
    assert "not in the record" not in data_of(folder)["sent"]["note"]


def test_a_memory_that_is_unknown_here_leaves_out_what_was_sent_with_a_sentence(tmp_path: Path) -> None:
    folder, _ = asked(tmp_path / "run", "grid", "low-small-0", "raw", in_turn(taking("up")))
    other = changed(folder, tmp_path / "other", '"memory":"raw"', '"memory":"mine"')
    sent = data_of(other)["sent"]
    assert (sent["requests"], sent["note"].partition(":")[0]) == (
        [],
        "What the model was sent cannot be made again",
    )


def test_replies_are_told_with_what_was_wrong_with_them(bad_model: Path) -> None:
    data = data_of(bad_model)
    texts, second = data["texts"], data["steps"][1]["r"]
    assert [reply["finish"] for reply in second] == ["refused", "stop", "stop"]
    assert texts[second[0]["fault"]] == f"refused: {HOSTILE}"
    assert texts[second[0]["note"]] == HOSTILE
    assert (texts[second[1]["fault"]], texts[second[1]["reason"]][:10]) == ("unparsable reply", "your reply")
    assert "fault" not in second[2]


def test_replies_that_ended_the_episode_stand_at_its_end(tmp_path: Path) -> None:
    folder, _ = asked(tmp_path, "grid", "low-small-0", "raw", in_turn(taking("up"), "hm", "hm", "hm", "hm"))
    data = data_of(folder)
    assert len(data["steps"]) == 1
    assert [data["texts"][reply["text"]] for reply in data["ending"]] == ["hm"] * 4
    assert story_of(folder).summary.outcome is Outcome.AGENT_ENDED


def test_damaged_replies_are_left_out_with_a_note(bad_model: Path, tmp_path: Path) -> None:
    other = changed(bad_model, tmp_path / "other")
    replies = other / "replies.jsonl"
    replies.write_bytes(replies.read_bytes().replace(b'"step":1,', b'"step":!,', 1))
    story = story_of(other)
    assert not story.by_a_model
    assert any("what the model replied is left out" in note for note in story.notes)


def test_a_text_of_a_megabyte_is_cut_and_its_length_told(bad_model: Path, tmp_path: Path) -> None:
    data = data_of(bad_model)
    reply = data["steps"][1]["r"][-1]["text"]
    assert len(data["texts"][reply]) == TEXT_CHARACTERS
    assert data["cut"][str(reply)] == len(HOSTILE * 4000) + 1 + len(taking("up"))
    assert len(page_of(bad_model, tmp_path / "page.html")) < 2_000_000


def test_a_page_has_a_bound_on_all_its_texts() -> None:
    pool = TextPool()
    for number in range(300):
        pool.add(str(number) * TEXT_CHARACTERS)
    told = pool.to_json()
    assert sum(map(len, told["texts"])) < 8_500_000
    assert len(told["texts"][-1]) == 1000
    assert told["cut"][299] == 3 * TEXT_CHARACTERS


def test_hostile_text_stands_in_a_page_as_data_alone(bad_model: Path, tmp_path: Path) -> None:
    other = changed(bad_model, tmp_path / "other", '"agent":"scripted:test"', f'"agent":{json.dumps(HOSTILE)}')
    page = page_of(other, tmp_path / "page.html", Links(label=HOSTILE, no_picture=HOSTILE))
    block = block_of(page)
    assert not re.search("[<>&\u202e\u2028\x00\x1b]", block)
    assert json.loads(block)["no_picture"] == HOSTILE
    rest = page.replace(block, "")
    assert "window.hacked" in rest and "<script>window.hacked" not in rest and "<img src='http" not in rest
    assert not re.search("[\u202e\u2028\x00\x1b]", rest)
    assert page.count("<script>") == 3
    assert "default-src &#39;none&#39;" in page


# --- which episodes --------------------------------------------------------------------------------------------------


def test_a_person_s_session_has_a_story_too(tmp_path: Path) -> None:
    folder = record(tmp_path / "me", "outcrop-0", proof_of("outcrop-0"))
    story, data = story_of(folder), data_of(folder)
    assert (story.by_a_person, story.summary.outcome) == (True, Outcome.SUCCESS)
    assert [step["a"] for step in data["steps"]] == list(proof_of("outcrop-0"))
    assert words_of(data, len(data["steps"]))["Gain"].startswith("Iron_ore acquired at")
    assert "outcrop-0" in page_of(folder, tmp_path / "page.html")


def test_a_torn_trajectory_is_told_up_to_its_last_whole_line(grid: Path, tmp_path: Path) -> None:
    other = changed(grid, tmp_path / "other")
    trajectory = other / "trajectory.jsonl"
    trajectory.write_bytes(trajectory.read_bytes()[:-40])
    story = story_of(other)
    assert len(story.steps) == len(story_of(grid).steps) - 1
    assert any("was cut short and is left out" in note for note in story.notes)


def test_an_episode_without_a_decision_has_a_page(grid: Path, tmp_path: Path) -> None:
    other = changed(grid, tmp_path / "other")
    trajectory = other / "trajectory.jsonl"
    trajectory.write_bytes(trajectory.read_bytes().splitlines(keepends=True)[0])
    assert data_of(other)["steps"] == []
    assert "low-large-0" in page_of(other, tmp_path / "page.html")


def test_what_is_no_episode_is_refused_in_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"expected trajectory\.jsonl"):
        story_of(tmp_path)
    (tmp_path / "trajectory.jsonl").write_text("{}\n")
    with pytest.raises(BadInput, match="line 1"):
        story_of(tmp_path)


# --- the command -----------------------------------------------------------------------------------------------------


def test_replay_writes_a_page_beside_no_study(oresight: Any, grid: Path, tmp_path: Path) -> None:
    ran = oresight("replay", grid, "--html", tmp_path / "page.html")
    assert ran.code == 0, ran.err
    assert "Replay page in" in ran.out
    page = (tmp_path / "page.html").read_text()
    assert "All episodes" not in page
    folder = json.loads(block_of(page))["folder"]
    assert (tmp_path / folder / "trajectory.jsonl").resolve() == (grid / "trajectory.jsonl").resolve()
    assert str(tmp_path) not in page


def test_replay_links_to_the_pictures_that_were_kept(oresight: Any, craft: Path, tmp_path: Path) -> None:
    other = changed(craft, tmp_path / "a b#c")
    (other / "frames").mkdir()
    for name in ("000001.png", "000002.png", "notes.txt"):
        (other / "frames" / name).write_bytes(b"")
    assert oresight("replay", other, "--html", tmp_path / "page.html").code == 0
    pictures = json.loads(block_of((tmp_path / "page.html").read_text()))["pictures"]
    assert pictures == {"1": "a%20b%23c/frames/000001.png", "2": "a%20b%23c/frames/000002.png"}


def test_replay_writes_a_page_even_of_another_terrain(oresight: Any, craft: Path, tmp_path: Path) -> None:
    other = changed(craft, tmp_path / "other", '"terrain":1', '"terrain":0')
    ran = oresight("replay", other, "--html", tmp_path / "page.html")
    assert (ran.code, "terrain version 0" in ran.one_sentence()) == (1, True)
    assert json.loads(block_of((tmp_path / "page.html").read_text()))["drawing"]["ground"] is None


@pytest.mark.parametrize("name", ["trajectory.jsonl", "missing/page.html", ""])
def test_replay_refuses_a_place_where_no_page_can_be(oresight: Any, grid: Path, name: str) -> None:
    before = (grid / "trajectory.jsonl").read_bytes()
    ran = oresight("replay", grid, "--html", grid / name)
    assert (ran.code, "no page can be written here" in ran.one_sentence()) == (2, True)
    assert (grid / "trajectory.jsonl").read_bytes() == before


def test_a_branch_counts_its_own_decisions_and_knows_what_was_before(oracle: Path, tmp_path: Path) -> None:
    at = len(data_of(oracle)["steps"]) - 1
    branch = {"at": at, "rollout": 0, "of": "run/outcrop-0", "agent": "oracle", "memory": "raw", "digest": "0" * 16}
    other = changed(oracle, tmp_path / "other", '"memory":"raw"', f'"memory":"raw","branch":{json.dumps(branch)}')
    story, data = story_of(other), data_of(other)
    assert (story.before, story.summary.steps_taken, story.summary.scored_decisions) == (at, 1, 1)
    assert [step["c"] for step in data["steps"]] == [0] * at + [2]
    assert words_of(data, at + 1) == words_of(data_of(oracle), at + 1)
    assert words_of(data, 1)["Verdict"] == (
        "Not counted: it was decided in the recording that this branch plays on from. There: Gain and progress."
    )
    assert any(f"plays on from decision {at} of" in note for note in story.notes)
    assert data["nodes"] == data_of(oracle)["nodes"]


def changed(folder: Path, to: Path, text: str = "", into: str = "") -> Path:
    """A copy of an episode with something else in its header."""
    to.mkdir(parents=True)
    for path in folder.iterdir():
        if path.is_file():
            (to / path.name).write_bytes(path.read_bytes())
    if text:
        trajectory = to / "trajectory.jsonl"
        head, rest = trajectory.read_text().split("\n", 1)
        assert text in head
        trajectory.write_text(f"{head.replace(text, into)}\n{rest}")
    return to
