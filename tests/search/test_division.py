"""Routes divided among searches."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from neuralns import (
    Controller,
    InputWarning,
    Instance,
    MaxIterations,
    NoImprovement,
    Outcome,
    PythonSelector,
    RecordToRecord,
    Setting,
    SimulatedAnnealing,
    Situation,
    Solution,
    StopWhen,
    View,
    read,
    solve,
)
from neuralns.operators.portfolio import portfolio_named
from neuralns.problem.initial import savings
from neuralns.search import division
from neuralns.search.division import divide, fleets, notice_of_whole, parts_of, problem_against, put_together
from neuralns.search.setup import make_setup
from neuralns.selection.names import selector_named


@pytest.fixture(scope="module")
def start() -> Solution:
    return savings(read("X-n200-k36"))


@pytest.mark.parametrize("parts", [1, 2, 3, 16])
def test_every_route_is_in_one_part(start: Solution, parts: int) -> None:
    found = divide(start.instance, start.routes, parts, np.random.default_rng(1))
    assert len(found) == parts
    assert sorted(number for part in found for number in part) == list(range(len(start.routes)))
    sizes = [sum(len(start.routes[number]) for number in part) for part in found]
    longest = max(map(len, start.routes))
    assert max(sizes) - min(sizes) <= 4 * longest
    together = put_together(start.instance, [[start.routes[number] for number in part] for part in found])
    assert together.cost == start.cost
    assert together.feasible


def test_parts_lie_together() -> None:
    places = np.random.default_rng(0).uniform(0, 100, (401, 2))
    instance = Instance("pairs", [0, *[1] * 400], 2, places)
    routes = savings(instance).routes
    near = divide(instance, routes, 4, np.random.default_rng(1))
    spread = [np.concatenate([places[list(routes[number])] for number in part]).std(axis=0).mean() for part in near]
    assert np.mean(spread) < 0.8 * places[1:].std(axis=0).mean()


def test_borders_depend_on_the_generator_alone(start: Solution) -> None:
    one, other, third = (divide(start.instance, start.routes, 2, np.random.default_rng(seed)) for seed in (1, 1, 2))
    assert one == other != third


def test_there_are_no_more_parts_than_routes(start: Solution) -> None:
    routes = start.routes[:3]
    assert sorted(divide(start.instance, routes, 8, np.random.default_rng(1))) == [[0], [1], [2]]


def test_all_vehicles_are_given_to_parts(start: Solution) -> None:
    instance = replace(start.instance, vehicles=40)
    assert fleets(start.instance, [[0, 1], [2]], np.random.default_rng(1)) == [None, None]
    for seed in range(4):
        found = fleets(instance, [[0, 1], [2]], np.random.default_rng(seed))
        assert found in ([2, 38], [39, 1])


@pytest.fixture
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(division, "PART_CUSTOMERS", 40)
    monkeypatch.setattr(division, "PART_ROUTES", 4)


@pytest.mark.usefixtures("small_parts")
def test_parts_are_as_many_as_workers_unless_they_get_too_small(start: Solution) -> None:
    setup = make_setup(start.instance, MaxIterations(100), initial=start)
    assert [parts_of(setup, workers) for workers in (1, 2, 16)] == [1, 2, 4]


@pytest.mark.usefixtures("small_parts")
@pytest.mark.parametrize(
    "changes",
    [
        {"stop": NoImprovement(100)},
        {"acceptance": RecordToRecord()},
        {"selector": selector_named("gat-20-paper")},
        {"portfolio": portfolio_named("paper")},
        {"fewest_vehicles": True},
    ],
    ids=lambda changes: next(iter(changes)),
)
def test_what_looks_at_the_whole_solution_searches_it_whole(start: Solution, changes: dict[str, Any]) -> None:
    setup = make_setup(start.instance, MaxIterations(100), initial=start)
    assert parts_of(setup, 2) == 2
    assert parts_of(replace(setup, **changes), 2) == 1


@pytest.mark.usefixtures("small_parts")
def test_optional_customers_and_fleets_are_searched_whole(start: Solution) -> None:
    prizes = replace(start.instance, prizes=np.array([0.0, *[1e6] * start.instance.customers]))
    assert parts_of(make_setup(prizes, MaxIterations(100), initial=start), 2) == 1
    returned = replace(start.instance, backhauls=True)
    assert parts_of(make_setup(returned, MaxIterations(100), initial=start), 2) == 1


class Even(Controller):
    """Draws all pairs alike, and says that it looks at no routes."""

    name = "even"
    looks_at_routes = False

    def control(self, view: View) -> Setting:
        return Setting(np.ones(view.uses.shape))


class Silent(Controller):
    """The same, without a word."""

    name = "silent"

    def control(self, view: View) -> Setting:
        return Setting(np.ones(view.uses.shape))


class Other(Even):
    """Inherits what another controller says, but not what it does."""

    def control(self, view: View) -> Setting:
        return Setting(np.ones(view.uses.shape) if view.solution().routes else None)


class Lenient(SimulatedAnnealing):
    """Local as its base is, and says so."""

    is_local = True

    @staticmethod
    def threshold(state):
        return state.status.current + state.status.temperature


class Bold(SimulatedAnnealing):
    """Has a threshold of its own, which looks at the best cost."""

    @staticmethod
    def threshold(state):
        return 1.01 * state.status.best


class Turns:
    """A chooser in plain Python."""

    def choose(self, situation: Situation) -> tuple[str, str]:
        return situation.destroys[0], situation.repairs[0]

    def update(self, outcome: Outcome) -> None: ...


class BlindTurns(Turns):
    looks_at_routes = False


def _ends(state):
    return state.status.iteration > 5


@pytest.mark.usefixtures("small_parts")
@pytest.mark.parametrize(
    "changes",
    [
        {"selector": selector_named("roulette")},
        {"selector": selector_named("ucb")},
        {"selector": selector_named("gain")},
        {"selector": Even()},
        {"selector": PythonSelector(BlindTurns())},
        {"acceptance": Lenient()},
    ],
    ids=["roulette", "ucb", "gain", "own", "in Python", "acceptance"],
)
def test_what_looks_at_differences_alone_is_divided(start: Solution, changes: dict[str, Any]) -> None:
    setup = replace(make_setup(start.instance, MaxIterations(100), initial=start), **changes)
    assert parts_of(setup, 2) == 2
    assert notice_of_whole(setup, 2) is None


@pytest.mark.usefixtures("small_parts")
@pytest.mark.parametrize(
    ("changes", "who"),
    [
        ({"selector": Silent()}, "selector 'silent' looks at the routes, or does not say"),
        ({"selector": Other()}, "selector 'even' looks"),
        ({"selector": PythonSelector(Turns())}, "selector 'own' looks"),
        ({"acceptance": Bold()}, "acceptance rule 'Bold' does not say that it is local"),
        ({"acceptance": RecordToRecord()}, "acceptance rule 'RecordToRecord'"),
        ({"portfolio": portfolio_named("paper")}, "operator 'historical' looks at the history"),
        ({"stop": NoImprovement(100)}, "a limit without improvement"),
        ({"stop": StopWhen(_ends)}, "stopping rule of your own"),
    ],
    ids=["silent", "inherited", "in Python", "bold", "record", "history", "no improvement", "own rule"],
)
def test_a_notice_says_which_choice_is_against_dividing(start: Solution, changes: dict[str, Any], who: str) -> None:
    setup = replace(make_setup(start.instance, MaxIterations(100), initial=start), **changes)
    notice = notice_of_whole(setup, 2)
    assert notice is not None
    assert who in notice
    assert notice.endswith(": each of the 2 workers searches the whole solution, which they could divide otherwise.")
    assert notice_of_whole(setup, 1) is None
    # There is no choice about the problem.
    assert notice_of_whole(replace(setup, fewest_vehicles=True), 2) is None
    assert problem_against(replace(setup, fewest_vehicles=True)) is not None


@pytest.mark.usefixtures("small_parts")
def test_small_solutions_raise_no_notice(start: Solution, monkeypatch: pytest.MonkeyPatch) -> None:
    setup = make_setup(start.instance, MaxIterations(100), Silent(), initial=start)
    monkeypatch.setattr(division, "PART_CUSTOMERS", 1000)
    assert notice_of_whole(setup, 2) is None


@pytest.mark.usefixtures("small_parts")
def test_a_search_warns_where_workers_cannot_divide(start: Solution) -> None:
    with pytest.warns(InputWarning, match="acceptance rule 'RecordToRecord' does not say that it is local: each of"):
        solve(start.instance, MaxIterations(20), acceptance=RecordToRecord(), initial=start, workers=2)


class Watcher(Even):
    """Looks at how far the current cost moves between two questions."""

    name = "watcher"
    every = 20
    looks_at_routes = False

    def control(self, view: View) -> Setting:
        assert abs(view.change) < 0.5 * view.current
        return super().control(view)


@pytest.mark.usefixtures("small_parts")
def test_a_controller_of_ones_own_steers_parts(start: Solution) -> None:
    result = solve(start.instance, MaxIterations(200), selector=Watcher(), initial=start, workers=2)
    assert result.stopped_by == "iterations"
    assert result.cost <= start.cost
    assert not result.best.broken_rules()
    again = solve(start.instance, MaxIterations(200), selector=Watcher(), initial=start, workers=2)
    assert again.routes == result.routes
