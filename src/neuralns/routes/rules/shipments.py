"""Shipments: a pickup and its delivery are on one route, the pickup first, and no ride is too long. Hard.

The longest ride (``State.longest_ride``, infinite for none) is the time between the end of the pickup's service and the
start of the delivery's. A vehicle may wait before a pickup to make the ride shorter, so that the earliest times of a
route do not tell whether all rides are short enough. Start times s that keep travel times, windows and rides are a
system of difference constraints; the least solution follows from the earliest times by raising what is too early until
nothing is, or something is too late. Each round settles a ride more, so that there is no solution if something moves
after as many rounds as there are rides. It has no algebra that joins two stretches: `insertion` checks candidates that
are cheap enough by their whole sequence.
"""

import numpy as np

from neuralns.compiled.caching import compiled, inlined
from neuralns.routes.rules.length import end_of, rows_of, start_of, time
from neuralns.routes.rules.time import leaves, release_of_sequence, start_of_service


@compiled
def keeps_sequence(state, count):
    """Return whether both ends of every shipment are in ``sequence``, the pickup first."""
    if state.shipments == 0:
        return True
    state.visit += 1
    seen, open_ends = state.visit, 0
    for index in range(count):
        node = state.sequence[index]
        if state.partner[node] != 0:
            if state.is_delivery[node] == 0:
                state.visited[node] = seen
                open_ends += 1
            elif state.visited[state.partner[node]] != seen:
                return False
            else:
                open_ends -= 1
    return open_ends == 0


@compiled
def keeps_rides(state, count, vehicle):
    """Return whether there are start times for ``sequence`` with which no ride is too long and nobody is late."""
    rows, starts = rows_of(state, vehicle), state.ride_start
    rides = 0
    for index in range(count):
        node = state.sequence[index]
        starts[node] = -np.inf
        if state.longest_ride[node] < np.inf:
            rides += 1
    if rides == 0:
        # Whether somebody is late is asked by `time`.
        return True
    for _ in range(rides + 1):
        raised = False
        now, before = leaves(state, vehicle, release_of_sequence(state, count)), start_of(state, vehicle, np.uint32(0))
        for index in range(count):
            node = state.sequence[index]
            now = start_of_service(state, node, max(now + time(state, rows, before, node), starts[node]))
            if now > state.latest[node]:
                return False
            starts[node] = now
            if state.is_delivery[node] != 0:
                # The pickup cannot begin earlier than this.
                pickup = state.partner[node]
                least = now - state.longest_ride[pickup] - state.service[pickup]
                if starts[pickup] < least - state.noise:
                    starts[pickup] = least
                    raised = True
            now += state.service[node]
            before = node
        if now + time(state, rows, before, end_of(state, vehicle, np.uint32(0))) > state.shift_closes[vehicle]:
            return False
        if not raised:
            return True
    return False


@inlined
def keeps_rides_of_route(state, slot, vehicle):
    """Return whether the rides of a route can be short enough."""
    count, node = 0, state.first[slot]
    while node != 0:
        state.ridden[count] = state.sequence[count]
        state.sequence[count] = node
        count += 1
        node = state.successor[node]
    kept = keeps_rides(state, count, vehicle)
    for index in range(count):
        state.sequence[index] = state.ridden[index]
    return kept
