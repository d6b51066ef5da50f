"""What a route may carry, how late is late, and who can be on no route at all."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

from brute_force import keeps_every_rule, timed_instances
from neuralns import Instance, MaxIterations, Solution, solve
from neuralns.problem.limits import find_unservable, lateness_allowed, load_limit

LINE = [[0.0, 0.0], [3.0, 0.0], [6.0, 0.0]]


def line(**rules: Any) -> Instance:
    """Two customers on a line, 3 and 6 from the depot."""
    return Instance("line", rules.pop("demands", [0, 1, 1]), rules.pop("capacity", 2), LINE, **rules)


@pytest.mark.parametrize(("capacity", "demand", "exact"), [(4e9, 1.0, True), (4e9, 0.1, False), (0.3, 0.1, False)])
def test_only_sums_of_fractions_get_a_tolerance(capacity: float, demand: float, exact: bool) -> None:
    instance = line(demands=[0, demand, demand], capacity=capacity)
    assert (load_limit(instance) == capacity) == exact
    assert load_limit(instance) <= capacity * (1 + 1e-9)


@pytest.mark.parametrize("never", [1e12, 1e17, 9e18])
def test_an_end_that_means_never_forgives_nobody_else_for_being_late(never: float) -> None:
    instance = line(windows=[[0, never], [0, 2], [0, never]])
    assert Solution(instance, [[1]]).faults()[0] == "route 1 reaches customer 1 at 3, after its window, 0 to 2."
    assert solve(instance, MaxIterations(20)).unserved == (1,)


@pytest.mark.parametrize(
    ("rules", "largest"),
    [
        ({}, 1),
        ({"max_duration": 20}, 20),
        ({"max_distance": 15, "max_duration": 10}, 15),
        ({"windows": [[-900, 800], [0, 5], [0, np.inf]]}, 900),
        # What no route comes near.
        ({"max_duration": 500}, 1),
        ({"windows": [[0, 1e17], [0, 5], [0, 20]]}, 20),
        ({"max_duration": 1e17, "durations": [[0, 3, 6], [3, 0, 1e17], [6, 1e17, 0]]}, 1),
        ({"windows": [[0, 9], [0, 5], [0, 7]], "release": [0, 0, 1e100]}, 9),
    ],
)
def test_lateness_is_allowed_in_proportion_to_the_largest_time_in_reach(rules: dict[str, Any], largest: float) -> None:
    assert lateness_allowed(line(**rules)) == pytest.approx(1e-11 * largest)


@pytest.mark.parametrize(
    ("rules", "reasons"),
    [
        ({}, {}),
        ({"demands": [0, 3, 1]}, {1: "its demand 3 is above the capacity 2"}),
        (
            {"windows": [[0, 50], [0, 2.5], [0, 6]]},
            {1: "its window ends at 2.5, and nobody can be there before 3"},
        ),
        (
            {"windows": [[10, 50], [0, 12], [0, 16]]},
            {1: "its window ends at 12, and nobody can be there before 13"},
        ),
        (
            {"windows": [[0, 20], [0, 20], [16, 20]]},
            {2: "nobody who serves it is back before 22, and the depot closes at 20"},
        ),
        (
            {"windows": [[0, 20], [0, 20], [0, 20]], "service": [0, 5, 10]},
            {2: "nobody who serves it is back before 22, and the depot closes at 20"},
        ),
        (
            {"max_duration": 20, "service": [0, 5, 10]},
            {2: "a route to it takes at least 22, and may take 20"},
        ),
        ({"max_distance": 11}, {2: "a route to it is at least 12 long, and may be 11"}),
        ({"vehicles": 1}, {}),
        ({"service": [0, 500, 500]}, {}),
        (
            {"demands": [0, 9, 9], "max_distance": 1},
            {1: "its demand 9 is above the capacity 2", 2: "its demand 9 is above the capacity 2"},
        ),
    ],
)
def test_who_cannot_be_served_is_named_with_the_reason(rules: dict[str, Any], reasons: dict[int, str]) -> None:
    instance = line(**rules)
    assert find_unservable(instance) == instance.unservable == reasons
    assert instance.may_leave_out == bool(reasons or instance.vehicles)


def test_given_travel_times_count_and_so_does_a_quicker_detour() -> None:
    times = [[0, 1, 9], [1, 0, 1], [9, 1, 0]]
    windows = [[0, 50], [0, 50], [0, 5]]
    assert line(durations=times, windows=windows).unservable == {}
    assert list(line(durations=times, windows=[[0, 50], [0, 0.5], [0, 1.5]]).unservable) == [1, 2]
    matrix = Instance("matrix", [0, 1, 1], 2, matrix=times, max_distance=4)
    assert matrix.unservable == {}


def test_rounding_may_make_a_detour_shorter() -> None:
    cut = Instance("cut", [0, 1, 1], 2, [[0.0, 0.0], [1.9, 0.0], [3.8, 0.0]], rounding="trunc", max_distance=5)
    assert cut.distance(0, 2) == 3
    assert cut.unservable == {}


@settings(max_examples=150, deadline=None)
@given(timed_instances(most=4))
def test_whoever_some_route_can_serve_is_not_called_unservable(instance: Instance) -> None:
    customers = range(1, instance.customers + 1)
    servable = {
        customer
        for size in customers
        for route in permutations(customers, size)
        if keeps_every_rule(instance, route)
        for customer in route
    }
    assert not servable & instance.unservable.keys()


@settings(max_examples=150, deadline=None)
@given(timed_instances(most=4))
def test_on_straight_ways_all_others_can_be_served_alone(instance: Instance) -> None:
    straight = replace(instance, rounding="none", matrix=None, durations=None, max_duration=None)
    for customer in range(1, straight.customers + 1):
        assert keeps_every_rule(straight, (customer,)) == (customer not in straight.unservable)
