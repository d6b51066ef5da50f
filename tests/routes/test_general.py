"""The general way of evaluating routes, against routes built one by one and judged by `Solution`."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from fleets import cost_of_route, general_instance, general_instances, insertions, other_ends, some_general_routes
from neuralns import Group, Instance, Profile, Solution, VehicleType
from neuralns.compiled.random import seed_generator
from neuralns.problem.solution import out_of_limits
from neuralns.routes.bounds import charged_cost
from neuralns.routes.edits import (
    bank_removed,
    charge_for_removed,
    close_empty_routes,
    insert,
    open_route,
    remove,
    take_from_bank,
    undo,
)
from neuralns.routes.evaluate import (
    best_insertion,
    best_near,
    best_opening,
    insertion,
    is_on_time,
    join,
    least_to_come,
    may_fit,
    prepare,
    random_position,
    reassign_vehicles,
    recompute,
    removal,
    renew,
)
from neuralns.routes.journal import checkpoint
from neuralns.routes.layout import FIELDS
from neuralns.routes.transfer import State, copy_routes, new_state, solution_of
from neuralns.routes.vehicles import AS_THEY_ARE, CHEAPEST, LARGEST_TYPE
from prices import at_prices

SIZINGS = CHEAPEST, AS_THEY_ARE, LARGEST_TYPE


def close(value: float) -> Any:
    return pytest.approx(value, rel=1e-9, abs=1e-7)


def slots(state: State) -> list[int]:
    """The slots with customers."""
    return [int(slot) for slot in state.active[: state.n_active] if state.size[slot] > 0]


def route_in(state: State, slot: int) -> tuple[int, ...]:
    found, node = [], int(state.first[slot])
    while node:
        found.append(node)
        node = int(state.successor[node])
    return tuple(found)


def listed(state: State) -> list[int]:
    """The requests on the removal list."""
    return [int(node) for node in state.removed[: state.n_removed]]


def waiting(state: State) -> list[int]:
    """The requests in the bank that are not on the removal list as well."""
    return [int(node) for node in state.bank[: state.n_bank - state.n_taken]]


def some_removed(instance: Instance, seed: int, sizing: int = CHEAPEST) -> State:
    """A state in the middle of a step: some requests were removed, and those who were left out are on the list too."""
    rng = np.random.default_rng(seed)
    state = new_state(instance, seed, solution=some_general_routes(instance, seed))
    for customer in range(1, instance.customers + 1):
        if state.route[customer] >= 0 and rng.random() < 0.3:
            remove(state, customer)
    take_from_bank(state)
    state.sizing = sizing
    return state


def shuffle(state: State, instance: Instance, rng: np.random.Generator, moves: int) -> None:
    """Remove and insert requests at any places, whether they are allowed there or not."""
    for _ in range(moves):
        out, on = listed(state), slots(state)
        if on and (not out or rng.random() < 0.4):
            remove(state, int(rng.choice(route_in(state, int(rng.choice(on))))))
        elif out:
            request = int(rng.choice(out))
            if on and rng.random() < 0.7:
                slot = int(rng.choice(on))
                places = [place for place, _ in insertions(instance, route_in(state, slot), request)]
                insert(state, request, slot, int(rng.choice(places)))
            else:
                insert(state, request, open_route(state, int(rng.integers(len(instance.types)))), 0)


def others_allow(state: State, instance: Instance, request: int, vehicle: int) -> bool:
    """Whether groups and the depot of a type of vehicle allow one more request."""
    routes = solution_of(state, instance)
    group = next((each for each in instance.groups or () if request in each.members), None)
    if group is not None and any(set(group.members) & set(route) for route in routes.routes):
        return False
    start = instance.types[vehicle].start
    if start is None or instance.depots is None:
        return True
    capacity = instance.depots[instance.depot_nodes.index(start)].capacity
    given = instance.amounts[0][request].copy()
    for route, other in zip(routes.routes, routes.vehicles, strict=True):
        if instance.types[other].start == start:
            given += instance.amounts[0][list(route)].sum(axis=0)
    return capacity is None or bool((given <= np.array(capacity) * (1 + 1e-9)).all())


def free_types(state: State, slot: int) -> list[int]:
    """The types of a route's class that it may have: its own first, and those that are free, unless sizes are kept."""
    own = int(state.vehicle[slot])
    others = [
        vehicle
        for vehicle in range(len(state.used))
        if vehicle != own
        and state.class_begin[vehicle] == state.class_begin[own]
        and state.used[vehicle] < state.available[vehicle]
        and state.sizing == CHEAPEST
    ]
    return [own, *others]


