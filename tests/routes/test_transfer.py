"""Solutions into states and out again, and copies of states."""

from __future__ import annotations

import gc
import time
import tracemalloc
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from brute_force import completions, costly_instances, some_routes
from helpers import books, keeps_limits, on_a_line, random_instances, shuffle_about, solution_in, started
from neuralns import Instance, Profile, Solution, VehicleType, portfolio_named, random_tours
from neuralns.compiled.random import seed_generator
from neuralns.problem.distances import euclidean
from neuralns.problem.initial import nearest_neighbours
from neuralns.routes import bounds, tables, transfer
from neuralns.routes.bounds import charged_cost, least_gain, unserved_cost
from neuralns.routes.edits import close_empty_routes, insert, remove, take_from_bank, undo
from neuralns.routes.evaluate import (
    best_insertion,
    best_opening,
    distance,
    hopeless,
)
from neuralns.routes.history import remember
from neuralns.routes.journal import checkpoint
from neuralns.routes.layout import FIELDS
from neuralns.routes.tables import all_distances, granular_neighbours, profile_of_instance
from neuralns.routes.transfer import (
    State,
    copy_routes,
    export_routes,
    flatten,
    load_solution,
    new_state,
    routes_of,
    unflatten,
)

# --- In and out. -----------------------------------------------------------------------------------------------------


@settings(deadline=None, max_examples=40)
@given(random_instances(), st.integers(0, 1000))
def test_a_solution_comes_out_as_it_went_in(instance: Instance, seed: int) -> None:
    start = random_tours(instance, seed)
    state = new_state(instance, seed, solution=start)
    assert solution_in(state, instance) == start
    assert state.cost == pytest.approx(start.cost, rel=1e-9)
    assert (state.n_routes, state.n_removed, state.fault) == (len(start.routes), 0, 0)
    customers, starts, vehicle_types = flatten(start)
    assert tuple(vehicle_types) == start.vehicles
    assert customers.tolist() == [customer for route in start.routes for customer in route]
    assert [list(route) for route in start.routes] == unflatten(customers, starts, len(start.routes))
    row, ends = np.zeros(instance.customers, np.int32), np.zeros(instance.customers + 1, np.int32)
    assert export_routes(state, row, ends, row.copy()) == len(start.routes)
    assert unflatten(row, ends, len(start.routes)) == routes_of(state)
    # Another solution takes its place, whatever happened in between.
    shuffle_about(state, 5)
    other = random_tours(instance, seed + 1)
    load_solution(state, other)
    assert solution_in(state, instance) == other
    error, met, links = books(state)
    assert (met, links) == (instance.customers, 0)
    assert error == pytest.approx(0.0, abs=1e-7)


def test_routes_alone_leave_nobody_in_the_bank() -> None:
    state, solution = on_a_line([1, 2], [3], places=[1.0, 5.0, -2.0])
    alone = Solution(solution.instance, [[2, 1]])
    load_solution(state, alone, alone=True)
    assert (state.n_routes, state.n_bank, state.n_removed, state.present) == (1, 0, 0, 2)
    assert state.route[3] == -1
    assert state.cost == state.status.current == state.status.best == alone.cost
    load_solution(state, solution)
    assert (state.n_bank, state.present, state.cost) == (0, 3, solution.cost)


def test_customers_on_the_removal_list_are_not_exported() -> None:
    state, _ = on_a_line([1, 2], [3], places=[1.0, 5.0, -2.0])
    remove(state, 1)
    remove(state, 3)
    assert routes_of(state) == [[2]]


def test_a_state_without_a_solution_has_nobody_on_a_route() -> None:
    instance = Instance("line", [0, 1, 1], 2, [[0, 0], [1, 0], [2, 0]])
    state = new_state(instance, 0)
    assert routes_of(state) == []
    assert state.route.tolist() == [-1] * 3


def test_the_generator_follows_the_seed() -> None:
    instance = Instance("line", [0, 1, 1], 2, [[0, 0], [1, 0], [2, 0]])
    sequence = np.random.SeedSequence(5)
    rows = [new_state(instance, seed).random.tolist() for seed in (5, 5, 6, sequence)]
    assert rows[0] == rows[1] == rows[3] != rows[2]
    assert rows[0] == np.random.SeedSequence(5).generate_state(4, np.uint64).tolist()


def test_the_table_of_repairs_is_made_for_the_quota() -> None:
    instance = Instance("line", [0.0] + [1.0] * 9, 3, np.arange(20).reshape(10, 2))
    assert new_state(instance, 0).table_delta.shape == (81,)
    assert new_state(instance, 0, quota=2).table_delta.shape == (18,)


