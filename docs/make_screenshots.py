"""Takes the pictures of a report and of a replay page: `python docs/make_screenshots.py` writes them into docs/images.

It plays the scout with two memories on the suite `craft-mine`, makes the report and opens it in Chromium (a minute).
"""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from PIL import Image
from playwright.sync_api import sync_playwright

IMAGES = Path(__file__).parent / "images"
ORESIGHT = Path(sys.executable).parent / "oresight"
NAMES = ("chromium", "google-chrome")
# Of an episode with errors of exploitation, the second error.
EPISODE, KEYS = "outcrop-1", ("]", "]")


def play(folder: Path) -> Path:
    """Play the study, make its report, and return the report's folder."""
    study, report = folder / "memory-study", folder / "report"
    conditions = ("--agent", "scout", "--memory", "raw,screenshots", "--suite", "craft-mine")
    subprocess.run([ORESIGHT, "compare", *conditions, "--workers", "2", "--out", study], check=True)
    subprocess.run([ORESIGHT, "report", study, "--out", report], check=True)
    return report


def shoot(pages: dict[str, tuple[Path, int, int, tuple[str, ...]]], folder: Path) -> None:
    """Open pages, press keys on them, and keep what is to be seen."""
    executable = next((found for name in NAMES if (found := shutil.which(name))), None)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable, args=["--no-sandbox"])
        for name, (page, width, height, keys) in pages.items():
            tab = browser.new_page(viewport={"width": width, "height": height}, reduced_motion="reduce")
            tab.goto(page.resolve().as_uri(), wait_until="load")
            for key in keys:
                tab.keyboard.press(key)
            tab.wait_for_timeout(500)
            tab.screenshot(path=folder / name)
            with Image.open(folder / name) as shot:
                shot.convert("RGB").save(IMAGES / name, optimize=True)
        browser.close()


def main() -> None:
    """Take both pictures."""
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        report = play(folder)
        (episode,) = report.glob(f"episodes/scout-raw-*/{EPISODE}.html")
        pages = {"report.png": (report / "index.html", 1180, 880, ()), "replay-page.png": (episode, 1280, 1000, KEYS)}
        shoot(pages, folder)


if __name__ == "__main__":
    main()
