"""Costs of one's own are functions of totals; ready-made ones are known by name, and mistakes are named."""

from __future__ import annotations

import math
import pickle
from typing import Any

import numba
import pytest

from neuralns import Instance, Solution
from neuralns.errors import InputError
from neuralns.problem.route_cost import (
    READY_MADE,
    RouteCost,
    RouteTotals,
    balance_durations,
    balance_stops,
    named_cost,
    overtime,
    route_cost,
    tolls,
)

TOTALS = RouteTotals(distance=100.0, duration=500.0, load=7.0, stops=4.0, vehicle=1)


@pytest.mark.parametrize(
    ("cost", "expected"),
    [
        (overtime(after=480, cost=2), 40.0),
        (overtime(after=500), 0.0),
        (balance_durations(0.5), 125_000.0),
        (balance_stops(2), 32.0),
        (tolls([0, 0.15]), 15.0),
        (route_cost(lambda route: route.load if route.vehicle == 1 else -math.sqrt(route.stops)), 7.0),
    ],
)
def test_python_and_compiled_code_give_the_same_cost(cost: RouteCost, expected: float) -> None:
    assert cost(TOTALS) == expected
    assert numba.njit(cost.function)(TOTALS) == expected


def test_a_decorated_function_is_a_cost_of_its_name() -> None:
    @route_cost
    def long_days(route: RouteTotals) -> float:
        return max(0.0, route.duration - 480.0)

    assert (long_days.name, long_days.parameters, long_days(TOTALS)) == ("long_days", None, 20.0)


def test_a_compiled_function_is_taken_as_the_python_function_that_it_was() -> None:
    def far(route: Any) -> Any:
        return 2 * route.distance

    assert route_cost(numba.njit(far)).function is far


@pytest.mark.parametrize("cost", [overtime(480, 2), balance_durations(0.5), balance_stops(2), tolls([0, 0.15])])
def test_ready_made_costs_come_back_by_name(cost: RouteCost) -> None:
    assert cost.name in READY_MADE
    assert cost.parameters is not None
    again = named_cost(cost.name, cost.parameters)
    assert again == cost
    assert hash(again) == hash(cost)
    assert again(TOTALS) == cost(TOTALS)


def test_costs_differ_by_parameters_and_by_function() -> None:
    assert overtime(480) != overtime(481)
    assert RouteCost("overtime", lambda route: 0.0) != overtime(480)
    assert overtime(480) != "overtime"


def test_tolls_name_every_vehicle_type() -> None:
    with pytest.raises(InputError, match=r"^one: route cost 'tolls' has costs of 2 vehicle types, but there are 1\.$"):
        Instance("one", [0, 1], 1, [[0, 0], [3, 4]], route_costs=[overtime(480), tolls([0, 1])])
    tolled = Instance("one", [0, 1], 1, [[0, 0], [3, 4]], route_costs=[overtime(480), tolls([0.5])])
    assert Solution(tolled, [[1]]).cost == 15.0


@pytest.mark.parametrize(
    ("name", "parameters", "sentence"),
    [
        ("fun", {}, "route cost 'fun' is not known; choose one of overtime, balance_durations"),
        ("overtime", {"hours": 3}, "route cost 'overtime' has no parameter 'hours', only after and cost."),
        ("overtime", {"cost": 3}, "route cost 'overtime' needs the parameter 'after'."),
        ("overtime", {"after": math.nan}, "route cost 'overtime': after nan must be a finite number and not negative."),
        ("overtime", {"after": "8 h"}, "route cost 'overtime': after '8 h' is not a number."),
        ("balance_stops", {"weight": -1}, "route cost 'balance_stops': weight -1 must be a finite number"),
        ("tolls", {"costs": 3}, "route cost 'tolls': costs 3 must be a list of numbers, one a vehicle type."),
        ("tolls", {"costs": "12"}, "route cost 'tolls': costs '12' must be a list of numbers"),
        ("tolls", {"costs": []}, "route cost 'tolls': costs must name at least one vehicle type."),
        ("tolls", {"costs": [1, math.inf]}, "route cost 'tolls': costs inf must be a finite number"),
    ],
)
def test_parameters_that_cannot_be_are_named(name: str, parameters: dict[str, Any], sentence: str) -> None:
    with pytest.raises(InputError) as caught:
        named_cost(name, parameters)
    assert str(caught.value).startswith(sentence)


@pytest.mark.parametrize(
    ("function", "sentence"),
    [
        (3, "route cost 'own' must be a function of a route's totals, not 3."),
        (lambda: 0.0, "route cost 'own' must take one argument, the totals of a route."),
        (lambda route, rate: 0.0, "route cost 'own' must take one argument, the totals of a route."),
        (lambda route: route.length, "route cost 'own' fails for a route of distance 1, duration 1 and 1 stops (Attr"),
        (lambda route: None, "route cost 'own' gives None for a route of distance 1"),
        (lambda route: math.nan, "route cost 'own' gives nan for a route of distance 1"),
    ],
)
def test_a_function_that_cannot_be_a_cost_is_refused_when_it_is_made_one(function: Any, sentence: str) -> None:
    with pytest.raises(InputError) as caught:
        RouteCost("own", function)
    assert str(caught.value).startswith(sentence)


def test_a_name_is_text_on_one_line() -> None:
    with pytest.raises(InputError, match="of a route cost must be text on one line"):
        RouteCost("two\nlines", lambda route: 0.0)


@pytest.mark.parametrize(
    "cost", [overtime(after=480, cost=2), balance_durations(0.01), balance_stops(1), tolls([0, 0.15])], ids=str
)
def test_ready_made_costs_travel_to_other_processes(cost: RouteCost) -> None:
    there = pickle.loads(pickle.dumps(cost))
    assert (there, there(TOTALS)) == (cost, cost(TOTALS))


def own_cost(route: RouteTotals) -> float:
    return route.distance


def test_a_cost_of_ones_own_travels_if_its_function_does() -> None:
    assert pickle.loads(pickle.dumps(route_cost(own_cost))) == route_cost(own_cost)
    with pytest.raises((AttributeError, pickle.PicklingError)):
        pickle.dumps(RouteCost("steep", lambda route: 1.0))


def test_an_import_within_a_function_is_refused_with_its_line() -> None:
    def cost(route: RouteTotals) -> float:
        import math

        return math.sqrt(route.distance)

    with pytest.raises(
        InputError, match=r"^route cost 'cost' has an import in its function \(.*test_route_cost\.py, line \d+"
    ):
        route_cost(cost)
