"""The study's page in a real browser: it renders, stays on the disk, and is read and used by keyboard at any width."""

import io
import json
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from oresight.harness.report.build import ReportOptions, make_report
from support.browser import Chromium, chromium, running_chromium
from support.report_stage import play_model, play_study

__all__ = ["chromium", "running_chromium"]

HOSTILE = "</script><script>window.hit = 1</script><img src=x onerror='window.hit = 2'>\u202e\u0000&amp;\n"


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Both worlds in one report: agents in the grid, a hostile model, and an episode of the 3D world with pictures."""
    root = tmp_path_factory.mktemp("report")
    agents = play_study(root / "agents", "grid", ("random", "depth-first", "frontier"), ("low-small-0", "high-small-0"))
    model = play_model(root / "model", [json.dumps({"reason": HOSTILE, "action": "up"}), HOSTILE], "high-small-0")
    _disguise(model)
    craft = play_study(root / "craft", "craft", ("stuck",), ("cave-0",))
    _add_pictures(next(craft.glob("*/episodes/cave-0")))
    make_report([agents, model, craft], root / "out", ReportOptions(drawing="none"))
    return root / "out"


def _disguise(run: Path) -> None:
    """Puts hostile text wherever a run's files hold text."""
    for file in (run / "run.json", *run.glob("episodes/*/result.json")):
        told = json.loads(file.read_text())
        place = told.get("config", told)
        place["agent"] = HOSTILE + place["agent"]
        if "reason" in place:
            place["reason"] = HOSTILE
        if "versions" in told:
            told["versions"][HOSTILE] = HOSTILE
        file.write_text(json.dumps(told))


def _add_pictures(episode: Path) -> None:
    frames = episode / "frames"
    frames.mkdir(exist_ok=True)
    for number in (1, 2, 3):
        picture = io.BytesIO()
        Image.new("RGB", (64, 48), (40 * number, 90, 60)).save(picture, format="PNG")
        (frames / f"{number:06d}.png").write_bytes(picture.getvalue())


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("width", [1280, 400])
def test_the_page_fits_asks_for_nothing_elsewhere_and_has_no_error(
    chromium: Chromium, report: Path, width: int, dark: bool
) -> None:
    tab = chromium.open(report / "index.html", width, dark=dark)
    tab.evaluate("document.querySelectorAll('details').forEach(each => each.open = true)")
    tab.evaluate("document.querySelectorAll('img').forEach(each => each.loading = 'eager')")
    tab.wait_for("[...document.images].every(each => each.complete)")
    assert tab.errors == [] and tab.strangers == []
    assert tab.overflow() == 0
    broken = "[...document.images].filter(each => !each.naturalWidth).map(each => each.src)"
    assert tab.evaluate("document.images.length") > 10 and tab.evaluate(broken) == []
    ends = tab.evaluate("[...new Set([...document.images].map(each => each.currentSrc.endsWith('-dark.svg')))]")
    assert ends == [dark]


def test_pictures_load_as_they_are_needed(chromium: Chromium, report: Path) -> None:
    tab = chromium.open(report / "index.html", height=400)
    at_first = sum(url.endswith(".svg") for url in tab.requests)
    tab.evaluate("window.scrollTo(0, document.body.scrollHeight)")
    tab.wait_for("[...document.images].at(-1).complete")
    assert at_first < sum(url.endswith(".svg") for url in tab.requests)


def test_hostile_text_is_shown_and_does_nothing(chromium: Chromium, report: Path) -> None:
    tab = chromium.open(report / "index.html")
    assert tab.evaluate("window.hit === undefined")
    assert tab.evaluate("[...document.images].every(each => each.closest('figure'))")
    assert "<script>window.hit = 1</script>" in tab.text("table.conditions[class]:has(.c3)")
    assert "\\u202e" in tab.text("main") and "\u202e" not in tab.evaluate("document.documentElement.textContent")
    for page in sorted(report.glob("episodes/*/high-small-0.html")):
        replay = chromium.open(page)
        assert replay.evaluate("window.hit === undefined") and replay.errors == []


