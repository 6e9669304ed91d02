"""The grid world for gymnasium, as "oresight/Grid-v0".

Importing this module registers it: ``gymnasium.make("gridenv.gymenv:oresight/Grid-v0", demand="low", size="small")``.

Actions: Discrete(4), in the order up, down, left, right; a move into a wall stays and counts.
Observation: the text that a language model reads.
Reward: nodes newly achieved.
End: terminated when the goal is achieved, truncated when the budget is spent.
"""

import string
from typing import Any

import gymnasium
from gymnasium.spaces import Discrete, Text

from oresight.gridenv.draw import draw_text
from oresight.gridenv.env import GridEnv
from oresight.gridenv.generate import DEMANDS, SIZES
from oresight.gridenv.model import DIRECTION_NAMES, Visibility
from oresight.gridenv.suites import GridScenario, UnknownScenarioError, get_scenario

ENV_ID = "oresight/Grid-v0"
_SEEDS = 2**31
# Above the longest listing of a generated map by a good margin.
_TEXT_LENGTH = 8192


class GridGymEnv(gymnasium.Env[str, int]):
    """A scenario, or a fresh map of one demand and size per seed."""

    metadata = {"render_modes": ["ansi"], "render_fps": 4}  # noqa: RUF012  # gymnasium declares it as an instance's

    def __init__(
        self,
        demand: str = "medium",
        size: str = "medium",
        visibility: Visibility = "partial",
        scenario: GridScenario | str | None = None,
        render_mode: str | None = None,
    ) -> None:
        """Prepare an environment.

        Args:
            demand: Exploitation demand of the maps: "low", "medium" or "high".
            size: Size of the task DAG: "small", "medium" or "large".
            visibility: "full" shows map and DAG in the first observation.
            scenario: A scenario, or the name of one, to be played at every reset instead.
            render_mode: "ansi" draws the map as text, None draws nothing.

        Raises:
            UnknownScenarioError: There is no such scenario, demand or size.
            ValueError: There is no such render mode.
        """
        if render_mode not in (None, *self.metadata["render_modes"]):
            raise ValueError(f"unknown render_mode {render_mode!r}; expected None or 'ansi'")
        if demand not in DEMANDS or size not in SIZES:
            raise UnknownScenarioError(
                f"unknown demand {demand!r} or size {size!r}; expected one of {', '.join(DEMANDS)} and one of "
                f"{', '.join(SIZES)}"
            )
        self.render_mode = render_mode
        self._fixed = scenario is not None
        self._family = f"{'full-' if visibility == 'full' else ''}{demand}-{size}"
        if scenario is None:
            scenario = f"{self._family}-0"
        self.env = GridEnv(get_scenario(scenario) if isinstance(scenario, str) else scenario)
        self.action_space = Discrete(len(DIRECTION_NAMES))  # type: ignore[assignment]  # steps take any integer type
        self.observation_space = Text(max_length=self._text_length(), min_length=1, charset=self._charset())

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[str, dict[str, Any]]:
        """Start an episode.

        Args:
            seed: The map of this seed; None plays a further one, drawn from the environment's generator. A given
                scenario stays the same.
            options: Not used.

        Returns:
            The first text, and an info as `step` returns it.
        """
        super().reset(seed=seed)
        if not self._fixed:
            chosen = seed if seed is not None else int(self.np_random.integers(_SEEDS))
            self.env = GridEnv(get_scenario(f"{self._family}-{chosen}"))
        observation = self.env.reset()
        return observation.text, self._info(observation.actions)

    def step(self, action: int) -> tuple[str, float, bool, bool, dict[str, Any]]:
        """Move; the info has "actions", the directions that lead somewhere next.

        Raises:
            ValueError: The action is not 0 to 3.
        """
        if not self.action_space.contains(action):
            raise ValueError(f"unknown action {action!r}; expected 0 to {len(DIRECTION_NAMES) - 1}")
        done = self.env.step(DIRECTION_NAMES[int(action)])
        observation = done.observation
        return observation.text, float(done.reward), done.terminated, done.truncated, self._info(observation.actions)

    def render(self) -> str | None:
        """Return the map as text, or None without a render mode."""
        return draw_text(self.env.scenario.map, self.env.walk.state()) if self.render_mode == "ansi" else None

    def close(self) -> None:
        """Forget the episode."""
        self.env.close()

    def _info(self, actions: tuple[str, ...]) -> dict[str, Any]:
        return {"actions": list(actions), "scenario": self.env.scenario.name}

    def _text_length(self) -> int:
        listing = len(self.env.briefing) + sum(8 * len(node.id) + 200 for node in self.env.scenario.map.nodes)
        return max(_TEXT_LENGTH, 2 * listing) if self._fixed else _TEXT_LENGTH

    def _charset(self) -> str:
        names = "".join(node.id for node in self.env.scenario.map.nodes)
        plain = string.ascii_letters + string.digits + string.punctuation + " \n"
        return "".join(sorted({*plain, *names}))


def register() -> None:
    """Make "oresight/Grid-v0" known to gymnasium; again is harmless."""
    if ENV_ID not in gymnasium.registry:
        # Time limit and end come from the environment's own budget.
        gymnasium.register(id=ENV_ID, entry_point="oresight.gridenv.gymenv:GridGymEnv")


register()
