"""The linked list that routes are: customers are attached to it and detached from it, and stretches laid into it.

What hangs on it, loads and lengths of routes and who of a group is served, is kept up to date here; costs and vehicles
are entered in the books around it (see `vehicles`).
"""

import numpy as np

from neuralns.compiled.caching import compiled
from neuralns.routes.cost import cost_of_whole_sequence
from neuralns.routes.journal import chain, save_node, save_slot
from neuralns.routes.questions import ask
from neuralns.routes.removal_list import add_to_list, take_off_list
from neuralns.routes.rules import backhauls, groups, load
from neuralns.routes.rules.length import end_of, leg, rows_of, start_of, vehicle_of
from neuralns.routes.vehicles import (
    CHEAPEST,
    choose_sizing,
    close_books,
    costs_by_length,
    note_length,
    open_books,
)

_TAKE_OFF, _take_off = ask("take_off")
_CLOSE_BOOKS, _close_books = ask("close_books")


@compiled
def detach(state, node):
    """Take a customer out of its route; return by how much that is shorter."""
    slot, before, after = np.uint32(state.route[node]), state.predecessor[node], state.successor[node]
    vehicle = vehicle_of(state, slot)
    save_node(state, node)
    alone = state.ends != 0 and before == 0 and after == 0
    bridge = 0.0
    if not alone:
        bridge = leg(state, rows_of(state, vehicle), start_of(state, vehicle, before), end_of(state, vehicle, after))
    if before == 0:
        shorter = state.entry[slot] + state.arc[node] - bridge
        state.first[slot] = after
        state.entry[slot] = bridge
    else:
        save_node(state, before)
        shorter = state.arc[before] + state.arc[node] - bridge
        state.successor[before] = after
        state.arc[before] = bridge
    if after != 0:
        save_node(state, after)
        state.predecessor[after] = before
        state.arriving[after] = bridge
    state.route[node] = -1
    state.length[slot] -= shorter
    state.size[slot] -= 1
    if state.size[slot] == 0:
        state.n_routes -= 1
    load.change(state, slot, node, -1.0)
    groups.count(state, node, -1)
    return shorter


@compiled
def attach(state, node, slot, before):
    """Put a customer into a route behind another one, 0 for the start; return by how much that is longer."""
    vehicle = vehicle_of(state, slot)
    rows = rows_of(state, vehicle)
    save_node(state, node)
    arriving = leg(state, rows, start_of(state, vehicle, before), node)
    if before == 0:
        after, bridge = state.first[slot], state.entry[slot]
        state.first[slot] = node
        state.entry[slot] = arriving
    else:
        save_node(state, before)
        after, bridge = state.successor[before], state.arc[before]
        state.successor[before] = node
        state.arc[before] = arriving
    leaving = leg(state, rows, node, end_of(state, vehicle, after))
    if after != 0:
        save_node(state, after)
        state.predecessor[after] = node
        state.arriving[after] = leaving
    state.predecessor[node] = before
    state.successor[node] = after
    state.arc[node] = leaving
    state.arriving[node] = arriving
    state.route[node] = slot
    if state.size[slot] == 0:
        state.n_routes += 1
        bridge = 0.0
    longer = arriving + leaving - bridge
    state.length[slot] += longer
    state.size[slot] += 1
    load.change(state, slot, node, 1.0)
    groups.count(state, node, 1)
    return longer


@compiled
def take_off(state, customer):
    """Take a request off its route and put it on the removal list: a customer, or both ends of a shipment."""
    node = np.uint32(customer)
    slot, request = np.uint32(state.route[node]), node
    save_slot(state, slot)
    if costs_by_length(state):
        note_length(state, slot, -detach(state, node))
        add_to_list(state, request)
        return
    open_books(state, slot)
    detach(state, node)
    if state.shipments != 0 and state.partner[node] != 0:
        detach(state, state.partner[node])
        if state.is_delivery[node] != 0:
            request = state.partner[node]
    close_books(state, slot, False)
    add_to_list(state, request)


