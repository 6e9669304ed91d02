"""The game's side of the desktop way: a process of its own that owns the window and plays what it sees pressed there.

It does not take the driver's word for what is pressed: it looks at its window's events, and plays an action of the
table when that and nothing else is held down. Between decisions no time passes. When the driver is gone it lets go of
what is still pressed and ends; when the driver falls silent in the middle of a decision it lets go, too.
"""

import os
import sys
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from multiprocessing.connection import Connection

from oresight.craftenv.actions import ACTIONS, BY_NAME, Action, Effect
from oresight.craftenv.controls import Event, FocusLost, Moved, Pressed, Released
from oresight.craftenv.desktop.hands import DesktopUnavailable, Hands
from oresight.craftenv.desktop.link import Json, Link, LinkClosed, LinkSilent, digest_of
from oresight.craftenv.env import CraftEnv, Observation
from oresight.craftenv.render.context import OpenGLUnavailable
from oresight.craftenv.render.driven_screen import DrivenScreen, Picture
from oresight.craftenv.scenarios.scenario import Scenario

# A driver takes a few milliseconds from pressing to letting go.
_MOST_HELD_S = 20.0
# What a driver had sent before it died may still be on its way to the display.
_AFTERMATH_S = 0.05

_BY_KEY = {action.key.lower(): action for action in ACTIONS if action.effect not in (Effect.LOOK, Effect.WAIT)}
_BY_MOTION = {(each.yaw_counts, each.pitch_counts): each for each in ACTIONS if each.effect is Effect.LOOK}


class Seen:
    """What is held down in the window, and how far the mouse has moved, since the devices were taken."""

    def __init__(self) -> None:
        self.held: set[str] = set()
        self.right = 0
        self.down = 0

    def take(self, event: Event) -> None:
        """Take in an event."""
        if isinstance(event, Pressed):
            self.held.add(event.name)
        elif isinstance(event, Released):
            self.held.discard(event.name)
        elif isinstance(event, Moved):
            self.right += round(event.right)
            self.down += round(event.down)
        elif isinstance(event, FocusLost):
            self.held.clear()  # its release will not be reported

    @property
    def action(self) -> Action | None:
        """The action that is meant by what is held; None if it is not in the table, or several."""
        if self.held:
            return _BY_KEY.get(next(iter(self.held))) if len(self.held) == 1 else None
        if self.right or self.down:
            return _BY_MOTION.get((self.right, self.down))
        return BY_NAME["wait"]

    def to_json(self) -> Json:
        """For the driver."""
        return {"held": sorted(self.held), "right": self.right, "down": self.down}


