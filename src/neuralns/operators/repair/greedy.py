"""Greedy repair operators: customers go where they cost least, in an order of cost, regret or chance."""

import numpy as np

from neuralns.operators.repair.table import open_column
from neuralns.operators.toolkit import (
    Dial,
    best_insertion,
    best_near,
    best_on_routes,
    best_opening,
    compiled,
    fill_table,
    find_cheapest,
    from_depot,
    has_windows,
    hopeless,
    insert,
    insert_row,
    is_wanted,
    list_routes,
    may_run_out,
    open_route,
    opens_eagerly,
    random,
    renew_cell,
    repair,
    worth,
)


@compiled
def _cheapest(state, rows):
    """Return the index in ``order`` of the row with the least cost."""
    chosen = 0
    for index in range(1, rows):
        if state.best_delta[state.order[index]] < state.best_delta[state.order[chosen]]:
            chosen = index
    return chosen


@repair("greedy", "greedy")
def greedy(state):
    """Insert the customer and position of the least cost overall, again and again.

    Least c_pi + c_is − c_ps over all customers i and positions (p, s) with room; opening a route for i costs
    c_0i + c_i0 and a vehicle. Ropke & Pisinger 2006, section 3.2.1 (basic greedy).
    """
    rows, width = fill_table(state)
    for row in range(rows):
        state.order[row] = row
        find_cheapest(state, row, width)
    while rows > 0:
        chosen = _cheapest(state, rows)
        row = state.order[chosen]
        if state.best_delta[row] == np.inf or hopeless(state):
            return
        inserted = state.items[row]
        if not is_wanted(state, inserted):
            rows -= 1
            state.order[chosen] = state.order[rows]
            continue
        changed = insert_row(state, row, state.best_column[row], width)
        rows -= 1
        state.order[chosen] = state.order[rows]
        if changed < 0:
            continue
        for index in range(rows):
            row = state.order[index]
            renew_cell(state, row, changed, width, inserted)
            cost = state.table_delta[row * width + changed]
            # The last vehicle may be on its way by now.
            if state.best_column[row] == changed or (state.best_column[row] < 0 and may_run_out(state)):
                find_cheapest(state, row, width)
            elif cost < state.best_delta[row]:
                state.best_delta[row], state.best_column[row] = cost, changed


@compiled
def _find_regret(state, row, width, depth):
    """Note the regret of a row, its least cost, the cost of its k-th best route, and the column of the best."""
    first, second, third, fourth, where = np.inf, np.inf, np.inf, np.inf, -1
    for column in range(-1, state.n_columns):
        if column < 0:
            cost, _ = best_opening(state, state.items[row])
        else:
            cost = state.table_delta[row * width + column]
        # On equal costs a route that exists is better than a new one.
        if cost < first or (cost == first and where == -1 and cost < np.inf):
            first, second, third, fourth, where = cost, first, second, third, column
        elif cost < second:
            second, third, fourth = cost, second, third
        elif cost < third:
            third, fourth = cost, third
        elif cost < fourth:
            fourth = cost
    if first == np.inf or first >= worth(state, state.items[row]):
        first = np.inf
        # Nowhere to go: after all others.
        state.best_delta[row], state.keys[row], state.row_limit[row], state.best_column[row] = -np.inf, first, first, -1
        return
    regret, last = second - first, second
    if depth > 2:
        regret, last = regret + third - first, third
    if depth > 3:
        regret, last = regret + fourth - first, fourth
    state.best_delta[row], state.keys[row], state.row_limit[row], state.best_column[row] = regret, first, last, where


@compiled
def insert_by_regret(state, depth):
    """Insert the removed customers by largest regret over their ``depth`` (2 to 4) best routes."""
    rows, width = fill_table(state)
    for row in range(rows):
        state.order[row] = row
        _find_regret(state, row, width, depth)
    while rows > 0:
        chosen = 0
        for index in range(1, rows):
            row, best = state.order[index], state.order[chosen]
            if state.best_delta[row] > state.best_delta[best] or (
                state.best_delta[row] == state.best_delta[best] and state.keys[row] < state.keys[best]
            ):
                chosen = index
        row = state.order[chosen]
        if state.keys[row] == np.inf or hopeless(state):
            return
        inserted = state.items[row]
        if not is_wanted(state, inserted):
            rows -= 1
            state.order[chosen] = state.order[rows]
            continue
        fresh = state.best_column[row] < 0
        last_vehicle = fresh and may_run_out(state, 1)
        changed = insert_row(state, row, state.best_column[row], width)
        rows -= 1
        state.order[chosen] = state.order[rows]
        if changed < 0:
            continue
        for index in range(rows):
            row = state.order[index]
            cell = row * width + changed
            known = np.inf if fresh else state.table_delta[cell]
            renew_cell(state, row, changed, width, inserted)
            # A route that was and is worse than the k-th best changes nothing.
            if last_vehicle or known <= state.row_limit[row] or state.table_delta[cell] <= state.row_limit[row]:
                _find_regret(state, row, width, depth)


@repair("regret-2", "greedy")
def regret_2(state):
    """Insert the customer that loses most if it has to take its second best route.

    Largest Σ_{j=2..k} (Δ_j − Δ_1) for k = 2, with Δ_j the least cost of inserting a customer into its j-th best route
    (opening a route counts as one), recomputed after each insertion; a customer with fewer than k routes goes first,
    the cheapest one on equal regrets. Pisinger & Ropke 2007, section 5.2 (regret-k).
    """
    insert_by_regret(state, 2)


