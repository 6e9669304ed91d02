"""Work in several processes: Ctrl-C ends it at once and quietly, and so does what goes wrong with one item."""

import os
import signal
import subprocess
import sys
import time
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path

import pytest

from oresight.harness.running.executors.map import work_through

# Ends of itself if nobody stops it; the marker says that workers are at work.
SLEEPER = """
import sys, time
from pathlib import Path
from oresight.harness.running.executors.map import work_through

def work(item):
    Path(sys.argv[1], str(item)).touch()
    time.sleep(100)

if __name__ == "__main__":
    list(work_through(work, range(64), workers=2))
"""


def test_an_interrupt_ends_all_workers_at_once_and_they_say_nothing(tmp_path: Path) -> None:
    script, marks = tmp_path / "sleeper.py", tmp_path / "marks"
    script.write_text(SLEEPER)
    marks.mkdir()
    process = subprocess.Popen(
        [sys.executable, str(script), str(marks)], stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    deadline = time.monotonic() + 60
    while len(list(marks.iterdir())) < 2 and time.monotonic() < deadline:
        time.sleep(0.05)
    begun = time.monotonic()
    os.killpg(process.pid, signal.SIGINT)
    said = process.communicate(timeout=60)[1]
    assert time.monotonic() - begun < 30
    # The one that was started tells where it was; its workers have nothing to add.
    assert said.count("Traceback") == 1 and said.rstrip().endswith("KeyboardInterrupt")
    # The resource tracker of multiprocessing takes a moment to see that its work is done.
    while time.monotonic() - begun < 30 and _is_there(process.pid):
        time.sleep(0.05)
    assert not _is_there(process.pid)


def _is_there(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


def _refuse_the_first(item: int) -> None:
    if item == 0:
        raise ValueError("the first item is refused")
    time.sleep(100)


def test_what_one_item_raises_is_raised_here_without_waiting_for_the_others() -> None:
    begun = time.monotonic()
    with pytest.raises(ValueError, match="the first item is refused"):
        list(work_through(_refuse_the_first, range(3), workers=2))
    assert time.monotonic() - begun < 30


def _die(item: int) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def test_a_worker_that_dies_is_told_and_not_waited_for() -> None:
    with pytest.raises(BrokenProcessPool):
        list(work_through(_die, range(3), workers=2))


def test_results_come_in_the_order_of_the_items_however_they_are_shared_out() -> None:
    items = list(range(-20, 20))
    assert list(work_through(abs, items, workers=3)) == list(map(abs, items))
