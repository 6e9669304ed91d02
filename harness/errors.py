"""Everything that can go wrong, and how an episode can end.

    OresightError                 one sentence for a person; what the commands print
    ├── UsageError                the command asks for something that cannot be (exit code 2)
    │   ├── UnknownNameError      no such agent, memory, scenario or suite
    │   └── ForeignFolderError    the folder holds another run, or anything else
    ├── RunLockedError            another process writes this run
    ├── StoreError                the disk refuses: full, read-only, folder gone
    ├── RecordError               a file of a run is broken or is not what it should be
    ├── ReplayRefusedError        the recording was made with another terrain
    ├── MissingPartError          something that this needs is not installed (OpenGL, an encoder, an SDK)
    ├── RunStoppedError           the provider will not serve this run (bad key, spent quota, unknown model)
    │   └── CapReachedError       what the run may cost is spent
    ├── WorkersDiedError          worker processes keep dying
    └── EpisodeEndedError         ends one episode alone; never leaves the runner
        ├── AgentEndedError       the agent gave no valid action: a failure
        │   └── ContextTooLongError    the model takes less than it was sent; less may be sent, once
        └── InfrastructureError   the provider or the machine failed: no result, to be run again
            └── RequestTooLargeError   the provider takes no request of this size

Callers catch precisely or broadly; only `cli.main` turns these into exit codes.
"""

# The words of an outcome are part of the file formats.
from oresight.scoring.records import Outcome as Outcome


class OresightError(Exception):
    """One sentence that says where, what was found, what was expected and what to do."""

    exit_code = 1


class UsageError(OresightError):
    """The command asks for something that cannot be."""

    exit_code = 2


class UnknownNameError(UsageError):
    """No such agent, memory, scenario or suite."""

    def __init__(self, what: str, found: str, known: list[str]) -> None:
        super().__init__(f"unknown {what} {found!r}; known: {', '.join(known)}")


class ForeignFolderError(UsageError):
    """The folder holds another run, or anything else."""


class RunLockedError(OresightError):
    """Another process writes this run."""


class StoreError(OresightError):
    """The disk refuses."""


class RecordError(OresightError):
    """A file of a run is broken or is not what it should be."""


class ReplayRefusedError(OresightError):
    """The recording was made with another terrain."""


class MissingPartError(OresightError):
    """Something that this needs is not installed."""


class RunStoppedError(OresightError):
    """The provider will not serve this run, however often it is asked; rerun the same command later to resume."""


class CapReachedError(RunStoppedError):
    """What the run may cost, in money or tokens, is spent; rerun the same command with a higher cap to resume."""


class WorkersDiedError(OresightError):
    """Worker processes keep dying."""


class EpisodeEndedError(OresightError):
    """Ends one episode alone."""

    outcome: Outcome


class AgentEndedError(EpisodeEndedError):
    """The agent gave no valid action."""

    outcome = Outcome.AGENT_ENDED


class ContextTooLongError(AgentEndedError):
    """The model takes less than it was sent."""


class InfrastructureError(EpisodeEndedError):
    """The provider or the machine failed."""

    outcome = Outcome.INFRASTRUCTURE


class RequestTooLargeError(InfrastructureError):
    """The provider takes no request of this size."""