@repair("regret-3", "greedy")
def regret_3(state):
    """Insert the customer that loses most if its best route is taken: regret over the three best routes.

    Regret-k for k = 3, see regret-2. Pisinger & Ropke 2007, section 5.2.
    """
    insert_by_regret(state, 3)


@repair("regret-4", "greedy")
def regret_4(state):
    """Insert the customer that loses most if its best route is taken: regret over the four best routes.

    Regret-k for k = 4, see regret-2. Pisinger & Ropke 2007, section 5.2.
    """
    insert_by_regret(state, 4)


BY_CHANCE, BY_DEMAND, FARTHEST, NEAREST, NARROWEST, EARLIEST, LATEST = range(7)
"""Orders in which customers are inserted; the last three are by window."""


@compiled
def _draw_order(state):
    """Return an order by chance, with weights 4, 4, 2, 1, and 1 for each of those by window if there are windows."""
    draw = random(state) * (14.0 if has_windows(state) else 11.0)
    if draw < 4.0:
        return BY_CHANCE
    if draw < 8.0:
        return BY_DEMAND
    return FARTHEST if draw < 10.0 else int(draw) - 10 + NEAREST


@compiled
def _order_removed(state, order):
    """Copy the removal list to ``items``, sorted by an order."""
    count = state.n_removed
    for index in range(count):
        customer = state.removed[index]
        if order == BY_CHANCE:
            key = random(state)
        elif order == BY_DEMAND:
            key = -state.demand[customer]
        elif order == FARTHEST:
            key = -from_depot(state, customer)
        elif order == NEAREST:
            key = from_depot(state, customer)
        elif order == NARROWEST:
            key = state.latest[customer] - state.earliest[customer]
        elif order == EARLIEST:
            key = state.earliest[customer]
        else:
            key = -state.latest[customer]
        if customer == state.forced:
            key = -np.inf
        position = index
        while position > 0 and state.keys[position - 1] > key:
            state.keys[position], state.items[position] = state.keys[position - 1], state.items[position - 1]
            position -= 1
        state.keys[position], state.items[position] = key, customer
    return count


@repair("blinks", "greedy", dials={"rate": Dial("rate of blinks", 0.6)})
def blinks(state, rate=0.01, near=0.0):
    """Insert customers one by one at their cheapest position, overlooking some positions by chance.

    The order is drawn: random, largest demand first, farthest first or nearest first with weights 4, 4, 2, 1; with time
    windows also narrowest first, earliest start first and latest end first, with weights 1, 1, 1. Each position that is
    better than the best one so far is overlooked with probability ``rate``. If ``near`` is above 0, only the positions
    beside so many customers that go well with a customer, by distance and time, are looked at, and all if it fits at
    none of them. Greedy insertion with blinks of Christiaens & Vanden Berghe 2020 (SISR), section 5.2.
    """
    insert_in_order(state, _draw_order(state), rate, int(near))


@compiled
def insert_in_order(state, order, rate, near):
    """Insert the removed customers in an order, each at its cheapest position or into a route of its own.

    Where routes are opened eagerly, the first one gets a route of its own whatever the positions cost.
    """
    listed, eager = False, opens_eagerly(state)
    for index in range(_order_removed(state, order)):
        customer = state.items[index]
        best, where, position = worth(state, customer), -1, np.int64(0)
        if eager:
            eager = False
            opening, vehicle = best_opening(state, customer)
            if opening < best:
                insert(state, customer, open_route(state, vehicle), 0)
                continue
        if near > 0:
            best, where, position = best_near(state, customer, near, best, rate)
        if where < 0:
            if not listed:
                list_routes(state)
                listed = True
            best, where, position = best_on_routes(state, customer, worth(state, customer), rate)
            if where < 0:
                best = worth(state, customer)
        opening, vehicle = best_opening(state, customer)
        if opening < best:
            if listed:
                open_column(state, customer, vehicle)
            else:
                insert(state, customer, open_route(state, vehicle), 0)
        elif where >= 0:
            insert(state, customer, where, position)
        if hopeless(state):
            return


@repair("noise", "greedy")
def greedy_with_noise(state, amplitude=0.025):
    """Insert the customer of the least cost overall, again and again, with costs blurred by noise.

    Each customer's least cost in a route is c_pi + c_is − c_ps + η · c_max · u for u uniform in [−1, 1), amplitude η
    and c_max the longest distance from the depot to a customer of the removal list. Ropke & Pisinger 2006, section 3.6.
    """
    rows, width = fill_table(state)
    most = 0.0
    for row in range(rows):
        most = max(most, amplitude * from_depot(state, state.items[row]))
    for row in range(rows):
        state.order[row] = row
        for column in range(state.n_columns):
            state.table_delta[row * width + column] += most * (2.0 * random(state) - 1.0)
        find_cheapest(state, row, width)
    while rows > 0:
        chosen = _cheapest(state, rows)
        row = state.order[chosen]
        if state.best_delta[row] == np.inf or hopeless(state):
            return
        rows -= 1
        state.order[chosen] = state.order[rows]
        if not is_wanted(state, state.items[row]):
            continue
        changed = insert_row(state, row, state.best_column[row], width)
        if changed < 0:
            continue
        slot = state.columns[changed]
        for index in range(rows):
            row = state.order[index]
            cell = row * width + changed
            state.table_delta[cell], state.table_position[cell] = best_insertion(state, state.items[row], slot)
            if state.table_delta[cell] < np.inf:
                state.table_delta[cell] += most * (2.0 * random(state) - 1.0)
            find_cheapest(state, row, width)
