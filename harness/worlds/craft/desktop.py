"""The 3D world through a real window, driven by injected keys and mouse: the same episodes, played another way."""

from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

from oresight.craftenv.desktop.camera import check_desktop, describe_desktop
from oresight.craftenv.desktop.desktop import DesktopEnv, DesktopError
from oresight.craftenv.desktop.hands import DesktopBusy, DesktopUnavailable, check_packages
from oresight.craftenv.env import EnvSpec, Observation, Transition
from oresight.craftenv.scenarios.scenario import Scenario
from oresight.harness.errors import InfrastructureError, MissingPartError, RunStoppedError, UsageError
from oresight.harness.protocols import Json
from oresight.harness.settings import read_settings
from oresight.harness.worlds.base import Size, World
from oresight.harness.worlds.craft.display import find_display

Done = TypeVar("Done")


def on_desktop(world: World) -> World:
    """The same world, opened in a window.

    Raises:
        UsageError: It is no world that has one.
    """
    if world.kind != "craft":
        raise UsageError("--desktop plays in a window, and the grid has none; leave it out")
    scenario = Scenario.model_validate(world.scenario)

    def open_window(size: Size | None) -> "_OnDesktop":
        return _OnDesktop(scenario, _some(size))

    # Nobody else can play it: there is one display, and this process drives it.
    return replace(world, prepare=_prepare, open=open_window, again=None, desktop=True)


def describe() -> str:
    """What would drive the display.

    Raises:
        MissingPartError: There is no display, or it cannot be driven.
    """
    _translated(check_packages)
    find_display(read_settings())
    return _translated(describe_desktop)


def _prepare(size: Size | None) -> None:
    inside = _some(size)
    _translated(check_packages)
    try:
        find_display(read_settings())
    except MissingPartError as error:
        raise MissingPartError(f"--desktop plays in a window, and there is no display for it: {error}") from error
    _translated(lambda: check_desktop(inside))


def _some(size: Size | None) -> Size:
    if size is None:
        raise UsageError("--desktop takes its pictures off the screen; leave out --no-pictures")
    return size


def _translated(do: Callable[[], Done]) -> Done:
    """What the display says, in the errors of the harness."""
    try:
        return do()
    except DesktopBusy as error:
        raise RunStoppedError(str(error)) from error
    except DesktopUnavailable as error:
        raise MissingPartError(str(error)) from error
    except DesktopError as error:
        raise InfrastructureError(str(error)) from error


class _OnDesktop:
    """An environment whose display can fail, which is no result of the agent's."""

    def __init__(self, scenario: Scenario, size: Size) -> None:
        self._env = DesktopEnv(scenario, width=size[0], height=size[1])

    @property
    def spec(self) -> EnvSpec:
        """See `Environment.spec`."""
        return self._env.spec

    def reset(self, seed: int | None = None) -> Observation:
        """See `Environment.reset`."""
        return _translated(lambda: self._env.reset(seed))

    def step(self, action: str) -> Transition:
        """See `Environment.step`."""
        return _translated(lambda: self._env.step(action))

    def facts(self) -> Json:
        """See `Environment.facts`."""
        return _translated(self._env.facts)

    def state_hash(self) -> str:
        """See `Environment.state_hash`."""
        return _translated(self._env.state_hash)

    def close(self) -> None:
        """See `Environment.close`."""
        self._env.close()
