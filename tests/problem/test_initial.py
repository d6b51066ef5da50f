"""Initial solutions: feasible on any instance, and built as worked by hand."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from brute_force import keeps_every_rule, timed_instances
from fleets import general_instances
from helpers import random_instances
from neuralns import InputError, Instance, Solution, generate_x, nearest_insertion, random_tours, savings
from neuralns.problem import initial
from neuralns.problem import instance as instance_module
from neuralns.problem.fleet import Depot, Group, Shipment, VehicleType
from neuralns.problem.initial import nearest_neighbours, savings_in, sweep

METHODS = [random_tours, savings, nearest_insertion]


@pytest.fixture(params=["matrix", "no matrix"], scope="module")
def _distances(request: pytest.FixtureRequest) -> Iterator[None]:
    """Run a test with distances held as a matrix, and again with distances computed on demand."""
    with pytest.MonkeyPatch.context() as patch:
        if request.param == "no matrix":
            patch.setattr(instance_module, "MATRIX_LIMIT", 1)
        yield


@pytest.mark.usefixtures("_distances")
@pytest.mark.parametrize("method", METHODS)
@settings(deadline=None, max_examples=60)
@given(random_instances())
def test_every_method_gives_a_feasible_solution(method: Callable[[Instance], Solution], instance: Instance) -> None:
    assert method(instance).faults() == []


@settings(deadline=None, max_examples=60)
@given(random_instances(), st.integers(0, 9), st.integers(1, 8))
def test_random_tours_are_cut_when_full_or_after_a_chunk(instance: Instance, seed: int, chunk: int) -> None:
    routes = random_tours(instance, seed, chunk).routes
    for route, following in pairwise(routes):
        load = sum(instance.demands[customer] for customer in (*route, following[0]))
        assert len(route) == chunk or load > instance.capacity
    assert max(map(len, routes)) <= chunk


@settings(deadline=None, max_examples=100)
@given(timed_instances(), st.integers(0, 99))
def test_random_tours_keep_every_rule_and_leave_out_only_whom_they_have_to(instance: Instance, seed: int) -> None:
    found = random_tours(instance, seed)
    assert found.broken_rules() == []
    assert all(keeps_every_rule(instance, route) for route in found.routes)
    for customer in found.unserved:
        alone = keeps_every_rule(instance, [customer])
        assert not alone or len(found.routes) == instance.vehicles
    for route, following in pairwise(found.routes):
        assert not keeps_every_rule(instance, [*route, following[0]])
    assert max(map(len, random_tours(instance, seed, 2).routes), default=0) <= 2


@pytest.mark.parametrize("method", [savings, sweep, nearest_insertion])
@pytest.mark.parametrize(
    "rules",
    [{"windows": [[0, 9], [0, 9], [0, 9]]}, {"vehicles": 1}, {"max_distance": 9}, {"demands": [0, 1, 5]}],
    ids=lambda rules: next(iter(rules)),
)
def test_who_looks_at_loads_alone_refuses_other_rules(
    method: Callable[[Instance], Solution], rules: dict[str, Any]
) -> None:
    instance = Instance(
        **{"name": "two", "demands": [0, 1, 1], "capacity": 2, "coordinates": [[0, 0], [1, 0], [9, 0]], **rules}
    )
    sentence = f"two: {method.__name__} serves everybody and looks at loads alone, but windows, limits or demands rule"
    with pytest.raises(InputError, match=f"^{sentence} that out"):
        method(instance)


def test_random_tours_follow_the_seed() -> None:
    instance = Instance("any", [0.0] + [1.0] * 20, 5, np.arange(42).reshape(21, 2))
    assert random_tours(instance, 1) == random_tours(instance, 1)
    assert random_tours(instance, 1) != random_tours(instance, 2)


def test_chunks_of_nobody_are_refused() -> None:
    with pytest.raises(InputError, match="chunks of 0 customers cannot be cut"):
        random_tours(Instance("any", [0, 1], 1, [[0, 0], [1, 1]]), chunk=0)


# The depot is at 0 on a line, customers 1 to 4 at 10, 11, -4 and -5. The savings are s(1, 2) = 10 + 11 - 1 = 20,
# s(3, 4) = 4 + 5 - 1 = 8, and 0 across the depot.
LINE = [[0, 0], [10, 0], [11, 0], [-4, 0], [-5, 0]]


@pytest.mark.usefixtures("_distances")
@pytest.mark.parametrize(
    ("capacity", "vehicle_cost", "merged"),
    [
        (4, 0, [{1, 2}, {3, 4}]),
        (1, 0, [{1}, {2}, {3}, {4}]),
        (4, 1, [{1, 2, 3, 4}]),
        (3, 1, [{1, 2}, {3, 4}]),
    ],
)
def test_savings_merge_routes_while_that_pays_and_fits(
    capacity: float, vehicle_cost: float, merged: list[set[int]]
) -> None:
    line = Instance("line", [0, 1, 1, 1, 1], capacity, LINE, vehicle_cost=vehicle_cost)
    assert sorted(map(sorted, savings(line).routes)) == sorted(map(sorted, merged))


def test_the_largest_saving_is_taken_first() -> None:
    # Two fit a vehicle, and every pair saves: s(1, 2) = 11 + 10 - 1 = 20, s(1, 3) = 21 - √89, s(2, 3) = 20 - √80.
    fan = Instance("fan", [0, 1, 1, 1], 2, [[0, 0], [11, 0], [10, 0], [6, 8]])
    assert {frozenset(route) for route in savings(fan).routes} == {frozenset({1, 2}), frozenset({3})}


def test_savings_heed_the_direction_of_one_way_distances() -> None:
    far, near = 9, 1
    ring = [[0, 5, 5, 5], [5, 0, near, far], [5, far, 0, near], [5, near, far, 0]]
    (route,) = savings(Instance("ring", [0, 1, 1, 1], 3, matrix=ring)).routes
    assert route in {(1, 2, 3), (2, 3, 1), (3, 1, 2)}


@pytest.mark.usefixtures("_distances")
def test_insertion_starts_with_the_farthest_and_adds_the_nearest_where_it_lengthens_least() -> None:
    # 3 at 12 opens; 2 at 11 and 1 at 10 are nearest in turn and join between the depot and 3; 4 does not fit.
    line = Instance("line", [0, 1, 1, 1, 1], 3, [[0, 0], [10, 0], [11, 0], [12, 0], [-4, 0]])
    (first, second) = nearest_insertion(line).routes
    assert set(first) == {1, 2, 3}
    assert second == (4,)
    assert Solution(line, [first]).cost == 24


def test_insertion_passes_over_a_customer_who_does_not_fit() -> None:
    line = Instance("line", [0, 1, 3, 2], 3, [[0, 0], [8, 0], [9, 0], [10, 0]])
    assert sorted(map(sorted, nearest_insertion(line).routes)) == [[1, 3], [2]]


@pytest.mark.usefixtures("_distances")
@settings(deadline=None, max_examples=60)
@given(random_instances(), st.integers(0, 40))
def test_neighbours_are_the_nearest_customers_in_order(instance: Instance, count: int) -> None:
    neighbours = nearest_neighbours(instance, count)
    width = min(count, max(0, instance.customers - 1))
    assert neighbours.shape == (instance.customers + 1, width)
    for node in range(instance.customers + 1):
        others = [customer for customer in range(1, instance.customers + 1) if customer != node]
        assert set(neighbours[node]) <= set(others)
        assert len(set(neighbours[node])) == width
        found = [instance.distance(node, customer) for customer in neighbours[node]]
        assert found == sorted(instance.distance(node, customer) for customer in others)[:width]


def test_above_the_limit_no_matrix_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(instance_module, "MATRIX_LIMIT", 4)
    line = Instance("line", [0, 1, 1, 1, 1], 2, LINE)
    assert line.distances is None
    assert nearest_neighbours(line, 2).tolist() == [[3, 4], [2, 3], [1, 3], [4, 1], [3, 1]]


# --- Large instances and little time. ---------------------------------------------------------------------------------


@settings(deadline=None, max_examples=60)
@given(random_instances(most=12))
def test_a_sweep_serves_everybody(instance: Instance) -> None:
    assert sweep(instance).faults() == []


def test_a_sweep_goes_round_the_depot() -> None:
    points = [[0.0, 0.0], [1.0, 1.0], [-1.0, -1.0], [2.0, 2.0], [-2.0, -2.0], [3.0, 3.1], [-3.0, -3.1]]
    found = sweep(Instance("cross", [0, 1, 1, 1, 1, 1, 1], 3, points))
    assert sorted(sorted(route) for route in found.routes) == [[1, 3, 5], [2, 4, 6]]


def test_savings_fit_into_the_time_of_a_search() -> None:
    instance = generate_x(1500, seed=1)
    full = savings(instance)
    assert savings_in(instance, math.inf).routes == savings_in(instance, 10.0).routes == full.routes
    fewer = savings_in(instance, 0.2)
    assert fewer.routes == savings(instance, 66).routes
    small = generate_x(200, seed=1)
    assert savings_in(small, 0.0).routes == savings(small).routes


def test_where_savings_do_not_fit_at_all_a_sweep_does(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(initial, "SURE_PAIRS", 100)
    instance = generate_x(200, seed=1)
    assert savings_in(instance, 0.001).routes == sweep(instance).routes


FLEETS: dict[str, dict[str, Any]] = {
    "types": {"demands": [0.0] + [2.0] * 12, "fleet": [VehicleType([3], 4), VehicleType([7], skills=["crane"])],
              "skills": {5: ["crane"]}},
    "depots": {"demands": [0.0] + [2.0] * 11 + [0.0], "depots": [Depot(capacity=9), Depot()],
               "fleet": [VehicleType([6], 5), VehicleType([6], start=12, end=None)]},
    "goods": {"deliveries": [[0, 0]] + [[1, 2]] * 12, "pickups": [[0, 0]] + [[2, 1]] * 12,
              "fleet": [VehicleType([5, 7])]},
    "backhauls": {"deliveries": [0] + [2, 0] * 6, "pickups": [0] + [0, 2] * 6, "backhauls": True,
                  "fleet": [VehicleType([7])]},
    "groups": {"demands": [0.0] + [2.0] * 12, "fleet": [VehicleType([7])],
               "groups": [Group([1, 2, 3]), Group([7, 8], False)]},
    "shipments": {"shipments": [Shipment(customer, customer + 6, 2) for customer in range(1, 7)],
                  "fleet": [VehicleType([3], max_stops=5)]},
}  # fmt: skip


@pytest.mark.parametrize("name", FLEETS)
@pytest.mark.parametrize("chunk", [None, 3])
def test_random_tours_know_fleets(name: str, chunk: int | None) -> None:
    points = np.random.default_rng(1).integers(0, 99, (13, 2))
    instance = Instance(name, coordinates=points, **FLEETS[name])
    for seed in range(20):
        found = random_tours(instance, seed, chunk)
        assert found.broken_rules() == []
        assert len(found.routes) > 1
        assert chunk is None or max(map(len, found.routes)) <= chunk
        assert not found.unserved or name == "backhauls"


@settings(deadline=None, max_examples=200)
@given(general_instances(), st.integers(0, 99), st.none() | st.integers(1, 4))
def test_random_tours_keep_every_rule_of_fleets(instance: Instance, seed: int, chunk: int | None) -> None:
    assert random_tours(instance, seed, chunk).broken_rules() == []


def test_neighbours_are_found_once() -> None:
    instance = generate_x(50, seed=1)
    assert nearest_neighbours(instance, 10) is nearest_neighbours(instance, 10)


def test_customers_at_one_place_are_neighbours_of_each_other_and_not_of_themselves(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(instance_module, "MATRIX_LIMIT", 1)
    crowd = Instance("crowd", [0.0] + [1.0] * 30, 5, [[0.0, 0.0]] + [[1.0, 1.0]] * 30)
    found = nearest_neighbours(crowd, 5)
    assert found.shape == (31, 5)
    for node, row in enumerate(found.tolist()):
        assert len(set(row)) == 5
        assert node not in row
        assert 0 not in row
