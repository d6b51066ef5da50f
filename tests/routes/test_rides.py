"""Insertions, moves and searches where rides are limited, against `Solution` and against all plans."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fleets import RIDES, SHIPS, TIMED, cost_of_route, general_instance, insertions, requests, some_general_routes
from neuralns import Instance, MaxIterations, Shipment, Solution, VehicleType, solve
from neuralns.problem.solution import out_of_limits
from neuralns.routes.evaluate import best_insertion, insertion, is_on_time
from neuralns.routes.transfer import new_state

KINDS = {RIDES, SHIPS}, {RIDES, SHIPS, TIMED}, {RIDES, SHIPS, TIMED, "durations"}, {RIDES, SHIPS, "matrix", "profiles"}


@st.composite
def ridden(draw: Any, most: int = 9) -> Instance:
    """Instances of the general kind with limited rides, short and long ones."""
    seed = draw(st.integers(0, 2**32 - 1))
    instance = general_instance(draw(st.sampled_from(KINDS)), seed, most, 4)
    rng, share = np.random.default_rng(seed), float(draw(st.sampled_from([1.0, 1.5, 3.0])))
    shipments = tuple(
        replace(each, max_ride=share * float(instance.times([each.pickup], [each.delivery])[0] + rng.integers(0, 9)))
        for each in instance.shipments or ()
    )
    return replace(instance, shipments=shipments)


@settings(deadline=None, max_examples=150)
@given(ridden(), st.integers(0, 1000))
def test_requests_fit_exactly_where_the_checker_says(instance: Instance, seed: int) -> None:
    start = some_general_routes(instance, seed)
    for out in requests(instance):
        end = {each.pickup: each.delivery for each in instance.shipments or ()}.get(out)
        routes = [[node for node in route if node not in (out, end)] for route in start.routes]
        solution = Solution(instance, routes, start.vehicles)
        state = new_state(instance, seed, solution=solution)
        for route, vehicle in zip(solution.routes, solution.vehicles, strict=True):
            slot = int(state.route[route[0]])
            kept = not out_of_limits(instance, 1, route, vehicle)
            assert is_on_time(state, slot) == kept
            if not kept or len(instance.types) > 1 or instance.depots is not None:
                continue
            before, least = cost_of_route(instance, route, vehicle), math.inf
            for place, longer in insertions(instance, route, out):
                cost = cost_of_route(instance, longer, vehicle) - before
                least = min(least, cost)
                assert insertion(state, out, slot, place) == pytest.approx(cost, abs=1e-7)
            assert best_insertion(state, out, slot)[0] == pytest.approx(least, abs=1e-7)


def test_a_ride_that_cannot_be_short_enough_ends_the_rounds() -> None:
    # Nothing closes: start times could grow forever.
    instance = Instance(
        "endless", None, 9, [[0, 0], [5, 0], [6, 0], [30, 0]], deliveries=[0, 0, 0, 1],
        shipments=[Shipment(1, 2, 1, 2)], fleet=[VehicleType(9)],
    )  # fmt: skip
    state = new_state(instance, 0, solution=Solution(instance, [[1, 2]]))
    slot = int(state.route[1])
    assert [insertion(state, 3, slot, place) for place in (0, 1, 2)] == [pytest.approx(50), math.inf, pytest.approx(48)]


def plans(instance: Instance, routes: list[tuple[int, ...]], out: list[int]) -> Iterator[Solution]:
    """Every plan that serves all requests and keeps all rules."""
    if not out:
        solution = Solution(instance, routes)
        if not solution.broken_rules():
            yield solution
        return
    request, *rest = out
    for _, alone in insertions(instance, (), request):
        yield from plans(instance, [*routes, alone], rest)
    for number, route in enumerate(routes):
        for _, longer in insertions(instance, route, request):
            yield from plans(instance, [*routes[:number], longer, *routes[number + 1 :]], rest)


@pytest.mark.parametrize("seed", range(8))
def test_searches_find_the_best_of_all_plans(seed: int) -> None:
    rng = np.random.default_rng(seed)
    points, opens = rng.integers(0, 30, (7, 2)), rng.integers(0, 60, 7)
    windows = np.column_stack([opens, opens + 80])
    windows[0] = 0, 400
    ways = np.linalg.norm(points[1:6:2] - points[2:7:2], axis=1)
    shipments = [Shipment(2 * pair + 1, 2 * pair + 2, 2, float(np.ceil(ways[pair]) + 6)) for pair in range(3)]
    instance = Instance(
        "three", None, 5, points, service=[0, *rng.integers(0, 4, 6)], windows=windows, shipments=shipments
    )
    best = min(plans(instance, [], [1, 3, 5]), key=lambda plan: plan.cost)
    found = solve(instance, MaxIterations(300), seed=seed).best
    assert found.feasible
    assert found.cost == pytest.approx(best.cost)
    free = replace(instance, shipments=tuple(replace(each, max_ride=None) for each in shipments))
    assert solve(free, MaxIterations(300), seed=seed).best.cost <= found.cost + 1e-9
