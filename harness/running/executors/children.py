"""Processes that are started here, and how they come to an end."""

import os
import signal
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from multiprocessing import resource_tracker
from pathlib import Path


@contextmanager
def uninterruptible() -> Iterator[None]:
    """Shield processes started in a block from Ctrl-C; this process receives it after the block."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    # Its own start lets interrupts through again, so that it is to have been before.
    resource_tracker.ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def descendants(process: int | None) -> list[int]:
    """Return the ids of all descendants of a process; none where the system does not list them."""
    children: dict[int, list[int]] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            # The name, in brackets, may hold anything; behind it stand the state and the parent.
            parent = int(path.read_text(errors="replace").rpartition(")")[2].split()[1])
            children.setdefault(parent, []).append(int(path.parent.name))
    found = list(children.get(process or -1, []))
    for each in found:
        found += children.get(each, [])
    return found


def kill_all(processes: Sequence[int | None]) -> None:
    """Kill processes; those that have already ended are ignored."""
    for each in processes:
        if each is not None:
            with suppress(ProcessLookupError):
                os.kill(each, signal.SIGKILL)


def kill_group(leader: int | None) -> None:
    """Kill what is left of a process group that one of our children created and led."""
    if leader is not None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(leader, signal.SIGKILL)
