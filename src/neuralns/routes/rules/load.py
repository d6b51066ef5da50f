"""Load: of each kind of goods no more is on board than the vehicle carries.

Deliveries are on board from the start up to their stop, pickups from their stop to the end, shipments between their two
ends. Where there are deliveries alone, or backhauls, the load is greatest at the start or at the end; elsewhere
(``State.mixed``) it differs along the route. Kept are the load when the vehicle leaves (``start_load``) and comes back
(``end_load``); for each stop the load behind it (``leg_load``), the most up to there (``head_peak``) and the most from
there on (``tail_peak``). With one more stop in between that brings d and fetches p, the most on board is
max(head_peak + d, tail_peak + p). The violation is what is on board above the capacity at most, summed over goods in
units of the first ones (``State.goods_weight``): what is little of one kind may be much of another.
"""

import numpy as np

from neuralns.compiled.caching import compiled, inlined
from neuralns.problem.limits import LOAD_TOLERANCE


@inlined
def _above(load, capacity):
    return max(0.0, load - capacity)


@inlined
def _weighted(state, load, vehicle, part):
    """Return by how much a load of some goods is above the capacity, in units of the first goods."""
    return state.goods_weight[part] * _above(load, state.carries[vehicle, part])


@inlined
def peaks_with(state, slot, customer, part):
    """Return the most of some goods at the start and at the end of a route that has one more customer."""
    if state.simple_load != 0:
        return state.load[slot] + state.demand[customer], 0.0
    at = np.int64(slot) * state.goods + part
    return state.start_load[at] + state.delivery[customer, part], state.end_load[at] + state.pickup[customer, part]


@inlined
def fits_ends(state, slot, customer, capacities, vehicle):
    """Return whether a route with one more customer is within capacities at its start, and without mixed loads at its
    end.
    """
    for part in range(state.goods if state.simple_load == 0 else 1):
        start, end = peaks_with(state, slot, customer, part)
        if start > capacities[vehicle, part] or (state.mixed == 0 and end > capacities[vehicle, part]):
            return False
    return True


@inlined
def has_room(state, slot, customer, vehicle):
    """Return False if a customer is too much for the largest vehicle that a route may get; True promises nothing."""
    if state.simple_load != 0:
        return state.load[slot] + state.demand[customer] <= state.soft_capacity[vehicle, 0]
    return state.mixed != 0 or fits_ends(state, slot, customer, state.soft_capacity, vehicle)


@inlined
def lacks_room(state, slot, customer):
    """Return True if a route with one more customer is too much for the largest vehicle: what rules out most.

    ``largest_load`` is infinite where ``load`` and ``demand`` do not tell (see `tables`).
    """
    return state.load[slot] + state.demand[customer] > state.largest_load


@inlined
def may_take(state, slot, vehicle, least):
    """Return False if a route has no room for anybody who needs at least so much; True promises nothing."""
    if state.varied == 0 or state.mixed != 0 or state.backhauls != 0:
        return state.load[slot] + least <= state.largest_load
    return state.load[slot] + least <= state.soft_capacity[vehicle, 0]


@inlined
def has_room_for(state, slot, vehicle, more):
    """Return whether a route carries so much more, where there is one kind of goods, delivered alone."""
    return state.load[slot] + more <= state.carries[vehicle, 0]


@inlined
def fits_on_board(state, load, vehicle, part):
    """Return whether a vehicle type carries so much of some goods."""
    return load <= state.carries[vehicle, part]


@inlined
def is_allowed(state, amount):
    """Return whether each vehicle of a fleet in which all are alike may carry an amount, as the checker sees it."""
    return amount <= state.capacity * (1.0 + LOAD_TOLERANCE)


@inlined
def fits_route(state, slot, vehicle):
    """Return whether a vehicle type carries a route; where loads differ along it, they are worked out."""
    if state.mixed == 0:
        return violation_at_ends(state, slot, vehicle) == 0.0
    for part in range(state.goods):
        if not fits_on_board(state, state.peak[np.int64(slot) * state.goods + part], vehicle, part):
            return False
    return True


@inlined
def may_fit_route(state, slot, vehicle):
    """Return False if a vehicle type does not carry a route, by the first goods at its ends; True promises nothing."""
    if state.simple_load != 0:
        return has_room_for(state, slot, vehicle, 0.0)
    at = np.int64(slot) * state.goods
    return fits_on_board(state, state.start_load[at], vehicle, 0) and fits_on_board(
        state, state.end_load[at], vehicle, 0
    )


@inlined
def is_too_much(state, slot, vehicle):
    """Return whether a route is above the capacity by more than any price allows."""
    if state.simple_load == 0 or state.load_price < np.inf:
        return False
    return state.load[slot] > state.soft_capacity[vehicle, 0]


@inlined
def violation_at_ends(state, slot, vehicle):
    """Return the violation of a route by its loads at both ends: all there is without mixed loads."""
    if state.simple_load != 0:
        return _above(state.load[slot], state.carries[vehicle, 0])
    total, at = 0.0, np.int64(slot) * state.goods
    for part in range(state.goods):
        most = max(state.start_load[at + part], state.end_load[at + part])
        total += _weighted(state, most, vehicle, part)
    return total


@inlined
def violation_with(state, slot, customer, vehicle):
    """Return the violation of a route with one more customer by its loads at both ends."""
    total = 0.0
    for part in range(state.goods if state.simple_load == 0 else 1):
        start, end = peaks_with(state, slot, customer, part)
        total += _weighted(state, max(start, end), vehicle, part)
    return total