def test_a_node_knows_all_others_by_distance_up_to_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    def neighbours() -> Any:
        instance = Instance("line", [0.0] + [1.0] * 5, 5, [[0, 0], [1, 0], [3, 0], [7, 0], [15, 0], [31, 0]])
        return new_state(instance, 0).neighbours

    full = neighbours()
    assert full[1, :4].tolist() == [2, 3, 4, 5]
    assert full[4, :4].tolist() == [3, 2, 1, 5]
    monkeypatch.setattr(tables, "FULL_NEIGHBOURS", 4)
    monkeypatch.setattr(tables, "SOME_NEIGHBOURS", 2)
    assert neighbours().tolist() == full[:, :2].tolist()


def test_a_yardstick_of_lengths_is_the_mean_distance_to_the_depot() -> None:
    state, _ = on_a_line([1, 2], [3], places=[1.0, 5.0, -3.0])
    assert state.unit == 3.0
    heap = Instance("heap", [0, 1], 1, [[2, 2], [2, 2]])
    assert new_state(heap, 0).unit == 1.0


@settings(deadline=None, max_examples=60)
@given(costly_instances(), st.integers(0, 1000))
def test_a_solution_with_windows_comes_out_as_it_went_in(instance: Instance, seed: int) -> None:
    start = some_routes(instance, seed)
    state = new_state(instance, seed, solution=start)
    assert solution_in(state, instance) == start
    left_out = set(start.unserved) - set(instance.unservable)
    assert set(state.bank[: state.n_bank].tolist()) == left_out
    assert state.present == instance.customers - len(start.unserved)
    charge = len(left_out) * unserved_cost(instance) if left_out else 0.0
    assert state.cost == pytest.approx(start.cost + charge, rel=1e-9)
    assert all(keeps_limits(state, slot) for slot in state.active[: state.n_active])
    target = new_state(instance, seed + 1)
    copy_routes(state, target)
    assert solution_in(target, instance) == start
    assert (target.cost, target.present, target.n_bank) == (state.cost, state.present, state.n_bank)
    for customer in left_out:
        assert best_opening(target, customer) == best_opening(state, customer)
        for slot in state.active[: state.n_active]:
            assert best_insertion(target, customer, slot) == best_insertion(state, customer, slot)


def rules(**given: Any) -> Instance:
    return Instance("line", [0, 1, 1], 2, [[0, 0], [1, 0], [2, 0]], **given)


@pytest.mark.parametrize(
    ("given_rules", "profile"),
    [
        ({}, "plain"),
        ({"vehicles": 1, "vehicle_cost": 7.0}, "plain"),
        ({"distance_cost": 2.0}, "plain"),
        ({"windows": [[0, 9]] * 3}, "windows"),
        ({"windows": [[0, 9]] * 3, "max_duration": 5}, "durations"),
        ({"max_duration": 0}, "durations"),
        ({"duration_cost": 1.0}, "durations"),
        ({"max_distance": 0}, "fleet"),
        ({"fleet": [VehicleType(2), VehicleType(1)]}, "fleet"),
        ({"fleet": [VehicleType(2), VehicleType(1)], "windows": [[0, 9]] * 3}, "fleet with windows"),
        ({"windows": [[0, 9]] * 3, "release": [0, 1, 1]}, "everything"),
    ],
)
def test_the_profile_of_an_instance_has_the_rules_that_it_needs(given_rules: dict[str, Any], profile: str) -> None:
    assert profile_of_instance(rules(**given_rules)) == profile


# --- Penalties. ------------------------------------------------------------------------------------------------------


@settings(deadline=None, max_examples=100)
@given(costly_instances(most=7), st.integers(0, 1000))
def test_leaving_a_customer_out_costs_more_than_any_routes(instance: Instance, seed: int) -> None:
    if instance.may_leave_out:
        assert unserved_cost(instance) > some_routes(instance, seed).cost
    else:
        assert unserved_cost(instance) == np.inf


def test_a_customer_far_from_the_others_or_late_is_served_all_the_same() -> None:
    # From 1 to 2 it is 500, from the depot 1 to each; one vehicle.
    apart = rules(matrix=[[0, 1, 1], [1, 0, 500], [1, 500, 0]], vehicles=1)
    assert unserved_cost(apart) > Solution(apart, [[1, 2]]).cost == 502.0
    # One vehicle leaves 1 at 9 at the latest, and waits for 2 until 900, which costs.
    late = rules(windows=[[0, 999], [0, 9], [900, 999]], vehicles=1, duration_cost=1.0)
    assert unserved_cost(late) > Solution(late, [[1, 2]]).cost == 4.0 + 894.0