def costs_by_hand(state: State, instance: Instance, request: int, slot: int) -> dict[int, dict[int, float]]:
    """What a request costs at each place of a route, by type of vehicle, as far as it is allowed."""
    route, vehicles = route_in(state, slot), free_types(state, slot)
    before = cost_of_route(instance, route, vehicles[0])
    allowed = others_allow(state, instance, request, vehicles[0])
    found = {}
    for place, longer in insertions(instance, route, request):
        costs = {vehicle: cost_of_route(instance, longer, vehicle) - before for vehicle in vehicles}
        found[place] = {vehicle: cost for vehicle, cost in costs.items() if allowed and cost < math.inf}
    return found


def keeps_rules(state: State, instance: Instance, slot: int) -> bool:
    return not out_of_limits(instance, 1, route_in(state, slot), int(state.vehicle[slot]))


@settings(deadline=None, max_examples=300)
@given(general_instances(), st.integers(0, 1000), st.sampled_from(SIZINGS))
def test_insertions_are_allowed_and_cost_what_the_route_costs_more(instance: Instance, seed: int, sizing: int) -> None:
    state = some_removed(instance, seed, sizing)
    for slot in slots(state):
        assert is_on_time(state, slot) == keeps_rules(state, instance, slot)
        if not keeps_rules(state, instance, slot):
            continue
        own = int(state.vehicle[slot])
        for request in listed(state):
            costs = costs_by_hand(state, instance, request, slot)
            allowed = {place for place, by_type in costs.items() if by_type}
            assert may_fit(state, request, slot) or not allowed
            for place, by_type in costs.items():
                assert insertion(state, request, slot, place) == close(min(by_type.values(), default=math.inf))
            found, place = best_insertion(state, request, slot)
            least = min((by_type[own] for by_type in costs.values() if own in by_type), default=math.inf)
            assert found <= least + 1e-7 * max(1.0, abs(least))
            if found < math.inf:
                assert any(found == close(cost) for cost in costs[place].values())
                little = 1e-6 * max(1.0, abs(found))
                assert best_insertion(state, request, slot, found - little)[0] == math.inf
                assert best_insertion(state, request, slot, found + little) == (close(found), place)
            drawn = {int(random_position(state, request, slot)) for _ in range(3 * len(costs))}
            assert drawn <= (allowed or {-1})


@settings(deadline=None, max_examples=80)
@given(general_instances(), st.integers(0, 1000), st.sampled_from(SIZINGS), st.integers(1, 40))
def test_a_place_beside_those_nearby_is_allowed(instance: Instance, seed: int, sizing: int, count: int) -> None:
    state = some_removed(instance, seed, sizing)
    for request in listed(state):
        found, slot, place = best_near(state, request, count, math.inf, 0.0)
        if found == math.inf:
            assert slot == -1
        elif keeps_rules(state, instance, slot):
            costs = costs_by_hand(state, instance, request, slot)
            assert any(found == close(cost) for cost in costs[place].values())


@settings(deadline=None, max_examples=150)
@given(general_instances(), st.integers(0, 1000), st.booleans())
def test_an_opening_costs_the_cheapest_route_of_its_own(instance: Instance, seed: int, largest: bool) -> None:
    state = some_removed(instance, seed, LARGEST_TYPE if largest else CHEAPEST)
    routes = solution_of(state, instance)
    for request in listed(state):
        route = [request, *([other_ends(instance)[request]] if request in other_ends(instance) else [])]
        costs = {}
        for vehicle, vehicle_type in enumerate(instance.types):
            free = vehicle_type.available is None or routes.vehicles.count(vehicle) < vehicle_type.available
            if free and others_allow(state, instance, request, vehicle):
                more = Solution(instance, [*routes.routes, route], [*routes.vehicles, vehicle])
                if not out_of_limits(instance, 1, route, vehicle):
                    costs[vehicle] = more.cost - more.lost - (routes.cost - routes.lost)
        found, vehicle = best_opening(state, request)
        if largest and costs:
            assert found == close(costs[vehicle])
        else:
            assert found == close(min(costs.values(), default=math.inf))
            assert found == math.inf or costs[vehicle] == close(found)


