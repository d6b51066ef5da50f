"""The cheapest pair of positions of a shipment on a route: its pickup, and its delivery behind it.

For each position of the pickup the route is followed with the goods on board: loads, times and the stretch of the
route are extended stop by stop, and joined with the rest of the route behind the delivery.
"""

import numpy as np

from neuralns.compiled.caching import compiled, inlined
from neuralns.compiled.random import random
from neuralns.routes.cost import own_cost, saved_at_most
from neuralns.routes.insertion import cost_by_sequence
from neuralns.routes.rules import duration, length, load, time
from neuralns.routes.rules.length import end_of, leg, rows_of, start_of, vehicle_of


@compiled
def best_of_shipment(state, pickup, slot, bound, blink):
    """Return the least cost of a shipment on a route, its positions in ``found_position``."""
    best, found = bound, np.int64(-1)
    before = np.uint32(0)
    while True:
        cost, behind = _best_delivery(state, pickup, slot, before, best, blink)
        if cost < best:
            best, found = cost, np.int64(before) + behind * (state.customers + 1)
        before = state.first[slot] if before == 0 else state.successor[before]
        if before == 0:
            break
        if state.timed != 0 and state.earliest_departure[before] > time.last_arrival(state, pickup, state.size[slot]):
            break
    if found < 0:
        return np.inf
    state.found_position = found
    return best


@compiled
def _best_delivery(state, pickup, slot, before, bound, blink):
    """Find the cheapest position of a shipment's delivery if the pickup stands behind ``before``: cost and position."""
    vehicle, goods = vehicle_of(state, slot), state.goods
    rows, delivery = rows_of(state, vehicle), state.partner[pickup]
    nobody = np.int64(0)
    rate = state.per_distance[vehicle]
    timed, measured = state.timed != 0, state.measured != 0
    # Two stops, each of which may save a detour.
    saved = 2.0 * saved_at_most(state, vehicle)
    here = state.first[slot] if before == 0 else state.successor[before]
    cut = state.entry[slot] if before == 0 else state.arc[before]
    at = np.int64(slot) * goods
    most_loaded = state.peak[at]
    for part in range(goods):
        ahead = state.start_load[at + part] if before == 0 else state.leg_load[np.int64(before) * goods + part]
        if not load.fits_on_board(state, ahead + state.pickup[pickup, part], vehicle, part):
            return np.inf, nobody
        if part == 0:
            most_loaded = max(most_loaded, ahead + state.pickup[pickup, part])
    tail_node, head_node = start_of(state, vehicle, before), end_of(state, vehicle, here)
    to_pickup = leg(state, rows, tail_node, pickup)
    longer = to_pickup + leg(state, rows, pickup, head_node) - cut
    if rate * longer - state.slack - saved >= bound:
        # The delivery only adds to it.
        return np.inf, nobody
    left_pickup, stretch = 0.0, duration.head(state, slot, vehicle, before)
    if timed:
        arrival = time.earliest_at(state, slot, vehicle, before) + length.time(state, rows, tail_node, pickup)
        if not time.may_begin(state, pickup, arrival):
            return np.inf, nobody
        left_pickup = time.start_of_service(state, pickup, arrival) + state.service[pickup]
        direct = left_pickup + length.time(state, rows, pickup, delivery)
        if direct > time.last_arrival(state, delivery, state.size[slot] + 1):
            return np.inf, nobody
    if measured:
        stretch = duration.join(
            stretch, length.time(state, rows, tail_node, pickup), duration.stretch_of(state, pickup)
        )
    best, position = bound, nobody
    # Right behind the pickup.
    both = to_pickup + leg(state, rows, pickup, delivery) + leg(state, rows, delivery, head_node) - cut
    if rate * both - saved < best and length.violation(state, state.length[slot] + both, vehicle) == 0.0:
        cost = rate * both + _beyond(
            state, slot, vehicle, rows, stretch, left_pickup, pickup, delivery, here, both, most_loaded
        )
        if (
            cost < best
            and (state.rides == 0 or _has_short_rides(state, pickup, slot, before, pickup))
            and (blink == 0.0 or random(state) >= blink)
        ):
            best, position = cost, np.int64(pickup)
    now, previous = left_pickup, np.uint32(pickup)
    while here != 0:
        # The pickup's goods are on board behind this stop too.
        for part in range(goods):
            loaded = state.leg_load[np.int64(here) * goods + part] + state.pickup[pickup, part]
            if not load.fits_on_board(state, loaded, vehicle, part):
                return best if position > 0 else np.inf, position
            if part == 0:
                most_loaded = max(most_loaded, loaded)
        travel = length.time(state, rows, previous, here) if timed else 0.0
        if timed:
            begin = time.start_of_service(state, here, now + travel)
            if begin > time.last_before(state, here):
                break
            now = begin + state.service[here]
            if now > time.last_arrival(state, delivery, state.size[slot]):
                break
        if measured:
            stretch = duration.join(stretch, travel, duration.stretch_of(state, here))
        following = state.successor[here]
        end = end_of(state, vehicle, following)
        both = longer + leg(state, rows, here, delivery) + leg(state, rows, delivery, end) - state.arc[here]
        if rate * both - saved < best and length.violation(state, state.length[slot] + both, vehicle) == 0.0:
            cost = rate * both + _beyond(
                state, slot, vehicle, rows, stretch, now, here, delivery, following, both, most_loaded
            )
            if (
                cost < best
                and (state.rides == 0 or _has_short_rides(state, pickup, slot, before, here))
                and (blink == 0.0 or random(state) >= blink)
            ):
                best, position = cost, np.int64(here)
        previous, here = here, following
    return best if position > 0 else np.inf, position


@inlined
def _beyond(state, slot, vehicle, rows, stretch, left, before, delivery, here, longer, most):
    """Return what a shipment costs beyond the distance it adds, its delivery between two stops of which the first is
    left at a time; infinite if something is late or takes too long.
    """
    if state.timed == 0:
        return 0.0
    travel = length.time(state, rows, before, delivery)
    onward = length.time(state, rows, delivery, end_of(state, vehicle, here))
    if not time.fits_between(state, vehicle, delivery, left + travel, onward, here):
        return np.inf
    if state.measured == 0:
        return 0.0
    found = duration.join(stretch, travel, duration.stretch_of(state, delivery))
    took, _, _, lateness = duration.join(found, onward, duration.tail(state, vehicle, here))
    if lateness > 0.0 or duration.violation(state, took, vehicle) > 0.0:
        return np.inf
    cost = state.per_duration[vehicle] * (took - state.duration[slot])
    if state.owned != 0:
        size, now = state.size[slot], state.peak[np.int64(slot) * state.goods]
        cost += own_cost(state, state.length[slot] + longer, took, most, size + 2.0, vehicle)
        cost -= own_cost(state, state.length[slot], state.duration[slot], now, size, vehicle)
    return cost


@inlined
def _has_short_rides(state, pickup, slot, before, behind):
    """Return whether no ride of a route is too long with a shipment at two positions."""
    position = np.int64(before) + np.int64(behind) * (state.customers + 1)
    return cost_by_sequence(state, pickup, slot, position) < np.inf
