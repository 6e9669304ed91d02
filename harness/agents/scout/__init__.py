"""The bundled vision agent of the 3D world: it decides from pictures alone."""

from oresight.harness.agents.setup import AgentSetup
from oresight.harness.errors import MissingPartError
from oresight.harness.protocols import Agent


def make_scout(setup: AgentSetup) -> Agent:
    """Return the scout.

    Raises:
        MissingPartError: OpenCV cannot be loaded; says what to install.
    """
    try:
        from oresight.harness.agents.scout.scout import Scout
    except ImportError as error:
        raise MissingPartError(
            f"scout needs OpenCV, which cannot be loaded ({error}); on Debian or Ubuntu install the packages libgl1 and"
            " libglib2.0-0"
        ) from error
    return Scout(setup.seed)
