"""Work in several processes, with results in the order of the items for any number of workers.

A small seam: another executor can take its place. What is worked must be a function of its item alone.
"""

import multiprocessing
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from typing import TypeVar

from oresight.harness.running.executors.children import uninterruptible

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")
_CHUNKS_PER_WORKER = 8


def work_through(work: Callable[[_Item], _Result], items: Sequence[_Item], workers: int) -> Iterator[_Result]:
    """Yield `work(item)` for each item, in the items' order.

    What an item raises is raised here, and neither it nor an interrupt waits for what is still being worked on.

    Args:
        work: A function of a module, so that another process can find it.
        items: What to work through.
        workers: How many processes; 1 works in this one.

    Raises:
        BrokenProcessPool: A process died.
    """
    if workers <= 1 or len(items) <= 1:
        yield from map(work, items)
        return
    # Fresh processes: none inherits threads, locks or an OpenGL context.
    context = multiprocessing.get_context("spawn")
    size = max(1, len(items) // (workers * _CHUNKS_PER_WORKER))
    chunks = [items[begin : begin + size] for begin in range(0, len(items), size)]
    others = set(multiprocessing.active_children())
    with ProcessPoolExecutor(min(workers, len(chunks)), mp_context=context) as pool:
        with uninterruptible():
            # Each is kept until the end: cancelled ones trip the pool when its processes are stopped.
            results = [pool.submit(_work_on, work, chunk) for chunk in chunks]
        ours = set(multiprocessing.active_children()) - others
        try:
            for result in results:
                yield from result.result()
        except BaseException:
            for process in ours:
                process.kill()
            raise


def _work_on(work: Callable[[_Item], _Result], chunk: Sequence[_Item]) -> list[_Result]:
    return [work(item) for item in chunk]