@settings(deadline=None, max_examples=150)
@given(general_instances(), st.integers(0, 1000))
def test_a_removal_saves_what_the_route_costs_less(instance: Instance, seed: int) -> None:
    start = some_general_routes(instance, seed)
    state = new_state(instance, seed, solution=start)
    for route, vehicle in zip(start.routes, start.vehicles, strict=True):
        for customer in route:
            pair = {customer, int(state.partner[customer])}
            rest = [other for other in route if other not in pair]
            found, after = removal(state, customer), cost_of_route(instance, rest, vehicle)
            assert math.isfinite(found)
            if after < math.inf:
                fixed = instance.types[0].fixed_cost if not rest and state.varied == 0 else 0.0
                assert found == close(cost_of_route(instance, route, vehicle) - after - fixed)


@settings(deadline=None, max_examples=100)
@given(general_instances(most=7), st.integers(0, 1000))
def test_a_join_is_as_long_as_the_route_it_makes_if_that_keeps_all_rules(instance: Instance, seed: int) -> None:
    start = some_general_routes(instance, seed)
    state = new_state(instance, seed, solution=start)
    pairs = list(zip(start.routes, start.vehicles, strict=True))
    beginnings = [((), -1), *((route[: place + 1], vehicle) for route, vehicle in pairs for place in range(len(route)))]
    ends = [((), -1), *((route[place:], vehicle) for route, vehicle in pairs for place in range(len(route)))]
    for beginning, first in beginnings:
        for end, second in ends:
            joined = (*beginning, *end)
            if not joined or len(set(joined)) < len(joined):
                continue
            vehicle = first if beginning else second
            whole = all(
                (each.pickup in joined) == (each.delivery in joined)
                and (each.pickup not in joined or joined.index(each.pickup) < joined.index(each.delivery))
                for each in instance.shipments or ()
            )
            allowed = whole and cost_of_route(instance, joined, vehicle) < math.inf
            expected = Solution(instance, [joined], [vehicle]).length if allowed else math.inf
            assert join(state, beginning[-1] if beginning else 0, end[0] if end else 0) == close(expected)


def uncharged(state: State) -> float:
    """The cost of routes in the middle of a step, without those whom no repair tries."""
    return float(state.cost - sum(state.prize[request] for request in waiting(state)))


def compare_books(state: State, instance: Instance) -> None:
    routes = solution_of(state, instance)
    fresh = new_state(instance, 0, solution=routes)
    take_from_bank(fresh)
    assert uncharged(state) == close(uncharged(fresh))
    assert sorted(listed(state) + waiting(state)) == sorted(listed(fresh) + waiting(fresh))
    assert (state.n_routes, state.fault) == (fresh.n_routes, 0)
    for name in ("used", "depot_use", "group_count"):
        assert getattr(state, name).tolist() == getattr(fresh, name).tolist(), name
    assert state.depot_load == close(fresh.depot_load)
    for route, slot in zip(routes.routes, (int(state.route[route[0]]) for route in routes.routes), strict=True):
        other = int(fresh.route[route[0]])
        assert route_in(state, slot) == route_in(fresh, other)
        for name in ("size", "load", "length", "duration", "vehicle", "route_cost", "entry"):
            assert getattr(state, name)[slot] == close(getattr(fresh, name)[other]), name
        assert bool(is_on_time(state, slot)) == keeps_rules(state, instance, slot)
    if not any(out_of_limits(instance, 1, *each) for each in zip(routes.routes, routes.vehicles, strict=True)):
        assert uncharged(state) - state.lost == close(routes.cost - routes.lost)


@settings(deadline=None, max_examples=100)
@given(general_instances(most=15), st.integers(0, 1000), st.sampled_from(SIZINGS))
def test_books_stay_right_under_any_edits(instance: Instance, seed: int, sizing: int) -> None:
    state, rng = some_removed(instance, seed, sizing), np.random.default_rng(seed)
    compare_books(state, instance)
    for _ in range(4):
        shuffle(state, instance, rng, 3)
        compare_books(state, instance)
    reassign_vehicles(state)
    compare_books(state, instance)


_UNORDERED = "active", "free", "bank", "bank_index", "history", "depot_load"


