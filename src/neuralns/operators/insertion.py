"""Repair operators: put the customers of the removal list back on routes."""

import numpy as np

from neuralns.compiling import compiled
from neuralns.operators.registry import repair
from neuralns.operators.state import (
    best_insertion,
    distance,
    fits,
    has_room,
    insert,
    insertion_cost,
    least_demand,
    open_route,
    opening_cost,
    randint,
    random,
)

BLINK_RATE = 0.01
"""Probability that a better place is overlooked."""
NOISE = 0.025
"""Amplitude of the noise of insertion costs, as a share of the longest distance from the depot."""

# The insertion table has a row for each removed customer and a column for each route with room: the least cost of
# inserting the one into the other, and where. An insertion changes one column; the rest stays valid.


@compiled
def _list_routes_with_room(state):
    """List the routes that may take a removed customer in ``columns``; insertions only make them fewer."""
    least = least_demand(state)
    count = 0
    for index in range(state.n_active):
        slot = state.active[index]
        # An empty route is no column of its own: opening a route stands for all of them.
        if state.size[slot] > 0 and has_room(state, slot, least):
            state.columns[count] = slot
            count += 1
    state.n_columns = count


@compiled
def _fill_table(state):
    """Fill the table for the removal list, rows in its order (copied to ``items``); return rows and row length."""
    _list_routes_with_room(state)
    rows, columns, width = state.n_removed, state.n_columns, state.n_columns + state.n_removed
    if rows * width > state.table_cost.shape[0]:
        state.table_cost = np.empty(2 * rows * width)
        state.table_after = np.empty(2 * rows * width, np.uint32)
    for row in range(rows):
        customer = state.removed[row]
        state.items[row] = customer
        for column in range(columns):
            slot, cell = state.columns[column], row * width + column
            if fits(state, customer, slot):
                state.table_cost[cell], state.table_after[cell] = best_insertion(state, customer, slot)
            else:
                state.table_cost[cell] = np.inf
    return rows, width


@compiled
def _open_column(state, customer):
    """Open a route for a customer and give it a column."""
    slot = open_route(state)
    insert(state, customer, slot, 0)
    state.columns[state.n_columns] = slot
    state.n_columns += 1
    return state.n_columns - 1


@compiled
def _insert_row(state, row, column, width):
    """Insert the customer of a row into a column's route, or open one (−1); return the column that changed."""
    customer = state.items[row]
    if column < 0:
        return _open_column(state, customer)
    insert(state, customer, state.columns[column], state.table_after[row * width + column])
    return column


@compiled
def _update_cell(state, row, column, width, inserted):
    """Renew a cell after a customer was inserted into its route: only the two places beside it are new."""
    slot, cell, customer = state.columns[column], row * width + column, state.items[row]
    before = state.predecessor[inserted]
    if not fits(state, customer, slot):
        state.table_cost[cell] = np.inf
    elif state.size[slot] == 1 or state.table_after[cell] == before:
        # The route was just opened, or its best place is the one that the insertion took.
        state.table_cost[cell], state.table_after[cell] = best_insertion(state, customer, slot)
    else:
        known = state.table_cost[cell]
        first = insertion_cost(state, customer, slot, before)
        second = insertion_cost(state, customer, slot, inserted)
        if first < known and first <= second:
            state.table_cost[cell], state.table_after[cell] = first, before
        elif second < known:
            state.table_cost[cell], state.table_after[cell] = second, inserted


@compiled
def _find_best(state, row, width):
    """Note the cheapest column of a row in ``best_cost`` and ``best_column``, −1 if a new route is cheaper."""
    best, where = np.inf, -1
    for column in range(state.n_columns):
        if state.table_cost[row * width + column] < best:
            best, where = state.table_cost[row * width + column], column
    opening = opening_cost(state, state.items[row])
    if opening < best:
        best, where = opening, -1
    state.best_cost[row], state.best_column[row] = best, where


