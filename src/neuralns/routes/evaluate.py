"""What a variant of the problem changes: what an edit costs, where it is allowed, and the books of a route.

Operators, features and edits ask here and carry the answers without looking inside: a *place* on a route and a
*vehicle* (type) are opaque to them. So far the problem is capacity and length: a place is the customer to insert after
(0: the start), and there is one type of vehicle.

=========================  ==========================================================================================
`best_insertion`           the cheapest place of a customer on a route
`insertion`                the cost of a customer at a place
`beside`                   the cheaper of the two places beside a customer on a route
`renew_best`               the cheapest place after somebody else was inserted into the route
`random_place`             any place on a route
`best_opening`             the cost of a route of its own, and the vehicle for it
`removal`                  what taking a customer off its route saves
`may_fit`                  quick filter: False if a customer fits nowhere on a route
`least_need`, `may_take`   quick filter for all removed customers: False if a route can take none of them
`penalty`                  the cost of a customer on no route
`join`                     the length of a new route made of the beginning of one and the end of another
`keeps_limits`             whether a route is allowed
=========================  ==========================================================================================

Costs that cannot be (nowhere to go, not allowed) are infinite.
"""

import numpy as np

from neuralns.compiled.caching import compiled, inlined
from neuralns.compiled.random import randint, random
from neuralns.problem.distances import ROUNDINGS

_ROUND, _TRUNC, _DIMACS = (ROUNDINGS.index(name) for name in ("round", "trunc", "dimacs"))


@compiled
def distance(state, tail, head):
    """Return the rounded distance from node ``tail`` to node ``head``."""
    if state.distances.shape[0] > 0:
        return state.distances[tail, head]
    dx = state.x[tail] - state.x[head]
    dy = state.y[tail] - state.y[head]
    raw = np.sqrt(dx * dx + dy * dy)
    if state.rounding == _ROUND:
        return np.floor(raw + 0.5)
    if state.rounding == _TRUNC:
        return np.floor(raw)
    if state.rounding == _DIMACS:
        return np.floor(10.0 * raw) / 10.0
    return raw


# --- Questions. ------------------------------------------------------------------------------------------------------


@compiled
def may_fit(state, customer, slot):
    """Return False if a customer fits nowhere on a route; True promises nothing."""
    return state.load[slot] + state.demand[customer] <= state.limit


@compiled
def least_need(state):
    """Return what every customer on the removal list needs at least, for `may_take`."""
    least = np.inf
    for index in range(state.n_removed):
        least = min(least, state.demand[state.removed[index]])
    return least


@compiled
def may_take(state, slot, least):
    """Return False if a route can take nobody who needs at least so much; True promises nothing."""
    return state.load[slot] + least <= state.limit


@compiled
def keeps_limits(state, slot):
    """Return whether a route is allowed."""
    return state.load[slot] <= state.limit


@compiled
def penalty(state, customer):
    """Return what a customer on no route costs; infinite if it must be on one."""
    return np.inf


@inlined
def best_insertion(state, customer, slot, bound=np.inf, blink=0.0):
    """Return the least cost of inserting a customer into a route, and the place.

    c_pi + c_is − c_ps for customer i between p and s. Infinite if no place costs less than ``bound``. A place that is
    better than the best one so far is overlooked with probability ``blink``.
    """
    if not may_fit(state, customer, slot):
        return np.inf, np.int64(0)
    if state.distances.shape[0] == 0:
        return _best_on_demand(state, customer, slot, bound, blink)
    if blink > 0.0:
        return _best_held(state, customer, slot, bound, blink)
    return _best_held(state, customer, slot, bound, 0.0)


@inlined
def _best_held(state, customer, slot, bound, blink):
    """Find the best place by distances held in a matrix; where ``blink`` is the constant 0 it leaves no trace."""
    distances, distances_to, arc, successor = state.distances, state.distances_to, state.arc, state.successor
    row = np.uint32(customer)
    best, place = bound, np.uint32(0)
    before, cut, here = np.uint32(0), state.entry[slot], state.first[slot]
    to_customer = distances_to[row, 0]
    while True:
        cost = to_customer + distances[row, here] - cut
        if cost < best and (blink == 0.0 or random(state) >= blink):
            best, place = cost, before
        if here == 0:
            return best if best < bound else np.inf, np.int64(place)
        to_customer = distances_to[row, here]
        before, cut, here = here, arc[here], successor[here]