def snapshot(state: State) -> dict[str, Any]:
    """All that an undo brings back or a copy takes along; of slots, those in use, with what is derived of them."""
    used = sorted(state.active[: state.n_active].tolist())
    for slot in used:
        if state.dirty[slot]:
            renew(state, slot)
    found: dict[str, Any] = {"used slots": used}
    for field in FIELDS:
        if (field.journalled or field.copied) and field.name not in _UNORDERED:
            value = getattr(state, field.name)
            if field.per == "slot":
                value = value[used]
            elif field.per == "load":
                value = value[: len(state.size) * state.goods].reshape(len(state.size), -1)[used]
            found[field.name] = value.tolist() if isinstance(value, np.ndarray) else value
    bank = state.bank[: state.n_bank].tolist()
    assert [bank.index(node) for node in bank] == state.bank_index[bank].tolist()
    assert (state.bank_index >= 0).sum() == len(bank)
    return found | {"bank": sorted(bank)}


@settings(deadline=None, max_examples=100)
@given(general_instances(most=15), st.integers(0, 1000))
def test_an_undo_brings_back_everything_to_the_bit(instance: Instance, seed: int) -> None:
    rng = np.random.default_rng(seed)
    start = some_general_routes(instance, seed)
    state = new_state(instance, seed, solution=start)
    for _ in range(2):
        before, depots = snapshot(state), state.depot_load.copy()
        checkpoint(state)
        for customer in range(1, instance.customers + 1):
            if state.route[customer] >= 0 and rng.random() < 0.3:
                remove(state, customer)
        prepare(state)
        take_from_bank(state)
        shuffle(state, instance, rng, 6)
        if rng.random() < 0.5:
            reassign_vehicles(state)
            charge_for_removed(state)
        undo(state)
        assert snapshot(state) == before
        assert state.depot_load == close(depots)
    # What is asked after the undo is answered as before the edits.
    fresh = new_state(instance, seed, solution=start)
    state.sizing = CHEAPEST
    for request in fresh.bank[: fresh.n_bank].tolist():
        for route in start.routes:
            found, known = (best_insertion(each, request, each.route[route[0]]) for each in (state, fresh))
            assert found == known


@settings(deadline=None, max_examples=100)
@given(general_instances(most=15), st.integers(0, 1000))
def test_a_solution_comes_out_as_it_went_in_and_costs_the_same(instance: Instance, seed: int) -> None:
    start = some_general_routes(instance, seed)
    state = new_state(instance, seed, solution=start)
    found = solution_of(state, instance)
    assert (found.routes, found.vehicles) == (start.routes, start.vehicles)
    groups = sum(
        group.required and not any(set(group.members) & set(route) for route in start.routes)
        for group in instance.groups or ()
    )
    charged = len(set(start.unserved) & {int(node) for node in state.bank[: state.n_bank]})
    assert state.cost == close(start.cost + state.unserved_cost * charged) or groups
    assert state.cost == close(charged_cost(start))
    cost = state.cost
    recompute(state)
    assert state.cost == close(cost)
    assert state.unserved_cost > start.cost


@settings(deadline=None, max_examples=60)
@given(general_instances(most=15), st.integers(0, 1000))
def test_a_copy_has_the_same_routes_and_books(instance: Instance, seed: int) -> None:
    source = new_state(instance, seed, solution=some_general_routes(instance, seed))
    target = new_state(instance, seed + 1, solution=some_general_routes(instance, seed + 1))
    shuffle(target, instance, np.random.default_rng(seed), 3)
    copy_routes(source, target)
    assert snapshot(target) == snapshot(source)
    assert (target.depot_load == source.depot_load).all()
    for state in (source, target):
        seed_generator(state, np.uint64(seed))
        checkpoint(state)
        take_from_bank(state)
        shuffle(state, instance, np.random.default_rng(seed), 5)
        compare_books(state, instance)
    assert target.cost == source.cost
    assert solution_of(target, instance).vehicles == solution_of(source, instance).vehicles


