"""The two edits, the slots that routes come and go in, and the undo."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import njit

from brute_force import costly_instances, some_routes
from helpers import books, journalled, on_a_line, random_instances, shuffle_about, solution_in, started
from neuralns import Instance, Solution
from neuralns.operators.construction import build
from neuralns.problem.generate.variants import Variant, generate_of
from neuralns.routes import edits
from neuralns.routes.bounds import unserved_cost
from neuralns.routes.edits import (
    MOST_TAKEN,
    NOTHING_WRONG,
    bank_removed,
    charge_for_removed,
    close_empty_routes,
    count_absence,
    disband_route,
    insert,
    new_visit,
    open_route,
    remove,
    take_from_bank,
    undo,
)
from neuralns.routes.evaluate import best_insertion, best_opening, is_on_time, penalty, recompute
from neuralns.routes.journal import checkpoint
from neuralns.routes.transfer import State, new_state


@settings(deadline=None, max_examples=60)
@given(random_instances(), st.integers(0, 1000), st.integers(1, 40))
def test_books_stay_right_under_any_edits_and_undo_returns_to_the_bit(
    instance: Instance, seed: int, moves: int
) -> None:
    state, start = started(instance, seed)
    cost = state.cost
    assert cost == pytest.approx(start.cost, rel=1e-9)
    checkpoint(state)
    shuffle_about(state, moves)
    error, met, links = books(state)
    assert (met, links) == (instance.customers, 0)
    assert error == pytest.approx(0.0, abs=1e-7)
    assert state.cost == pytest.approx(solution_in(state, instance).cost, rel=1e-9, abs=1e-9)
    undo(state)
    assert sorted(solution_in(state, instance).routes) == sorted(start.routes)
    assert state.cost == cost
    close_empty_routes(state)
    recompute(state)
    assert state.cost == pytest.approx(cost, rel=1e-12, abs=1e-12)


@settings(deadline=None, max_examples=150)
@given(costly_instances(most=10), st.integers(0, 1000), st.integers(1, 40))
def test_books_of_times_stay_right_under_any_edits_and_undo_returns_to_the_bit(
    instance: Instance, seed: int, moves: int
) -> None:
    start = some_routes(instance, seed)
    if not start.routes:
        return
    state = new_state(instance, seed, solution=start)
    before, on_time = journalled(state), [is_on_time(state, slot) for slot in state.active[: state.n_active]]
    checkpoint(state)
    shuffle_about(state, moves)
    routes = solution_in(state, instance)
    # Made at one go from the same routes; for a route that is late, the cost is that of the search alone.
    whole = new_state(instance, seed, solution=routes)
    assert state.cost == pytest.approx(whole.cost, rel=1e-9, abs=1e-9)
    if not routes.broken_rules():
        fine = instance.vehicles is None or len(routes.routes) <= instance.vehicles
        charge = penalty(state, 1) * state.n_bank if state.n_bank else 0.0
        assert fine
        assert state.cost - charge == pytest.approx(routes.cost, rel=1e-9, abs=1e-6)
    cost = state.cost
    recompute(state)
    assert state.cost == pytest.approx(cost, rel=1e-9, abs=1e-9)
    undo(state)
    assert journalled(state) == before
    assert [is_on_time(state, slot) for slot in state.active[: state.n_active]] == on_time
    # What is asked after the undo is answered as before the edits.
    fresh = new_state(instance, seed, solution=start)
    for customer in start.unserved:
        for route in start.routes:
            found, known = (best_insertion(each, customer, each.route[route[0]]) for each in (state, fresh))
            assert found == known


def test_edits_that_break_the_contract_are_noted_and_not_carried_out() -> None:
    def fault_of(state: State) -> tuple[int, int]:
        fault, node = state.fault, state.fault_node
        state.fault = 0
        return fault, node

    state, start = on_a_line([1, 2], [3], places=[1.0, 5.0, -2.0])
    remove(state, 0)
    assert fault_of(state) == (edits.NOT_REMOVABLE, 0)
    remove(state, 4)
    assert fault_of(state) == (edits.NOT_REMOVABLE, 4)
    state.n_removed = 0
    remove(state, 2)
    remove(state, 2)
    assert fault_of(state) == (edits.NOT_REMOVABLE, 2)
    state.n_removed = 1
    insert(state, 1, 0, 0)
    assert fault_of(state) == (edits.NOT_INSERTABLE, 1)
    state.n_removed = 1
    insert(state, 2, 0, 3)
    assert fault_of(state) == (edits.WRONG_POSITION, 2)
    state.n_removed = 1
    insert(state, 2, 0, 1)
    assert fault_of(state)[0] == edits.NOTHING_WRONG
    assert solution_in(state, start.instance) == start


@pytest.mark.parametrize(("slot", "place"), [(-1, 0), (99, 0), (0, -1), (0, 99), (0, 3), (2, 0), (0, 2)])
def test_a_place_off_the_route_is_refused(slot: int, place: int) -> None:
    # Slot 0 holds customer 1, slot 1 holds 3, slot 2 was never opened, and 2 is being inserted.
    state, start = on_a_line([1, 2], [3], places=[1.0, 5.0, -2.0])
    remove(state, 2)
    insert(state, 2, slot, place)
    assert (state.fault, state.fault_node) == (edits.WRONG_POSITION, 2)
    assert set(solution_in(state, start.instance).routes) == {(1,), (3,)}


def test_the_first_mistake_is_the_one_that_is_told() -> None:
    state, _ = on_a_line([1, 2], [3], places=[1.0, 5.0, -2.0])
    remove(state, 7)
    remove(state, 9)
    insert(state, 1, 0, 0)
    assert (state.fault, state.fault_node) == (edits.NOT_REMOVABLE, 7)


@njit
def wait_for_quota(state):
    turns = 0
    while state.n_removed < state.customers and turns < 1000:
        remove(state, 2)
        turns += 1
    return turns


@njit
def wait_for_an_empty_list(state):
    turns = 0
    while state.n_removed > 0 and turns < 1000:
        insert(state, 2, 0, 2)
        turns += 1
    return turns


def test_loops_that_wait_for_what_a_mistake_prevents_end() -> None:
    state, _ = on_a_line([1, 2], [3], places=[1.0, 5.0, -2.0])
    assert wait_for_quota(state) == 3
    assert state.n_removed == 3
    assert wait_for_an_empty_list(state) == 3


def test_the_last_of_the_removed_takes_the_place_of_one_inserted() -> None:
    state, _ = on_a_line([1, 2, 3, 4], places=[1.0, 2.0, 3.0, 4.0])
    for customer in (3, 1, 4):
        remove(state, customer)
    assert state.removed[:3].tolist() == [3, 1, 4]
    insert(state, 3, state.route[2], 0)
    assert state.removed[: state.n_removed].tolist() == [4, 1]
    insert(state, 1, state.route[2], 0)
    assert state.removed[: state.n_removed].tolist() == [4]


# --- Slots. ----------------------------------------------------------------------------------------------------------


def test_a_route_that_was_emptied_is_opened_before_a_new_one() -> None:
    state, _ = on_a_line([1, 2], [3], places=[1.0, 5.0, -2.0])
    emptied = int(state.route[3])
    remove(state, 3)
    assert open_route(state) == emptied
    insert(state, 3, emptied, 0)
    fresh = int(open_route(state))
    assert fresh not in (int(state.route[1]), emptied)
    assert state.active[: state.n_active].tolist()[-1] == fresh
    assert (state.n_active, state.n_routes) == (3, 2)
    # An empty one waits already.
    assert open_route(state) == fresh


def test_slots_without_customers_are_given_back() -> None:
    state, start = on_a_line([1], [2], [3], places=[1.0, 5.0, -2.0])
    free = state.n_free
    remove(state, 2)
    insert(state, 2, state.route[1], 0)
    assert (state.n_active, state.n_routes) == (3, 2)
    close_empty_routes(state)
    assert (state.n_active, state.n_routes, state.n_free) == (2, 2, free + 1)
    assert set(solution_in(state, start.instance).routes) == {(2, 1), (3,)}
    before = state.active[:2].tolist()
    close_empty_routes(state)
    assert state.active[:2].tolist() == before


def test_there_are_as_many_slots_as_customers() -> None:
    instance = Instance("apart", [0.0] + [1.0] * 6, 1, np.arange(14).reshape(7, 2))
    state, _ = started(instance, 1)
    assert (state.n_active, state.n_free) == (6, 0)
    for customer in range(1, 7):
        remove(state, customer)
    for customer in range(1, 7):
        insert(state, customer, open_route(state), 0)
    assert state.n_routes == 6
    assert state.fault == 0


def test_marks_are_new_each_time() -> None:
    state, _ = on_a_line([1, 2], [3], places=[1.0, 5.0, -2.0])
    first = int(new_visit(state))
    state.visited[1] = first
    second = int(new_visit(state))
    assert second > first > 0
    assert second not in state.visited.tolist()


# --- The bank. -------------------------------------------------------------------------------------------------------


def banked(state: State) -> list[int]:
    return sorted(state.bank[: state.n_bank].tolist())


def one_vehicle(customers: int, room: int, **rules: object) -> Instance:
    """Customers on a line, one vehicle with room for a few of them."""
    points = [[float(place), 0.0] for place in range(customers + 1)]
    return Instance("line", [0.0] + [1.0] * customers, room, points, vehicles=1, **rules)  # type: ignore[arg-type]


def test_who_is_on_no_route_is_in_the_bank_and_costs_a_penalty() -> None:
    instance = one_vehicle(5, 2)
    state = new_state(instance, 0, solution=Solution(instance, [[1, 2]]))
    assert banked(state) == [3, 4, 5]
    assert (state.present, state.n_removed, state.n_taken) == (2, 0, 0)
    # A route for everybody, so that one more customer served always pays.
    assert unserved_cost(instance) == penalty(state, 3) == 1.0 + 2.0 * (1 + 2 + 3 + 4 + 5)
    assert state.cost == 4.0 + 3 * 31.0


def test_customers_of_the_bank_join_the_removal_list_for_a_repair() -> None:
    instance = one_vehicle(5, 2)
    state = new_state(instance, 0, solution=Solution(instance, [[1, 2]]))
    checkpoint(state)
    remove(state, 2)
    take_from_bank(state)
    assert sorted(state.removed[: state.n_removed].tolist()) == [2, 3, 4, 5]
    assert (state.present, state.n_taken, state.cost) == (5, 3, 2.0)
    insert(state, 4, state.route[1], 1)
    charge_for_removed(state)
    assert state.cost == 8.0 + 3 * 31.0
    bank_removed(state)
    assert banked(state) == [2, 3, 5]
    assert (state.present, state.n_removed, state.n_taken) == (2, 0, 0)
    assert state.cost == new_state(instance, 0, solution=solution_in(state, instance)).cost


def test_an_undo_leaves_the_bank_as_it_was() -> None:
    instance = one_vehicle(5, 2)
    state = new_state(instance, 0, solution=Solution(instance, [[1, 2]]))
    before = journalled(state)
    checkpoint(state)
    remove(state, 2)
    take_from_bank(state)
    insert(state, 4, state.route[1], 1)
    charge_for_removed(state)
    undo(state)
    assert journalled(state) == before
    assert banked(state) == [3, 4, 5]
    assert (state.present, state.n_removed, state.n_taken) == (2, 0, 0)


def test_of_a_large_bank_some_are_tried_by_chance() -> None:
    instance = one_vehicle(3 * MOST_TAKEN, 1)
    state = new_state(instance, 0, solution=Solution(instance, [[1]]))
    tried: set[int] = set()
    for _ in range(12):
        checkpoint(state)
        take_from_bank(state)
        taken = state.removed[: state.n_removed].tolist()
        assert len(set(taken)) == state.n_taken == MOST_TAKEN
        tried |= set(taken)
        undo(state)
        assert banked(state) == list(range(2, 3 * MOST_TAKEN + 1))
    assert len(tried) > 2.5 * MOST_TAKEN


def test_whom_nobody_can_serve_is_nowhere() -> None:
    windows = [[0, 100], [0, 100], [0, 1], [0, 100]]
    instance = one_vehicle(3, 1, windows=windows)
    assert set(instance.unservable) == {2}
    state = new_state(instance, 0, solution=Solution(instance, [[1]]))
    assert banked(state) == [3]
    assert (state.present, state.servable.tolist()) == (1, [1, 1, 0, 1])
    # Nobody can change it, so that it costs nothing.
    assert state.cost == 2.0 + penalty(state, 3)
    take_from_bank(state)
    assert state.removed[: state.n_removed].tolist() == [3]


@settings(deadline=None, max_examples=100)
@given(costly_instances(most=10), st.integers(0, 1000), st.data())
def test_books_of_the_bank_stay_right_from_repair_to_repair(instance: Instance, seed: int, data: st.DataObject) -> None:
    state = new_state(instance, seed, solution=some_routes(instance, seed))
    everybody = set(range(1, instance.customers + 1)) - set(instance.unservable)
    for _ in range(6):
        before, bank = journalled(state), banked(state)
        checkpoint(state)
        routed = [customer for customer in sorted(everybody) if state.route[customer] >= 0]
        for customer in data.draw(st.lists(st.sampled_from(routed), unique=True)) if routed else []:
            remove(state, customer)
        if not instance.may_leave_out:
            undo(state)
            continue
        take_from_bank(state)
        for customer in state.removed[: state.n_removed].tolist():
            places = [(best_insertion(state, customer, slot), slot) for slot in state.active[: state.n_active].tolist()]
            (cost, place), slot = min(places, default=((np.inf, 0), 0))
            if cost < np.inf:
                insert(state, customer, slot, place)
            elif best_opening(state, customer)[0] < np.inf:
                insert(state, customer, open_route(state), 0)
        charge_for_removed(state)
        if data.draw(st.booleans()):
            undo(state)
            assert (journalled(state), banked(state)) == (before, bank)
        else:
            bank_removed(state)
            close_empty_routes(state)
        served = {customer for route in solution_in(state, instance).routes for customer in route}
        assert set(banked(state)) == everybody - served
        assert (state.n_bank, state.present) == (len(everybody - served), len(served))
        assert state.cost == pytest.approx(
            new_state(instance, seed, solution=solution_in(state, instance)).cost, rel=1e-9, abs=1e-9
        )


def test_the_route_that_is_missed_least_is_given_up() -> None:
    line = Instance("line", [0, 1, 1, 1, 1], 4, [[0, 0], [1, 0], [2, 0], [3, 0], [4, 0]], vehicles=4)
    state = new_state(line, 1, solution=Solution(line, [[1, 2], [3], [4]]))
    state.absence[3] = 5.0
    disband_route(state)
    assert solution_in(state, line).routes == ((1, 2), (3,))
    assert (banked(state), state.n_routes, state.present) == ([4], 2, 3)
    assert state.cost == 4.0 + 6.0 + unserved_cost(line)
    undo(state)
    assert banked(state) == [4]


def test_who_is_left_out_again_and_again_weighs_more() -> None:
    line = Instance("line", [0, 1, 1], 2, [[0, 0], [1, 0], [2, 0]], vehicles=1)
    state = new_state(line, 1, solution=Solution(line, [[1]]))
    one = unserved_cost(line)
    assert (penalty(state, 1), penalty(state, 2), state.cost) == (one, one, 2.0 + one)
    count_absence(state)
    count_absence(state)
    assert (penalty(state, 1), penalty(state, 2), state.cost) == (one, 3 * one, 2.0 + 3 * one)
    recompute(state)
    assert state.cost == 2.0 + 3 * one


@pytest.mark.parametrize("variant", ["cvrp", "vrptw", "hfvrp", "mdvrptw", "pdptw", "day"])
def test_requests_inserted_in_any_order_can_still_be_read_behind_the_list(variant: Variant) -> None:
    instance = generate_of(variant, 20, 3)
    state = new_state(instance, 0, solution=build(instance))
    checkpoint(state)
    ends = {each.delivery for each in instance.shipments or ()}
    chosen = [customer for customer in range(1, 21) if customer not in ends and state.route[customer] >= 0][:4]
    for order in itertools.permutations(chosen):
        for customer in chosen:
            remove(state, customer)
        for customer in order:
            found = min((*best_insertion(state, customer, slot), slot) for slot in state.active[: state.n_active])
            opening, vehicle = best_opening(state, customer)
            if opening < found[0]:
                insert(state, customer, open_route(state, vehicle), 0)
            else:
                insert(state, customer, found[2], found[1])
        assert state.fault == NOTHING_WRONG
        assert state.n_removed == 0
        assert sorted(state.removed[:4].tolist()) == sorted(chosen)
        undo(state)
