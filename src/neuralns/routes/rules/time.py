"""Time: service begins within a window, the vehicle is back within its shift, and leaves after all goods are released.

Kept for each stop are the earliest departure (``earliest_departure``), of a vehicle that leaves as early as it may, and
the latest start of service (``latest_start``) with which the rest of the route is on time. A stop between two others is
on time if it begins in its window and the vehicle then comes to the next one by its latest start: O(1). That holds with
several windows, and with any travel times as long as nobody overtakes.

The violation is the lateness, summed over the stops and the return: a vehicle that is late pays for it and goes on as
if it had been on time (time warp: Nagata, Bräysy & Dullaert 2010; Vidal, Crainic, Gendreau & Prins 2013). While
lateness has a price, the lateness up to a stop and behind it is kept as well; while it has none, nothing fits ahead of
a stop from which on the route is late anyhow.
"""

import numpy as np

from neuralns.compiled.caching import compiled, inlined
from neuralns.routes.rules.length import end_of, rows_of, start_of, time


@inlined
def start_of_service(state, node, arrival):
    """Return when service begins after an arrival; infinite after the last of several windows."""
    if state.openings == 0 or state.n_openings[node] <= 1:
        return max(state.earliest[node], arrival)
    begin = state.first_opening[node]
    for index in range(begin, begin + state.n_openings[node]):
        if arrival <= state.closes[index]:
            return max(state.opens[index], arrival)
    return np.inf


@inlined
def last_start(state, node, until):
    """Return the last time up to a given one at which service may begin; minus infinity if there is none."""
    if state.openings == 0 or state.n_openings[node] <= 1:
        last = min(state.latest[node], until)
        return last if last + state.noise >= state.earliest[node] else -np.inf
    begin = state.first_opening[node]
    for index in range(begin + state.n_openings[node] - 1, begin - 1, -1):
        if until + state.noise >= state.opens[index]:
            return min(state.closes[index], until)
    return -np.inf


@inlined
def leaves(state, vehicle, release):
    """Return when a vehicle leaves the depot at the earliest, its goods released at a time."""
    return max(state.shift_opens[vehicle], release) if state.releases != 0 else state.shift_opens[vehicle]


@inlined
def latest_at(state, vehicle, node):
    """Return the latest start at a stop of a route with which the rest is on time; of 0, the latest return."""
    return state.latest_start[node] if node != 0 else state.shift_closes[vehicle]


@inlined
def earliest_at(state, slot, vehicle, node):
    """Return the earliest departure from a stop of a route; from 0, from the depot."""
    if node != 0:
        return state.earliest_departure[node]
    return leaves(state, vehicle, state.route_release[slot])


@inlined
def departs_late(state, vehicle, begin):
    """Return by how much a vehicle that begins at a time leaves too late."""
    return max(0.0, begin - state.shift_leaves[vehicle])


@inlined
def returns_late(state, vehicle, back):
    """Return by how much a vehicle that comes back at a time is late."""
    return max(0.0, back - state.shift_closes[vehicle])


@inlined
def may_begin(state, node, begin):
    """Return whether service at a stop may begin at a time."""
    return begin <= state.latest[node]


@inlined
def fits_between(state, vehicle, node, arrival, travel, here):
    """Return whether a stop that is reached at an arrival is on time, and the rest of a route from the stop ``here``
    on, which it travels to so long; 0 stands for the return.
    """
    if not may_begin(state, node, arrival):
        return False
    return start_of_service(state, node, arrival) + state.service[node] + travel <= latest_at(state, vehicle, here)


@inlined
def violation_between(state, slot, vehicle, node, arrival, travel, before, here):
    """Return how late a route is with a stop between two others, 0 for the ends, where lateness has a price."""
    gone, lateness = departure(state, node, arrival)
    lateness += max(0.0, gone + travel - latest_at(state, vehicle, here))
    if before != 0:
        lateness += state.head_lateness[before]
    elif state.releases != 0:
        lateness += departs_late(state, vehicle, leaves(state, vehicle, state.route_release[slot]))
    if here != 0:
        lateness += state.tail_lateness[here]
    return lateness


@inlined
def last_arrival(state, node, more):
    """Return the latest arrival at a stop with which it can be on time on a route of so many legs: by detours."""
    return state.latest[node] + state.detour * more


@inlined
def last_before(state, node):
    """Return when a stop must begin at the latest if somebody comes behind it: by a detour the rest may be in time."""
    return state.latest_start[node] if state.detour == 0.0 else state.latest[node]


@inlined
def departure(state, node, arrival):
    """Return when service at a stop ends after an arrival, and by how much it is late; it ends as if it were not."""
    begin = start_of_service(state, node, arrival)
    if begin > state.latest[node]:
        return state.latest[node] + state.service[node], arrival - state.latest[node]
    return begin + state.service[node], 0.0


@inlined
def release_of(state, slot):
    """Return when the last goods of a route are released."""
    release, node = -np.inf, state.first[slot]
    while node != 0:
        release = max(release, state.release[node])
        node = state.successor[node]
    return release


@inlined
def extend_head(state, node, arrival, lateness, soft):
    """Note the earliest departure from a stop after an arrival; return it, and the lateness so far."""
    if soft:
        departs, added = departure(state, node, arrival)
        lateness += added
        state.head_lateness[node] = lateness
    else:
        departs = start_of_service(state, node, arrival) + state.service[node]
    state.earliest_departure[node] = departs
    return departs, lateness


@inlined
def extend_tail(state, node, until, lateness, soft):
    """Note the latest start at a stop that must begin by a time for the rest; return it, and the lateness behind."""
    latest = last_start(state, node, until)
    if soft:
        if latest == -np.inf:
            latest = state.earliest[node]
            lateness += latest - until
        state.tail_lateness[node] = lateness
    state.latest_start[node] = latest
    return latest, lateness


@inlined
def violation_by_ends(state, slot, vehicle, rows, begin):
    """Return by how much a route that begins at a time is late at least, by the latest start of its first stop."""
    first = state.first[slot]
    arrival = begin + time(state, rows, start_of(state, vehicle, np.uint32(0)), first)
    lateness = start_of_service(state, first, arrival) - state.latest_start[first] - state.noise
    return max(0.0, lateness, departs_late(state, vehicle, begin))


@compiled
def violation_of_sequence(state, count, vehicle, release):
    """Return how late the stops of ``sequence`` and the return are."""
    rows, before = rows_of(state, vehicle), start_of(state, vehicle, np.uint32(0))
    now = leaves(state, vehicle, release)
    total = departs_late(state, vehicle, now)
    for index in range(count):
        node = state.sequence[index]
        now, lateness = departure(state, node, now + time(state, rows, before, node))
        total += lateness
        before = node
    back = now + time(state, rows, before, end_of(state, vehicle, np.uint32(0)))
    return total + returns_late(state, vehicle, back)


@inlined
def release_of_sequence(state, count):
    """Return when the last goods of ``sequence`` are released."""
    release = -np.inf
    if state.releases != 0:
        for index in range(count):
            release = max(release, state.release[state.sequence[index]])
    return release
