"""Improve operators that exchange two customers: swap, and SWAP*."""

import numpy as np

from neuralns.operators.toolkit import (
    arriving,
    compiled,
    improve,
    is_overloaded,
    leaving,
    leg,
    may_cross,
    new_visit,
    relief,
    try_cross,
    try_swap,
)


@improve("swap", "both")
def swap(state, near=10):
    """Exchange the positions of two customers, i and one beside a near one of i, on any routes.

    Customers i between p and s and j between k and l: if c_pi + c_is + c_kj + c_jl > c_pj + c_js + c_ki + c_il. Tried
    for each i that the step touched and the stops j before and behind each of its nearest, as long as these are nearer
    than the two legs of i are long. Osman 1993.
    """
    index = 0
    while index < state.n_touched:
        while _exchange(state, state.touched[index], near):
            pass
        index += 1


@compiled
def _exchange(state, node, near):
    """Make the first exchange found of a customer; return whether there was one."""
    slot = state.route[node]
    if slot < 0:
        return False
    cost = arriving(state, node) + leaving(state, node)
    for rank in range(min(int(near), state.neighbours.shape[1])):
        other = state.neighbours[node, rank]
        if leg(state, slot, node, other) >= cost:
            break
        if state.route[other] >= 0 and (
            _exchange_with(state, node, state.successor[other]) or _exchange_with(state, node, state.predecessor[other])
        ):
            return True
    return False


@compiled
def _exchange_with(state, node, other):
    slot, other_slot = state.route[node], state.route[other]
    if other == 0 or other == node or state.successor[node] == other or state.successor[other] == node:
        return False
    before = arriving(state, node) + leaving(state, node) + arriving(state, other) + leaving(state, other)
    after = (
        leg(state, other_slot, state.predecessor[other], node)
        + leg(state, other_slot, node, state.successor[other])
        + leg(state, slot, state.predecessor[node], other)
        + leg(state, slot, other, state.successor[node])
    )
    return after < before and try_swap(state, node, other)


@improve("swap-star", "between routes")
def swap_star(state):
    """Exchange two customers of two routes that the step changed, each going to its cheapest position there (SWAP*).

    For customers i and j the gain is that of taking both off, less the cost of i at the cheapest of its three best
    positions on j's route that stays when j leaves, or at j's own, and that of j likewise. Vidal 2022.
    """
    _list_changed_routes(state)
    for index in range(state.n_columns):
        for other in range(index):
            while _swap_between(state, state.columns[index], state.columns[other]):
                pass


@compiled
def _list_changed_routes(state):
    """Write the routes of customers that the step touched into ``state.columns``."""
    seen = new_visit(state)
    state.n_columns = 0
    for index in range(state.n_touched):
        slot = state.route[state.touched[index]]
        if slot >= 0 and state.visited_slots[slot] != seen:
            state.visited_slots[slot] = seen
            state.columns[state.n_columns] = slot
            state.n_columns += 1


@compiled
def _swap_between(state, slot, other_slot):
    """Make the first exchange found between two routes; return whether there was one."""
    _find_positions(state, slot, other_slot)
    _find_positions(state, other_slot, slot)
    overloaded = is_overloaded(state, slot) or is_overloaded(state, other_slot)
    node = state.first[slot]
    while node != 0:
        gain = _gain(state, node)
        other = state.first[other_slot]
        while other != 0:
            if may_cross(state, node, other):
                cost, position = _cheapest_without(state, node, other)
                other_cost, other_position = _cheapest_without(state, other, node)
                saved = gain + _gain(state, other)
                if overloaded or cost + other_cost < saved:
                    # An exchange that overloads a route does not pay, and one that relieves it may.
                    saved += relief(state, slot, node, other_slot, other)
                if cost + other_cost < saved and try_cross(state, node, position, other, other_position):
                    return True
            other = state.successor[other]
        node = state.successor[node]
    return False


@compiled
def _gain(state, node):
    """Return what taking a customer off its route saves of legs."""
    between = leg(state, state.route[node], state.predecessor[node], state.successor[node])
    return arriving(state, node) + leaving(state, node) - between


@compiled
def _find_positions(state, slot, other_slot):
    """Find the three cheapest positions on another route of each customer of a route.

    Costs are left in ``keys``, ``best_delta`` and ``row_limit``, the stops before in ``items``, ``order``,
    ``best_column``.
    """
    node = state.first[slot]
    while node != 0:
        state.keys[node] = state.best_delta[node] = state.row_limit[node] = np.inf
        before, following = np.uint32(0), state.first[other_slot]
        arrives, between = leg(state, other_slot, 0, node), leg(state, other_slot, 0, following)
        while True:
            cost = arrives + leg(state, other_slot, node, following) - between
            if cost < state.row_limit[node]:
                _keep_position(state, node, cost, before)
            if following == 0:
                break
            arrives, between = leg(state, other_slot, following, node), leaving(state, following)
            before, following = following, state.successor[following]
        node = state.successor[node]


@compiled
def _keep_position(state, node, cost, position):
    """Put a position among the three cheapest of a customer."""
    if cost >= state.best_delta[node]:
        state.row_limit[node], state.best_column[node] = cost, position
        return
    state.row_limit[node], state.best_column[node] = state.best_delta[node], state.order[node]
    if cost >= state.keys[node]:
        state.best_delta[node], state.order[node] = cost, position
        return
    state.best_delta[node], state.order[node] = state.keys[node], state.items[node]
    state.keys[node], state.items[node] = cost, position


@compiled
def _cheapest_without(state, node, other):
    """Return the least cost of a customer on the route of another one that leaves it, and the stop before it."""
    slot, before, after = state.route[other], state.predecessor[other], state.successor[other]
    best = leg(state, slot, before, node) + leg(state, slot, node, after) - leg(state, slot, before, after)
    position = state.items[node]
    if position != other and position != before:
        return (state.keys[node], position) if state.keys[node] < best else (best, before)
    position = state.order[node]
    if position != other and position != before:
        return (state.best_delta[node], position) if state.best_delta[node] < best else (best, before)
    if state.row_limit[node] < best:
        return state.row_limit[node], np.uint32(state.best_column[node])
    return best, before
