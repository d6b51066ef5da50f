"""The two edits, the slots that routes come and go in, and the undo."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import njit

from helpers import books, on_a_line, random_instances, shuffle_about, solution_in, started
from neuralns import Instance
from neuralns.routes import edits
from neuralns.routes.edits import close_empty_routes, insert, new_mark, open_route, remove, undo
from neuralns.routes.evaluate import recompute
from neuralns.routes.journal import checkpoint
from neuralns.routes.transfer import State


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
    assert fault_of(state) == (edits.WRONG_PLACE, 2)
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
    assert (state.fault, state.fault_node) == (edits.WRONG_PLACE, 2)
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
    first = int(new_mark(state))
    state.marks[1] = first
    second = int(new_mark(state))
    assert second > first > 0
    assert second not in state.marks.tolist()
