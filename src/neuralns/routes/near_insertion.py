"""What a request costs beside those that go well with it: the positions worth a look in large instances."""

import numpy as np

from neuralns.compiled.caching import compiled
from neuralns.compiled.random import random
from neuralns.routes.cost import renew_if_dirty
from neuralns.routes.insertion import at_any_position, cost_behind, may_fit, upgraded
from neuralns.routes.questions import ask
from neuralns.routes.rules.length import computed_distance, vehicle_of
from neuralns.routes.rules.load import has_room_for

_BEST_OF_SHIPMENT, _best_of_shipment = ask("best_of_shipment")


@compiled
def best_near(state, customer, count, bound, blink):
    """Return the least cost of a request beside those ``count`` that go best with it; route and position in
    ``found_*``, the route −1 if there is none.
    """
    row = np.uint32(customer)
    state.found_slot, state.found_position = -1, 0
    if state.shipments != 0 and state.partner[row] != 0:
        return _best_near_of_shipment(state, row, count, bound, blink)
    if state.granular_distances.shape[0] > 0:
        return _best_near_by_length(state, row, count, bound, blink)
    best = bound
    for index in range(min(count, state.granular.shape[1])):
        other = state.granular[row, index]
        if state.route[other] < 0:
            continue
        slot = np.uint32(state.route[other])
        if not may_fit(state, row, slot):
            continue
        if state.timed != 0 or state.mixed != 0:
            renew_if_dirty(state, slot)
        vehicle, extra = upgraded(state, row, slot, vehicle_of(state, slot))
        if vehicle < 0:
            continue
        extra += at_any_position(state, row, slot, vehicle)
        for side in range(2):
            before = other if side == 0 else state.predecessor[other]
            cost = cost_behind(state, row, slot, vehicle, extra, before, best)
            if cost < best and (blink == 0.0 or random(state) >= blink):
                best, state.found_slot, state.found_position = cost, np.int64(slot), np.int64(before)
    return best if state.found_slot >= 0 else np.inf


@compiled
def _best_near_of_shipment(state, row, count, bound, blink):
    best, found_slot, found = bound, np.int64(-1), np.int64(0)
    state.visit += 1
    seen = state.visit
    for end in (row, state.partner[row]):
        for index in range(min(count // 4, state.granular.shape[1])):
            slot = state.route[state.granular[end, index]]
            if slot < 0 or state.visited_slots[slot] == seen:
                continue
            state.visited_slots[slot] = seen
            if not may_fit(state, row, np.uint32(slot)):
                continue
            renew_if_dirty(state, np.uint32(slot))
            cost = _best_of_shipment(state.questions[_BEST_OF_SHIPMENT], (state, row, slot, best, blink))
            if cost < best:
                best, found_slot, found = cost, np.int64(slot), np.int64(state.found_position)
    state.found_slot, state.found_position = found_slot, found
    return best if found_slot >= 0 else np.inf


@compiled
def _best_near_by_length(state, row, count, bound, blink):
    """Find the best position beside the nearest where nothing but load and the length between points counts.

    Of a position between j and k, j the nearer one to customer i or k the depot, the cost c_ij + c_ik − c_jk is at
    least c_ij + min(c_ij, c_i0) − c_jk, which mostly needs no look at anything but c_jk.
    """
    successor, predecessor, arc, arriving = state.successor, state.predecessor, state.arc, state.arriving
    nearest, distances = state.granular, state.granular_distances
    needed = state.demand[row]
    from_depot = computed_distance(state, 0, row)
    best, where, position = bound, np.int64(-1), np.int64(0)
    for index in range(min(count, distances.shape[1])):
        other = nearest[row, index]
        least = distances[row, index] + min(np.float64(distances[row, index]), from_depot) - best
        if least >= arc[other] and least >= arriving[other]:
            continue
        slot = state.route[other]
        if slot < 0 or not has_room_for(state, slot, 0, needed):
            continue
        there = computed_distance(state, row, other)
        if least < arc[other]:
            cost = there - arc[other] + computed_distance(state, row, successor[other])
            if cost < best and (blink == 0.0 or random(state) >= blink):
                best, where, position = cost, np.int64(slot), np.int64(other)
        if least < arriving[other]:
            cost = there - arriving[other] + computed_distance(state, row, predecessor[other])
            if cost < best and (blink == 0.0 or random(state) >= blink):
                best, where, position = cost, np.int64(slot), np.int64(predecessor[other])
    state.found_slot, state.found_position = where, position
    return best if where >= 0 else np.inf