def test_the_table_of_episodes_sorts_by_keyboard(chromium: Chromium, report: Path) -> None:
    tab = chromium.open(report / "index.html")
    names = "[...document.querySelectorAll('table.episodes[data-world=grid] tbody tr')].map(row => row.id)"
    before = tab.evaluate(names)
    head = "document.querySelector('table.episodes[data-world=grid] th:nth-child(6)')"
    tab.evaluate(f"{head}.querySelector('button').focus()")
    tab.press("Enter")
    rising = tab.evaluate(names)
    assert tab.evaluate(f"{head}.getAttribute('aria-sort')") == "ascending"
    tab.press("Space")
    falling = tab.evaluate(names)
    assert tab.evaluate(f"{head}.getAttribute('aria-sort')") == "descending"
    assert sorted(rising) == sorted(before) == sorted(falling)
    values = tab.evaluate("JSON.parse(document.getElementById('data').textContent).grid")
    by_row = {f"{row[0]}-{row[1]}": row[4] for row in values}
    shares = [by_row[row] for row in falling]
    defined = [share for share in shares if share is not None]
    assert defined == sorted(defined, reverse=True) and shares[: len(defined)] == defined


def test_the_table_of_episodes_is_filtered(chromium: Chromium, report: Path) -> None:
    tab = chromium.open(report / "index.html")
    shown = (
        "[...document.querySelectorAll('table.episodes[data-world=grid] tbody tr:not([hidden])')].map(row => row.id)"
    )
    form = "form.filters[data-world=grid]"
    assert len(tab.evaluate(shown)) == 7
    tab.choose(f"{form} [name=condition]", "C")
    assert len(tab.evaluate(shown)) == 2
    tab.evaluate(f"document.querySelector('{form} [name=scenario]').focus()")
    tab.type("HIGH")
    assert tab.evaluate(shown) == ["C-high-small-0"]
    assert tab.text(f"{form} output") == "1 of 7 episodes"
    tab.press("Tab", "Tab", "Enter")
    tab.wait_for(f"document.querySelector('{form} output').value === '7 episodes'")
    tab.choose(f"{form} [name=outcome]", "success")
    assert 0 < len(tab.evaluate(shown)) < 7


def test_everything_is_reached_by_keyboard_and_seen_to_be(chromium: Chromium, report: Path) -> None:
    tab = chromium.open(report / "index.html")
    seen = set()
    for _ in range(400):
        tab.press("Tab")
        where = tab.evaluate(
            """(() => {
              const at = document.activeElement;
              if (at === document.body) return null;
              const style = getComputedStyle(at);
              return [at.tagName, at.className, style.outlineStyle !== "none"];
            })()"""
        )
        if where is None:
            break
        assert where[2], f"no focus to be seen on {where}"
        seen.add(where[0])
    assert {"A", "BUTTON", "SELECT", "INPUT", "SUMMARY", "DIV"} <= seen


def test_a_row_leads_to_its_replay_and_the_replay_back_to_its_row(chromium: Chromium, report: Path) -> None:
    tab = chromium.open(report / "index.html")
    tab.evaluate("document.querySelector('table.episodes[data-world=craft] tbody a').focus()")
    tab.press("Enter")
    tab.wait_for("location.pathname.endsWith('/cave-0.html') && document.readyState === 'complete'")
    assert tab.errors == [] and tab.strangers == []
    back = tab.evaluate("[...document.links].map(each => each.href).find(each => each.includes('index.html#'))")
    tab.go(back)
    assert tab.evaluate("document.querySelector(':target').id").endswith("-cave-0")


def test_the_page_reads_without_its_script(report: Path) -> None:
    page = (report / "index.html").read_text()
    told: Any = json.loads((report / "report.json").read_text())
    for condition in told["conditions"]:
        assert f"{condition['pages']}/" in page
