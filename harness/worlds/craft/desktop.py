"""The 3D world through a real window, driven by injected keys and mouse: the same episodes, played another way."""

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any, TypeVar

from typing_extensions import override

from oresight.craftenv.desktop.camera import check_desktop, describe_desktop
from oresight.craftenv.desktop.desktop import DesktopEnv, DesktopError
from oresight.craftenv.desktop.hands import DesktopBusy, DesktopUnavailable, check_packages
from oresight.craftenv.env import EnvSpec, Observation, Transition
from oresight.craftenv.scenarios.scenario import Scenario
from oresight.harness.errors import InfrastructureError, MissingPartError, RunStoppedError, UsageError
from oresight.harness.protocols import Environment, Json
from oresight.harness.settings import read_settings
from oresight.harness.worlds.base import Size
from oresight.harness.worlds.craft.display import find_display
from oresight.harness.worlds.craft.world import CraftWorld

Done = TypeVar("Done")


@dataclass(frozen=True, kw_only=True)
class DesktopWorld(CraftWorld):
    """The 3D world, opened in a window. This process drives the only display, so no other can play it."""

    @classmethod
    def of_world(cls, world: CraftWorld) -> "DesktopWorld":
        """Return the same world, opened in a window."""
        return cls(**{each.name: getattr(world, each.name) for each in fields(world)})

    @property
    @override
    def desktop(self) -> bool:
        return True

    @override
    def prepare(self, size: Size | None) -> None:
        _prepare(size)

    @override
    def open(self, size: Size | None) -> Environment:
        return _OnDesktop(self.source, _some(size))

    def __reduce__(self) -> tuple[Any, ...]:
        """Refuse to be sent to another process.

        Raises:
            TypeError: Always.
        """
        raise TypeError(f"the world {self.name!r} cannot be sent to another process; play it in this one")


def describe() -> str:
    """Return what would drive the display.

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
    """Return what the display says, in the errors of the harness."""
    try:
        return do()
    except DesktopBusy as error:
        raise RunStoppedError(str(error)) from error
    except DesktopUnavailable as error:
        raise MissingPartError(str(error)) from error
    except DesktopError as error:
        raise InfrastructureError(str(error)) from error


class _OnDesktop(Environment):
    """An environment whose display can fail, which is not the agent's failure."""

    def __init__(self, scenario: Scenario, size: Size) -> None:
        self._env = DesktopEnv(scenario, width=size[0], height=size[1])

    @property
    @override
    def spec(self) -> EnvSpec:
        return self._env.spec

    @override
    def reset(self, seed: int | None = None) -> Observation:
        return _translated(lambda: self._env.reset(seed))

    @override
    def step(self, action: str) -> Transition:
        return _translated(lambda: self._env.step(action))

    @override
    def facts(self) -> Json:
        return _translated(self._env.facts)

    @override
    def state_hash(self) -> str:
        return _translated(self._env.state_hash)

    @override
    def close(self) -> None:
        self._env.close()