@compiled
def _cheapest(state, rows):
    """Return the index in ``order`` of the row with the least cost."""
    chosen = 0
    for index in range(1, rows):
        if state.best_cost[state.order[index]] < state.best_cost[state.order[chosen]]:
            chosen = index
    return chosen


@repair("greedy", "greedy")
def greedy(state):
    """Insert the customer and place of the least cost overall, again and again.

    Least c_pi + c_is − c_ps over all customers i and places (p, s) with room; opening a route for i costs
    c_0i + c_i0 and a vehicle. Ropke & Pisinger 2006, section 3.2.1 (basic greedy).
    """
    rows, width = _fill_table(state)
    for row in range(rows):
        state.order[row] = row
        _find_best(state, row, width)
    while rows > 0:
        chosen = _cheapest(state, rows)
        row = state.order[chosen]
        inserted = state.items[row]
        changed = _insert_row(state, row, state.best_column[row], width)
        rows -= 1
        state.order[chosen] = state.order[rows]
        for index in range(rows):
            row = state.order[index]
            _update_cell(state, row, changed, width, inserted)
            cost = state.table_cost[row * width + changed]
            if state.best_column[row] == changed:
                _find_best(state, row, width)
            elif cost < state.best_cost[row]:
                state.best_cost[row], state.best_column[row] = cost, changed


@compiled
def _find_regret(state, row, width, depth):
    """Note the regret of a row, its least cost, the cost of its k-th best route, and the column of the best."""
    first, second, third, fourth, where = np.inf, np.inf, np.inf, np.inf, -1
    for column in range(-1, state.n_columns):
        if column < 0:
            cost = opening_cost(state, state.items[row])
        else:
            cost = state.table_cost[row * width + column]
        # On equal costs a route that exists is better than a new one.
        if cost < first or (cost == first and where == -1 and cost < np.inf):
            first, second, third, fourth, where = cost, first, second, third, column
        elif cost < second:
            second, third, fourth = cost, second, third
        elif cost < third:
            third, fourth = cost, third
        elif cost < fourth:
            fourth = cost
    regret, last = second - first, second
    if depth > 2:
        regret, last = regret + third - first, third
    if depth > 3:
        regret, last = regret + fourth - first, fourth
    state.best_cost[row], state.keys[row], state.row_limit[row], state.best_column[row] = regret, first, last, where


@compiled
def insert_by_regret(state, depth):
    """Insert the removed customers by largest regret over their ``depth`` (2 to 4) best routes."""
    rows, width = _fill_table(state)
    for row in range(rows):
        state.order[row] = row
        _find_regret(state, row, width, depth)
    while rows > 0:
        chosen = 0
        for index in range(1, rows):
            row, best = state.order[index], state.order[chosen]
            if state.best_cost[row] > state.best_cost[best] or (
                state.best_cost[row] == state.best_cost[best] and state.keys[row] < state.keys[best]
            ):
                chosen = index
        row = state.order[chosen]
        inserted = state.items[row]
        fresh = state.best_column[row] < 0
        changed = _insert_row(state, row, state.best_column[row], width)
        rows -= 1
        state.order[chosen] = state.order[rows]
        for index in range(rows):
            row = state.order[index]
            cell = row * width + changed
            known = np.inf if fresh else state.table_cost[cell]
            _update_cell(state, row, changed, width, inserted)
            # A route that was and is worse than the k-th best changes nothing.
            if known <= state.row_limit[row] or state.table_cost[cell] <= state.row_limit[row]:
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


@compiled
def _order_removed(state):
    """Copy the removal list to ``items``, sorted by chance, demand, or distance from the depot (near or far first)."""
    count = state.n_removed
    draw = random(state) * 11.0
    for index in range(count):
        customer = state.removed[index]
        if draw < 4.0:
            key = random(state)
        elif draw < 8.0:
            key = -state.demand[customer]
        elif draw < 10.0:
            key = -distance(state, 0, customer)
        else:
            key = distance(state, 0, customer)
        place = index
        while place > 0 and state.keys[place - 1] > key:
            state.keys[place], state.items[place] = state.keys[place - 1], state.items[place - 1]
            place -= 1
        state.keys[place], state.items[place] = key, customer
    return count


