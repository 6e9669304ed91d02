"""What writes an episode down, as whoever plays it sees it: the folder itself, or a way to a folder on another machine.

`store.EpisodeFolder` is the folder; `executors.remote` has the way to it.
"""

from typing import Protocol

from oresight.harness.protocols import Json, Pixels
from oresight.harness.records import folder, resume


class Record(Protocol):
    """The record of one episode, from its start or from where an earlier attempt was left."""

    def kept(self) -> tuple[resume.KeptTrajectory, resume.KeptReplies]:
        """What an earlier attempt left.

        Raises:
            InfrastructureError: It is damaged.
        """

    def header(self, header: Json) -> None:
        """Writes the trajectory's first line."""

    def line(self, line: Json) -> None:
        """Appends one decision."""

    def reply(self, line: Json) -> None:
        """Appends a reply, or what else belongs with them; on the disk when the call returns."""

    def frame(self, step: int, pixels: Pixels | None) -> None:
        """Saves the picture of the observation with this step number, as the run's frames setting asks."""

    def same_frame(self, step: int, pixels: Pixels | None) -> None:
        """As `frame`, while an earlier attempt is replayed: a picture that is there is not written again."""

    def cut_frames(self, last: int) -> None:
        """Removes the pictures of observations after the one with this step number."""

    def finish(self, result: folder.EpisodeResult) -> None:
        """Writes the result; after this the episode is finished."""

    def close(self) -> None:
        """Closes the record; may be called twice."""
