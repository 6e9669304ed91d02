"""Measures of the report of a large study, 2,000 episodes and 200,000 decisions, and of its page in a browser.

Bundled agents play the study first, mostly in the grid.
"""

import resource
import shutil
import statistics
import tempfile
import time
from pathlib import Path

from oresight.harness.analysis.summary import RunSummary
from oresight.harness.report.build import ReportOptions, make_report
from oresight.harness.running.executors import make_executor
from oresight.harness.running.plan import Condition, ConditionPlan, PlayOptions, condition_plan
from oresight.harness.running.runner import run_all
from oresight.harness.running.selection import Selection
from oresight.harness.running.study_file import study_folder

GRID_AGENTS = (
    "random",
    "depth-first",
    "frontier(window=2,noise=0.3)",
    "frontier(window=4,noise=0.3)",
    "frontier(window=2,noise=0.1)",
    "frontier(window=8,noise=0.1)",
)
# Seeds of each kind of map: long episodes, and enough of them.
GRID_MAPS = {"low-large": 120, "low-medium": 110, "low-small": 95}
CRAFT_AGENTS = (
    ("random", "raw"),
    ("random", "window(4)"),
    ("random", "list"),
    ("spinner", "raw"),
    ("stuck", "raw"),
    ("oracle", "raw"),
)
OPENINGS = 3


def arms(kind: str) -> list[ConditionPlan]:
    """Return the conditions in one world."""
    if kind == "craft":
        selections = [Selection("craft", suite="craft-mine")]
        conditions = [Condition(agent, None, memory) for agent, memory in CRAFT_AGENTS]
        return [condition_plan(each, selections, PlayOptions(size=None)) for each in conditions]
    selections = [Selection("grid", scenario=name, seeds=tuple(range(seeds))) for name, seeds in GRID_MAPS.items()]
    return [condition_plan(Condition(agent, None), selections, PlayOptions()) for agent in GRID_AGENTS]


def play(folder: Path, workers: int) -> list[RunSummary]:
    """Plays both studies, or goes on with them."""
    summaries: list[RunSummary] = []
    for kind in ("grid", "craft"):
        chosen = arms(kind)
        with study_folder(folder / kind, chosen) as folders:
            plans = [(arm.plan, place) for arm, place in zip(chosen, folders, strict=True)]
            summaries += run_all(plans, executor=make_executor(workers, 1))
    return summaries


def open_page(page: Path) -> dict[str, float]:
    """Return the seconds until the page has loaded and been painted in headless Chromium, and its table been sorted."""
    from playwright.sync_api import sync_playwright

    painted = "new Promise(done => requestAnimationFrame(() => setTimeout(done)))"
    opened, sorted_ = [], []
    # Where the system has none, the one that Playwright installs.
    executable = shutil.which("chromium") or shutil.which("google-chrome")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable, args=["--no-sandbox"])
        for _ in range(OPENINGS):
            tab = browser.new_page(viewport={"width": 1280, "height": 900})
            begun = time.perf_counter()
            tab.goto(page.resolve().as_uri(), wait_until="load")
            tab.evaluate(painted)
            opened.append(time.perf_counter() - begun)
            begun = time.perf_counter()
            tab.locator("table.episodes thead button").first.click()
            tab.evaluate(painted)
            sorted_.append(time.perf_counter() - begun)
            tab.close()
        browser.close()
    return {"page_opened_s": statistics.median(opened), "page_sorted_s": statistics.median(sorted_)}


def processor_s() -> float:
    """Seconds of processor time that this process and those that it waited for have used."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)


def large_study(workers: int) -> dict[str, float]:
    """Play the study, report it and open its page; return seconds and sizes."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        summaries = play(folder / "study", workers)
        out = folder / "report"
        begun, worked = time.perf_counter(), processor_s()
        paths = [folder / "study" / kind for kind in ("grid", "craft")]
        make_report(paths, out, ReportOptions(drawing="none", workers=workers))
        took, processor = time.perf_counter() - begun, processor_s() - worked
        return {
            "episodes": sum(len(summary.results) for summary in summaries),
            "decisions": sum(result.steps for summary in summaries for result in summary.results),
            "report_s": took,
            "processor_s": processor,
            "report_mb": sum(file.stat().st_size for file in out.rglob("*") if file.is_file()) / 1e6,
            "index_mb": (out / "index.html").stat().st_size / 1e6,
            **open_page(out / "index.html"),
        }
