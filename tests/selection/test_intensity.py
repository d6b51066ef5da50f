"""How many customers are removed by the place where a step begins, as in FILO."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import neuralns
from helpers import on_a_line
from neuralns import InputError, MaxIterations
from neuralns.operators.portfolio import portfolio_named
from neuralns.routes.edits import remove
from neuralns.selection.intensity import Intensity
from neuralns.selection.selector import DESTROY, MOST_REMOVED, REPAIR

PORTFOLIO = portfolio_named("string,random-node,greedy")
PLACES = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]


def after_a_step(change: float, intensity: list[int], seed: int, removed: list[int]) -> Any:
    """The numbers of customers 1 to 6 after a step with this seed, of cost 2 an arc, that removed some."""
    state, _ = on_a_line([1, 2, 3], [4, 5, 6], places=PLACES)
    memory = Intensity(lower=0.5, upper=1.0).start(PORTFOLIO, 6)
    memory.intensity[1:] = intensity
    memory.seed, memory.unit, memory.change, memory.n_removed = seed, 2.0, change, len(removed)
    memory.removed[: len(removed)] = removed
    choose, _ = Intensity().functions()
    choose(memory, state, DESTROY)
    return memory.intensity[1:].tolist()


@pytest.mark.parametrize(
    ("change", "after"),
    [
        (2.1, [2, 2, 1, 4, 3, 3]),  # too much: less for 1, 2 and 4; 3 is below the seed already
        (0.0, [4, 4, 2, 5, 3, 3]),  # too little: more for 1, 2 and 3; 4 is above the seed already
        (0.9, [4, 4, 2, 5, 3, 3]),
    ],
)
def test_those_removed_come_nearer_to_what_their_place_needs(change: float, after: list[int]) -> None:
    assert after_a_step(change, [3, 3, 1, 5, 3, 3], 2, [1, 2, 3, 4]) == after


@pytest.mark.parametrize("change", [1.5, -3.0])
def test_in_the_band_and_where_the_candidate_is_better_chance_decides(change: float) -> None:
    state, _ = on_a_line([1, 2, 3], [4, 5, 6], places=PLACES)
    memory = Intensity(lower=0.5, upper=1.0).start(PORTFOLIO, 6)
    choose, _ = Intensity().functions()
    seen = []
    for _ in range(200):
        memory.intensity[:] = 3
        memory.seed, memory.unit, memory.change, memory.n_removed = 1, 2.0, change, 2
        memory.removed[:2] = 1, 2
        choose(memory, state, DESTROY)
        seen.append(tuple(memory.intensity[1:4].tolist()))
    assert {row[:2] for row in seen} == {(2, 2), (2, 4), (4, 2), (4, 4)}
    assert {row[2] for row in seen} == {3}


def test_numbers_stay_within_what_can_be_removed() -> None:
    assert after_a_step(9.0, [1] * 6, 1, [1, 2]) == [1] * 6
    assert after_a_step(0.0, [6] * 6, 1, [1, 2]) == [6] * 6


def test_the_seed_says_how_many_are_removed_and_what_must_be_known() -> None:
    state, _ = on_a_line([1, 2, 3], [4, 5, 6], places=PLACES)
    memory = Intensity(lower=0.5, upper=1.0).start(PORTFOLIO, 6)
    memory.intensity[1:] = [1, 2, 3, 4, 5, 6]
    choose, update = Intensity().functions()
    seeds = set()
    for _ in range(60):
        choose(memory, state, DESTROY)
        seeds.add(int(state.status.seed))
        assert state.status.quota == memory.intensity[memory.seed] == memory.seed
        # Cost 18, six customers, two routes.
        assert state.status.finish_below == pytest.approx(18 + 1.8)
        update(memory, 0, 0, 0, 0.0)
    assert seeds == {1, 2, 3, 4, 5, 6}
    remove(state, 4)
    remove(state, 2)
    choose(memory, state, REPAIR)
    assert memory.removed[: memory.n_removed].tolist() == [4, 2]


def test_a_search_removes_as_many_as_the_numbers_say() -> None:
    memories = []

    class Watched(Intensity):
        def start(self, portfolio: Any, customers: int = 1) -> Any:
            memories.append(super().start(portfolio, customers))
            return memories[-1]

    one, same = (
        neuralns.solve("E-n51-k5", MaxIterations(3000), selector=Watched(), portfolio=PORTFOLIO) for _ in range(2)
    )
    assert one.feasible
    assert one.routes == same.routes
    assert one.cost < one.initial.cost
    final = memories[-1].intensity[1:]
    assert len(np.unique(final)) > 1
    assert 1 <= final.min() <= final.max() <= MOST_REMOVED
    named = neuralns.solve("E-n51-k5", MaxIterations(3000), selector="intensity", portfolio=PORTFOLIO)
    assert (named.selector, named.routes) == ("intensity", one.routes)


def test_bounds_that_do_not_rise_are_refused() -> None:
    with pytest.raises(InputError, match=r"bounds 0.9 and 0.5 of the intensity must be at least 0 and rise."):
        Intensity(0.9, 0.5)
