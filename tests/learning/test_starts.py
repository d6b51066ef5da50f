"""Starts of training: random tours, shaken savings, and solutions met by searches."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from neuralns import InputError, Solution, make_mdp, savings
from neuralns.learning import starts
from neuralns.learning.starts import make_tasks, starting_tours

MDP_40 = make_mdp("R101", customers=40, setting="distance")


@pytest.fixture(autouse=True)
def short_searches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(starts, "ITERATIONS_PER_CUSTOMER", 50)


def routes(solutions: list[Solution]) -> list[Any]:
    return [solution.routes for solution in solutions]


@pytest.mark.parametrize("setting", ["distance", "paper", "windows"])
@pytest.mark.parametrize("start", ["random", "savings", "search"])
def test_starts_are_feasible_the_same_every_time_and_others_in_each_set(start: str, setting: str) -> None:
    mdp = make_mdp("R101", customers=20, setting=setting)
    sets = {name: starting_tours(mdp, start, name, 24) for name in ("train", "validate", "test")}
    for name, found in sets.items():
        assert len(found) == 24
        assert all(solution.faults() == [] and solution.instance == mdp.instance for solution in found)
        assert routes(starting_tours(mdp, start, name, 24)) == routes(found)
    train, validate, test = map(routes, sets.values())
    assert train != validate != test != train


def test_random_starts_are_those_of_the_mdp() -> None:
    assert routes(starting_tours(MDP_40, "random", "test", 9)) == routes(MDP_40.start_tours("test", 9))


def test_shaken_savings_lie_between_savings_and_random_tours() -> None:
    first = savings(MDP_40.instance)
    found = starting_tours(MDP_40, "savings", "train", 64)
    costs = np.array([solution.cost for solution in found])
    assert len({solution.routes for solution in found}) > 40
    assert first.cost < costs.mean() < np.mean([tours.cost for tours in MDP_40.start_tours("train", 64)]) / 1.5


def test_a_short_budget_shakes_less() -> None:
    short = make_mdp("R101", customers=40, setting="distance", budget=1)
    shaken = [solution.cost for solution in starting_tours(short, "savings", "train", 64)]
    more = [solution.cost for solution in starting_tours(MDP_40, "savings", "train", 64)]
    assert np.mean(shaken) < np.mean(more)


def test_solutions_met_get_better_along_a_search() -> None:
    found = starting_tours(MDP_40, "search", "train", 80)
    costs = np.array([solution.cost for solution in found]).reshape(8, 10)
    assert len({solution.routes for solution in found}) > 40
    means = costs.mean(axis=0)
    assert means[-1] < means[0]
    assert means[7:].mean() < means[1:4].mean()
    # The searches are different ones.
    assert len(set(costs[:, -1])) > 1


def test_fewer_solutions_than_searches_and_numbers_that_do_not_divide_are_fine() -> None:
    for count in (1, 5, 13):
        assert len(starting_tours(MDP_40, "search", "test", count)) == count


def test_an_unknown_way_of_starting_is_refused() -> None:
    with pytest.raises(InputError, match=r"^start 'warm' is not known; choose random, savings, search\.$"):
        starting_tours(MDP_40, "warm", "train", 4)


def test_tasks_share_the_tours_among_the_mdps() -> None:
    mdps = [make_mdp(name, customers=20) for name in ("R101", "C101", "RC101")]
    tasks = make_tasks(mdps, [4, 5], "random", 100)
    assert [task.seed for task in tasks] == [4, 5]
    for task in tasks:
        assert [len(found) for found in task.starts] == [34] * 3
        assert [len(found) for found in task.validation] == [43] * 3
        for mdp, found in zip(mdps, task.starts, strict=True):
            assert all(solution.instance == mdp.instance for solution in found)
