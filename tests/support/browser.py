"""Headless Chromium for the tests of pages: opens a file and tells what it asked for and what it complained of.

Playwright drives the system's Chromium, in a thread of its own: its event loop would be in the way of the tests' own.
"""

import functools
import shutil
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

WAIT_S = 10
NAMES = ("chromium", "google-chrome")


def _threaded(method: Callable[..., Any]) -> Callable[..., Any]:
    """Runs a method in the one thread that Playwright knows."""

    @functools.wraps(method)
    def call(self: Any, *arguments: Any, **options: Any) -> Any:
        return self._thread.submit(method, self, *arguments, **options).result()

    return call


class Tab:
    """One page. `errors` holds console errors, uncaught exceptions and refusals of the content security policy;
    `requests` the address of everything that it asked for, itself first."""

    def __init__(self, thread: ThreadPoolExecutor, context: Any) -> None:
        self._thread = thread
        self._context = context
        self.errors: list[str] = []
        self.requests: list[str] = []
        self._page = context.new_page()
        self._page.on("console", lambda said: self.errors.append(said.text) if said.type == "error" else None)
        self._page.on("pageerror", lambda error: self.errors.append(str(error)))
        self._page.on("request", lambda request: self.requests.append(request.url))

    @property
    def strangers(self) -> list[str]:
        """Requests that leave the disk."""
        return [url for url in self.requests if not url.startswith(("file:", "data:"))]

    @_threaded
    def go(self, url: str) -> None:
        """Loads an address and waits until the page has loaded."""
        self._page.goto(url, wait_until="load")

    @_threaded
    def evaluate(self, script: str, argument: Any = None) -> Any:
        """The value of an expression or of a function of `argument`, as JSON has it."""
        return self._page.evaluate(script, argument)

    @_threaded
    def press(self, *keys: str) -> None:
        """Presses keys one after the other, named as in KeyboardEvent.key: "ArrowRight", "Shift+Tab", "Space"."""
        for key in keys:
            self._page.keyboard.press(key)

    @_threaded
    def type(self, text: str) -> None:
        """Types into what has the focus."""
        self._page.keyboard.type(text)

    @_threaded
    def click(self, selector: str) -> None:
        """Clicks on the first thing that a CSS selector finds."""
        self._page.locator(selector).first.click(timeout=5000)

    @_threaded
    def choose(self, selector: str, value: str) -> None:
        """Chooses an option of a select, or a value of a range."""
        element = self._page.locator(selector).first
        if element.evaluate("e => e.tagName") == "SELECT":
            element.select_option(value, timeout=5000)
        else:
            element.fill(value, timeout=5000)

    @_threaded
    def text(self, selector: str = "body") -> str:
        """The text that is to be seen in what a CSS selector finds."""
        return str(self._page.locator(selector).first.inner_text(timeout=5000))

    @_threaded
    def wait_for(self, script: str) -> None:
        """Waits until an expression is true.

        Asked again and again from outside: a page whose policy forbids eval takes no expression to wait for by itself.
        """
        until = time.monotonic() + WAIT_S
        while not self._is_true(script):
            assert time.monotonic() < until, f"not true within {WAIT_S} s: {script}"
            time.sleep(0.02)

    def _is_true(self, script: str) -> bool:
        from playwright.sync_api import Error

        try:
            return bool(self._page.evaluate(script))
        except Error as error:
            # Asked just while another page takes this one's place.
            if "navigation" not in str(error):
                raise
            return False

    @_threaded
    def screenshot(self, path: Path, whole: bool = False) -> None:
        """Keeps a picture of what is to be seen, or of the whole page."""
        self._page.screenshot(path=path, full_page=whole)

    def overflow(self) -> int:
        """By how many pixels the page is wider than its window."""
        wide: int = self.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        return wide

    @_threaded
    def close(self) -> None:
        """Closes it."""
        self._context.close()


class Chromium:
    """The browser."""

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(1, "chromium")
        self._tabs: list[Tab] = []
        self._start()

    @_threaded
    def _start(self) -> None:
        from playwright.sync_api import sync_playwright

        self._playwright = sync_playwright().start()
        executable = next((found for name in NAMES if (found := shutil.which(name))), None)
        # Where the system has none, the one that Playwright installs.
        if executable is None and not Path(self._playwright.chromium.executable_path).exists():
            self._playwright.stop()
            pytest.skip("no Chromium found; run: scripts/setup.sh dev")
        # Root, as in a container, can have no sandbox; what is opened here is the project's own.
        self._browser = self._playwright.chromium.launch(executable_path=executable, args=["--no-sandbox"])

    def open(self, page: Path | str, width: int = 1280, height: int = 800, dark: bool = False) -> Tab:
        """Opens a file, or an address such as a file's with a fragment, in a fresh window without a network."""
        tab = self._tab(width, height, dark)
        self._tabs.append(tab)
        tab.go(page.resolve().as_uri() if isinstance(page, Path) else page)
        return tab

    @_threaded
    def _tab(self, width: int, height: int, dark: bool) -> Tab:
        scheme: Any = "dark" if dark else "light"
        context = self._browser.new_context(
            viewport={"width": width, "height": height}, color_scheme=scheme, reduced_motion="reduce", offline=True
        )
        return Tab(self._thread, context)

    def close_tabs(self) -> None:
        """Closes every window that was opened."""
        while self._tabs:
            self._tabs.pop().close()

    def close(self) -> None:
        """Ends the browser."""
        self._stop()
        self._thread.shutdown()

    @_threaded
    def _stop(self) -> None:
        self._browser.close()
        self._playwright.stop()


@pytest.fixture(scope="module")
def running_chromium() -> Iterator[Chromium]:
    """One browser for a test module; the tests are skipped where there is none."""
    pytest.importorskip("playwright", reason="playwright is not installed; run: scripts/setup.sh dev")
    browser = Chromium()
    yield browser
    browser.close()


@pytest.fixture
def chromium(running_chromium: Chromium) -> Iterator[Chromium]:
    """The browser, with no window left open after a test."""
    yield running_chromium
    running_chromium.close_tabs()