@settings(deadline=None, max_examples=100)
@given(general_instances(most=12), st.integers(0, 1000))
def test_the_bank_holds_who_is_left_out_after_a_step(instance: Instance, seed: int) -> None:
    state = new_state(instance, seed, solution=some_general_routes(instance, seed))
    rng = np.random.default_rng(seed)
    for _ in range(3):
        checkpoint(state)
        for customer in range(1, instance.customers + 1):
            if state.route[customer] >= 0 and rng.random() < 0.4:
                remove(state, customer)
        prepare(state)
        take_from_bank(state)
        for request in rng.permutation(listed(state)).tolist():
            for slot in slots(state):
                cost, place = best_insertion(state, request, slot)
                if cost < math.inf and is_on_time(state, slot):
                    before = state.cost
                    insert(state, request, slot, place)
                    # A route may find a cheaper vehicle yet.
                    assert state.cost <= before + cost + 1e-7 * max(1.0, abs(before))
                    assert is_on_time(state, slot)
                    break
            else:
                cost, vehicle = best_opening(state, request)
                if cost < math.inf:
                    before = state.cost
                    insert(state, request, open_route(state, vehicle), 0)
                    assert state.cost <= before + cost + 1e-7 * max(1.0, abs(before))
        short = reassign_vehicles(state)
        charge_for_removed(state)
        bank_removed(state)
        close_empty_routes(state)
        routes = solution_of(state, instance)
        assert state.cost == close(charged_cost(routes))
        if all(is_on_time(state, slot) for slot in slots(state)) and not short:
            assert not routes.broken_rules()


LINE = [[0, 0], [1, 0], [2, 0]]


def only_route(instance: Instance, route: list[int]) -> tuple[State, int]:
    state = new_state(instance, 0, solution=Solution(instance, [route], [0]))
    return state, int(state.route[route[0]])


def test_goods_that_come_after_the_depot_has_closed_are_not_delivered() -> None:
    instance = Instance(
        "late", [0, 1, 1], None, LINE, fleet=[VehicleType(9, end=None)], windows=[[0, 10], [0, 99], [0, 99]],
        release=[0, 0, 20],
    )  # fmt: skip
    state, slot = only_route(instance, [1])
    assert best_insertion(state, 2, slot)[0] == insertion(state, 2, slot, 1) == best_opening(state, 2)[0] == math.inf
    assert Solution(instance, [[1, 2]]).broken_rules() == ["route 1 leaves at 20, after the depot has closed."]
    assert instance.unservable == {2: "vehicles could leave only after 10, when the depot has closed"}


def test_a_shift_that_begins_after_the_depot_has_closed_serves_nobody() -> None:
    fleet = [VehicleType(9, end=None, shift=(20, 90)), VehicleType(9)]
    instance = Instance("late", [0, 1, 1], None, LINE, fleet=fleet, windows=[[0, 10], [0, 99], [0, 99]])
    state, slot = only_route(instance, [1])
    assert not is_on_time(state, slot)
    assert best_opening(state, 2) == (4.0, 1)


def test_a_place_behind_one_that_is_too_far_is_found_where_detours_of_a_profile_save_time() -> None:
    # From the depot customer 3 is reached at 50, too late; from 1, which is reached at 1, at 2.
    ways = np.full((4, 4), 50.0)
    ways[0, 1] = ways[1, 3] = ways[3, 2] = ways[2, 0] = ways[1, 2] = 1.0
    instance = Instance(
        "detour", [0, 1, 1, 1], None, [*LINE, [3, 0]], fleet=[VehicleType(9, profile=1)], profiles=[Profile(ways)],
        windows=[[0, 99], [0, 99], [0, 99], [0, 9]],
    )  # fmt: skip
    state, slot = only_route(instance, [1, 2])
    assert best_insertion(state, 3, slot) == (1.0, 1)


def test_one_of_several_windows_is_not_missed_by_the_rounding_of_sums() -> None:
    # 0.1 + 0.2 is above 0.3.
    matrix = [[0, 0.1, 0.3], [0.1, 0, 0.2], [0.3, 0.2, 0]]
    instance = Instance(
        "close", [0, 1, 1], None, matrix=matrix, fleet=[VehicleType(9, max_stops=5)],
        windows=[[0, 4], [0, 9], [0, 9]], openings={2: [(0, 0.3), (5, 6)]},
    )  # fmt: skip
    state, slot = only_route(instance, [1, 2])
    assert is_on_time(state, slot)
    found = Solution(instance, [[1, 2]])
    assert found.feasible
    assert found.schedules[0].arrival == close(0.6)


def test_nothing_and_nothing_joined_is_nothing() -> None:
    state, _ = only_route(Instance("one", [0, 1, 1], None, LINE, fleet=[VehicleType(9, end=None)]), [1])
    assert join(state, 0, 0) == 0.0


