"""A session of the 3D world played again under a referee's eyes, tick by tick; nothing is drawn."""

from oresight.craftenv.sim.angles import counts
from oresight.craftenv.sim.engine import Engine, Happenings
from oresight.craftenv.sim.facts import Referee
from oresight.harness.errors import ReplayRefusedError
from oresight.harness.protocols import Json
from oresight.harness.worlds.craft import world
from oresight.harness.worlds.craft.ticks import controls_of, state_json
from oresight.scoring import records


class Refereed:
    """The world of a session, from its start on."""

    def __init__(self, header: records.SessionHeader) -> None:
        """Set the world up as it stood at the start.

        Args:
            header: Of the session.

        Raises:
            ReplayRefusedError: It was another terrain, or the scenario cannot be played.
        """
        scenario = world.recorded_scenario(header)
        try:
            self._engine = Engine(
                scenario.world_seed,
                scenario.spawn,
                counts(scenario.yaw_deg),
                scenario.inventory_items,
                scenario.target_item,
            )
        except ValueError as error:
            raise ReplayRefusedError(f"the header's scenario cannot be played: {error}") from error
        self._referee = Referee(self._engine)
        self._happened = Happenings()

    def start(self) -> Json:
        """Return what the header says of the start: the state's hash and the facts. Call it first, and once."""
        return {"state_hash": self._engine.state_hash(), "facts": self._referee.start()}

    @property
    def state_hash(self) -> str:
        """Of the present state."""
        return self._engine.state_hash()

    def tick(self, recorded: records.SessionTick) -> Json:
        """Play a tick; returns what its line says of the world after it."""
        happened = Happenings()
        if recorded.action is not None:
            self._engine.let_go()
        self._engine.tick(controls_of(recorded.controls), happened)
        self._happened.add(happened)
        return state_json(self._engine, happened, with_hash=recorded.state_hash is not None)

    def observe(self) -> Json:
        """Return the facts of what was played since the start, or since this was called last."""
        happened, self._happened = self._happened, Happenings()
        return self._referee.observe(happened)