@compiled
def _best_on_demand(state, customer, slot, bound, blink):
    best, place = bound, np.uint32(0)
    before, cut, here = np.uint32(0), state.entry[slot], state.first[slot]
    to_customer = distance(state, 0, customer)
    while True:
        from_customer = distance(state, customer, here)
        cost = to_customer + from_customer - cut
        if cost < best and (blink == 0.0 or random(state) >= blink):
            best, place = cost, before
        if here == 0:
            return best if best < bound else np.inf, np.int64(place)
        # Distances computed from points are symmetric.
        to_customer = from_customer
        before, cut, here = here, state.arc[here], state.successor[here]


@compiled
def insertion(state, customer, slot, place):
    """Return the cost of inserting a customer into a route at a place."""
    if not may_fit(state, customer, slot):
        return np.inf
    return _lengthening(state, customer, slot, place)


@compiled
def _lengthening(state, customer, slot, before):
    """Return c_pi + c_is − c_ps for customer i after p (0: at the start of the route)."""
    if before == 0:
        cut, after = state.entry[slot], state.first[slot]
    else:
        cut, after = state.arc[before], state.successor[before]
    return distance(state, before, customer) + distance(state, customer, after) - cut


@compiled
def beside(state, customer, other):
    """Return the lesser cost of the two places beside another customer on its route, and the place."""
    slot, before = state.route[other], state.predecessor[other]
    if not may_fit(state, customer, slot):
        return np.inf, np.int64(0)
    behind, ahead = _lengthening(state, customer, slot, other), _lengthening(state, customer, slot, before)
    return (behind, np.int64(other)) if behind <= ahead else (ahead, np.int64(before))


@compiled
def random_place(state, slot):
    """Return a place on a route, uniformly."""
    before, following = np.uint32(0), state.first[slot]
    for _ in range(randint(state, state.size[slot] + 1)):
        before, following = following, state.successor[following]
    return np.int64(before)


@compiled
def renew_best(state, customer, slot, inserted, known, place):
    """Return the least cost and the place of a customer on a route, known before another one was inserted there.

    Two places are new, those beside the inserted customer, and one is gone.
    """
    before = state.predecessor[inserted]
    if not may_fit(state, customer, slot):
        return np.inf, np.int64(0)
    if state.size[slot] == 1 or place == before:
        # The route was just opened, or its best place is the one that the insertion took.
        return best_insertion(state, customer, slot)
    first = _lengthening(state, customer, slot, before)
    second = _lengthening(state, customer, slot, inserted)
    if first < known and first <= second:
        return first, np.int64(before)
    if second < known:
        return second, np.int64(inserted)
    return known, place


@compiled
def best_opening(state, customer):
    """Return the least cost of a route for one customer, there and back and the vehicle, and the type of vehicle."""
    return distance(state, 0, customer) + distance(state, customer, 0) + state.vehicle_cost, 0


@compiled
def removal(state, customer):
    """Return what removing a customer i between p and s saves: g_i = c_pi + c_is − c_ps."""
    before, after = state.predecessor[customer], state.successor[customer]
    arriving = state.entry[state.route[customer]] if before == 0 else state.arc[before]
    return arriving + state.arc[customer] - distance(state, before, after)


@compiled
def join(state, tail, head):
    """Return the length of the route that follows one up to ``tail`` and goes on with another from ``head``.

    0 stands for the depot: nothing before, or nothing after. Infinite if such a route is not allowed.
    """
    length, load, node = distance(state, tail, head), 0.0, tail
    while node != 0:
        load += state.demand[node]
        before = state.predecessor[node]
        length += state.entry[state.route[node]] if before == 0 else state.arc[before]
        node = before
    node = head
    while node != 0:
        load += state.demand[node]
        length += state.arc[node]
        node = state.successor[node]
    return length if load <= state.limit else np.inf


# --- The books of a route, kept by `edits`. --------------------------------------------------------------------------


@compiled
def note_removal(state, customer, slot, gain):
    """Enter in the books that a customer has left a route, which became so much shorter."""
    state.load[slot] -= state.demand[customer]
    state.length[slot] -= gain
    state.cost -= gain
    state.size[slot] -= 1
    if state.size[slot] == 0:
        state.load[slot] = 0.0
        state.length[slot] = 0.0
        state.n_routes -= 1
        state.cost -= state.vehicle_cost


@compiled
def note_insertion(state, customer, slot, added):
    """Enter in the books that a customer has joined a route, which became so much longer."""
    state.load[slot] += state.demand[customer]
    state.length[slot] += added
    state.cost += added
    if state.size[slot] == 0:
        state.n_routes += 1
        state.cost += state.vehicle_cost
    state.size[slot] += 1


@compiled
def recompute(state):
    """Make the books anew from the routes, which wipes out the rounding errors of many edits."""
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