def test_who_has_no_goods_counts_as_a_delivery_where_backhauls_come_last() -> None:
    instance = Instance(
        "backhauls", None, None, [*LINE, [3, 0]], fleet=[VehicleType(9)], deliveries=[0, 0, 1, 0],
        pickups=[0, 0, 0, 1], backhauls=True,
    )  # fmt: skip
    assert Solution(instance, [[1, 3]]).broken_rules() == []
    assert Solution(instance, [[2, 3, 1]]).broken_rules() == ["route 1 has a pickup before a delivery."]
    state, slot = only_route(instance, [2, 3])
    assert {place: insertion(state, 1, slot, place) for place in (0, 2, 3)} == {0: 0.0, 2: 2.0, 3: math.inf}


def test_a_required_group_is_charged_for_if_any_of_it_can_be_served() -> None:
    windows = [[0, 50], [0, 50], [0, 50], [0, 1]]
    groups = [Group([3, 1]), Group([2], required=False)]
    instance = Instance("groups", [0, 1, 1, 1], 9, [*LINE, [30, 0]], windows=windows, groups=groups)
    assert list(instance.unservable) == [3]
    nothing = Solution(instance, [])
    state = new_state(instance, 0, solution=nothing)
    assert nothing.unserved == (3,)
    assert state.cost == charged_cost(nothing) == state.unserved_cost
    # Of whom nobody can be served nobody is missing.
    hopeless = replace(instance, groups=(Group([3]),))
    state = new_state(hopeless, 0, solution=Solution(hopeless, [[1], [2]]))
    assert state.cost == charged_cost(Solution(hopeless, [[1], [2]])) == 6.0


def test_a_stop_that_is_late_may_be_in_time_by_a_detour() -> None:
    # From 1 straight back to the depot takes 50, by 2 it takes 3; 2 is ready at 20 only.
    ways = np.full((3, 3), 50.0)
    ways[0, 1] = ways[1, 2] = ways[2, 0] = 1.0
    instance = Instance(
        "detour", [0, 1, 1], None, matrix=ways, fleet=[VehicleType(9, max_stops=9)], windows=[[0, 60]] * 3,
        release=[0, 0, 20],
    )  # fmt: skip
    state, slot = only_route(instance, [1])
    assert best_insertion(state, 2, slot) == (-48.0, 1)


@settings(deadline=None, max_examples=300)
@given(general_instances(most=12), st.integers(0, 1000), st.booleans())
@example(general_instance(set(), 2144, most=12), 0, False)  # vehicles that start or end elsewhere take other times
def test_routes_never_get_cheaper_than_a_repair_counts_on_when_it_gives_up(
    instance: Instance, seed: int, at_a_price: bool
) -> None:
    """Whatever is inserted, and whichever vehicles routes get, with prices of violations as well: see `hopeless`."""
    assume(not (at_a_price and (instance.shipments or instance.openings)))
    rng = np.random.default_rng(seed)
    solution = some_general_routes(instance, seed)
    state = at_prices(solution, seed) if at_a_price else new_state(instance, seed, solution=solution)
    assume(np.isfinite(state.slack))
    checkpoint(state)
    for customer in range(1, instance.customers + 1):
        if state.route[customer] >= 0 and rng.random() < 0.5:
            remove(state, customer)
    prepare(state)
    bounds = []
    for request in rng.permutation(state.removed[: state.n_removed]).tolist():
        bounds.append(least_to_come(state))
        found = [(*best_insertion(state, request, slot), slot) for slot in state.active[: state.n_active].tolist()]
        cost, place, slot = min(found, default=(np.inf, 0, 0))
        opening, vehicle = best_opening(state, request)
        if opening < cost or (opening < np.inf and rng.random() < 0.2):
            insert(state, request, open_route(state, vehicle), 0)
        elif cost < np.inf:
            insert(state, request, slot, place)
    bounds.append(least_to_come(state))
    reassign_vehicles(state)
    assert all(bound <= state.cost + 1e-6 * max(1.0, abs(state.cost)) for bound in bounds)
    used = [slot for slot in state.active[: state.n_active].tolist() if state.size[slot] > 0]
    assert state.total_savings == close(sum(state.savings[slot] for slot in used))
    assert min((state.savings[slot] for slot in used), default=0.0) >= 0.0
