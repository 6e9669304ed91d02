"""The replay page in a real browser: keys, slider and links, both widths and both schemes, and hostile text."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from oresight.harness.report.episode_page import Links
from support.browser import Chromium, Tab, chromium, running_chromium
from support.replay_stage import HOSTILE, asked, data_of, hostile, page_of, played

__all__ = ["chromium", "running_chromium"]

NOISY = "frontier(window=8,noise=0.1)"
SIZES = [(1280, False), (1280, True), (400, False), (400, True)]


@dataclass(frozen=True)
class Pages:
    """Pages that were written, and what their scripts read."""

    grid: Path
    craft: Path
    model: Path
    data: dict[str, Any]


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Pages:
    root = tmp_path_factory.mktemp("pages")
    grid = played(root / "grid", "grid", NOISY, "low-large-0")
    craft = played(root / "craft", "craft", "random", "outcrop-0")
    model, _ = asked(root / "model", "grid", "low-small-0", "raw", hostile("up"))
    Image.new("RGB", (64, 48), "#336699").save(root / "1.png")
    shown = Links(label="random, no memory", index="index.html", next="next.html", pictures={1: "1.png", 3: "gone.png"})
    page_of(grid, root / "grid.html", Links(label="noisy"))
    page_of(craft, root / "craft.html", shown)
    page_of(model, root / "model.html", Links(label=HOSTILE, no_picture=HOSTILE))
    data = {"grid": data_of(grid), "craft": data_of(craft), "model": data_of(model)}
    return Pages(root / "grid.html", root / "craft.html", root / "model.html", data)


def place(tab: Tab) -> int:
    """The position that the page shows."""
    return int(tab.evaluate("document.getElementById('slider').value"))


def errors_of(data: Any, reading: str = "e") -> list[int]:
    return [i for i, step in enumerate(data["steps"], 1) if step.get(reading, step["e"])]


def quiet(tab: Tab) -> bool:
    """Nothing was complained of and nothing was asked for beyond the disk."""
    return not tab.errors and not tab.strangers


@pytest.mark.parametrize(("width", "dark"), SIZES)
def test_pages_are_quiet_and_fit_their_window(chromium: Chromium, pages: Pages, width: int, dark: bool) -> None:
    for page in (pages.grid, pages.craft, pages.model):
        tab = chromium.open(page, width, 800, dark)
        for keys in ("ArrowRight", "]", "End", "ArrowLeft"):
            tab.press(keys)
            assert tab.overflow() <= 0, (page.name, keys)
        # The page asks for a picture that is not there, which a browser reports as an error of its own.
        assert [error for error in tab.errors if "ERR_FILE_NOT_FOUND" not in error] == []
        assert tab.strangers == []


def test_keys_step_to_errors_to_both_ends_and_back(chromium: Chromium, pages: Pages) -> None:
    tab = chromium.open(pages.grid)
    errors, last = errors_of(pages.data["grid"]), len(pages.data["grid"]["steps"]) + 1
    seen = [place(tab)]
    for key in (
        "ArrowRight",
        "ArrowRight",
        "ArrowLeft",
        "]",
        "Shift+ArrowRight",
        "[",
        "End",
        "Shift+ArrowLeft",
        "Home",
    ):
        tab.press(key)
        seen.append(place(tab))
    assert seen == [1, 2, 3, 2, errors[0], errors[1], errors[0], last, errors[-1], 1]
    tab.press("ArrowLeft")
    assert (place(tab), quiet(tab)) == (1, True)


def test_the_slider_and_the_timeline_move_through_the_episode(chromium: Chromium, pages: Pages) -> None:
    tab = chromium.open(pages.grid)
    tab.choose("#slider", "20")
    assert (place(tab), tab.text("#decision-place")) == (20, f"decision 20 of {len(pages.data['grid']['steps'])}")
    tab.click("#timeline")  # in its middle
    middle = 1 + round(len(pages.data["grid"]["steps"]) / 2)
    assert abs(place(tab) - middle) <= 1


def test_a_fragment_leads_to_a_step_and_follows_it(chromium: Chromium, pages: Pages) -> None:
    tab = chromium.open(f"{pages.grid.resolve().as_uri()}#step=17")
    assert place(tab) == 17
    tab.press("ArrowRight")
    tab.wait_for("location.hash === '#step=18'")
    tab.evaluate("location.hash = '#step=5'")
    tab.wait_for("document.getElementById('slider').value === '5'")
    tab.evaluate("location.hash = '#step=999999999'")
    tab.wait_for(f"document.getElementById('slider').value === '{len(pages.data['grid']['steps']) + 1}'")
    assert quiet(tab)


def test_it_plays_at_a_speed_and_stops_at_the_end(chromium: Chromium, pages: Pages) -> None:
    tab = chromium.open(f"{pages.grid.resolve().as_uri()}#step=120")
    tab.press("9", "Space")
    assert tab.evaluate("document.getElementById('speed').value") == "20"
    assert tab.text("#play") == "Pause"
    tab.wait_for("document.getElementById('play').textContent === 'Play'")
    assert place(tab) == len(pages.data["grid"]["steps"]) + 1
    tab.press("Home", "1", "Space", "Space")
    assert (place(tab), tab.text("#play"), quiet(tab)) == (1, "Play", True)


def test_the_keyboard_alone_reaches_everything(chromium: Chromium, pages: Pages) -> None:
    tab = chromium.open(pages.craft)
    reached = []
    for _ in range(40):
        tab.press("Tab")
        reached.append(tab.evaluate("document.activeElement.id || document.activeElement.textContent.trim()"))
    for name in ("All episodes", "Next episode", "play", "error-on", "speed", "reading", "slider", "zoom", "told"):
        assert name in reached, name
    tab.press("?")
    assert tab.evaluate("document.getElementById('help').open")
    tab.press("ArrowRight")
    assert place(tab) == 1
    tab.press("Escape")
    assert not tab.evaluate("document.getElementById('help').open")


def test_a_space_on_a_button_presses_it_and_does_not_play(chromium: Chromium, pages: Pages) -> None:
    tab = chromium.open(pages.grid)
    tab.evaluate("document.getElementById('on').focus()")
    tab.press("Space")
    assert (place(tab), tab.text("#play")) == (2, "Play")


def test_the_other_reading_has_other_errors(chromium: Chromium, pages: Pages) -> None:
    tab = chromium.open(pages.craft)
    lenient, strict = (errors_of(pages.data["craft"], reading) for reading in ("e", "x"))
    assert len(lenient) < len(strict)
    assert tab.text("#error-count") in (f"{len(lenient)} errors", f"1 of {len(lenient)}")
    tab.choose("#reading", "strict")
    only = next(step for step in strict if step not in lenient)
    tab.choose("#slider", str(only))
    assert tab.text("#error-count") == f"{strict.index(only) + 1} of {len(strict)}"
    assert "exploration error" in tab.text("#badges")


def test_rates_so_far_reach_the_rates_in_all(chromium: Chromium, pages: Pages) -> None:
    tab = chromium.open(pages.craft)
    tab.press("End")
    rows = tab.evaluate(
        "[...document.querySelectorAll('.rates tbody tr')].map((row) => [...row.cells].map((c) => c.textContent))"
    )
    assert len(rows) == 4
    assert [row[1] for row in rows] == [row[2] for row in rows]


def test_a_map_tells_known_cells_from_hidden_ones(chromium: Chromium, pages: Pages) -> None:
    tab = chromium.open(pages.grid)
    cells, count = (
        pages.data["grid"]["drawing"]["cells"],
        "document.querySelectorAll('#map > svg > rect.cell.{}').length",
    )
    for step in (1, 30):
        tab.choose("#slider", str(step))
        observed = sum(0 <= cell[3] < step for cell in cells)
        known = sum(0 <= cell[2] < step for cell in cells)
        shown = [tab.evaluate(count.format(name)) for name in ("observed", "unobserved", "hidden")]
        assert shown == [observed, known - observed, len(cells) - known]
    states = tab.evaluate("[...document.querySelectorAll('#dag .dag-state')].map((each) => each.textContent)")
    found = [node["found"] for node in pages.data["grid"]["drawing"]["nodes"]]
    assert [state != "undiscovered" for state in states] == [0 <= each < 30 for each in found]


def test_a_walked_edge_is_drawn_with_its_traversals(chromium: Chromium, pages: Pages) -> None:
    data = pages.data["grid"]
    step = max(range(1, len(data["steps"]) + 1), key=lambda each: data["steps"][each - 1]["p"][1])
    assert data["steps"][step - 1]["p"][1] > 0
    tab = chromium.open(f"{pages.grid.resolve().as_uri()}#step={step}")
    assert tab.evaluate("document.querySelectorAll('#map .walked.again').length") > 0
    counts = tab.evaluate("[...document.querySelectorAll('#map .count')].map((each) => Number(each.textContent))")
    assert sum(max(count - data["k"], 0) for count in counts) == data["steps"][step - 1]["p"][1]


def test_a_picture_is_shown_and_a_missing_one_says_how_to_get_it(chromium: Chromium, pages: Pages) -> None:
    tab = chromium.open(pages.craft)
    tab.wait_for("document.getElementById('picture').naturalWidth === 64")
    tab.press("ArrowRight")
    assert "oresight replay with --frames" in tab.text("#no-picture")
    tab.press("ArrowRight")  # its file is gone
    tab.wait_for("!document.getElementById('no-picture').hidden")
    tab.press("Home")
    tab.wait_for("!document.getElementById('picture').hidden")


def test_the_world_from_above_can_be_seen_from_near(chromium: Chromium, pages: Pages) -> None:
    tab = chromium.open(pages.craft)
    box: Callable[[], Any] = lambda: tab.evaluate("document.querySelector('#map > svg').getAttribute('viewBox')")  # noqa: E731
    whole = box()
    tab.press("z")
    assert box().split()[2:] == ["28", "28"]
    tab.press("z")
    assert box() == whole
    assert tab.evaluate("document.querySelectorAll('#map .trail.past').length") == 0
    tab.press("End")
    assert tab.evaluate("document.querySelectorAll('#map .trail.past').length") > 5


def test_hostile_text_is_shown_and_does_nothing(chromium: Chromium, pages: Pages) -> None:
    tab = chromium.open(pages.model)
    data = pages.data["model"]
    for step in range(1, 5):
        tab.choose("#slider", str(step))
        said = tab.evaluate("document.getElementById('replies').textContent")
        assert "<script>window.hacked = 1</script>" in said
        assert "⟦202E⟧detrevni⟦202C⟧" in said and "\u202e" not in said and "\x1b" not in said
    tab.choose("#slider", "2")
    assert f"of {max(data['cut'].values())} characters; the rest stands in replies.jsonl" in tab.text("#replies")
    tab.click("#sent-details summary")
    tab.wait_for("document.getElementById('sent-size').textContent")
    assert "<img src='http://evil.example/x.png'" in tab.text("#sent")
    assert tab.evaluate("window.hacked") is None
    assert tab.evaluate("document.images.length") == 0
    assert "\\u202edetrevni" in tab.text(".title")
    assert quiet(tab)


def test_what_was_sent_ends_with_what_was_told(chromium: Chromium, pages: Pages) -> None:
    tab = chromium.open(f"{pages.model.resolve().as_uri()}#step=2")
    tab.click("#sent-details summary")
    tab.wait_for("document.getElementById('sent-size').textContent")
    assert tab.text("#sent-size") == "4 messages"
    texts = "[...document.querySelectorAll('#sent .message{}')].map((each) => each.textContent)"
    assert tab.evaluate(texts.format(" > p:first-child")) == ["system", "user", "assistant", "user"]
    told = tab.evaluate("document.getElementById('told').textContent")
    assert tab.evaluate(texts.format(":last-child .sent-text")) == [told]


def test_a_page_without_scripts_has_its_figures(pages: Pages) -> None:
    page = pages.craft.read_text()
    assert "<noscript>" in page
    assert json.dumps("outcrop-0")[1:-1] in page.partition("<script")[0]
