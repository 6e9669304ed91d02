"""How long a report of a large study takes, and its page to open: 2,000 episodes and 200,000 decisions.

    python benchmarks/report_size.py [--keep FOLDER] [--workers 2]

Bundled agents play the study first, mostly in the grid, which takes some minutes; with --keep it is kept and played
once. The page is opened in headless Chromium, if Playwright and Chromium are there.
"""

import argparse
import resource
import shutil
import tempfile
import time
from contextlib import nullcontext
from pathlib import Path

from harness.conditions import Arm, Condition, Manner, make_arm
from harness.executors import make_executor
from harness.report.report import ReportOptions, make_report
from harness.runner import run_all
from harness.selection import Selection
from harness.studyfile import study_folder
from harness.summary import RunSummary

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


def arms(kind: str) -> list[Arm]:
    """The conditions in one world."""
    if kind == "craft":
        selections = [Selection("craft", suite="craft-mine")]
        conditions = [Condition(agent, None, memory) for agent, memory in CRAFT_AGENTS]
        return [make_arm(each, selections, Manner(size=None)) for each in conditions]
    selections = [Selection("grid", scenario=name, seeds=tuple(range(seeds))) for name, seeds in GRID_MAPS.items()]
    return [make_arm(Condition(agent, None), selections, Manner()) for agent in GRID_AGENTS]


def play(folder: Path, workers: int) -> list[RunSummary]:
    """Plays both studies, or goes on with them."""
    summaries: list[RunSummary] = []
    for kind in ("grid", "craft"):
        chosen = arms(kind)
        with study_folder(folder / kind, chosen) as folders:
            plans = [(arm.plan, place) for arm, place in zip(chosen, folders, strict=True)]
            summaries += run_all(plans, executor=make_executor(workers, 1))
    return summaries


def open_page(page: Path) -> None:
    """Opens the page a few times and prints how long it takes until it has loaded and been painted."""
    executable = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        executable = None
    if executable is None:
        print("page: not opened, since there is no Chromium or no Playwright; run scripts/setup.sh dev")
        return
    painted = "new Promise(done => requestAnimationFrame(() => setTimeout(done)))"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable, args=["--no-sandbox"])
        for _ in range(OPENINGS):
            tab = browser.new_page(viewport={"width": 1280, "height": 900})
            begun = time.perf_counter()
            tab.goto(page.resolve().as_uri(), wait_until="load")
            tab.evaluate(painted)
            opened = time.perf_counter() - begun
            begun = time.perf_counter()
            tab.locator("table.episodes thead button").first.click()
            tab.evaluate(painted)
            rows = tab.locator("table.episodes tbody tr").count()
            print(f"page: opened in {opened:.2f} s with {rows} rows; sorted in {time.perf_counter() - begun:.2f} s")
            tab.close()
        browser.close()


def processor_s() -> float:
    """Seconds of processor time that this process and those that it waited for have used."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)


def main() -> None:
    """Plays, reports, opens."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--keep", type=Path, help="folder of the study, played once and kept")
    parser.add_argument("--workers", type=int, default=2)
    given = parser.parse_args()
    with nullcontext(given.keep) if given.keep else tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        begun = time.perf_counter()
        summaries = play(folder / "study", given.workers)
        episodes = sum(len(summary.results) for summary in summaries)
        decisions = sum(result.steps for summary in summaries for result in summary.results)
        print(f"study: {episodes} episodes, {decisions} decisions, played in {time.perf_counter() - begun:.0f} s")
        out = folder / "report"
        begun, worked = time.perf_counter(), processor_s()
        paths = [folder / "study" / kind for kind in ("grid", "craft")]
        make_report(paths, out, ReportOptions(drawing="none", workers=given.workers))
        print(
            f"report: {time.perf_counter() - begun:.1f} s with {given.workers} workers,"
            f" {processor_s() - worked:.1f} s of processor time"
        )
        size = sum(file.stat().st_size for file in out.rglob("*") if file.is_file())
        print(f"size: {size / 1e6:.0f} MB, index.html {(out / 'index.html').stat().st_size / 1e6:.1f} MB")
        open_page(out / "index.html")


if __name__ == "__main__":
    main()