@inlined
def violation_exchanged(state, slot, vehicle, leaving, coming):
    """Return the violation by loads at both ends of a route that one customer leaves and another joins, 0 for none."""
    if state.simple_load != 0:
        return _above(state.load[slot] + state.demand[coming] - state.demand[leaving], state.carries[vehicle, 0])
    total, at = 0.0, np.int64(slot) * state.goods
    for part in range(state.goods):
        start = state.start_load[at + part] + state.delivery[coming, part] - state.delivery[leaving, part]
        end = state.end_load[at + part] + state.pickup[coming, part] - state.pickup[leaving, part]
        total += _weighted(state, max(start, end), vehicle, part)
    return total


@inlined
def violation_between(state, slot, customer, vehicle, before):
    """Return the violation of a route with mixed loads and one more customer behind a stop, 0 for the start."""
    total, at = 0.0, np.int64(slot) * state.goods
    for part in range(state.goods):
        if before == 0:
            head, tail = state.start_load[at + part], state.peak[at + part]
        else:
            here = np.int64(before) * state.goods + part
            head, tail = max(state.head_peak[here], state.start_load[at + part]), state.tail_peak[here]
        most = max(head + state.delivery[customer, part], tail + state.pickup[customer, part])
        total += _weighted(state, most, vehicle, part)
    return total


@inlined
def peak_with(state, slot, customer, before):
    """Return the most of the first goods on board of a route with one more customer behind a stop."""
    if state.simple_load != 0:
        return state.load[slot] + state.demand[customer]
    at, here = np.int64(slot) * state.goods, np.int64(before) * state.goods
    brought, fetched = state.delivery[customer, 0], state.pickup[customer, 0]
    most = max(state.start_load[at] + brought, state.end_load[at] + fetched)
    if state.mixed != 0 and before == 0:
        most = max(state.start_load[at] + brought, state.peak[at] + fetched)
    elif state.mixed != 0:
        most = max(state.start_load[at] + brought, state.head_peak[here] + brought, state.tail_peak[here] + fetched)
    return most


@inlined
def change(state, slot, customer, sign):
    """Count what a customer brings and fetches in the loads of a route (1), or no longer (−1)."""
    state.load[slot] += sign * state.demand[customer]
    if state.simple_load == 0:
        at = np.int64(slot) * state.goods
        for part in range(state.goods):
            state.start_load[at + part] += sign * state.delivery[customer, part]
            state.end_load[at + part] += sign * state.pickup[customer, part]
        state.load[slot] = state.start_load[at]


@inlined
def clear(state, slot):
    """Make a route empty of goods."""
    state.load[slot] = 0.0
    if state.simple_load == 0:
        at = np.int64(slot) * state.goods
        for part in range(state.goods):
            state.start_load[at + part] = state.end_load[at + part] = 0.0


@inlined
def begin(state, slot):
    """Begin to work out what is kept of the loads of a route."""
    if state.simple_load == 0:
        at = np.int64(slot) * state.goods
        for part in range(state.goods):
            state.peak[at + part] = max(state.start_load[at + part], state.end_load[at + part])


@inlined
def extend_head(state, slot, before, node):
    """Note the load behind a stop that comes behind another one, 0 for the start, and the most so far."""
    at, behind, here = np.int64(slot) * state.goods, np.int64(before) * state.goods, np.int64(node) * state.goods
    for part in range(state.goods):
        ahead = state.start_load[at + part] if before == 0 else state.leg_load[behind + part]
        most = ahead if before == 0 else state.head_peak[behind + part]
        now = ahead - state.delivery[node, part] + state.pickup[node, part]
        state.leg_load[here + part] = now
        state.head_peak[here + part] = max(most, now)
        state.peak[at + part] = max(state.peak[at + part], now)


@inlined
def extend_tail(state, node, after):
    """Note the most from a stop of mixed loads on, with another one behind it, 0 for the end."""
    here, behind = np.int64(node) * state.goods, np.int64(after) * state.goods
    for part in range(state.goods):
        now = state.leg_load[here + part]
        state.tail_peak[here + part] = now if after == 0 else max(now, state.tail_peak[behind + part])


@inlined
def finish(state, slot, vehicle):
    """Return the violation of a route whose loads are worked out."""
    if state.simple_load != 0:
        return violation_at_ends(state, slot, vehicle)
    total, at = 0.0, np.int64(slot) * state.goods
    for part in range(state.goods):
        total += _weighted(state, state.peak[at + part], vehicle, part)
    return total


@compiled
def of_sequence(state, count, vehicle):
    """Return the violation of ``sequence``, and the most of the first goods on board."""
    total, most_of_first = 0.0, 0.0
    if state.simple_load != 0:
        load = 0.0
        for index in range(count):
            load += state.demand[state.sequence[index]]
        return _above(load, state.carries[vehicle, 0]), load
    for part in range(state.goods):
        load = 0.0
        for index in range(count):
            load += state.delivery[state.sequence[index], part]
        most = load
        if state.mixed != 0 or state.backhauls != 0:
            for index in range(count):
                node = state.sequence[index]
                load += state.pickup[node, part] - state.delivery[node, part]
                most = max(most, load)
        total += _weighted(state, most, vehicle, part)
        if part == 0:
            most_of_first = most
    return total, most_of_first
