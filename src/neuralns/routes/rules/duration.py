"""Duration: how long a route takes at least, what that costs, and the longest allowed.

A stretch of stops is (duration, earliest start, latest start, lateness): the least duration, the earliest and the
latest start with which it takes no longer, and by how much it is late at least (time warp). Two stretches join in O(1):
Vidal, Crainic, Gendreau & Prins 2013, section 4.2. Kept are the stretch up to each stop and that from it on. Several
windows do not join so: the least duration is then no such figure of a start, but one for each choice of windows.
"""

import numpy as np

from neuralns.compiled.caching import compiled, inlined
from neuralns.routes.rules.length import end_of, rows_of, start_of, time


@inlined
def stretch_of(state, node):
    """Return the stretch of one stop."""
    return state.service[node], state.earliest[node], state.latest[node], 0.0


@inlined
def departing(state, vehicle, release):
    """Return the stretch of leaving the depot."""
    if state.releases == 0:
        return 0.0, state.shift_opens[vehicle], state.shift_leaves[vehicle], 0.0
    return 0.0, max(state.shift_opens[vehicle], release), max(state.shift_leaves[vehicle], release), 0.0


@inlined
def returning(state, vehicle):
    """Return the stretch of coming back."""
    return 0.0, -np.inf, state.shift_closes[vehicle], 0.0


@inlined
def join(first, travel, second):
    """Return the stretch of one stretch and then another."""
    duration, earliest, latest, lateness = first
    behind = duration - lateness + travel
    waits = max(0.0, second[1] - behind - latest)
    later = max(0.0, earliest + behind - second[2])
    return (
        duration + travel + second[0] + waits,
        max(second[1] - behind, earliest) - waits,
        min(second[2] - behind, latest) + later,
        lateness + second[3] + later,
    )


@inlined
def head(state, slot, vehicle, node):
    """Return the stretch of a route up to a stop; of 0, the departure."""
    if node == 0:
        return departing(state, vehicle, state.route_release[slot])
    return state.head_time[node], state.head_earliest[node], state.head_latest[node], state.head_warp[node]


@inlined
def tail(state, vehicle, node):
    """Return the stretch of a route from a stop on; of 0, the return."""
    if node == 0:
        return returning(state, vehicle)
    return state.tail_time[node], state.tail_earliest[node], state.tail_latest[node], state.tail_warp[node]


@inlined
def extend_head(state, node, travel, stretch):
    """Note the stretch up to a stop, which follows another one after a travel time; return it."""
    found = join(stretch, travel, stretch_of(state, node))
    state.head_time[node], state.head_earliest[node], state.head_latest[node], state.head_warp[node] = found
    return found


@inlined
def extend_tail(state, node, travel, stretch):
    """Note the stretch from a stop on, which another one follows after a travel time; return it."""
    found = join(stretch_of(state, node), travel, stretch)
    state.tail_time[node], state.tail_earliest[node], state.tail_latest[node], state.tail_warp[node] = found
    return found


@inlined
def finish(state, slot, vehicle, rows, last, stretch):
    """Note the duration of a route, given the stretch up to its last stop; return its violation."""
    travel = time(state, rows, last, end_of(state, vehicle, np.uint32(0)))
    took, _, _, lateness = join(stretch, travel, returning(state, vehicle))
    if lateness > 0.0 and state.late_price == np.inf:
        # Not allowed: it counts without waiting, which is never more than any route with these stops takes.
        took = _without_waiting(state, slot, vehicle, rows)
    state.duration[slot] = took
    return violation(state, took, vehicle)


@compiled
def _without_waiting(state, slot, vehicle, rows):
    took, before, node = 0.0, start_of(state, vehicle, np.uint32(0)), state.first[slot]
    while node != 0:
        took += time(state, rows, before, node) + state.service[node]
        before, node = node, state.successor[node]
    return took + time(state, rows, before, end_of(state, vehicle, np.uint32(0)))


@compiled
def of_sequence(state, count, vehicle, release):
    """Return how long ``sequence`` takes."""
    rows, before = rows_of(state, vehicle), start_of(state, vehicle, np.uint32(0))
    found = departing(state, vehicle, release)
    for index in range(count):
        node = state.sequence[index]
        found = join(found, time(state, rows, before, node), stretch_of(state, node))
        before = node
    travel = time(state, rows, before, end_of(state, vehicle, np.uint32(0)))
    return join(found, travel, returning(state, vehicle))[0]


@inlined
def violation(state, duration, vehicle):
    """Return by how much a duration is above the longest of a vehicle type."""
    return max(0.0, duration - state.most_duration[vehicle])
