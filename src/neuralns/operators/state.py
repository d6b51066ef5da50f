"""The solution that a search works on: routes as linked lists in arrays, edited in place, undone exactly.

Operators read the fields of a state and change it through `remove` and `insert` alone. What a variant of the problem
changes is in this file: the fields of an instance, the bookkeeping of a route, whether a customer fits into a route
(`fits`) and what it costs to insert it (`best_insertion`, `opening_cost`).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from numba import types
from numba.experimental import structref

from neuralns.compiling import compiled
from neuralns.operators.handle import Handle, HandleType, at_address
from neuralns.problem.distances import ROUNDINGS
from neuralns.problem.initial import nearest_neighbours
from neuralns.problem.instance import Instance
from neuralns.problem.solution import LOAD_TOLERANCE, Solution

FULL_NEIGHBOURS = 1000
"""Up to so many customers each node knows all others by distance; above, its nearest `SOME_NEIGHBOURS`."""
SOME_NEIGHBOURS = 100

NOTHING_WRONG, NOT_REMOVABLE, NOT_INSERTABLE, WRONG_PLACE = range(4)
"""Values of ``State.fault``: what an operator did that `remove` or `insert` had to refuse."""

_float, _int = types.float64, types.int64
_floats = types.Array(types.float64, 1, "C")
_ints = types.Array(types.int32, 1, "C")
# Indices of nodes and slots are unsigned: an index that may be negative costs a check at every access.
_nodes = types.Array(types.uint32, 1, "C")
_longs = types.Array(types.int64, 1, "C")
_words = types.Array(types.uint64, 1, "C")
_matrix = types.Array(types.float64, 2, "C")
_table = types.Array(types.uint32, 2, "C")

_FIELDS: list[tuple[str, Any]] = [
    # The instance.
    ("customers", _int),  # customers are 1 .. customers, 0 is the depot
    ("limit", _float),  # what a vehicle carries, with a tolerance for sums of fractional demands
    ("vehicle_cost", _float),
    ("rounding", _int),  # index in ROUNDINGS, used when distances are computed on demand
    ("demand", _floats),
    ("x", _floats),
    ("y", _floats),
    ("distances", _matrix),  # [tail, head]; 0 × 0 when computed on demand
    ("distances_to", _matrix),  # its transpose; the same array when symmetric
    ("neighbours", _table),  # nearest customers of each node, nearest first
    ("random", _words),  # the generator's 256 bits
    # What selectors see beside the routes (`selection.features`).
    ("unit", _float),  # mean distance between the depot and a customer: the yardstick of lengths
    ("reference", _float),  # F of the start
    ("left", _float),  # share of the budget left, from 1 to 0
    ("quota", _int),  # customers to remove at a time
    ("gained", _float),  # by how much the last pair of operators lowered F, 0 if its result was rejected
    ("stalled", _int),  # pairs since F last fell
    # The routes. A route is a slot; `active` lists the slots in use, those just emptied included.
    ("successor", _nodes),  # next customer, 0 at the end
    ("predecessor", _nodes),  # previous customer, 0 at the start
    ("route", _ints),  # slot of the customer's route, -1 while it is removed
    ("arc", _floats),  # distance to the successor
    ("first", _nodes),  # first customer of a slot, 0 if empty
    ("entry", _floats),  # distance from the depot to the first customer
    ("size", _ints),
    ("load", _floats),
    ("length", _floats),
    ("active", _nodes),
    ("n_active", _int),
    ("free", _nodes),
    ("n_free", _int),
    ("n_routes", _int),  # routes with customers
    ("cost", _float),  # F of the routes
    # The removal list.
    ("removed", _nodes),
    ("n_removed", _int),
    ("place", _nodes),  # index of a removed customer in `removed`
    # What `undo` needs: the nodes and slots changed since the last checkpoint, as they were.
    ("stamp", _int),
    ("node_stamp", _longs),
    ("n_saved", _int),
    ("saved", _nodes),
    ("saved_successor", _nodes),
    ("saved_predecessor", _nodes),
    ("saved_route", _ints),
    ("saved_arc", _floats),
    ("slot_stamp", _longs),
    ("n_saved_slots", _int),
    ("saved_slot", _nodes),
    ("saved_first", _nodes),
    ("saved_entry", _floats),
    ("saved_size", _ints),
    ("saved_load", _floats),
    ("saved_length", _floats),
    ("saved_cost", _float),
    ("saved_n_routes", _int),
    # The search's memory: cost of the best solution seen with each arc; 0 × 0 if nobody asks for it.
    ("history", _matrix),
    ("fault", _int),
    ("fault_node", _int),
    # Scratch space of operators: contents mean nothing between two calls.
    ("keys", _floats),
    ("items", _nodes),
    ("order", _nodes),
    ("marks", _longs),  # of nodes; compare with a fresh `new_mark`
    ("slot_marks", _longs),
    ("mark", _int),
    ("columns", _nodes),  # routes that a repair may insert into
    ("n_columns", _int),
    ("table_cost", _floats),  # insertion tables of repairs, grown on demand
    ("table_after", _nodes),
    ("best_cost", _floats),
    ("best_column", _ints),
    ("row_limit", _floats),
]


state_type = HandleType("neuralns.State", _FIELDS)
_owner = state_type.owner


class State(Handle):
    """A solution in the compiled world; made by `new_state`, read by `routes_of`."""

    __slots__ = ("shared",)
    shared: tuple[Any, ...]
    """What states of one instance hold in common."""


state_at = at_address(state_type)
"""Return the state at an address: compiled functions take many states as an array of addresses."""


# --- Randomness: xoshiro256++ (Blackman & Vigna 2021), seeded by numpy's SeedSequence. -------------------------------


@compiled
def random_word(state):
    """Return 64 random bits."""
    s = state.random
    s0, s1, s2, s3 = s[0], s[1], s[2], s[3]
    total = s0 + s3
    result = ((total << np.uint64(23)) | (total >> np.uint64(41))) + s0
    s2 ^= s0
    s3 ^= s1
    s[1] = s1 ^ s2
    s[0] = s0 ^ s3
    s[2] = s2 ^ (s1 << np.uint64(17))
    s[3] = (s3 << np.uint64(45)) | (s3 >> np.uint64(19))
    return result


@compiled
def seed_generator(state, seed):
    """Start the generator anew from one 64-bit number, by splitmix64 (Steele, Lea & Flood 2014)."""
    word = np.uint64(seed)
    for index in range(4):
        word += np.uint64(0x9E3779B97F4A7C15)
        mixed = (word ^ (word >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        state.random[index] = mixed ^ (mixed >> np.uint64(31))


@compiled
def random(state):
    """Return a uniform number in [0, 1)."""
    return np.float64(random_word(state) >> np.uint64(11)) * (1.0 / 9007199254740992.0)


@compiled
def randint(state, bound):
    """Return a uniform whole number from 0 to ``bound`` − 1."""
    return np.int64(random(state) * bound)


@compiled
def random_rank(state, count, determinism):
    """Return the rank ⌊y^p · m⌋ for y uniform: 0 for p → ∞, uniform over m for p = 1 (Ropke & Pisinger 2006)."""
    return np.int64(random(state) ** determinism * count)


@compiled
def random_routed(state):
    """Return a customer that is on a route, uniformly; 0 if there is none."""
    left = state.customers - state.n_removed
    if left <= 0:
        return 0
    if 4 * left >= state.customers:
        while True:
            customer = 1 + randint(state, state.customers)
            if state.route[customer] >= 0:
                return customer
    rank = randint(state, left)
    for customer in range(1, state.customers + 1):
        if state.route[customer] >= 0:
            if rank == 0:
                return customer
            rank -= 1
    return 0


@compiled
def new_mark(state):
    """Return a number that no entry of ``marks`` or ``slot_marks`` holds yet: a set emptied in one step."""
    state.mark += 1
    return state.mark


# --- Costs and feasibility: what a variant of the problem changes. ---------------------------------------------------


@compiled
def distance(state, tail, head):
    """Return the rounded distance from node ``tail`` to node ``head``."""
    if state.distances.shape[0] > 0:
        return state.distances[tail, head]
    dx = state.x[tail] - state.x[head]
    dy = state.y[tail] - state.y[head]
    raw = np.sqrt(dx * dx + dy * dy)
    if state.rounding == 1:
        return np.floor(raw + 0.5)
    if state.rounding == 2:
        return np.floor(raw)
    if state.rounding == 3:
        return np.floor(10.0 * raw) / 10.0
    return raw


@compiled
def fits(state, customer, slot):
    """Return whether a customer can join a route."""
    return state.load[slot] + state.demand[customer] <= state.limit


@compiled
def least_demand(state):
    """Return the smallest demand on the removal list."""
    least = np.inf
    for index in range(state.n_removed):
        least = min(least, state.demand[state.removed[index]])
    return least


@compiled
def has_room(state, slot, least):
    """Return whether a route can take a customer of the least demand; if not, it can take nobody."""
    return state.load[slot] + least <= state.limit


@compiled
def overloaded(state, slot):
    """Return whether a route breaks its limits."""
    return state.load[slot] > state.limit


@compiled
def best_insertion(state, customer, slot):
    """Return the least cost c_pi + c_is − c_ps of inserting a customer i into a route, and the p to insert it after."""
    if state.distances.shape[0] == 0:
        return _best_insertion_on_demand(state, customer, slot)
    distances, distances_to, arc, successor = state.distances, state.distances_to, state.arc, state.successor
    row = np.uint32(customer)
    best, after = np.inf, np.uint32(0)
    before, cut, here = np.uint32(0), state.entry[slot], state.first[slot]
    to_customer = distances_to[row, 0]
    while True:
        cost = to_customer + distances[row, here] - cut
        if cost < best:
            best, after = cost, before
        if here == 0:
            return best, after
        to_customer = distances_to[row, here]
        before, cut, here = here, arc[here], successor[here]


@compiled
def _best_insertion_on_demand(state, customer, slot):
    best, after = np.inf, np.uint32(0)
    before, cut, here = np.uint32(0), state.entry[slot], state.first[slot]
    to_customer = distance(state, 0, customer)
    while True:
        from_customer = distance(state, customer, here)
        cost = to_customer + from_customer - cut
        if cost < best:
            best, after = cost, before
        if here == 0:
            return best, after
        # Distances computed from points are symmetric.
        to_customer = from_customer
        before, cut, here = here, state.arc[here], state.successor[here]


@compiled
def insertion_cost(state, customer, slot, before):
    """Return the cost c_pi + c_is − c_ps of inserting a customer i into a route after p (0: at its start)."""
    if before == 0:
        cut, after = state.entry[slot], state.first[slot]
    else:
        cut, after = state.arc[before], state.successor[before]
    return distance(state, before, customer) + distance(state, customer, after) - cut


@compiled
def opening_cost(state, customer):
    """Return the cost of a route for one customer: there, back, and the vehicle."""
    return distance(state, 0, customer) + distance(state, customer, 0) + state.vehicle_cost


@compiled
def removal_gain(state, customer):
    """Return what removing a customer i between p and s saves: g_i = c_pi + c_is − c_ps."""
    before, after = state.predecessor[customer], state.successor[customer]
    arriving = state.entry[state.route[customer]] if before == 0 else state.arc[before]
    return arriving + state.arc[customer] - distance(state, before, after)


# --- Edits. ----------------------------------------------------------------------------------------------------------


@compiled
def remove(state, customer):
    """Take a customer off its route and put it on the removal list."""
    if customer < 1 or customer > state.customers or state.route[customer] < 0 or state.fault != 0:
        if state.fault == 0:
            state.fault, state.fault_node = NOT_REMOVABLE, customer
        # After a mistake nothing is removed any more, but a loop that waits for the quota must end.
        if state.n_removed < state.customers:
            state.n_removed += 1
        return
    slot, before, after = np.uint32(state.route[customer]), state.predecessor[customer], state.successor[customer]
    customer = np.uint32(customer)
    _save_slot(state, slot)
    _save_node(state, customer)
    bridge = distance(state, before, after)
    if before == 0:
        gain = state.entry[slot] + state.arc[customer] - bridge
        state.first[slot] = after
        state.entry[slot] = bridge
    else:
        _save_node(state, before)
        gain = state.arc[before] + state.arc[customer] - bridge
        state.successor[before] = after
        state.arc[before] = bridge
    if after != 0:
        _save_node(state, after)
        state.predecessor[after] = before
    state.route[customer] = -1
    state.load[slot] -= state.demand[customer]
    state.length[slot] -= gain
    state.cost -= gain
    state.size[slot] -= 1
    if state.size[slot] == 0:
        state.load[slot] = 0.0
        state.length[slot] = 0.0
        state.n_routes -= 1
        state.cost -= state.vehicle_cost
    state.place[customer] = state.n_removed
    state.removed[state.n_removed] = customer
    state.n_removed += 1


@compiled
def insert(state, customer, slot, before):
    """Put a removed customer on a route, after customer ``before`` or first (0).

    It leaves the removal list, where the last entry takes its place.
    """
    if customer < 1 or customer > state.customers or state.route[customer] >= 0:
        if state.fault == 0:
            state.fault, state.fault_node = NOT_INSERTABLE, customer
    elif not _is_place(state, slot, before) and state.fault == 0:
        state.fault, state.fault_node = WRONG_PLACE, customer
    if state.fault != 0:
        # After a mistake nothing is inserted any more, but a loop that waits for an empty list must end.
        if state.n_removed > 0:
            state.n_removed -= 1
        return
    customer, slot, before = np.uint32(customer), np.uint32(slot), np.uint32(before)
    _save_slot(state, slot)
    _save_node(state, customer)
    arriving = distance(state, before, customer)
    if before == 0:
        after = state.first[slot]
        bridge = state.entry[slot]
        state.first[slot] = customer
        state.entry[slot] = arriving
    else:
        _save_node(state, before)
        after = state.successor[before]
        bridge = state.arc[before]
        state.successor[before] = customer
        state.arc[before] = arriving
    if after != 0:
        _save_node(state, after)
        state.predecessor[after] = customer
    leaving = distance(state, customer, after)
    state.predecessor[customer] = before
    state.successor[customer] = after
    state.arc[customer] = leaving
    state.route[customer] = slot
    state.load[slot] += state.demand[customer]
    state.length[slot] += arriving + leaving - bridge
    state.cost += arriving + leaving - bridge
    if state.size[slot] == 0:
        state.n_routes += 1
        state.cost += state.vehicle_cost
    state.size[slot] += 1
    state.n_removed -= 1
    last = state.removed[state.n_removed]
    state.removed[state.place[customer]] = last
    state.place[last] = state.place[customer]


@compiled
def _is_place(state, slot, before):
    """Return whether a customer can be inserted into a slot after ``before``: on its route, or at its start (0)."""
    if slot < 0 or slot >= state.customers or before < 0 or before > state.customers:
        return False
    if before > 0:
        return state.route[before] == slot
    if state.size[slot] > 0:
        return True
    for index in range(state.n_active):
        if state.active[index] == slot:
            return True
    return False


@compiled
def open_route(state):
    """Return an empty slot to insert into: one that was emptied, or a new one at the end of ``state.active``."""
    if state.n_active > state.n_routes:
        for index in range(state.n_active):
            if state.size[state.active[index]] == 0:
                return state.active[index]
    state.n_free -= 1
    slot = state.free[state.n_free]
    state.active[state.n_active] = slot
    state.n_active += 1
    return slot


@compiled
def close_empty_routes(state):
    """Give back the slots without customers."""
    if state.n_active == state.n_routes:
        return
    index = 0
    while index < state.n_active:
        slot = state.active[index]
        if state.size[slot] == 0:
            state.n_active -= 1
            state.active[index] = state.active[state.n_active]
            state.free[state.n_free] = slot
            state.n_free += 1
        else:
            index += 1


@compiled
def _save_node(state, node):
    if state.node_stamp[node] != state.stamp:
        state.node_stamp[node] = state.stamp
        index = state.n_saved
        state.saved[index] = node
        state.saved_successor[index] = state.successor[node]
        state.saved_predecessor[index] = state.predecessor[node]
        state.saved_route[index] = state.route[node]
        state.saved_arc[index] = state.arc[node]
        state.n_saved = index + 1


@compiled
def _save_slot(state, slot):
    if state.slot_stamp[slot] != state.stamp:
        state.slot_stamp[slot] = state.stamp
        index = state.n_saved_slots
        state.saved_slot[index] = slot
        state.saved_first[index] = state.first[slot]
        state.saved_entry[index] = state.entry[slot]
        state.saved_size[index] = state.size[slot]
        state.saved_load[index] = state.load[slot]
        state.saved_length[index] = state.length[slot]
        state.n_saved_slots = index + 1


@compiled
def checkpoint(state):
    """Make the routes as they are now what `undo` returns to; they must be complete."""
    state.stamp += 1
    state.n_saved = 0
    state.n_saved_slots = 0
    state.saved_cost = state.cost
    state.saved_n_routes = state.n_routes


@compiled
def undo(state):
    """Return to the last checkpoint by restoring the nodes and slots changed since, to the bit."""
    for index in range(state.n_saved):
        node = state.saved[index]
        state.successor[node] = state.saved_successor[index]
        state.predecessor[node] = state.saved_predecessor[index]
        state.route[node] = state.saved_route[index]
        state.arc[node] = state.saved_arc[index]
    for index in range(state.n_saved_slots):
        slot = state.saved_slot[index]
        state.first[slot] = state.saved_first[index]
        state.entry[slot] = state.saved_entry[index]
        state.size[slot] = state.saved_size[index]
        state.load[slot] = state.saved_load[index]
        state.length[slot] = state.saved_length[index]
    state.cost = state.saved_cost
    state.n_routes = state.saved_n_routes
    state.n_removed = 0
    close_empty_routes(state)


@compiled
def note_gain(state, gain):
    """Note by how much a pair of operators lowered F; a difference within the rounding of sums counts as none."""
    if abs(gain) <= 1e-11 * abs(state.cost):
        gain = 0.0
    state.gained = gain
    state.stalled = 0 if gain > 0.0 else state.stalled + 1


@compiled
def refresh(state):
    """Recompute loads, lengths and the cost from the routes, which wipes out the rounding errors of many edits."""
    total = 0.0
    for index in range(state.n_active):
        slot = state.active[index]
        node = state.first[slot]
        load, length = 0.0, state.entry[slot]
        while node != 0:
            load += state.demand[node]
            length += state.arc[node]
            node = state.successor[node]
        state.load[slot] = load
        state.length[slot] = length
        total += length
    state.cost = total + state.vehicle_cost * state.n_routes


# --- The search's memory. --------------------------------------------------------------------------------------------


@compiled
def remember(state):
    """Note the cost of the present routes at each of their arcs, where it is the least seen so far.

    Arcs kept since the checkpoint have seen its cost already: if the routes are no better, only new arcs matter.
    """
    if state.history.shape[0] == 0:
        return
    if state.cost < state.saved_cost:
        for index in range(state.n_active):
            node = state.first[state.active[index]]
            if node != 0:
                _remember_arc(state, 0, node)
                while node != 0:
                    _remember_arc(state, node, state.successor[node])
                    node = state.successor[node]
    else:
        for index in range(state.n_saved):
            node = state.saved[index]
            _remember_arc(state, state.predecessor[node], node)
            _remember_arc(state, node, state.successor[node])
        for index in range(state.n_saved_slots):
            node = state.first[state.saved_slot[index]]
            if node != 0:
                _remember_arc(state, 0, node)


@compiled
def _remember_arc(state, tail, head):
    if state.cost < state.history[tail, head]:
        state.history[tail, head] = state.cost


# --- In and out of the compiled world. -------------------------------------------------------------------------------


@compiled
def _allocate(
    customers, limit, vehicle_cost, rounding, unit, demand, x, y, distances, distances_to, neighbours, random, keep
):
    nodes = customers + 1
    state = structref.new(_owner)
    state.customers = customers
    state.limit = limit
    state.vehicle_cost = vehicle_cost
    state.rounding = rounding
    state.demand = demand
    state.x = x
    state.y = y
    state.distances = distances
    state.distances_to = distances_to
    state.neighbours = neighbours
    state.random = random
    state.unit = unit
    state.reference = 0.0
    state.left = 1.0
    state.quota = 1
    state.gained = 0.0
    state.stalled = 0
    state.successor = np.zeros(nodes, np.uint32)
    state.predecessor = np.zeros(nodes, np.uint32)
    state.route = np.full(nodes, -1, np.int32)
    state.arc = np.zeros(nodes)
    state.first = np.zeros(nodes, np.uint32)
    state.entry = np.zeros(nodes)
    state.size = np.zeros(nodes, np.int32)
    state.load = np.zeros(nodes)
    state.length = np.zeros(nodes)
    state.active = np.zeros(nodes, np.uint32)
    state.n_active = 0
    state.free = np.zeros(nodes, np.uint32)
    state.n_free = 0
    state.n_routes = 0
    state.cost = 0.0
    state.removed = np.zeros(nodes, np.uint32)
    state.n_removed = 0
    state.place = np.zeros(nodes, np.uint32)
    state.stamp = 1
    state.node_stamp = np.zeros(nodes, np.int64)
    state.n_saved = 0
    state.saved = np.zeros(nodes, np.uint32)
    state.saved_successor = np.zeros(nodes, np.uint32)
    state.saved_predecessor = np.zeros(nodes, np.uint32)
    state.saved_route = np.zeros(nodes, np.int32)
    state.saved_arc = np.zeros(nodes)
    state.slot_stamp = np.zeros(nodes, np.int64)
    state.n_saved_slots = 0
    state.saved_slot = np.zeros(nodes, np.uint32)
    state.saved_first = np.zeros(nodes, np.uint32)
    state.saved_entry = np.zeros(nodes)
    state.saved_size = np.zeros(nodes, np.int32)
    state.saved_load = np.zeros(nodes)
    state.saved_length = np.zeros(nodes)
    state.saved_cost = np.inf
    state.saved_n_routes = 0
    state.history = np.full((nodes, nodes), np.inf) if keep else np.zeros((0, 0))
    state.fault = 0
    state.fault_node = 0
    state.keys = np.zeros(nodes)
    state.items = np.zeros(nodes, np.uint32)
    state.order = np.zeros(nodes, np.uint32)
    state.marks = np.zeros(nodes, np.int64)
    state.slot_marks = np.zeros(nodes, np.int64)
    state.mark = 0
    state.columns = np.zeros(nodes, np.uint32)
    state.n_columns = 0
    state.table_cost = np.zeros(0)
    state.table_after = np.zeros(0, np.uint32)
    state.best_cost = np.zeros(nodes)
    state.best_column = np.zeros(nodes, np.int32)
    state.row_limit = np.zeros(nodes)
    return state


@compiled
def load_routes(state, customers, starts):
    """Make routes, laid in a row as `flatten` does, those of a state; its memory is emptied."""
    state.route[:] = -1
    state.size[:] = 0
    state.first[:] = 0
    state.entry[:] = 0.0
    state.load[:] = 0.0
    state.length[:] = 0.0
    state.n_active = 0
    state.n_routes = 0
    state.n_free = 0
    for slot in range(state.customers - 1, -1, -1):
        state.free[state.n_free] = slot
        state.n_free += 1
    state.cost = 0.0
    # Every customer starts on the removal list, so that `insert` builds all books.
    state.n_removed = state.customers
    for customer in range(1, state.customers + 1):
        state.removed[customer - 1] = customer
        state.place[customer] = customer - 1
    checkpoint(state)
    for number in range(len(starts) - 1):
        slot, before = open_route(state), 0
        for index in range(starts[number], starts[number + 1]):
            insert(state, customers[index], slot, before)
            before = customers[index]
    refresh(state)
    state.history[:] = np.inf
    state.reference = state.cost
    state.left = 1.0
    state.gained = 0.0
    state.stalled = 0
    state.saved_cost = np.inf
    remember(state)
    checkpoint(state)


@compiled
def copy_routes(source, target):
    """Give a state the complete routes and the memory of another state of the same instance.

    Its next edits, with the same random numbers, are those of the other state.
    """
    target.successor[:] = source.successor
    target.predecessor[:] = source.predecessor
    target.route[:] = source.route
    target.arc[:] = source.arc
    target.first[:] = source.first
    target.entry[:] = source.entry
    target.size[:] = source.size
    target.load[:] = source.load
    target.length[:] = source.length
    target.active[:] = source.active
    target.n_active = source.n_active
    target.free[:] = source.free
    target.n_free = source.n_free
    target.n_routes = source.n_routes
    target.cost = source.cost
    target.n_removed = 0
    target.history[:] = source.history
    target.reference = source.reference
    target.left = source.left
    target.quota = source.quota
    target.gained = source.gained
    target.stalled = source.stalled
    target.fault = 0
    checkpoint(target)


@compiled
def export_routes(state, customers, starts):
    """Copy the routes into a row of customers and their starts (see `flatten`); return how many routes there are."""
    position, number = 0, 0
    for index in range(state.n_active):
        node = state.first[state.active[index]]
        if node == 0:
            continue
        starts[number] = position
        number += 1
        while node != 0:
            customers[position] = node
            position += 1
            node = state.successor[node]
    starts[number] = position
    return number


def seed_words(seed: int | np.random.SeedSequence) -> npt.NDArray[np.uint64]:
    """Return the start of a generator: 256 bits from a seed."""
    sequence = seed if isinstance(seed, np.random.SeedSequence) else np.random.SeedSequence(seed)
    return sequence.generate_state(4, np.uint64).astype(np.uint64)


def new_state(
    instance: Instance,
    seed: int | np.random.SeedSequence,
    *,
    history: bool = False,
    solution: Solution | None = None,
    beside: State | None = None,
) -> State:
    """Return a state of an instance, with its own generator, holding a solution if one is given.

    ``history`` asks for the memory that the historical operator reads (a matrix of all arcs). A state made ``beside``
    another one of the same instance shares what never changes.
    """
    shared = _shared(instance) if beside is None else beside.shared
    state = State(state_type, _allocate(*shared, seed_words(seed), history))  # type: ignore[call-arg]
    state.shared = shared
    if solution is not None:
        load_solution(state, solution)
    return state


def _shared(instance: Instance) -> tuple[Any, ...]:
    """Return what compiled functions read of an instance."""
    nodes = instance.customers + 1
    distances = instance.distances
    if distances is None:
        matrix = transposed = np.zeros((0, 0))
        from_depot = np.hypot(*(instance.points[1:] - instance.points[0]).T)
    else:
        matrix = distances.copy()
        np.fill_diagonal(matrix, 0.0)
        transposed = matrix if np.array_equal(matrix, matrix.T) else np.ascontiguousarray(matrix.T)
        from_depot = matrix[0, 1:]
    neighbours = nearest_neighbours(instance, nodes if nodes <= FULL_NEIGHBOURS + 1 else SOME_NEIGHBOURS)
    return (
        instance.customers,
        instance.capacity * (1.0 + LOAD_TOLERANCE / 2),
        instance.vehicle_cost,
        ROUNDINGS.index(instance.rounding),
        float(from_depot.mean()) or 1.0,
        instance.demands.copy(),
        np.ascontiguousarray(instance.points[:, 0]),
        np.ascontiguousarray(instance.points[:, 1]),
        matrix,
        transposed,
        neighbours.astype(np.uint32),
    )


def load_solution(state: State, solution: Solution) -> None:
    """Make a feasible solution the routes of a state; its memory is emptied."""
    customers, starts = flatten(solution)
    load_routes(state, customers, starts)


def flatten(solution: Solution) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]:
    """Return the customers of all routes in a row, and where each route starts (and the last one ends)."""
    customers = np.array([customer for route in solution.routes for customer in route], dtype=np.int32)
    starts = np.cumsum([0, *(len(route) for route in solution.routes)]).astype(np.int32)
    return customers, starts


def unflatten(customers: npt.NDArray[np.int32], starts: npt.NDArray[np.int32], routes: int) -> list[list[int]]:
    """Return the routes that `flatten` laid in a row."""
    return [customers[starts[number] : starts[number + 1]].tolist() for number in range(routes)]


def routes_of(state: State, customers: int) -> list[list[int]]:
    """Return the routes that a state of so many customers holds."""
    row, starts = np.zeros(customers + 1, np.int32), np.zeros(customers + 2, np.int32)
    return unflatten(row, starts, int(export_routes(state, row, starts)))
