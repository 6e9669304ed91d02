"""Tests that an author of a world inherits: what the harness relies on, whatever the world.

    from oresight.harness.worlds.conformance import WorldTests

    class TestMyWorld(WorldTests):
        def make_world(self):
            return MyWorld.find(EpisodeRequest("easy-0"))[0]

        def play(self):
            return ["look", "open door", "go north"]

They need pytest to run, and nothing but this project to be imported.
"""

import json
import pickle
from collections.abc import Sequence
from typing import Any

from oresight.harness.protocols import Environment, Observation, Transition, action_space
from oresight.harness.worlds.base import Branch, World
from oresight.scoring.records import Header, to_line
from oresight.scoring.rescoring import Scorer


class WorldTests:
    """Inherit, and override `make_world` and `play`."""

    def make_world(self) -> World:
        """Return one scenario of the world."""
        raise NotImplementedError

    def play(self) -> Sequence[str]:
        """Return some admissible actions from the start, which neither end the episode nor spend its budget."""
        raise NotImplementedError

    # --- what is said of it

    def test_it_has_a_name_and_a_budget(self) -> None:
        """Check that the name is a folder's name, and the scenario is JSON that holds it."""
        world = self.make_world()
        assert world.name and all(character.isalnum() or character in "._-" for character in world.name), world.name
        assert len(world.name) <= 80
        assert world.budget >= 1 and world.kind and world.instructions.strip()
        assert json.loads(to_line(world.recorded_scenario)) == world.recorded_scenario
        assert world.recorded_scenario["name"] == world.scenario.get("name", world.name)

    def test_it_pickles(self) -> None:
        """It can be sent to another process."""
        world = self.make_world()
        again = pickle.loads(pickle.dumps(world))
        assert type(again) is type(world)
        assert (again.name, again.recorded_scenario, again.budget) == (
            world.name,
            world.recorded_scenario,
            world.budget,
        )

    def test_a_branch_of_it_is_the_same_world(self) -> None:
        """Check that an episode's id and agent seed change nothing about the world: only the scenario does."""
        world = self.make_world()
        branch = Branch(world.name, (), "", 1, "run/episode", "agent", "raw", "")
        assert self._trace(world.branched(f"{world.name}.at0.r1", world.seed + 1, branch)) == self._trace(world)

    def test_its_header_leads_back_to_it(self) -> None:
        """Check that its record can be read, and is replayed in the same world."""
        world = self.make_world()
        environment = world.play(None)
        try:
            environment.reset()
            header = world.header("agent", "raw", environment.state_hash(), environment.facts())
        finally:
            environment.close()
        read = Header.model_validate(json.loads(to_line(header)))
        assert read.kind == world.kind
        again = type(world).of_header(read)
        assert again.recorded_scenario == world.recorded_scenario

    # --- how it is played

    def test_the_same_actions_lead_to_the_same_states(self) -> None:
        """Played twice in two environments, hashes, facts, words, scores and ends are equal."""
        world = self.make_world()
        assert self._trace(world) == self._trace(world)

    def test_reset_goes_back_to_the_start(self) -> None:
        """Check that the second episode of an environment equals the first."""
        world = self.make_world()
        environment = world.play(None)
        try:
            first = self._walk(environment)
            assert self._walk(environment) == first
        finally:
            environment.close()

    def test_a_state_hash_tells_states_apart(self) -> None:
        """Check that the hash is a text that changes; else a wrong resume would not be noticed."""
        hashes = [each["state_hash"] for each in self._trace(self.make_world())]
        assert all(isinstance(each, str) and each for each in hashes)
        assert len(set(hashes)) > 1

    def test_looking_changes_nothing(self) -> None:
        """Facts and hashes may be asked for twice."""
        world = self.make_world()
        environment = world.play(None)
        try:
            environment.reset()
            for action in self.play():
                environment.step(action)
                before = environment.state_hash()
                assert environment.facts() == environment.facts()
                assert environment.state_hash() == before
        finally:
            environment.close()

    def test_facts_are_json(self) -> None:
        """Check that what is recorded is read back unchanged."""
        for each in self._trace(self.make_world()):
            assert json.loads(to_line(each["facts"])) == json.loads(json.dumps(each["facts"]))

    def test_observations_have_words_and_steps_that_count(self) -> None:
        """Check that the step number grows by one with every decision, and actions are names or a space of texts."""
        world = self.make_world()
        environment = world.play(None)
        try:
            observation: Observation = environment.reset()
            steps = [observation.step]
            for action in self.play():
                assert observation.text.strip()
                assert action_space(observation.actions).admits(action), action
                observation = environment.step(action).observation
                steps.append(observation.step)
        finally:
            environment.close()
        assert steps == list(range(steps[0], steps[0] + len(steps)))

    def test_scores_lie_between_0_and_1(self) -> None:
        """Success is a whole score's, and ends the episode."""
        for each in self._trace(self.make_world())[1:]:
            assert 0.0 <= each["score"] <= 1.0
            assert each["terminated"] or not each["success"]
            assert not (each["terminated"] and each["truncated"])

    def test_the_budget_is_the_worlds_own(self) -> None:
        """Check that environment and world agree on budget and actions."""
        world = self.make_world()
        environment = world.play(None)
        try:
            assert environment.spec.budget == world.budget
            assert action_space(environment.spec.actions).to_json() == world.space.to_json()
        finally:
            environment.close()

    def test_it_closes_twice(self) -> None:
        """Closing again does nothing."""
        environment = self.make_world().play(None)
        environment.close()
        environment.close()

    def test_nothing_private_is_in_its_words(self) -> None:
        """No observation holds the hash of its state."""
        world = self.make_world()
        environment = world.play(None)
        try:
            observation = environment.reset()
            for action in ["", *self.play()]:
                if action:
                    observation = environment.step(action).observation
                assert environment.state_hash() not in observation.text
        finally:
            environment.close()

    # --- how it is scored

    def test_it_is_scored_the_same_live_and_from_what_is_recorded(self) -> None:
        """Check that facts survive JSON and give the same summary."""
        world = self.make_world()
        environment = world.play(None)
        try:
            environment.reset()
            header = world.header("agent", "raw", environment.state_hash(), environment.facts())
            facts = []
            for action in self.play():
                environment.step(action)
                facts.append((action, environment.facts()))
        finally:
            environment.close()
        live, again = world.scorer(header), world.scorer(json.loads(to_line(header)))
        for action, each in facts:
            live.score(action, each)
            again.score(action, json.loads(to_line(each)))
        assert self._summary(live) == self._summary(again)

    def _summary(self, scorer: Scorer) -> Any:
        return scorer.summary().to_json()

    def _trace(self, world: World) -> list[dict[str, Any]]:
        environment = world.play(None)
        try:
            return self._walk(environment)
        finally:
            environment.close()

    def _walk(self, environment: Environment) -> list[dict[str, Any]]:
        observation = environment.reset()
        found = [_state(environment) | {"text": observation.text}]
        for action in self.play():
            transition: Transition = environment.step(action)
            assert not transition.truncated, "play() spends the budget; give fewer actions"
            found.append(
                _state(environment)
                | {
                    "text": transition.observation.text,
                    "outcome": transition.outcome,
                    "score": transition.score,
                    "success": transition.success,
                    "terminated": transition.terminated,
                    "truncated": transition.truncated,
                }
            )
        return found


def _state(environment: Environment) -> dict[str, Any]:
    return {"state_hash": environment.state_hash(), "facts": environment.facts()}
