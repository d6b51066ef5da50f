"""What edits cost and where they are allowed: every answer against solutions built and priced in Python."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import njit

from brute_force import costly_instances, some_routes
from helpers import keeps_limits, on_a_line, random_instances, solution_in, started
from neuralns import Instance, Solution
from neuralns.problem import instance as instance_module
from neuralns.routes.edits import insert, open_route, remove, undo
from neuralns.routes.evaluate import (
    beside,
    best_insertion,
    best_near,
    best_opening,
    distance,
    has_windows,
    insertion,
    is_on_time,
    join,
    least_need,
    may_fit,
    may_take,
    off_opening,
    penalty,
    random_position,
    recompute,
    removal,
    renew_best,
    start_of_service,
)
from neuralns.routes.insertion import ONE_TABLE
from neuralns.routes.journal import checkpoint
from neuralns.routes.transfer import State, new_state


def close(expected: float) -> Any:
    """What equals a cost but for the rounding of sums."""
    return pytest.approx(expected, rel=1e-9, abs=1e-7)


@njit
def overlooked(state, customer, slot, rate):
    return best_insertion(state, customer, slot, np.inf, rate)


def slots(state: State) -> list[int]:
    """The slots with customers."""
    return [slot for slot in state.active[: state.n_active].tolist() if state.size[slot] > 0]


def route_in(state: State, slot: int) -> list[int]:
    found, node = [], int(state.first[slot])
    while node:
        found.append(node)
        node = int(state.successor[node])
    return found


def length(instance: Instance, route: list[int]) -> float:
    """The length of a route; an empty one has none."""
    return Solution(instance, [route]).length if route else 0.0


def fits(instance: Instance, route: list[int]) -> bool:
    return float(instance.demands[route].sum()) <= instance.capacity * (1 + 1e-9) if route else True


def costs_of_places(instance: Instance, route: list[int], customer: int) -> dict[int, float]:
    """What inserting a customer costs at each place: after each customer of a route, or (0) at its start."""
    places = [0, *route]
    if not fits(instance, [*route, customer]):
        return dict.fromkeys(places, math.inf)
    bare = length(instance, route)
    return {
        place: length(instance, [*route[:number], customer, *route[number:]]) - bare
        for number, place in enumerate(places)
    }


def some_removed(instance: Instance, seed: int, data: st.DataObject) -> tuple[State, list[int]]:
    """Random tours from which some customers, but not all, were removed."""
    state, _ = started(instance, seed)
    taken = data.draw(
        st.lists(st.integers(1, instance.customers), min_size=1, max_size=instance.customers - 1, unique=True)
    )
    for customer in taken:
        remove(state, customer)
    return state, taken


several = random_instances(most=12).filter(lambda instance: instance.customers > 1)

# --- Insertions. -----------------------------------------------------------------------------------------------------


@settings(deadline=None, max_examples=80)
@given(several, st.integers(0, 1000), st.data())
def test_an_insertion_costs_what_it_adds_to_the_solution(instance: Instance, seed: int, data: st.DataObject) -> None:
    state, taken = some_removed(instance, seed, data)
    for customer in taken:
        for slot in slots(state):
            route = route_in(state, slot)
            costs = costs_of_places(instance, route, customer)
            for place, cost in costs.items():
                assert insertion(state, customer, slot, place) == close(cost)
            found, place = best_insertion(state, customer, slot)
            assert found == close(min(costs.values()))
            if found < math.inf:
                assert costs[place] == close(found)
            assert may_fit(state, customer, slot) == fits(instance, [*route, customer])
            for other in route:
                cost, where = beside(state, customer, other)
                before = (0, *route)[route.index(other)]
                assert cost == close(min(costs[other], costs[before]))
                if cost < math.inf:
                    assert where in (other, before)
                    assert costs[where] == close(cost)


@settings(deadline=None, max_examples=80)
@given(several, st.integers(0, 1000), st.data())
def test_the_cost_of_an_insertion_is_what_the_solution_costs_more(
    instance: Instance, seed: int, data: st.DataObject
) -> None:
    state, taken = some_removed(instance, seed, data)
    customer = data.draw(st.sampled_from(taken))
    before = solution_in(state, instance).cost
    options = [slot for slot in slots(state) if may_fit(state, customer, slot)]
    opening, vehicle = best_opening(state, customer)
    joins: bool = data.draw(st.booleans())
    if options and joins:
        slot = data.draw(st.sampled_from(options))
        cost, place = best_insertion(state, customer, slot)
        insert(state, customer, slot, place)
    else:
        cost = opening
        insert(state, customer, open_route(state, vehicle), 0)
    assert solution_in(state, instance).cost - before == close(cost)


@settings(deadline=None, max_examples=80)
@given(several, st.integers(0, 1000), st.data())
def test_a_known_best_place_is_renewed_after_somebody_was_inserted(
    instance: Instance, seed: int, data: st.DataObject
) -> None:
    state, taken = some_removed(instance, seed, data)
    slot = data.draw(st.sampled_from(slots(state)))
    known = {customer: best_insertion(state, customer, slot) for customer in taken}
    inserted = data.draw(st.sampled_from(taken))
    place = data.draw(st.sampled_from([0, *route_in(state, slot)]))
    insert(state, inserted, slot, place)
    for customer in taken:
        if customer == inserted:
            continue
        costs = costs_of_places(instance, route_in(state, slot), customer)
        if known[customer][0] == math.inf:
            # Who had no room before has none now.
            assert min(costs.values()) == math.inf
        found, where = renew_best(state, customer, slot, inserted, *known[customer])
        assert found == close(min(costs.values()))
        if found < math.inf:
            assert costs[where] == close(found)


def test_a_route_just_opened_has_no_known_place() -> None:
    state, _ = on_a_line([1], [2], [3], places=[1.0, 5.0, -2.0])
    for customer in (1, 2):
        remove(state, customer)
    slot = int(open_route(state))
    insert(state, 1, slot, 0)
    assert renew_best(state, 2, slot, 1, np.inf, 0) == best_insertion(state, 2, slot)


def test_gain_insertion_and_opening_cost_on_a_line() -> None:
    state, _ = on_a_line([1, 2], [3], places=[1.0, 5.0, -2.0], vehicle_cost=7.0)
    assert state.cost == 10.0 + 4.0 + 2 * 7.0
    assert removal(state, 1) == 0.0
    assert removal(state, 2) == 8.0
    assert best_opening(state, 2) == (17.0, 0)
    remove(state, 2)
    assert state.cost == 2.0 + 4.0 + 14.0
    cost, after = best_insertion(state, 2, 0)
    assert (cost, after) == (8.0, 0)
    remove(state, 3)
    assert state.cost == 2.0 + 7.0


def test_best_insertion_respects_the_direction_of_asymmetric_distances() -> None:
    matrix = np.array([[0.0, 1, 9, 9], [1, 0, 1, 9], [9, 50, 0, 1], [1, 9, 9, 0]])
    instance = Instance("one way", [0, 1, 1, 1], 3, matrix=matrix)
    state = new_state(instance, 0, solution=Solution(instance, [[1, 3], [2]]))
    remove(state, 2)
    assert best_insertion(state, 2, 0) == (1.0 + 1.0 - 9.0, 1)


@settings(deadline=None, max_examples=40)
@given(several, st.integers(0, 1000), st.data())
def test_a_place_that_costs_no_less_than_the_bound_is_none(instance: Instance, seed: int, data: st.DataObject) -> None:
    state, taken = some_removed(instance, seed, data)
    for customer in taken:
        for slot in slots(state):
            best = best_insertion(state, customer, slot)
            if best[0] == math.inf:
                continue
            assert best_insertion(state, customer, slot, best[0])[0] == math.inf
            assert best_insertion(state, customer, slot, best[0] + 1.0) == best


@pytest.mark.parametrize("limit", [instance_module.MATRIX_LIMIT, 1])
@pytest.mark.parametrize("rate", [0.0, 0.3, 1.0])
def test_places_are_overlooked_as_often_as_asked_for(monkeypatch: pytest.MonkeyPatch, limit: int, rate: float) -> None:
    # Places of 3 on the route 1, 2, from its start on, cost 18, 16 and 8: each is better than those before.
    monkeypatch.setattr(instance_module, "MATRIX_LIMIT", limit)
    instance = Instance("bend", [0.0] + [1.0] * 3, 9, [[0, 0], [10, 0], [10, 10], [0, 12]], rounding="round")
    assert (instance.distances is None) == (limit == 1)
    state = new_state(instance, 5, solution=Solution(instance, [[1, 2], [3]]))
    remove(state, 3)
    slot = int(state.route[1])
    costs = [float(insertion(state, 3, slot, place)) for place in (0, 1, 2)]
    assert costs == [18.0, 16.0, 8.0]
    found = [overlooked(state, 3, slot, rate)[0] for _ in range(3000)]
    expected = [(1 - rate) * rate**2, (1 - rate) * rate, 1 - rate, rate**3]
    assert [found.count(cost) / 3000 for cost in (*costs, math.inf)] == pytest.approx(expected, abs=0.04)


def test_a_random_place_is_uniform() -> None:
    state, _ = on_a_line([2, 1, 3], [4], places=[1.0, 2.0, 3.0, 4.0])
    draws = [random_position(state, 4, state.route[1]) for _ in range(4000)]
    assert [draws.count(place) for place in (0, 2, 1, 3)] == pytest.approx([1000] * 4, abs=120)
    assert len(set(draws)) == 4


# --- Removals, openings and joins. -----------------------------------------------------------------------------------


@settings(deadline=None, max_examples=60)
@given(random_instances(most=12), st.integers(0, 1000))
def test_a_removal_saves_what_the_solution_costs_less(instance: Instance, seed: int) -> None:
    state, start = started(instance, seed)
    for route in start.routes:
        for customer in route:
            rest = [other for other in route if other != customer]
            saved = length(instance, list(route)) - length(instance, rest)
            assert removal(state, customer) == close(saved)


@settings(deadline=None, max_examples=40)
@given(random_instances(most=12), st.integers(0, 1000))
def test_an_opening_costs_a_route_of_its_own(instance: Instance, seed: int) -> None:
    state, _ = started(instance, seed)
    for customer in range(1, instance.customers + 1):
        cost, vehicle = best_opening(state, customer)
        assert cost == close(Solution(instance, [[customer]]).cost)
        assert vehicle == 0


@settings(deadline=None, max_examples=60)
@given(random_instances(most=10), st.integers(0, 1000))
def test_a_join_is_as_long_as_the_route_it_makes(instance: Instance, seed: int) -> None:
    state, start = started(instance, seed)
    beginnings = [[], *(list(route[: place + 1]) for route in start.routes for place in range(len(route)))]
    ends = [[], *(list(route[place:]) for route in start.routes for place in range(len(route)))]
    for beginning in beginnings:
        for end in ends:
            joined = [*beginning, *end]
            if len(set(joined)) < len(joined):
                continue
            found = join(state, beginning[-1] if beginning else 0, end[0] if end else 0)
            expected = length(instance, joined) if fits(instance, joined) else math.inf
            assert found == close(expected)


# --- Limits. ---------------------------------------------------------------------------------------------------------


def test_a_customer_fits_up_to_the_capacity() -> None:
    instance = Instance("tight", [0, 4, 6, 7], 10, [[0, 0], [1, 0], [2, 0], [3, 0]])
    state = new_state(instance, 0, solution=Solution(instance, [[1], [2], [3]]))
    assert may_fit(state, 2, 0)
    assert not may_fit(state, 3, 0)


def test_fractional_demands_fit_that_add_up_to_the_capacity() -> None:
    instance = Instance("tenths", [0, 0.1, 0.2, 0.3], 0.6, [[0, 0], [1, 0], [2, 0], [3, 0]])
    state = new_state(instance, 0, solution=Solution(instance, [[1, 2], [3]]))
    # In floats 0.1 + 0.2 + 0.3 is more than 0.6.
    slot = int(state.route[1])
    assert may_fit(state, 3, slot)
    remove(state, 3)
    insert(state, 3, slot, 1)
    assert keeps_limits(state, slot)
    assert solution_in(state, instance).feasible


@settings(deadline=None, max_examples=40)
@given(several, st.integers(0, 1000), st.data())
def test_a_route_that_can_take_none_of_the_removed_is_known(instance: Instance, seed: int, data: st.DataObject) -> None:
    state, taken = some_removed(instance, seed, data)
    least = least_need(state)
    for slot in slots(state):
        if not may_take(state, slot, least):
            assert all(best_insertion(state, customer, slot)[0] == math.inf for customer in taken)
        else:
            assert any(may_fit(state, customer, slot) for customer in taken)


def test_an_overloaded_route_does_not_keep_its_limits() -> None:
    instance = Instance("tight", [0, 4, 6, 7], 10, [[0, 0], [1, 0], [2, 0], [3, 0]])
    state = new_state(instance, 0, solution=Solution(instance, [[1, 2], [3]]))
    slot = int(state.route[1])
    assert keeps_limits(state, slot)
    remove(state, 3)
    insert(state, 3, slot, 0)
    assert not keeps_limits(state, slot)


def test_every_customer_must_be_served() -> None:
    state, _ = on_a_line([1, 2], [3], places=[1.0, 5.0, -2.0])
    assert [penalty(state, customer) for customer in (1, 2, 3)] == [math.inf] * 3


# --- Distances and books. --------------------------------------------------------------------------------------------


def test_distances_computed_on_demand_equal_the_matrix(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(5)
    points = rng.uniform(0, 50, size=(12, 2))
    for rounding in ("none", "round", "trunc", "dimacs"):
        instance = Instance("plane", [0.0] + [1.0] * 11, 5, points, rounding=rounding)
        held, start = started(instance, 3, history=False)
        monkeypatch.setattr(instance_module, "MATRIX_LIMIT", 1)
        wide = Instance("plane", [0.0] + [1.0] * 11, 5, points, rounding=rounding)
        assert wide.distances is None
        computed = new_state(wide, 3, solution=Solution(wide, start.routes))
        monkeypatch.undo()
        for tail in range(12):
            for head in range(12):
                assert distance(computed, tail, head) == distance(held, tail, head)
        remove(held, 4)
        remove(computed, 4)
        assert best_insertion(computed, 4, 0) == best_insertion(held, 4, 0)


@settings(deadline=None, max_examples=30)
@given(random_instances(most=12), st.integers(0, 1000))
def test_distances_are_those_of_the_instance(instance: Instance, seed: int) -> None:
    state, _ = started(instance, seed)
    for tail in range(instance.customers + 1):
        for head in range(instance.customers + 1):
            if tail != head:
                assert distance(state, tail, head) == instance.distance(tail, head)
        assert distance(state, tail, tail) == 0.0


def test_books_are_made_anew_from_the_routes() -> None:
    state, start = on_a_line([1, 2], [3], places=[1.0, 5.0, -2.0], vehicle_cost=7.0)
    one, other = int(state.route[1]), int(state.route[3])
    state.cost = 1e6
    state.load[[one, other]] = 50.0
    state.length[[one, other]] = -3.0
    recompute(state)
    assert state.cost == start.cost == 28.0
    assert state.load[[one, other]].tolist() == [2.0, 1.0]
    assert state.length[[one, other]].tolist() == [10.0, 4.0]


# --- Windows, durations, limits on routes and vehicles: infinite exactly where a rule breaks. ------------------------


def cost_by_rules(instance: Instance, route: list[int]) -> float:
    """What a route costs, without its vehicle; infinite if it breaks a rule, nothing if it is empty."""
    if not route:
        return 0.0
    solution = Solution(instance, [route])
    return solution.cost - instance.vehicle_cost if not solution.broken_rules() else math.inf


def costs_by_rules(instance: Instance, route: list[int], customer: int) -> dict[int, float]:
    """What inserting a customer costs at each place of a route that keeps all rules."""
    bare = cost_by_rules(instance, route)
    return {
        place: cost_by_rules(instance, [*route[:number], customer, *route[number:]]) - bare
        for number, place in enumerate([0, *route])
    }


def some_out(instance: Instance, seed: int, data: st.DataObject) -> tuple[State, list[int]]:
    """Routes from which some customers were removed, who may have made them late; and all who are on none."""
    start = some_routes(instance, seed)
    state = new_state(instance, seed, solution=start)
    served = [customer for route in start.routes for customer in route]
    for customer in data.draw(st.lists(st.sampled_from(served), unique=True)) if served else []:
        remove(state, customer)
    return state, [c for c in range(1, instance.customers + 1) if state.route[c] < 0 and state.servable[c]]


def on_time(state: State, instance: Instance) -> list[int]:
    """The slots whose routes keep all rules as they are: where a detour saves time, a removal can make one late."""
    return [slot for slot in slots(state) if cost_by_rules(instance, route_in(state, slot)) < math.inf]


@settings(deadline=None, max_examples=300)
@given(costly_instances(), st.integers(0, 1000), st.data())
def test_insertions_cost_what_they_add_and_are_allowed_where_no_rule_breaks(
    instance: Instance, seed: int, data: st.DataObject
) -> None:
    state, out = some_out(instance, seed, data)
    for slot in on_time(state, instance):
        route = route_in(state, slot)
        assert keeps_limits(state, slot)
        for customer in out:
            costs = costs_by_rules(instance, route, customer)
            for place, expected in costs.items():
                assert insertion(state, customer, slot, place) == close(expected)
            found, place = best_insertion(state, customer, slot)
            assert found == close(min(costs.values()))
            if found < math.inf:
                assert costs[place] == close(found)
            for other in route:
                found, place = beside(state, customer, other)
                before = (0, *route)[route.index(other)]
                assert found == close(min(costs[other], costs[before]))
                if found < math.inf:
                    assert costs[place] == close(found)
            allowed = {place for place, expected in costs.items() if expected < math.inf}
            drawn = {int(random_position(state, customer, slot)) for _ in range(8 * len(costs))}
            if instance.timed or instance.max_distance is not None or instance.distance_cost != 1:
                assert drawn <= (allowed or {-1})
            if not allowed:
                assert drawn == {-1}


@settings(deadline=None, max_examples=60)
@given(costly_instances(), st.integers(0, 1000))
def test_computed_distances_give_the_places_of_a_matrix(instance: Instance, seed: int) -> None:
    plane = replace(instance, matrix=None, durations=None)
    start = some_routes(plane, seed)
    held = new_state(plane, seed, solution=start)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(instance_module, "MATRIX_LIMIT", 1)
        wide = replace(plane)
        assert wide.distances is None
        computed = new_state(wide, seed, solution=Solution(wide, start.routes))
    assert held.cost == computed.cost
    for customer in start.unserved:
        assert best_opening(held, customer) == best_opening(computed, customer)
        for slot in slots(held):
            assert best_insertion(held, customer, slot) == best_insertion(computed, customer, slot)


@settings(deadline=None, max_examples=100)
@given(costly_instances(), st.integers(0, 1000), st.data())
def test_a_known_best_place_in_time_is_renewed_after_somebody_was_inserted(
    instance: Instance, seed: int, data: st.DataObject
) -> None:
    state, out = some_out(instance, seed, data)
    for slot in on_time(state, instance):
        route = route_in(state, slot)
        for inserted in out:
            known = {customer: best_insertion(state, customer, slot) for customer in out}
            if state.route[inserted] >= 0 or known[inserted][0] == math.inf:
                continue
            # Removed customers are on the list; those left out are in the bank, and not inserted here.
            if inserted not in state.removed[: state.n_removed].tolist():
                continue
            insert(state, inserted, slot, known[inserted][1])
            route = route_in(state, slot)
            for customer in out:
                if state.route[customer] < 0:
                    costs = costs_by_rules(instance, route, customer)
                    found, place = renew_best(state, customer, slot, inserted, *known[customer])
                    assert found == close(min(costs.values()))
                    assert found == math.inf or costs[place] == close(found)


@settings(deadline=None, max_examples=150)
@given(costly_instances(), st.integers(0, 1000), st.data())
def test_an_opening_costs_a_route_of_its_own_while_there_are_vehicles(
    instance: Instance, seed: int, data: st.DataObject
) -> None:
    state, out = some_out(instance, seed, data)
    for customer in out:
        found, vehicle = best_opening(state, customer)
        expected = cost_by_rules(instance, [customer]) + instance.vehicle_cost
        if instance.vehicles is not None and len(slots(state)) >= instance.vehicles:
            expected = math.inf
        assert (found, vehicle) == (close(expected), 0)


@settings(deadline=None, max_examples=150)
@given(costly_instances(), st.integers(0, 1000))
def test_a_removal_saves_what_the_route_costs_less(instance: Instance, seed: int) -> None:
    start = some_routes(instance, seed)
    state = new_state(instance, seed, solution=start)
    for route in start.routes:
        for customer in route:
            rest = [other for other in route if other != customer]
            found = removal(state, customer)
            if cost_by_rules(instance, rest) < math.inf:
                assert found == close(cost_by_rules(instance, list(route)) - cost_by_rules(instance, rest))
            assert math.isfinite(found)


@settings(deadline=None, max_examples=100)
@given(costly_instances(), st.integers(0, 1000))
def test_a_join_is_as_long_as_the_route_it_makes_if_that_keeps_all_rules(instance: Instance, seed: int) -> None:
    start = some_routes(instance, seed)
    state = new_state(instance, seed, solution=start)
    beginnings = [[], *(list(route[: place + 1]) for route in start.routes for place in range(len(route)))]
    ends = [[], *(list(route[place:]) for route in start.routes for place in range(len(route)))]
    for beginning in beginnings:
        for end in ends:
            joined = [*beginning, *end]
            if joined and len(set(joined)) == len(joined):
                found = join(state, beginning[-1] if beginning else 0, end[0] if end else 0)
                allowed = cost_by_rules(instance, joined) < math.inf
                assert found == close(Solution(instance, [joined]).length if allowed else math.inf)


@settings(deadline=None, max_examples=150)
@given(costly_instances(), st.integers(0, 1000), st.data())
def test_a_route_that_any_edits_made_is_judged_as_from_outside(
    instance: Instance, seed: int, data: st.DataObject
) -> None:
    state, _ = some_out(instance, seed, data)
    removed = state.removed[: state.n_removed].tolist()
    for customer in removed:
        options = [(slot, place) for slot in slots(state) for place in (0, *route_in(state, slot))]
        joins: bool = data.draw(st.booleans())
        if options and joins:
            insert(state, customer, *data.draw(st.sampled_from(options)))
        else:
            insert(state, customer, open_route(state), 0)
    for slot in slots(state):
        route = route_in(state, slot)
        allowed = cost_by_rules(instance, route) < math.inf
        assert keeps_limits(state, slot) == allowed
        if instance.demands[route].sum() <= instance.capacity:
            assert is_on_time(state, slot) == allowed


def test_a_place_behind_one_that_is_too_far_is_found_where_detours_save_time() -> None:
    # From the depot customer 3 is reached at 50, too late; from 1, which is reached at 1, at 2.
    durations = np.full((4, 4), 50.0)
    durations[0, 1] = durations[1, 3] = durations[3, 2] = durations[2, 0] = durations[1, 2] = 1.0
    instance = Instance(
        "detour", [0, 1, 1, 1], 9, [[0, 0], [1, 0], [2, 0], [3, 0]], durations=durations,
        windows=[[0, 99], [0, 99], [0, 99], [0, 9]],
    )  # fmt: skip
    state = new_state(instance, 0, solution=Solution(instance, [[1, 2]]))
    slot = int(state.route[1])
    assert best_insertion(state, 3, slot) == (2.0, 1)
    assert insertion(state, 3, slot, 0) == math.inf
    # The same with one matrix, alike in both directions, for distances and durations.
    matrix = np.minimum(durations, durations.T)
    alike = Instance("alike", [0, 1, 1, 1], 9, matrix=matrix, windows=instance.windows)
    state = new_state(alike, 0, solution=Solution(alike, [[1, 2]]))
    assert state.lookup == ONE_TABLE
    assert best_insertion(state, 3, int(state.route[1])) == (1.0, 1)


def test_a_removal_that_makes_a_route_late_saves_its_way_and_no_time() -> None:
    # Straight from the depot customer 2 is reached at 50, after its window; by 1 at 2.
    durations = np.full((3, 3), 50.0)
    durations[0, 1] = durations[1, 2] = durations[2, 0] = 1.0
    for price in (0.0, 1.0):
        instance = Instance(
            "detour", [0, 1, 1], 9, [[0, 0], [0, 3], [4, 0]], durations=durations, max_duration=90, duration_cost=price,
            windows=[[0, 99], [0, 99], [0, 9]],
        )  # fmt: skip
        state = new_state(instance, 0, solution=Solution(instance, [[1, 2]]))
        assert removal(state, 1) == 3.0 + 5.0 - 4.0
        remove(state, 1)
        assert not keeps_limits(state, int(state.route[2]))
        # It counts as if there were no windows.
        assert state.cost == 8.0 + price * 51.0


@settings(deadline=None, max_examples=80)
@given(costly_instances(), st.integers(0, 1000), st.data())
def test_a_customer_is_served_as_early_as_can_be(instance: Instance, seed: int, data: st.DataObject) -> None:
    state, _ = some_out(instance, seed, data)
    for slot in slots(state):
        now, before = float(instance.earliest[0]), 0
        for customer in route_in(state, slot):
            way = instance.times if instance.timed else instance.legs
            arrival = now + float(way([before], [customer])[0])
            start = max(arrival, float(instance.earliest[customer]))
            assert start_of_service(state, customer) == close(start)
            off = abs(arrival - instance.earliest[customer]) if has_windows(state) else 0.0
            assert off_opening(state, customer) == close(off)
            now, before = start + float(instance.services[customer]), customer


def test_times_without_windows_are_those_of_the_routes_after_an_undo() -> None:
    state, _ = on_a_line([1, 2], [3], places=[1.0, 5.0, -2.0])
    checkpoint(state)
    assert [start_of_service(state, customer) for customer in (1, 2, 3)] == [1.0, 5.0, 2.0]
    remove(state, 1)
    insert(state, 1, state.route[2], 2)
    assert [start_of_service(state, customer) for customer in (2, 1)] == [5.0, 9.0]
    undo(state)
    assert [start_of_service(state, customer) for customer in (1, 2, 3)] == [1.0, 5.0, 2.0]


@settings(deadline=None, max_examples=100)
@given(costly_instances(), st.integers(0, 1000), st.data())
def test_beside_everybody_is_everywhere(instance: Instance, seed: int, data: st.DataObject) -> None:
    state, out = some_out(instance, seed, data)
    slots = [slot for slot in state.active[: state.n_active].tolist() if state.size[slot] > 0]
    for customer in out:
        everywhere = min((best_insertion(state, customer, slot)[0] for slot in slots), default=math.inf)
        cost, slot, place = best_near(state, customer, 100, math.inf, 0.0)
        assert cost == close(everywhere)
        if cost < math.inf:
            assert insertion(state, customer, slot, place) == close(cost)
            assert best_near(state, customer, 100, cost, 0.0)[:2] == (math.inf, -1)
        assert best_near(state, customer, 1, math.inf, 0.0)[0] >= cost
