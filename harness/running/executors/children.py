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
    """What is started meanwhile never hears Ctrl-C: the one who started it decides, and hears it afterwards."""
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
    """Process ids of a process's children, of theirs, and so on; none where the system does not tell."""
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
    """Ends processes at once; those that have ended already are no matter."""
    for each in processes:
        if each is not None:
            with suppress(ProcessLookupError):
                os.kill(each, signal.SIGKILL)


def kill_group(leader: int | None) -> None:
    """Ends at once what is left of a process group that one of our children has made and led."""
    if leader is not None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(leader, signal.SIGKILL)
