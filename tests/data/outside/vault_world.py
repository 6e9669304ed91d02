"""A world outside the project: a vault is opened by three words, told one after the other. Free text, graded score."""

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Self

from oresight.harness.errors import UsageError
from oresight.harness.protocols import FreeText
from oresight.harness.worlds import EpisodeRequest, World

WORDS = ("amber", "birch", "cedar", "delta", "ember", "flint")
SPACE = FreeText(40, "a command, such as: say amber")
BUDGET = 8


@dataclass(frozen=True)
class Seen:
    text: str
    step: int
    image: None = None
    actions: FreeText = SPACE


@dataclass(frozen=True)
class Done:
    observation: Seen
    outcome: str
    score: float
    success: bool
    terminated: bool
    truncated: bool


@dataclass(frozen=True)
class Spec:
    name: str
    actions: FreeText = SPACE
    budget: int = BUDGET


class Vault:
    def __init__(self, name: str, seed: int) -> None:
        self.spec = Spec(name)
        self._wanted = tuple(WORDS[(seed + place * 2) % len(WORDS)] for place in range(3))
        self.reset()

    def reset(self, seed: int | None = None) -> Seen:
        self._steps, self._open, self._alarm = 0, 0, False
        return self._seen()

    def step(self, action: str) -> Done:
        verb, _, word = action.partition(" ")
        self._steps += 1
        self._alarm = verb == "smash"
        right = verb == "say" and word == self._wanted[self._open]
        self._open += right
        outcome = "A lock clicks." if right else "An alarm sounds." if self._alarm else "Nothing happens."
        done = self._open == 3
        over = done or self._alarm
        return Done(self._seen(), outcome, self._open / 3, done, over, not over and self._steps >= BUDGET)

    def _seen(self) -> Seen:
        hint = "The vault is open." if self._open == 3 else f"The door whispers: {self._wanted[self._open]}."
        return Seen(f"Step {self._steps}. {self._open} of 3 locks are open. {hint}", self._steps)

    def facts(self) -> dict[str, Any]:
        return {"locks": self._open}

    def state_hash(self) -> str:
        return sha256(repr((self.spec.name, self._wanted, self._steps, self._open, self._alarm)).encode()).hexdigest()

    def close(self) -> None:
        pass


class VaultWorld(World):
    kind = "vault"
    title = "the vault"
    actions = SPACE

    @classmethod
    def find(cls, request: EpisodeRequest) -> Sequence[Self]:
        names = request.names(lambda suite, seeds: [f"vault-{seed}" for seed in seeds or (0, 1, 2)])
        if any(not name.startswith("vault-") for name in names):
            raise UsageError(f"unknown scenario {names[0]!r}; known: vault-N")
        return [cls(name=n, scenario={"name": n}, budget=BUDGET, seed=int(n.partition("-")[2])) for n in names]

    @property
    def instructions(self) -> str:
        return 'Open the vault. Answer with one JSON object: {"action": "say WORD"}.'

    def open(self, size: tuple[int, int] | None) -> Vault:
        return Vault(self.scenario["name"], int(self.scenario["name"].partition("-")[2]))