@repair("blinks", "greedy")
def blinks(state):
    """Insert customers one by one at their cheapest place, overlooking some places by chance.

    The order is drawn: random, largest demand first, farthest first or nearest first with weights 4, 4, 2, 1. Each
    place that is better than the best one so far is overlooked with probability 0.01. Greedy insertion with blinks of
    Christiaens & Vanden Berghe 2020 (SISR), section 5.2.
    """
    distances, distances_to, arc, successor = state.distances, state.distances_to, state.arc, state.successor
    held = distances.shape[0] > 0
    _list_routes_with_room(state)
    for index in range(_order_removed(state)):
        customer = state.items[index]
        best, where, after = np.inf, -1, np.uint32(0)
        for column in range(state.n_columns):
            slot = state.columns[column]
            if not fits(state, customer, slot):
                continue
            before, cut, here = np.uint32(0), state.entry[slot], state.first[slot]
            arriving = distance(state, 0, customer)
            while True:
                leaving = distances[customer, here] if held else distance(state, customer, here)
                cost = arriving + leaving - cut
                if cost < best and random(state) >= BLINK_RATE:
                    best, where, after = cost, int(slot), before
                if here == 0:
                    break
                arriving = distances_to[customer, here] if held else leaving
                before, cut, here = here, arc[here], successor[here]
        if where < 0 or opening_cost(state, customer) < best:
            _open_column(state, customer)
        else:
            insert(state, customer, where, after)


@repair("noise", "greedy")
def greedy_with_noise(state):
    """Insert the customer of the least cost overall, again and again, with costs blurred by noise.

    Each customer's least cost in a route is c_pi + c_is − c_ps + η · c_max · u for u uniform in [−1, 1), η = 0.025 and
    c_max the longest distance from the depot to a customer of the removal list. Ropke & Pisinger 2006, section 3.6.
    """
    rows, width = _fill_table(state)
    amplitude = 0.0
    for row in range(rows):
        amplitude = max(amplitude, NOISE * distance(state, 0, state.items[row]))
    for row in range(rows):
        state.order[row] = row
        for column in range(state.n_columns):
            state.table_cost[row * width + column] += amplitude * (2.0 * random(state) - 1.0)
        _find_best(state, row, width)
    while rows > 0:
        chosen = _cheapest(state, rows)
        row = state.order[chosen]
        changed = _insert_row(state, row, state.best_column[row], width)
        rows -= 1
        state.order[chosen] = state.order[rows]
        slot = state.columns[changed]
        for index in range(rows):
            row = state.order[index]
            cell = row * width + changed
            state.table_cost[cell] = np.inf
            if fits(state, state.items[row], slot):
                state.table_cost[cell], state.table_after[cell] = best_insertion(state, state.items[row], slot)
                state.table_cost[cell] += amplitude * (2.0 * random(state) - 1.0)
            _find_best(state, row, width)


@repair("random-insertion", "random")
def random_insertion(state):
    """Insert each customer at a random place of a random route with room.

    Every route with room is as likely as any other, and so is every place on it; without room anywhere a route is
    opened. A baseline since Shaw 1998.
    """
    while state.n_removed > 0:
        customer = state.removed[state.n_removed - 1]
        chosen, seen = -1, 0
        for column in range(state.n_active):
            slot = state.active[column]
            if state.size[slot] > 0 and fits(state, customer, slot):
                seen += 1
                if randint(state, seen) == 0:
                    chosen = int(slot)
        if chosen < 0:
            insert(state, customer, open_route(state), 0)
            continue
        before = np.uint32(0)
        following = state.first[chosen]
        for _ in range(randint(state, state.size[chosen] + 1)):
            before, following = following, state.successor[following]
        insert(state, customer, chosen, before)
