"""Where episodes are played: in this process, or in several. A small seam; another engine can take their place."""

from harness.executors.base import Executor as Executor
from harness.executors.inline import Inline as Inline
from harness.executors.processes import Processes as Processes


def make_executor(workers: int = 1, concurrency: int = 1) -> Executor:
    """An executor for one machine.

    Args:
        workers: How many processes play.
        concurrency: How many episodes are under way at once, in all processes together.
    """
    return Inline(concurrency) if workers <= 1 else Processes(workers, max(concurrency, workers))