# --- How much an insertion can save. ---------------------------------------------------------------------------------


def test_an_insertion_saves_nothing_but_by_rounding() -> None:
    tolerance = 1e-9 * 2
    found = [least_gain(rules(rounding=rounding)) for rounding in ("none", "round", "trunc", "dimacs")]
    assert found == pytest.approx([tolerance, 1 + tolerance, 1 + tolerance, 0.1 + tolerance])
    # 0 to 2 is 9 straight and 1 + 2 by 1.
    matrix = [[0, 1, 9], [1, 0, 2], [9, 2, 0]]
    assert least_gain(rules(matrix=matrix)) == pytest.approx(6.0)
    assert least_gain(rules(durations=matrix)) == pytest.approx(0.0, abs=1e-8)
    assert least_gain(rules(durations=matrix, duration_cost=2.0, distance_cost=0.0)) == pytest.approx(12.0)
    assert least_gain(rules(matrix=matrix, duration_cost=0.5)) == pytest.approx(9.0)
    # Nodes to themselves never count.
    assert least_gain(rules(matrix=np.full((3, 3), 5.0))) == pytest.approx(0.0, abs=1e-8)


def test_given_distances_are_rounded_before_they_are_compared() -> None:
    # 2.4 + 1.4 is 0.7 below 4.5; rounded 2 + 1 is 2 below 5, and cut 2 + 1 is 1 below 4.
    matrix = [[0, 2.4, 4.5], [2.4, 0, 1.4], [4.5, 1.4, 0]]
    assert least_gain(rules(matrix=matrix, rounding="round")) == pytest.approx(5 - 2 - 1)
    assert least_gain(rules(matrix=matrix, rounding="trunc")) == pytest.approx(4 - 2 - 1)


def test_of_large_given_distances_it_is_not_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounds, "TRIANGLES", 2)
    assert least_gain(rules(matrix=np.ones((3, 3)))) == np.inf
    assert least_gain(rules()) < 1.0


@settings(deadline=None, max_examples=150)
@given(costly_instances(most=6), st.integers(0, 1000), st.data())
def test_nothing_is_hopeless_that_can_still_be_accepted(instance: Instance, seed: int, data: st.DataObject) -> None:
    def charge_for(solution: Solution) -> float:
        left_out = len(set(solution.unserved) - set(instance.unservable))
        return unserved_cost(instance) * left_out if left_out else 0.0

    start = some_routes(instance, seed)
    state = new_state(instance, seed, solution=start)
    served = [customer for route in start.routes for customer in route]
    if served:
        for customer in data.draw(st.lists(st.sampled_from(served), unique=True, min_size=1, max_size=2)):
            remove(state, customer)
    if state.n_bank <= 1:
        take_from_bank(state)
    found = [
        each.cost + charge_for(each)
        for each in completions(instance, routes_of(state), state.removed[: state.n_removed].tolist())
    ]
    if found:
        state.status.threshold = min(found)
        assert not hopeless(state)
        if state.n_removed > 0 and state.slack < 1.0:
            # It costs no less than now, however cheap the rest.
            state.status.threshold = state.cost - state.slack * (state.n_removed + 1)
            assert hopeless(state)


# --- States of one instance. -----------------------------------------------------------------------------------------


def test_states_of_one_instance_share_what_never_changes_and_nothing_else() -> None:
    first, start = on_a_line([1, 2], [3], places=[1.0, 5.0, -2.0], vehicle_cost=7.0)
    beside = new_state(start.instance, 1, history=True, solution=start)
    twin = Instance("line", start.instance.demands, 100, start.instance.points, vehicle_cost=7.0)
    apart = new_state(twin, 1, history=True, solution=Solution(twin, start.routes))
    for field in FIELDS:
        one, other = getattr(first, field.name), getattr(beside, field.name)
        if isinstance(one, np.ndarray) and one.size:
            assert np.shares_memory(one, other) == (field.per == "instance"), field.name
        if field.per == "instance":
            assert np.array_equal(one, getattr(apart, field.name)), field.name
    shuffle_about(beside, 20)
    shuffle_about(apart, 20)
    assert routes_of(beside) == routes_of(apart)
    assert beside.cost == apart.cost
    assert solution_in(first, start.instance) == start
    assert first.random.tolist() != beside.random.tolist()
    without = new_state(start.instance, 1)
    assert without.history.shape == (0, 0)
    assert first.history.shape == (4, 4)


