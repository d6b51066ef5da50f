"""Selectors of a user's own: their memory, what they are asked and told, and what is refused."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pytest

import neuralns
from neuralns import (
    AlphaUCB,
    Always,
    InputError,
    Instance,
    Lanes,
    MaxIterations,
    OperatorError,
    Portfolio,
    Roulette,
    Selector,
    Thompson,
    evaluate,
    make_mdp,
    portfolio_named,
    solve,
)
from neuralns.compiled.random import random
from neuralns.compiled.structs import Struct, number, numbers, whole, wholes
from neuralns.mdp.evaluate import episode
from neuralns.mdp.mdp import episode_seeds
from neuralns.selection.selector import BEST, DESTROY, memory_type

FOUR = portfolio_named("zone,random-node,greedy,regret-2")


class InTurns(Selector):
    """Takes the operators of each phase in turn and keeps a diary of what it was told."""

    name = "in-turns"
    fields: ClassVar = {
        "counts": wholes,
        "turns": wholes,
        "told": whole,
        "change": number,
        "outcomes": wholes,
        "costs": numbers,
    }

    def __init__(self) -> None:
        self.memories: list[Struct] = []

    def start(self, portfolio: Portfolio, customers: int = 1) -> Struct:
        self.memories.append(
            self.new_memory(
                counts=np.array([len(portfolio.destroys), len(portfolio.repairs)]),
                turns=np.zeros(2, np.int64),
                told=0,
                change=0.0,
                outcomes=np.zeros(4, np.int64),
                costs=np.zeros(1000),
            )
        )
        return self.memories[-1]

    @staticmethod
    def choose(memory, state, phase):
        if phase == DESTROY:
            memory.costs[memory.turns[0] % 1000] = state.status.current
        chosen = memory.turns[phase] % memory.counts[phase]
        memory.turns[phase] += 1
        return chosen

    @staticmethod
    def update(memory, destroy, repair, outcome, change):
        memory.told += 1
        memory.outcomes[outcome] += 1
        if outcome > 0:
            memory.change += change


def test_a_selector_of_ones_own_drives_a_search() -> None:
    selector = InTurns()
    result = solve("E-n22-k4", MaxIterations(300), selector=selector, portfolio=FOUR, initial="random")
    assert (result.selector, result.portfolio) == ("in-turns", FOUR.name)
    assert {use.name: use.used for use in result.operators} == dict.fromkeys(FOUR.names, 150)


def test_it_is_told_what_came_of_each_pair() -> None:
    selector = InTurns()
    result = solve("E-n22-k4", MaxIterations(300), selector=selector, portfolio=FOUR, initial="random")
    memory = selector.memories[-1]
    assert memory.told == 300
    assert memory.outcomes.sum() == 300
    destroys = [use for use in result.operators if use.phase == "destroy"]
    assert memory.outcomes[BEST] == sum(use.new_best for use in destroys)
    assert memory.outcomes[1:].sum() == sum(use.accepted for use in destroys)
    assert memory.change == pytest.approx(result.trace.current[-1] - result.initial.cost)


def test_it_sees_the_state_before_each_choice() -> None:
    selector = InTurns()
    result = solve("E-n22-k4", MaxIterations(50), selector=selector, portfolio=FOUR, acceptance=Always())
    costs = selector.memories[-1].costs[:50]
    assert costs[0] == result.initial.cost
    assert len(set(costs.tolist())) > 10


def test_each_search_begins_with_a_memory_of_its_own() -> None:
    selector = InTurns()
    one, other = (solve("E-n22-k4", MaxIterations(77), selector=selector, portfolio=FOUR) for _ in range(2))
    assert one.routes == other.routes
    assert one.operators == other.operators


def test_episodes_in_lanes_each_have_a_memory_of_their_own() -> None:
    # Three pairs of two operators: a memory carried from lane to lane would begin the next one with the other.
    mdp = make_mdp("R101", customers=20, portfolio=FOUR, budget=3)
    starts, seeds = mdp.start_tours("train", 5), episode_seeds(0, 5)
    for threads in (1, 2):
        lanes = Lanes([mdp] * 5, threads=threads)
        lanes.reset(starts, seeds)
        assert lanes.play(InTurns()).tolist() == [[2, 1, 2, 1]] * 5
        whole_batch = lanes.costs.tolist()
        for lane in range(5):
            alone = Lanes([mdp])
            alone.reset(starts[lane : lane + 1], seeds[lane : lane + 1])
            alone.play(InTurns())
            assert alone.costs[0] == whole_batch[lane]


class Sharing(InTurns):
    """The same with an array that its lanes have in common."""

    name = "sharing"
    shared: ClassVar = ("turns",)


def test_lanes_have_in_common_only_what_is_declared_so() -> None:
    mdp = make_mdp("R101", customers=20, portfolio=FOUR, budget=3)
    lanes = Lanes([mdp] * 4)
    lanes.reset(mdp.start_tours("train", 4), episode_seeds(0, 4))
    assert lanes.play(Sharing()).tolist() == [[2, 1, 2, 1], [1, 2, 1, 2]] * 2


@dataclass(frozen=True)
class Weighted(Selector):
    """The first operator of each phase with a probability."""

    probability: float
    name: str = "weighted"
    fields: ClassVar = {"probability": number}

    @property
    def remembers(self) -> bool:
        return False

    def start(self, portfolio: Portfolio, customers: int = 1) -> Struct:
        return self.new_memory(probability=self.probability)

    @staticmethod
    def choose(memory, state, phase):
        return 0 if random(state) < memory.probability else 1


def test_a_selector_draws_from_the_generator_of_the_search() -> None:
    for probability in (0.0, 0.25, 1.0):
        result = solve("E-n22-k4", MaxIterations(2000), selector=Weighted(probability), portfolio=FOUR)
        used = {use.name: use.used / 2000 for use in result.operators}
        assert used["zone"] == pytest.approx(probability, abs=0.03)
        assert used["greedy"] == pytest.approx(probability, abs=0.03)
    same = solve("E-n22-k4", MaxIterations(2000), selector=Weighted(1.0), portfolio=FOUR)
    assert same.operators == result.operators


def test_a_selector_of_ones_own_plays_episodes() -> None:
    mdp = make_mdp("R101", customers=20, portfolio=FOUR, budget=4)
    own, fixed = (evaluate(mdp, agent, episodes=4, seeds=2) for agent in (Weighted(1.0), "fixed:zone,greedy"))
    assert own.agent == "weighted"
    assert own.uses.tolist() == fixed.uses.tolist() == [32, 0, 32, 0]


class Reader(Weighted):
    """Reads the history of arcs."""

    @property
    def uses_history(self) -> bool:
        return True

    @staticmethod
    def choose(memory, state, phase):
        return 0 if state.history.shape[0] == state.customers + 1 else 1


def test_the_history_of_arcs_is_kept_for_who_reads_it() -> None:
    result = solve("E-n22-k4", MaxIterations(20), selector=Reader(0.0), portfolio=FOUR)
    assert {use.name: use.used for use in result.operators} == {
        "zone": 20,
        "random-node": 0,
        "greedy": 20,
        "regret-2": 0,
    }


# --- Defaults. -------------------------------------------------------------------------------------------------------


def test_all_but_name_choose_and_start_has_a_default() -> None:
    selector = InTurns()
    assert (selector.made_for(), selector.made_with()) == ((), None)
    assert selector.trained_on() == ()
    assert selector.doubts(Instance("one", [0, 1], 1, [[0, 0], [1, 0]]), (1, 1)) == []
    assert (selector.adapts, selector.remembers, selector.uses_history) == (False, True, False)
    assert Selector().name == "own"


class Named(Weighted):
    """Made for certain operators and a number of customers to remove."""

    def made_for(self) -> tuple[str, ...]:
        return "zone", "pair", "greedy", "regret-2"

    def made_with(self) -> int:
        return 3

    def doubts(self, instance: Instance, quotas: tuple[int, int]) -> list[str]:
        return [f"mine: {instance.customers} customers, {quotas[0]} to {quotas[1]}."]


def test_a_selector_brings_operators_scale_and_doubts() -> None:
    with pytest.warns(neuralns.InputWarning, match=r"^mine: 21 customers, 3 to 3\.$"):
        result = solve("E-n22-k4", MaxIterations(20), selector=Named(0.5))
    assert [use.name for use in result.operators] == ["zone", "pair", "greedy", "regret-2"]


def test_selectors_of_one_class_share_their_compiled_functions() -> None:
    assert Weighted(0.1).functions() == Weighted(0.9).functions()
    assert memory_type(Weighted) is memory_type(Weighted)
    assert memory_type(Weighted) != memory_type(InTurns)


# --- What is refused. ------------------------------------------------------------------------------------------------


class Broken(Weighted):
    """Does not compile."""

    @staticmethod
    def choose(memory, state, phase):
        return memory.nonsense


class Forgetful(Weighted):
    """Cannot learn."""

    @staticmethod
    def update(memory, destroy, repair, outcome, change):
        memory.probability.append(change)


@pytest.mark.parametrize("kind", [Broken, Forgetful])
def test_a_selector_that_does_not_compile_is_named_in_one_sentence(kind: Any) -> None:
    with pytest.raises(OperatorError, match=r"^selector 'mine' does not compile: ") as caught:
        solve("E-n22-k4", MaxIterations(10), selector=kind(0.5, "mine"), portfolio=FOUR)
    assert "\n" not in str(caught.value)
    assert str(caught.value).endswith(".")


def test_a_selector_without_a_start_is_refused() -> None:
    with pytest.raises(OperatorError, match="selector 'own' has no method 'start'"):
        Selector().start(FOUR)


class Speechless(Selector):
    """Has no method to choose by."""

    name = "speechless"

    def start(self, portfolio: Portfolio, customers: int = 1) -> Struct:
        return self.new_memory()


def test_a_selector_that_cannot_choose_is_refused() -> None:
    with pytest.raises((NotImplementedError, OperatorError), match="choose"):
        solve("E-n22-k4", MaxIterations(10), selector=Speechless(), portfolio=FOUR)


class Astray(Weighted):
    """Chooses an operator that does not exist."""

    @staticmethod
    def choose(memory, state, phase):
        return 9


def test_a_choice_that_does_not_exist_is_refused_by_name() -> None:
    sentence = "selector 'weighted' chose destroy operator 9, which does not exist."
    with pytest.raises(OperatorError, match=f"^{re.escape(sentence)}$"):
        solve("E-n22-k4", MaxIterations(10), selector=Astray(0.5), portfolio=FOUR)


@pytest.mark.parametrize("selector", [Roulette(), AlphaUCB(), Thompson()], ids=lambda selector: selector.name)
def test_a_selector_that_learns_from_a_search_plays_no_episodes(selector: Selector) -> None:
    mdp = make_mdp("R101", customers=20, portfolio=FOUR, budget=3)
    sentence = f"selector {selector.name!r} learns from a search and plays no episodes."
    lanes = Lanes([mdp])
    lanes.reset(mdp.start_tours("train", 1), episode_seeds(0, 1))
    with pytest.raises(InputError, match=f"^{re.escape(sentence)}$"):
        lanes.play(selector)
    with pytest.raises(InputError, match=f"^{re.escape(sentence)}$"):
        evaluate(mdp, selector, episodes=1, seeds=1)
    with pytest.raises(InputError, match=f"^{re.escape(sentence)}$"):
        episode(mdp, selector.name)


def changed(**own: Any) -> Selector:
    """A selector of one field and two functions, some of them changed."""

    def start(self: Selector, portfolio: Portfolio, customers: int = 1) -> Struct:
        return self.new_memory(turn=0)

    def choose(memory, state, phase):
        return memory.turn

    content = {"name": "changed", "fields": {"turn": whole}, "start": start, "choose": staticmethod(choose), **own}
    selector: Selector = type("Changed", (Selector,), content)()
    return selector


def without_phase(memory, state):
    return 0


def of_self(self, memory, state, phase):
    return 0


def too_short(memory, destroy):
    pass


def of_unknown_field(memory, state, phase):
    return memory.tern


def of_text(memory, state, phase):
    return "zone"


def raising(memory, state, phase):
    if phase > 1:
        raise ValueError("no such phase")
    return 0


def asserting(memory, destroy, repair, outcome, change):
    assert outcome >= 0


@pytest.mark.parametrize(
    ("own", "sentence"),
    [
        ({"choose": staticmethod(without_phase)}, r"'choose' takes \(memory, state\), but .*\(memory, state, phase\)"),
        ({"choose": of_self}, r"'choose' takes \(self, memory, state, phase\), but has to be a static method"),
        ({"update": staticmethod(too_short)}, r"'update' takes \(memory, destroy\), but"),
        ({"choose": staticmethod(of_unknown_field)}, r"does not compile: .*tern.*test_selector\.py.*line \d+"),
        ({"choose": staticmethod(of_text)}, r"does not compile: "),
        ({"start": lambda self, portfolio, customers=1: 7}, r"'start' returned 7, not a memory"),
        ({"start": lambda self, portfolio, customers=1: np.zeros(2)}, r"'start' returned array.*, not a memory"),
        ({"start": lambda self, portfolio, customers=1: self.new_memory(tern=0)}, r"cannot make its memory: .*tern"),
        ({"start": lambda self, portfolio: 7}, r"'start' takes \(self, portfolio\), but has to take \(self"),
        ({"start": lambda self, portfolio, customers=1: [][7]}, r"'start' failed \(.*selector\.py, line \d+: IndexE"),
        ({"fields": {"turn": wholes}}, r"cannot make its memory: "),
        ({"choose": staticmethod(raising)}, r"raises an exception or asserts \(.*test_selector\.py, line \d+\)"),
        ({"update": staticmethod(asserting)}, r"raises an exception or asserts \(.*test_selector\.py, line \d+\)"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_selector_is_said_in_a_sentence(own: dict[str, Any], sentence: str) -> None:
    with pytest.raises(OperatorError, match=rf"^selector 'changed'.*{sentence}.*\.$") as refusal:
        solve("E-n22-k4", MaxIterations(10), selector=changed(**own))
    assert "\n" not in str(refusal.value)


def test_update_may_be_left_out() -> None:
    assert solve("E-n22-k4", MaxIterations(10), selector=changed()).iterations == 10
