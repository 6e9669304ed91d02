"""The process that talks to a Ray cluster for `ray_cluster`, and the one file that imports Ray.

Ray prints at will, handles signals, and ends its process when it loses a cluster. Here that does no harm: this
process knows no task and writes no file; it carries calls to actors and their answers back, as bytes. It ends when its
pipe closes, and the actors with it.
"""

import os
import secrets
import shutil
import threading
from functools import partial
from multiprocessing.connection import Connection
from typing import Any

from oresight.harness.running.executors.ray_worker import Player
from oresight.harness.settings import ray_settings

# For an own cluster: what is sent is small, or a few pictures at a time.
_STORE_BYTES = 128 * 2**20
# So that messages are fetched while a task and an answer are delivered.
_THREADS = 4


def serve_bridge(pipe: "Connection[Any, Any]", address: str, own_folder: str | None) -> None:
    """Run the bridge process.

    Orders are tuples: ("start", actor), ("call", actor, method, payload or None), ("dismiss", actor). Messages are
    tuples too: ("connected",) once, or ("failed", words); ("did", actor, method, answer); ("died", actor); and
    ("refused", actor, words) for a call that went wrong on a living actor.

    Args:
        pipe: To the process that gives the orders.
        address: Of the cluster.
        own_folder: Where a cluster that is started here keeps its files; None for one that exists.
    """
    # A process group by itself, which its parent can kill as a whole.
    os.setsid()
    _be_silent()
    try:
        with ray_settings(None if own_folder is None else secrets.token_hex(32)):
            ray = _connect(address, own_folder)
    # Whatever it is, it is reported in one sentence there.
    except BaseException as error:
        pipe.send(("failed", " ".join(f"{type(error).__name__}: {error}".split())[:300]))
        return
    bridge = _Bridge(ray, pipe)
    pipe.send(("connected",))
    try:
        while True:
            bridge.order(*pipe.recv())
    except (EOFError, OSError):
        bridge.end()
    if own_folder is not None:
        # The parent was killed, or it would have ended this process and removed the folder itself.
        shutil.rmtree(own_folder, ignore_errors=True)


def _connect(address: str, own_folder: str | None) -> Any:
    import ray

    quiet = {"log_to_driver": False, "logging_level": "ERROR"}
    if own_folder is None:
        ray.init(address=address, **quiet)
    else:
        ray.init(
            address="local",
            _temp_dir=own_folder,
            object_store_memory=_STORE_BYTES,
            include_dashboard=False,
            **quiet,
        )
    return ray


def _be_silent() -> None:
    """Silence stdout and stderr, which may be machine-readable."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    os.close(nowhere)


class _Bridge:
    """Actors by their numbers."""

    def __init__(self, ray: Any, pipe: "Connection[Any, Any]") -> None:
        self._ray = ray
        self._pipe = pipe
        self._actors: dict[int, Any] = {}
        # Answers come in threads of Ray's.
        self._turn = threading.Lock()
        # Ray does not restart what is lost with a node: restarting an episode is the caller's decision.
        self._class = ray.remote(Player).options(
            num_cpus=1, max_restarts=0, max_task_retries=0, max_concurrency=_THREADS, scheduling_strategy="SPREAD"
        )

    def order(self, what: str, actor: int, *told: Any) -> None:
        if what == "start":
            self._actors[actor] = self._class.remote()
        elif what == "dismiss":
            self._ray.kill(self._actors.pop(actor))
        elif actor in self._actors:
            method, payload = told
            arguments = () if payload is None else (payload,)
            reference = getattr(self._actors[actor], method).remote(*arguments)
            reference.future().add_done_callback(partial(self._done, actor, method))

    def end(self) -> None:
        for handle in self._actors.values():
            self._ray.kill(handle)
        self._ray.shutdown()

    def _done(self, actor: int, method: str, future: Any) -> None:
        error = future.exception()
        if error is None:
            self._tell("did", actor, method, future.result())
        elif isinstance(error, self._ray.exceptions.RayActorError) and not getattr(error, "_actor_init_failed", False):
            self._tell("died", actor)
        else:
            words = [line.strip() for line in str(error).splitlines() if "Error" in line]
            self._tell("refused", actor, words[-1] if words else type(error).__name__)

    def _tell(self, *news: object) -> None:
        with self._turn:
            try:
                self._pipe.send(news)
            except OSError:
                # The other side of the pipe has closed.
                return
