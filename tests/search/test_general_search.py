"""Searches on instances of the general kind: the answer keeps every rule and costs what it says."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from fleets import SHIPS, TIMED, general_instance, general_instances
from neuralns import Instance, MaxIterations, Progress, Shipment, Solution, VehicleType, solve
from neuralns.errors import InputError, OperatorError
from neuralns.problem.route_cost import RouteTotals, route_cost


def check(instance: Instance, iterations: int = 150, **options: Any) -> Solution:
    """Solve an instance and compare the answer with what the search says of it."""
    seen: list[Progress] = []
    found = solve(instance, MaxIterations(iterations), callbacks=[seen.append], **options)
    best = found.best
    assert best.broken_rules() == []
    if seen:
        assert seen[-1].best == pytest.approx(best.cost, rel=1e-7, abs=1e-6)
    assert _standing(best) <= _standing(found.initial) or options.get("objective") == "vehicles"
    return best


def _standing(solution: Solution) -> tuple[int, float]:
    ends = {each.delivery for each in solution.instance.shipments or ()}
    return len(set(solution.unserved) - ends), solution.cost - 1e-6 * max(1.0, abs(solution.cost))


@settings(deadline=None, max_examples=100)
@given(general_instances(most=16, least=3), st.integers(0, 1000), st.sampled_from(["paper,modern-all", None]))
def test_answers_keep_all_rules_and_cost_what_is_said(instance: Instance, seed: int, portfolio: str | None) -> None:
    assume(len(instance.unservable) < instance.customers)
    options: dict[str, Any] = {} if portfolio is None else {"portfolio": portfolio}
    best = check(instance, seed=seed, **options)
    again = solve(instance, MaxIterations(150), seed=seed, **options).best
    assert (again.routes, again.vehicles) == (best.routes, best.vehicles)


def test_two_workers_solve_an_instance_with_everything() -> None:
    best = check(general_instance({SHIPS, TIMED, "profiles", "prizes"}, 5, 20, 20), seed=1, workers=2)
    assert best.routes


@pytest.mark.parametrize("seed", range(4))
def test_few_vehicles_come_first_where_there_are_shipments(seed: int) -> None:
    rng = np.random.default_rng(seed)
    windows = [[0, 500], *([begin, begin + 200] for begin in rng.integers(0, 150, 12).tolist())]
    instance = Instance(
        "shipments", None, 10, rng.integers(0, 50, (13, 2)), windows=windows,
        shipments=[Shipment(2 * pair + 1, 2 * pair + 2, 3) for pair in range(6)],
    )  # fmt: skip
    best = check(instance, 300, seed=seed, objective="vehicles")
    assert not best.unserved
    assert len(best.routes) <= len(check(instance, 300, seed=seed).routes)


def test_one_vehicle_for_all_makes_a_tour() -> None:
    # Around a square, the shortest tour is its circumference.
    corners = [[place, 0] for place in range(4)] + [[4, place] for place in range(4)]
    corners += [[4 - place, 4] for place in range(4)] + [[0, 4 - place] for place in range(4)]
    instance = Instance("tour", None, None, corners, deliveries=np.zeros(16), fleet=[VehicleType(1e9, 1, end=None)])
    best = check(instance, 500, seed=0)
    assert (len(best.routes), best.cost) == (1, 15.0)


@settings(deadline=None, max_examples=40)
@given(general_instances(most=12, least=3), st.integers(0, 1000))
def test_few_vehicles_of_any_fleet_can_come_first(instance: Instance, seed: int) -> None:
    assume(len(instance.unservable) < instance.customers)
    check(instance, seed=seed, objective="vehicles")


# --- Costs of one's own that go wrong. -------------------------------------------------------------------------------


def _with(function: Any) -> Instance:
    points = [[0, 0], [3, 4], [6, 8], [0, 5]]
    return Instance("own", [0, 1, 1, 1], 2, points, route_costs=[route_cost(function)])


def _fails_at_once(route: RouteTotals) -> float:
    return 1.0 / (route.stops - 1.0)


def _nan(route: RouteTotals) -> float:
    return float("nan") * route.stops


def _words(route: RouteTotals) -> Any:
    return "much"


@pytest.mark.parametrize(
    ("function", "said"),
    [
        (_fails_at_once, "route cost '_fails_at_once' fails for a route of distance 1, duration 1 and 1 stops (Zero"),
        (_nan, "route cost '_nan' gives nan for a route of distance 1"),
        (_words, "route cost '_words' fails for a route of distance 1"),
    ],
)
def test_a_route_cost_that_is_wrong_at_once_is_refused_in_a_sentence(function: Any, said: str) -> None:
    with pytest.raises(InputError) as caught:
        _with(function)
    assert str(caught.value).startswith(said)
    assert "\n" not in str(caught.value)


def _raises(route: RouteTotals) -> float:
    if route.stops > 1:
        raise ValueError("never mind")
    return 1.0


def _not_compiled(route: RouteTotals) -> float:
    return len(str({"stops": route.stops}).encode())


def _divides(route: RouteTotals) -> float:
    return 1.0 / (2.0 - route.stops)


def _nan_later(route: RouteTotals) -> float:
    return route.distance if route.stops < 2.0 else float("nan")


def test_routes_that_cost_too_much_to_say_are_avoided() -> None:
    best = solve(_with(_nan_later), MaxIterations(100), seed=0).best
    assert sorted(len(route) for route in best.routes) == [1, 1, 1]


@pytest.mark.parametrize("function", [_raises, _not_compiled, _divides])
def test_a_route_cost_that_goes_wrong_in_the_search_is_told_in_a_sentence(function: Any) -> None:
    with pytest.raises((InputError, OperatorError)) as caught:
        solve(_with(function), MaxIterations(100), seed=0)
    assert f"route cost '{function.__name__}'" in str(caught.value)
    assert "\n" not in str(caught.value)
