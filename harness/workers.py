"""Work in several processes, with results in the order of the items whatever the number of workers.

A small seam: another executor can take its place. What is worked must be a function of its item alone.
"""

import multiprocessing
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from typing import TypeVar

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")
_CHUNKS_PER_WORKER = 8


def work_through(work: Callable[[_Item], _Result], items: Sequence[_Item], workers: int) -> Iterator[_Result]:
    """Yields `work(item)` for each item, in the items' order.

    Args:
        work: A function of a module, so that another process can find it.
        items: What to work through.
        workers: How many processes; 1 works in this one.
    """
    if workers <= 1 or len(items) <= 1:
        yield from map(work, items)
        return
    # Fresh processes: none inherits threads, locks or an OpenGL context.
    context = multiprocessing.get_context("spawn")
    chunk = max(1, len(items) // (workers * _CHUNKS_PER_WORKER))
    with ProcessPoolExecutor(min(workers, len(items)), mp_context=context) as pool:
        yield from pool.map(work, items, chunksize=chunk)
