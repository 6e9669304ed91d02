"""The 3D world as a gymnasium environment, registered when this module is imported.

``gymnasium.make("craftenv.gymenv:oresight/CraftMine-v0", scenario="outcrop-0")`` imports it by itself.
"""

import string
from typing import TYPE_CHECKING, Any

import gymnasium
import numpy as np
import numpy.typing as npt
from gymnasium import spaces

from oresight.craftenv.actions import ACTION_NAMES
from oresight.craftenv.env import CraftEnv, Observation
from oresight.craftenv.scenarios.scenario import Scenario
from oresight.craftenv.scenarios.suites import get_scenario

if TYPE_CHECKING:
    from oresight.craftenv.render.screen import Screen

ENV_ID = "oresight/CraftMine-v0"
# Longer than any text: nine slots, and an action can break or lose only so many kinds of block.
_TEXT_LIMIT = 2000
_CHARSET = string.ascii_letters + string.digits + string.punctuation + " \n"

GymObservation = dict[str, Any]


class CraftMineEnv(gymnasium.Env[GymObservation, np.int64]):
    """One scenario of the 3D world.

    Actions:
        Discrete(21): the numbers of `craftenv.actions.ACTION_NAMES`, in its order.

    Observation:
        image: uint8[height, width, 3], the screenshot, RGB.
        text: Task, step, last action with its outcome, selected slot and inventory.

    Reward:
        Target items newly acquired.

    End:
        Terminated when the target count is acquired; truncated when the budget of decisions is spent.

    Info:
        Public facts alone: ``step`` (decisions made), ``action`` (the last one's name or None), ``outcome`` (in words)
        and ``acquired`` (target items so far).
    """

    metadata = {"render_modes": ["rgb_array", "human"], "render_fps": 20}  # noqa: RUF012 - gymnasium's own name and shape

    def __init__(
        self,
        scenario: str | Scenario = "outcrop-0",
        *,
        width: int = 640,
        height: int = 480,
        coordinates: bool = False,
        render_mode: str | None = None,
    ) -> None:
        """Prepare the environment; OpenGL is not touched before the first picture.

        Args:
            scenario: A scenario, or the name of one, such as ``outcrop-0``.
            width: The screenshot's width in pixels, 64 to 1920.
            height: Its height in pixels, 48 to 1080.
            coordinates: Whether the text shows the player's position (an ablation).
            render_mode: ``rgb_array``; ``human``, which shows every picture in a window; or None.

        Raises:
            ValueError: No such render mode.
            UnknownScenarioError: No such scenario.
        """
        if render_mode not in (None, *self.metadata["render_modes"]):
            raise ValueError(f"render_mode is {render_mode!r}; expected 'rgb_array', 'human' or None")
        self.render_mode = render_mode
        self._env = CraftEnv(
            get_scenario(scenario) if isinstance(scenario, str) else scenario,
            width=width,
            height=height,
            coordinates=coordinates,
        )
        self._size = (width, height)
        self._image: npt.NDArray[np.uint8] | None = None
        self._screen: Screen | None = None
        self.action_space = spaces.Discrete(len(ACTION_NAMES))
        self.observation_space = spaces.Dict(
            {
                "image": spaces.Box(0, 255, (height, width, 3), np.uint8),
                "text": spaces.Text(_TEXT_LIMIT, min_length=1, charset=_CHARSET),
            }
        )

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[GymObservation, dict[str, Any]]:
        """Restart the episode.

        Args:
            seed: Another terrain seed than the scenario's; None keeps its own, which alone is proved solvable.
            options: There are none.

        Raises:
            ValueError: Options were given, or the picture's size is out of range.
            OpenGLUnavailable: There is no OpenGL here, or no display to show pictures on; the message says what to do.
            ContextModeError: Pictures are to be shown and the process already draws without a window.
        """
        super().reset(seed=seed)
        if options:
            raise ValueError(f"unknown reset options {sorted(options)}; this environment has none")
        if self.render_mode == "human" and self._screen is None:
            # Before the first picture: whether a process has a window is decided once.
            from oresight.craftenv.render.screen import Screen

            self._screen = Screen(f"oresight: {self._env.scenario.name}", *self._size)
        observation = self._env.reset(seed)
        return self._tell(observation), self._info(observation, None, "")

    def step(self, action: np.int64) -> tuple[GymObservation, float, bool, bool, dict[str, Any]]:
        """Play one action to its end.

        Args:
            action: Its number in `craftenv.actions.ACTION_NAMES`.

        Raises:
            ValueError: No such action.
        """
        if not self.action_space.contains(action):
            raise ValueError(f"action is {action!r}; expected a whole number from 0 to {len(ACTION_NAMES) - 1}")
        name = ACTION_NAMES[action]
        transition = self._env.step(name)
        return (
            self._tell(transition.observation),
            float(transition.reward),
            transition.terminated,
            transition.truncated,
            self._info(transition.observation, name, transition.outcome),
        )

    def render(self) -> npt.NDArray[np.uint8] | None:
        """Return the current picture, uint8[height, width, 3], the caller's own; None but for ``rgb_array``."""
        if self.render_mode != "rgb_array" or self._image is None:
            return None
        return self._image.copy()

    def close(self) -> None:
        """Free what the environment owns; closing twice does nothing."""
        self._env.close()
        self._image = None
        if self._screen is not None:
            self._screen.close()
            self._screen = None

    def _tell(self, observation: Observation) -> GymObservation:
        assert observation.image is not None
        self._image = observation.image
        if self._screen is not None:
            self._screen.events()  # the window is looked at and not played in
            self._screen.show(observation.image)
        return {"image": observation.image.copy(), "text": observation.text}

    def _info(self, observation: Observation, action: str | None, outcome: str) -> dict[str, Any]:
        return {"step": observation.step - 1, "action": action, "outcome": outcome, "acquired": self._env.acquired}


if ENV_ID not in gymnasium.registry:
    gymnasium.register(id=ENV_ID, entry_point="oresight.craftenv.gymenv:CraftMineEnv")