def test_a_state_outlives_the_one_it_shares_with_and_the_instance() -> None:
    first, start = on_a_line([1, 2], [3], places=[1.0, 5.0, -2.0])
    beside = new_state(start.instance, 1, solution=start)
    del first, start
    gc.collect()
    assert [distance(beside, 0, customer) for customer in (1, 2, 3)] == [1.0, 5.0, 2.0]
    remove(beside, 2)
    assert best_insertion(beside, 2, 0) == (8.0, 0)


def test_what_states_share_is_forgotten_with_the_instance() -> None:
    instance = Instance("line", [0, 1, 1], 2, [[0, 0], [1, 0], [2, 0]])
    new_state(instance, 0)
    before = len(transfer._common)
    del instance
    gc.collect()
    assert len(transfer._common) < before


# --- Copies. ---------------------------------------------------------------------------------------------------------


def small_numbers(state: State) -> tuple[float, ...]:
    """F of the start, share of the budget left, quota, routes, F, removed customers, fault."""
    status = state.status
    return status.start, status.left, status.quota, state.n_routes, state.cost, state.n_removed, state.fault


@settings(deadline=None, max_examples=40)
@given(random_instances(most=15), st.integers(0, 1000), st.data())
def test_a_copy_of_the_routes_goes_the_same_way_with_the_same_random_numbers(
    instance: Instance, seed: int, data: st.DataObject
) -> None:
    portfolios = portfolio_named("paper"), portfolio_named("modern-all")
    destroys = [entry for portfolio in portfolios for entry in portfolio.destroys]
    repairs = [entry for portfolio in portfolios for entry in portfolio.repairs]
    source, _ = started(instance, seed)
    target, _ = started(instance, seed + 1)
    quota = data.draw(st.integers(1, instance.customers))

    def pair(state: State, destroy: int, repair: int) -> None:
        checkpoint(state)
        destroys[destroy].apply(state, quota)
        repairs[repair].apply(state)
        remember(state)
        close_empty_routes(state)

    choices = st.tuples(st.integers(0, len(destroys) - 1), st.integers(0, len(repairs) - 1))
    pair(source, *data.draw(choices))
    pair(target, *data.draw(choices))
    copy_routes(source, target)
    assert small_numbers(target) == small_numbers(source)
    for state in (source, target):
        seed_generator(state, np.uint64(seed))
    for _ in range(3):
        choice = data.draw(choices)
        pair(source, *choice)
        pair(target, *choice)
        assert solution_in(target, instance).routes == solution_in(source, instance).routes
        assert target.cost == source.cost
        assert np.array_equal(target.history, source.history)
    error, met, links = books(target)
    assert (met, links) == (instance.customers, 0)
    assert error == pytest.approx(0.0, abs=1e-7)


def test_a_copy_has_the_circumstances_but_neither_the_generator_nor_the_faults() -> None:
    source, start = on_a_line([1, 2], [3], places=[1.0, 5.0, -2.0])
    target = new_state(start.instance, 9, history=True)
    source.status.left, source.status.quota, source.fault = 0.25, 3, 1
    source.status.iteration, source.status.temperature = 12, 3.5
    before = target.random.tolist()
    copy_routes(source, target)
    assert target.random.tolist() == before
    assert small_numbers(source) == (14.0, 0.25, 3, 2, 14.0, 0, 1)
    assert small_numbers(target) == (14.0, 0.25, 3, 2, 14.0, 0, 0)
    assert (target.status.iteration, target.status.temperature) == (12, 3.5)
    assert solution_in(target, start.instance) == start


def test_edits_of_a_copy_leave_the_source_alone_and_can_be_undone() -> None:
    source, start = on_a_line([1, 2], [3], places=[1.0, 5.0, -2.0])
    target = new_state(start.instance, 9, history=True)
    copy_routes(source, target)
    remove(target, 2)
    remove(target, 3)
    insert(target, 3, 0, 1)
    assert solution_in(source, start.instance) == start
    undo(target)
    assert solution_in(target, start.instance) == start
    assert target.cost == source.cost


@pytest.mark.parametrize(
    ("windows", "expected"),
    [
        ([[5, 105], [0, 9], [9, 900]], 100),
        ([[5, np.inf], [5, 45], [5, np.inf]], 40),
        ([[5, np.inf]] * 3, 8 * 4),
        ([[0, 0]] * 3, 8 * 4),
        (None, 8 * 4),
    ],
)
def test_the_shift_is_as_long_as_the_depot_is_open(windows: Any, expected: float) -> None:
    instance = Instance("two", [0, 1, 1], 2, [[0, 0], [3, 0], [5, 0]], windows=windows)
    assert new_state(instance, 1).horizon == expected


