"""The insertion table: its cells against every place tried, before and after insertions."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers import on_a_line, random_instances, solution_in, started
from neuralns import Instance, Solution
from neuralns.operators.repair.table import (
    fill_table,
    find_cheapest,
    insert_row,
    list_routes,
    open_column,
    renew_cell,
)
from neuralns.routes.edits import TABLE_FULL, remove
from neuralns.routes.transfer import State, new_state


def routes_by_slot(state: State) -> dict[int, list[int]]:
    """The customers of each route by its slot."""
    found: dict[int, list[int]] = {}
    for slot in state.active[: state.n_active].tolist():
        found[slot], node = [], int(state.first[slot])
        while node:
            found[slot].append(node)
            node = int(state.successor[node])
    return found


def least_cost(instance: Instance, route: list[int], customer: int) -> float:
    """The least by which a customer makes a route dearer, infinite if it has no room."""
    if instance.demands[[*route, customer]].sum() > instance.capacity * (1 + 1e-9):
        return math.inf
    before = Solution(instance, [route]).length
    longer = [[*route[:place], customer, *route[place:]] for place in range(len(route) + 1)]
    return min(Solution(instance, [each]).length for each in longer) - before


def check_cells(state: State, instance: Instance, rows: list[int], width: int) -> None:
    routes = routes_by_slot(state)
    for row in rows:
        customer = int(state.items[row])
        for column in range(state.n_columns):
            found = float(state.table_delta[row * width + column])
            expected = least_cost(instance, routes[int(state.columns[column])], customer)
            assert found == pytest.approx(expected, rel=1e-9, abs=1e-7)


@settings(deadline=None, max_examples=60)
@given(random_instances(most=12), st.integers(0, 1000), st.data())
def test_cells_hold_the_least_cost_and_stay_right_after_insertions(
    instance: Instance, seed: int, data: st.DataObject
) -> None:
    state, _ = started(instance, seed)
    taken = data.draw(st.lists(st.integers(1, instance.customers), min_size=1, unique=True))
    for customer in taken:
        remove(state, customer)
    rows, width = fill_table(state)
    assert rows == len(taken)
    assert state.items[:rows].tolist() == taken
    left = list(range(rows))
    check_cells(state, instance, left, width)
    while left:
        row = left.pop(data.draw(st.integers(0, len(left) - 1)))
        find_cheapest(state, row, width)
        customer = int(state.items[row])
        routes = routes_by_slot(state)
        opening = Solution(instance, [[customer]]).cost
        options = [least_cost(instance, route, customer) for route in routes.values() if route]
        assert state.best_delta[row] == pytest.approx(min([opening, *options]), rel=1e-9, abs=1e-7)
        before = solution_in(state, instance).cost
        changed = insert_row(state, row, state.best_column[row], width)
        assert solution_in(state, instance).cost - before == pytest.approx(state.best_delta[row], rel=1e-9, abs=1e-7)
        for other in left:
            renew_cell(state, other, changed, width, customer)
        check_cells(state, instance, left, width)
    assert state.n_removed == 0
    assert state.fault == 0


def test_routes_without_room_or_customers_are_no_columns() -> None:
    instance = Instance("tight", [0, 4, 6, 7, 3], 10, [[0, 0], [1, 0], [2, 0], [3, 0], [4, 0]])
    state = new_state(instance, 0, solution=Solution(instance, [[1], [2], [3, 4]]))
    slots = [int(state.route[customer]) for customer in (1, 2, 3)]
    remove(state, 2)
    list_routes(state)
    # The route of 2 is empty, that of 3 and 4 full.
    assert state.columns[: state.n_columns].tolist() == slots[:1]
    remove(state, 4)
    list_routes(state)
    assert sorted(state.columns[: state.n_columns].tolist()) == sorted([slots[0], slots[2]])


def test_a_route_that_is_opened_becomes_a_column() -> None:
    state, start = on_a_line([1, 2], [3], places=[1.0, 5.0, -2.0])
    remove(state, 2)
    list_routes(state)
    columns = state.n_columns
    assert open_column(state, 2, 0) == columns
    assert state.n_columns == columns + 1
    assert set(solution_in(state, start.instance).routes) == {(1,), (2,), (3,)}
    assert int(state.columns[columns]) == int(state.route[2])


def test_more_removed_customers_than_the_state_was_made_for_are_noted() -> None:
    instance = Instance("line", [0.0] + [1.0] * 6, 2, np.arange(14).reshape(7, 2))
    solution = Solution(instance, [[1, 2], [3, 4], [5, 6]])
    for quota, fault in ((6, 0), (1, TABLE_FULL)):
        state = new_state(instance, 0, solution=solution, quota=quota)
        for customer in range(1, 7):
            remove(state, customer)
        fill_table(state)
        assert state.fault == fault
