"""Violations of rules: amounts against sums in plain Python, and what one more stop costs while they have prices."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from brute_force import costly_instances
from fleets import general_instances, two_parts, usable_types
from neuralns import Instance, Solution, VehicleType
from neuralns.routes.cost import cost_of_sequence
from neuralns.routes.edits import insert, remove
from neuralns.routes.evaluate import all_feasible, best_insertion, insertion, is_on_time, may_fit, recompute
from neuralns.routes.transfer import State
from neuralns.routes.vehicles import AS_THEY_ARE
from prices import PRICES, at_prices


def close(value: float) -> Any:
    return pytest.approx(value, rel=1e-6, abs=1e-4)


@st.composite
def mixed_instances(draw: Any) -> Instance:
    """Deliveries and pickups of two goods on board together, windows, few stops a route."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    nodes = int(rng.integers(2, 8))
    amounts = rng.integers(0, 5, (2, nodes, 2)).astype(float)
    amounts[:, 0] = 0.0
    begins = np.r_[0, rng.integers(0, 100, nodes - 1)]
    windows = np.column_stack([begins, begins + rng.integers(0, 60, nodes)])
    windows[0] = 0, 200
    most_stops = int(rng.integers(1, 5)) if rng.random() < 0.5 else None
    fleet = [VehicleType([12, 12], max_stops=most_stops, max_distance=float(rng.integers(20, 90)))]
    return Instance(
        "mixed", None, coordinates=rng.integers(0, 25, (nodes, 2)).astype(float), deliveries=amounts[0],
        pickups=amounts[1], windows=windows, fleet=fleet,
    )  # fmt: skip


instances = st.one_of(costly_instances(most=7), mixed_instances())


def priced_state(instance: Instance, seed: int) -> tuple[State, list[list[int]]]:
    """A state of any routes of some customers, feasible or not, with prices for all violations."""
    rng = np.random.default_rng(seed)
    order = (1 + rng.permutation(instance.customers)).tolist()
    cuts = sorted(rng.integers(0, len(order) + 1, 2).tolist())
    routes = [route for route in (order[: cuts[0]], order[cuts[0] : cuts[1]]) if route]
    state = at_prices(Solution(instance, routes), seed)
    return state, routes


def cost_by_sequence(state: State, route: list[int]) -> float:
    if not route:
        return 0.0
    state.sequence[: len(route)] = route
    return float(cost_of_sequence(state, len(route), 0))


def violations(instance: Instance, route: list[int]) -> dict[str, float]:
    """By how much a route of the first vehicle type breaks each rule but durations."""
    vehicle = instance.types[0]
    stops = [0, *route, 0]
    deliveries, pickups = (amounts[route] for amounts in instance.amounts)
    on_board = [deliveries.sum(axis=0)]
    for brought, fetched in zip(deliveries, pickups, strict=True):
        on_board.append(on_board[-1] - brought + fetched)
    length = sum(float(instance.legs([i], [j])[0]) for i, j in itertools.pairwise(stops))
    now, late = float(instance.earliest[0]), 0.0
    for before, node in itertools.pairwise(stops):
        now += float(instance.times([before], [node])[0])
        late += max(0.0, now - float(instance.latest[node]))
        now = min(max(now, float(instance.earliest[node])), float(instance.latest[node]))
        now += float(instance.services[node]) if node else 0.0
    return {
        "load_price": float(np.maximum(np.max(on_board, axis=0) - vehicle.capacity, 0.0).sum()),
        "late_price": late if instance.timed else 0.0,
        "distance_price": max(0.0, length - (vehicle.max_distance or math.inf)),
        "stops_price": max(0.0, len(route) - (vehicle.max_stops or math.inf)),
        "length": length,
    }


@settings(deadline=None, max_examples=150)
@given(instances, st.integers(0, 1000))
def test_a_route_costs_its_violations_at_their_prices(instance: Instance, seed: int) -> None:
    vehicle = instance.types[0]
    assume(vehicle.duration_cost == 0 and vehicle.max_duration is None)
    state, routes = priced_state(instance, seed)
    total = 0.0
    for route in routes:
        found = violations(instance, route)
        cost = vehicle.fixed_cost + vehicle.distance_cost * found.pop("length")
        cost += sum(PRICES[rule] * amount for rule, amount in found.items())
        assert cost_by_sequence(state, route) == close(cost)
        assert bool(is_on_time(state, state.route[route[0]])) == (max(found.values()) < 1e-6)
        total += cost
    assert sum(state.route_cost[state.route[route[0]]] for route in routes) == close(total)
    assert bool(all_feasible(state)) == all(is_on_time(state, state.route[route[0]]) for route in routes)


@settings(deadline=None, max_examples=200)
@given(instances, st.integers(0, 1000))
def test_one_more_stop_costs_what_the_whole_route_costs_more(instance: Instance, seed: int) -> None:
    state, routes = priced_state(instance, seed)
    waiting = [node for node in range(1, instance.customers + 1) if state.route[node] < 0]
    for route in routes:
        slot = int(state.route[route[0]])
        before = cost_by_sequence(state, route)
        assert state.route_cost[slot] == close(before)
        for customer in waiting:
            costs = {}
            for number, position in enumerate([0, *route]):
                longer = [*route[:number], customer, *route[number:]]
                costs[position] = cost_by_sequence(state, longer) - before
                assert insertion(state, customer, slot, position) == close(costs[position])
            least, position = best_insertion(state, customer, slot)
            assert least == close(min(costs.values()))
            assert costs[position] == close(least)


@settings(deadline=None, max_examples=300)
@given(general_instances(most=8), st.integers(0, 1000))
def test_so_it_does_in_fleets_with_every_rule(instance: Instance, seed: int) -> None:
    assume(not instance.shipments and not instance.openings)
    rng = np.random.default_rng(seed)
    route, waiting = two_parts(instance, rng)
    vehicle = int(rng.choice(usable_types(instance)))
    state = at_prices(Solution(instance, [route], [vehicle]), seed)
    state.sizing = AS_THEY_ARE
    slot = int(state.route[route[0]])

    def cost_of(stops: list[int]) -> float:
        state.sequence[: len(stops)] = stops
        return float(cost_of_sequence(state, len(stops), vehicle))

    before = cost_of(route)
    assume(before < math.inf)
    assert state.route_cost[slot] == close(before)
    for customer in waiting:
        if not may_fit(state, customer, slot):
            continue
        costs = {
            position: cost_of([*route[:number], customer, *route[number:]]) - before
            for number, position in enumerate([0, *route])
        }
        for position, cost in costs.items():
            assert insertion(state, customer, slot, position) == close(cost)
        assert best_insertion(state, customer, slot)[0] == close(min(costs.values()))


@settings(deadline=None, max_examples=100)
@given(instances, st.integers(0, 1000))
def test_books_stay_right_while_violations_have_prices(instance: Instance, seed: int) -> None:
    state, _routes = priced_state(instance, seed)
    rng = np.random.default_rng(seed)
    for _ in range(6):
        on = [node for node in range(1, instance.customers + 1) if state.route[node] >= 0]
        if len(on) < 2:
            return
        customer, other = rng.choice(on, 2, replace=False).tolist()
        remove(state, customer)
        insert(state, customer, state.route[other], other)
        costs = state.route_cost[state.active[: state.n_active]].copy()
        recompute(state)
        assert state.route_cost[state.active[: state.n_active]] == close(costs)