@compiled
def put_on(state, customer, slot, position):
    """Put a request on a route, at a position, and take it off the removal list."""
    node, slot, size = np.uint32(customer), np.uint32(slot), state.customers + 1
    save_slot(state, slot)
    if costs_by_length(state):
        note_length(state, slot, attach(state, node, slot, np.uint32(position)))
        take_off_list(state, node)
        return
    open_books(state, slot)
    attach(state, node, slot, np.uint32(position % size if state.shipments != 0 else position))
    if state.shipments != 0 and state.partner[node] != 0:
        behind = position // size
        attach(state, state.partner[node], slot, np.uint32(behind if behind != 0 else node))
    close_books(state, slot, state.sizing == CHEAPEST)
    take_off_list(state, node)


@compiled
def load_route(state, slot, begin, end):
    """Make customers ``begin`` .. ``end`` of ``plan`` the route of an empty slot whose vehicle is set."""
    before, slot = np.uint32(0), np.uint32(slot)
    for index in range(begin, end):
        attach(state, state.plan[index], slot, before)
        before = state.plan[index]
    _close_books(state.questions[_CLOSE_BOOKS], (state, slot, False))


@compiled
def lay(state, slot, begin, end):
    """Make part of a plan the stops of a route that is not in the books."""
    vehicle = vehicle_of(state, slot)
    rows, before = rows_of(state, vehicle), np.uint32(0)
    if state.size[slot] > 0:
        state.n_routes -= 1
    load.clear(state, slot)
    state.size[slot] = end - begin
    state.first[slot] = np.uint32(0)
    state.entry[slot] = state.length[slot] = 0.0
    if end == begin:
        return
    state.n_routes += 1
    state.first[slot] = state.plan[begin]
    arriving = leg(state, rows, start_of(state, vehicle, before), state.plan[begin])
    state.entry[slot] = distance = arriving
    for index in range(begin, end):
        node = state.plan[index]
        following = state.plan[index + 1] if index + 1 < end else np.uint32(0)
        leaving = leg(state, rows, node, end_of(state, vehicle, following))
        chain(state, slot, before, node, following, leaving)
        state.arriving[node] = arriving
        load.change(state, slot, node, 1.0)
        distance += leaving
        before, arriving = node, leaving
    state.length[slot] = distance


# --- Moves of local search. ------------------------------------------------------------------------------------------

NOISE = 1e-9
"""A gain below this share of the cost of the routes is the rounding of sums."""


@compiled
def _planned(state, slot, begin, end):
    """Return what part of a plan costs as the route of a slot; infinite if it is not feasible."""
    if begin == end:
        return 0.0
    for index in range(begin, end):
        state.sequence[index - begin] = state.plan[index]
    return cost_of_whole_sequence(state, end - begin, vehicle_of(state, slot))


@compiled
def carry_out(state, slot, middle, other, end):
    """Make the first ``middle`` of a plan the route of a slot, the rest that of another one (no other: below 0).

    Only if that costs less; returns 1 if so. Routes that begin at different depots exchange nothing where depots are
    limited or cost. Each keeps its vehicle: a cheaper one that is free now may be the other's. `reassign_vehicles`
    looks at them.
    """
    one, two = np.uint32(slot), np.uint32(max(other, 0))
    before, after = state.route_cost[one], _planned(state, one, 0, middle)
    if other >= 0 and after < np.inf:
        if state.has_depots != 0 and state.start_depot[state.vehicle[one]] != state.start_depot[state.vehicle[two]]:
            return 0
        before += state.route_cost[two]
        after += _planned(state, two, middle, end)
    if not after < before - NOISE * abs(before):
        return 0
    save_slot(state, one)
    open_books(state, one)
    lay(state, one, 0, middle)
    _close_books(state.questions[_CLOSE_BOOKS], (state, one, False))
    if other >= 0:
        save_slot(state, two)
        open_books(state, two)
        lay(state, two, middle, end)
        _close_books(state.questions[_CLOSE_BOOKS], (state, two, False))
    return 1


# --- Before a repair. ------------------------------------------------------------------------------------------------


@compiled
def prepare(state):
    """Make destroyed routes ready for a repair: draw how sizes of vehicles are chosen, and, where backhauls come last,
    remove all from routes with pickups alone.
    """
    if state.varied != 0:
        choose_sizing(state)
    if state.backhauls != 0:
        for index in range(state.n_saved_slots):
            slot = state.saved_slot[index]
            if backhauls.has_pickups_alone(state, slot):
                while state.first[slot] != 0:
                    _take_off(state.questions[_TAKE_OFF], (state, state.first[slot]))