class Game:
    """A scenario in a window, doing what it is asked."""

    def __init__(self, scenario: Scenario, size: tuple[int, int], keycodes: dict[str, int]) -> None:
        """Open the window.

        Args:
            scenario: What is played.
            size: Of the window's inside.
            keycodes: Which keys count.

        Raises:
            OpenGLUnavailable: There is no display, or no OpenGL on it.
        """
        self._screen = DrivenScreen(f"oresight desktop: {scenario.name}", *size, keycodes)
        self._env = CraftEnv(scenario, pictures=False, width=size[0], height=size[1])
        self._seen = Seen()
        self._picture: Picture | None = None
        # What the driver is about to press, or has pressed; to be released when it is gone.
        self.pressed: tuple[str, ...] = ()
        self._answers: dict[str, Callable[[Json], Json]] = {
            "reset": self._reset,
            "ready": self._ready,
            "look": self._look,
            "play": self._play,
            "quiet": self._quiet,
            "show": self._show,
            "facts": lambda asked: {"facts": self._env.facts()},
            "hash": lambda asked: {"hash": self._env.state_hash()},
        }

    def close(self) -> None:
        """Close the window."""
        self._env.close()
        self._screen.close()

    def answer(self, asked: Json) -> Json:
        """Do what the driver asks for."""
        return self._answers[str(asked["do"])](asked)

    def pixels(self) -> bytes:
        """Return the picture that is shown, as the game drew it."""
        assert self._picture is not None
        return self._picture.tobytes()

    def _take_in(self) -> None:
        for event in self._screen.events():
            self._seen.take(event)

    def _reset(self, asked: Json) -> Json:
        observation = self._env.reset(asked["seed"])
        return _told(observation)

    def _ready(self, asked: Json) -> Json:
        """Come forward, take the devices that the driver will use, and forget what was pressed before."""
        device = asked["device"]
        self._screen.come_forward()
        self._screen.events()
        taken = self._screen.take_devices(keyboard=device == "keyboard", mouse=device == "mouse")
        self._screen.events()
        self._seen = Seen()
        if taken:
            self.pressed = tuple(asked["keys"])
        return {"taken": taken}

    def _look(self, asked: Json) -> Json:
        self._take_in()
        return self._seen.to_json()

    def _play(self, asked: Json) -> Json:
        """Play what is seen, if it is an action and the one that the driver means; else only say what is seen."""
        self._take_in()
        action = self._seen.action
        if action is None or action.name != asked["means"]:
            return {"played": None, "seen": self._seen.to_json()}
        done = self._env.step(action.name)
        return {
            "played": action.name,
            "outcome": done.outcome,
            "reward": done.reward,
            "score": done.score,
            "terminated": done.terminated,
            "truncated": done.truncated,
            **_told(done.observation),
        }

    def _quiet(self, asked: Json) -> Json:
        """Give the devices back once nothing of the driver's is down any more."""
        self._take_in()
        down = self._seen.held & set(self.pressed)
        if not down:
            self.pressed = ()
            self._screen.give_devices_back()
        return {"down": sorted(down)}

    def _show(self, asked: Json) -> Json:
        """Draw and present, in front of everything else."""
        if asked["anew"]:
            self._picture = self._env.render()
        else:
            self._screen.come_forward()
        self._screen.events()
        assert self._picture is not None
        self._screen.present(self._picture)
        left, top, width, height = self._screen.place
        return {
            "left": left,
            "top": top,
            "width": width,
            "height": height,
            "fits": self._screen.fits,
            "digest": digest_of(self._picture.tobytes()),
        }


def _told(observation: Observation) -> Json:
    return {"text": observation.text, "step": observation.step}


def _warm_up(scenario: Scenario) -> None:
    """Compile what a decision needs, so that no key is held down meanwhile."""
    with CraftEnv(scenario, pictures=False) as env:
        env.reset()
        env.facts()
        for action in ("look_down", "move_forward", "mine", "place", "jump"):
            env.step(action)
            env.facts()


def _let_go(hands: Hands, names: Iterable[str]) -> None:
    """Let go of what a driver has left pressed, and see that it stays up."""
    names = tuple(names)
    if not names:
        return
    for _ in range(3):
        hands.let_go(names)
        time.sleep(_AFTERMATH_S)
    for _ in range(20):
        if not hands.any_down(names):
            return
        hands.let_go(names)
        time.sleep(_AFTERMATH_S)


def _serve(link: Link) -> None:
    asked = link.receive(None)
    scenario = Scenario.model_validate(asked["scenario"])
    try:
        _warm_up(scenario)
        hands = Hands()
    except (DesktopUnavailable, ValueError) as error:
        link.send({"fault": str(error)})
        return
    with hands:
        try:
            game = Game(scenario, (asked["width"], asked["height"]), hands.keycodes)
        except OpenGLUnavailable as error:
            link.send({"fault": str(error)})
            return
        try:
            link.send({})
            _answer_all(link, game, hands)
        finally:
            _let_go(hands, game.pressed)
            game.close()


def _answer_all(link: Link, game: Game, hands: Hands) -> None:
    while True:
        try:
            asked = link.receive(_MOST_HELD_S if game.pressed else None)
        except LinkSilent:
            _let_go(hands, game.pressed)
            game.answer({"do": "quiet"})
            continue
        if asked["do"] == "pixels":
            link.send_bytes(game.pixels())
            continue
        try:
            reply = game.answer(asked)
        except (ValueError, RuntimeError) as error:
            reply = {"fault": str(error), "kind": type(error).__name__}
        link.send(reply)


def main() -> None:
    """Run the game on the line whose file descriptor is the only argument, until the driver hangs up."""
    # The driver alone decides when it is over; it receives Ctrl-C, and this process is in a session of its own.
    with suppress(LinkClosed):
        _serve(Link(Connection(int(sys.argv[1]))))
    sys.stdout.flush()
    os._exit(0)  # without the interpreter's farewell, in which graphics drivers like to crash


if __name__ == "__main__":
    main()
