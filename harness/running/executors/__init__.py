"""Where episodes are played: in this process, in several, or on a cluster. A small seam; another engine can join it."""

from oresight.harness.errors import UnknownNameError
from oresight.harness.running.executors.base import Executor as Executor
from oresight.harness.running.executors.inline import Inline as Inline
from oresight.harness.running.executors.processes import Processes as Processes
from oresight.harness.running.executors.processes import cores

MOST_WORKERS = 256
FORMS = ["processes", "ray", "ray:auto", "ray:HOST:PORT", "ray:ray://HOST:PORT"]


def make_executor(workers: int = 1, concurrency: int = 1, where: str = "processes") -> Executor:
    """Make an executor.

    Args:
        workers: How many processes play; of this machine's own never more than it has cores, since each keeps a core
            busy and holds a world's memory.
        concurrency: How many episodes are under way at once, in all processes together.
        where: `processes` for this machine, or `ray` or `ray:ADDRESS` for a cluster.

    Raises:
        UsageError: There is no such place.
        MissingPartError: What it needs is not installed.
    """
    kind, _, address = where.partition(":")
    if kind == "ray":
        # Imported here, so that the others need not wait for it.
        from oresight.harness.running.executors.ray_cluster import RayCluster

        return RayCluster(workers, concurrency, address)
    if where != "processes":
        raise UnknownNameError("executor", where, FORMS)
    if workers <= 1:
        return Inline(concurrency)
    playing = min(workers, cores())
    return Processes(playing, concurrency, workers if workers > playing else None)
