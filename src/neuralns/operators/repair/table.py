"""The insertion table of repairs: a row for each removed customer, a column for each route that may take one.

A cell holds the least cost of inserting the customer into the route, and the position. An insertion changes one column;
the rest stays valid.
"""

import numpy as np

from neuralns.compiled.caching import compiled
from neuralns.routes.edits import TABLE_FULL, insert, open_route
from neuralns.routes.evaluate import best_of_each, best_opening, least_need, may_take, renew_best, worth


@compiled
def list_routes(state):
    """List the routes that may take a removed customer in ``columns``; insertions only make them fewer."""
    least = least_need(state)
    count = 0
    for index in range(state.n_active):
        slot = state.active[index]
        # An empty route is no column of its own: opening a route stands for all of them.
        if state.size[slot] > 0 and may_take(state, slot, least):
            state.columns[count] = slot
            count += 1
    state.n_columns = count


@compiled
def fill_table(state):
    """Fill the table for the removal list, rows in its order (copied to ``items``); return rows and row length."""
    list_routes(state)
    rows, width = state.n_removed, state.n_columns + state.n_removed
    if rows * width > state.table_delta.shape[0]:
        # More customers are removed than the state was made for.
        state.fault = TABLE_FULL
        return 0, 0
    for row in range(rows):
        customer = state.removed[row]
        state.items[row] = customer
        best_of_each(state, customer, row * width)
    return rows, width


@compiled
def open_column(state, customer, vehicle):
    """Open a route for a customer and give it a column."""
    slot = open_route(state, vehicle)
    insert(state, customer, slot, 0)
    state.columns[state.n_columns] = slot
    state.n_columns += 1
    return state.n_columns - 1


@compiled
def insert_row(state, row, column, width):
    """Insert the customer of a row into a column's route, or open one (−1); return the column that changed.

    −1 if there is no vehicle for it any more, after others were inserted: the customer stays on the removal list.
    """
    customer = state.items[row]
    if column < 0:
        cost, vehicle = best_opening(state, customer)
        return open_column(state, customer, vehicle) if cost < np.inf else -1
    insert(state, customer, state.columns[column], state.table_position[row * width + column])
    return column


@compiled
def renew_cell(state, row, column, width, inserted):
    """Renew a cell after a customer was inserted into its route."""
    cell = row * width + column
    state.table_delta[cell], state.table_position[cell] = renew_best(
        state, state.items[row], state.columns[column], inserted, state.table_delta[cell], state.table_position[cell]
    )


@compiled
def find_cheapest(state, row, width):
    """Note the cheapest column of a row in ``best_delta`` and ``best_column``, −1 if a new route is cheaper."""
    best, where = np.inf, -1
    for column in range(state.n_columns):
        if state.table_delta[row * width + column] < best:
            best, where = state.table_delta[row * width + column], column
    opening, _ = best_opening(state, state.items[row])
    if opening < best:
        best, where = opening, -1
    if best >= worth(state, state.items[row]):
        best, where = np.inf, -1
    state.best_delta[row], state.best_column[row] = best, where
