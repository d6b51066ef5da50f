"""Length: distances and travel times of legs by the profile of a vehicle type, and the longest distance of a route.

Distances of all profiles are held in one table, the rows of profile k from ``profile_rows`` on. Instances too large for
a table have them computed from points. The last node of a fleet is nowhere: at distance 0 from everything, it stands
for no depot.
"""

import numpy as np

from neuralns.compiled.caching import inlined
from neuralns.problem.distances import ROUNDINGS

_ROUND, _TRUNC, _DIMACS = (ROUNDINGS.index(name) for name in ("round", "trunc", "dimacs"))


@inlined
def computed_distance(state, tail, head):
    """Return the rounded distance between the points of two nodes."""
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


@inlined
def vehicle_of(state, slot):
    """Return the vehicle type of a route."""
    return np.int64(state.vehicle[slot]) if state.varied != 0 else np.int64(0)


@inlined
def rows_of(state, vehicle):
    """Return where the rows of a vehicle type's distances begin."""
    return state.profile_rows[vehicle] if state.varied != 0 else np.uint32(0)


@inlined
def start_of(state, vehicle, node):
    """Return the node itself; for 0, the node where a vehicle type starts."""
    return node if node != 0 or state.ends == 0 else state.start_node[vehicle]


@inlined
def end_of(state, vehicle, node):
    """Return the node itself; for 0, the node where a vehicle type ends."""
    return node if node != 0 or state.ends == 0 else state.end_node[vehicle]


@inlined
def _computed(state, tail, head):
    if state.ends != 0 and (tail == state.nowhere or head == state.nowhere):
        return 0.0
    return computed_distance(state, tail, head)


@inlined
def leg(state, rows, tail, head):
    """Return a distance by the profile whose rows begin at ``rows``."""
    if state.distances.shape[0] > 0:
        return state.distances[rows + tail, head]
    return _computed(state, tail, head)


@inlined
def leg_to(state, rows, tail, head):
    """Return a distance as `leg` does, quicker where many legs to one node are asked for."""
    if state.distances_to.shape[0] > 0:
        return state.distances_to[rows + head, tail]
    return _computed(state, tail, head)


@inlined
def time(state, rows, tail, head):
    """Return a travel time by the profile whose rows begin at ``rows``."""
    if state.durations.shape[0] > 0:
        return state.durations[rows + tail, head]
    return leg(state, rows, tail, head)


@inlined
def time_to(state, rows, tail, head):
    """Return a travel time as `time` does, quicker where many legs to one node are asked for."""
    if state.durations_to.shape[0] > 0:
        return state.durations_to[rows + head, tail]
    return leg_to(state, rows, tail, head)


@inlined
def length_of_sequence(state, count, vehicle):
    """Return how long ``sequence`` is as a route of a vehicle type."""
    rows, before, length = rows_of(state, vehicle), start_of(state, vehicle, np.uint32(0)), 0.0
    for index in range(count):
        length += leg(state, rows, before, state.sequence[index])
        before = state.sequence[index]
    return length + leg(state, rows, before, end_of(state, vehicle, np.uint32(0)))


@inlined
def violation(state, length, vehicle):
    """Return by how much a length is above the longest distance of a vehicle type."""
    return max(0.0, length - state.most_distance[vehicle]) if state.limited != 0 else 0.0