def test_whoever_could_be_served_is_charged_for() -> None:
    # There and back is 6 and 10; customer 3 is out of reach, so that nobody is to blame for it.
    points = [[0, 0], [3, 0], [5, 0], [99, 0]]
    instance = Instance("three", [0, 1, 1, 1], 2, points, max_distance=20)
    assert list(instance.unservable) == [3]
    # One more than serving everybody by a route of their own.
    penalty = 6 + 10 + 198 + 1
    for routes, cost in (([[1], [2]], 16), ([[1]], 6 + penalty), ([], 2 * penalty)):
        solution = Solution(instance, routes)
        assert charged_cost(solution) == cost == new_state(instance, 1, solution=solution).cost


def test_a_large_matrix_is_made_a_state_in_a_moment() -> None:
    points = np.random.default_rng(1).uniform(0, 1000, (3000, 2))
    instance = Instance("large", [0, *[1] * 2999], 100, matrix=euclidean(points))
    begin = time.process_time()
    new_state(instance, 0)
    # Points fitted to all distances at once take more than twice as long as this.
    assert time.process_time() - begin < 2


def test_what_detours_save_is_worked_out_once_for_an_instance(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Any] = []

    def noted(matrix: Any) -> float:
        seen.append(matrix)
        return 1.0

    monkeypatch.setattr(bounds, "triangle_excess", noted)
    matrix = np.arange(9.0).reshape(3, 3)
    instance = Instance("given", [0, 1, 1], 2, matrix=matrix, durations=2 * matrix, max_duration=50, duration_cost=1.0)
    solution = Solution(instance, [[1]])
    new_state(instance, 1, solution=solution)
    assert charged_cost(solution) < np.inf
    assert [table.tolist() for table in seen] == [matrix.tolist(), (2 * matrix).tolist()]


def test_customers_that_go_well_together_are_near_in_place_and_time() -> None:
    points = [[0, 0], [10, 0], [11, 0], [14, 0]]
    plain = Instance("plain", [0, 1, 1, 1], 3, points)
    assert new_state(plain, 1).granular.tolist() == new_state(plain, 1).neighbours.tolist()
    neighbours = np.array([[1, 2], [2, 3], [1, 3], [2, 1]], np.uint32)
    assert np.shares_memory(granular_neighbours(plain, neighbours), neighbours)
    # The nearest neighbour of 1 is served long after it, so that a vehicle would wait there.
    timed = Instance("timed", [0, 1, 1, 1], 3, points, windows=[[0, 500], [0, 20], [400, 420], [0, 50]])
    assert new_state(timed, 1).neighbours[1].tolist() == [2, 3]
    assert new_state(timed, 1).granular[1].tolist() == [3, 2]


@pytest.mark.parametrize("full", [True, False])
def test_customers_that_go_well_together_are_the_same_in_blocks_of_any_size(
    full: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(2)
    opens = rng.integers(0, 50, 31)
    windows = np.stack([opens, opens + 10], axis=1)
    windows[0] = 0, 100
    # Few places, so that many go equally well.
    instance = Instance("ties", [0] + [1] * 30, 5, rng.integers(0, 4, (31, 2)), windows=windows)
    if not full:
        monkeypatch.setattr(tables, "FULL_NEIGHBOURS", 10)
    neighbours = nearest_neighbours(instance, 12).astype(np.uint32)
    whole = granular_neighbours(instance, neighbours)
    assert all(sorted(row) == sorted(near) for row, near in zip(whole, neighbours, strict=True)) != full
    monkeypatch.setattr(tables, "PAIRS_AT_ONCE", 100)
    assert granular_neighbours(instance, neighbours).tolist() == whole.tolist()


@pytest.mark.parametrize("one_way", [False, True])
def test_tables_of_all_profiles_are_made_in_place(one_way: bool) -> None:
    nodes, profiles = 60, 20
    usual = euclidean(np.random.default_rng(1).random((nodes, 2)))
    usual[0, 1] += one_way
    others = [Profile(usual * (1 + number)) for number in range(1, profiles)]
    fleet = [VehicleType(10, 5, profile=number) for number in range(profiles)]
    instance = Instance("many", [0, *[1] * (nodes - 1)], matrix=usual, fleet=fleet, profiles=others)
    assert instance.distances is not None
    tracemalloc.start()
    try:
        there, back = all_distances(instance, times=False)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < (2.3 if one_way else 1.3) * there.nbytes
    for number in range(profiles):
        rows = slice(number * (nodes + 1), number * (nodes + 1) + nodes)
        assert np.array_equal(there[rows, :nodes], usual * (1 + number))
        assert np.array_equal(back[rows, :nodes], there[rows, :nodes].T)
    assert (back is there) is not one_way
