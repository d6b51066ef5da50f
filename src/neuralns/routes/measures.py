"""What all kinds of instances measure routes by: distances from points, and durations of parts of a route."""

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
def segment_of(state, node):
    """Return the segment of one node: its duration, earliest and latest start."""
    return state.service[node], state.earliest[node], state.latest[node]


@inlined
def link(first, travel, second):
    """Return the segment of one segment and then another: least duration, earliest and latest start for it.

    Infinite duration if the second cannot be on time. Vidal, Crainic, Gendreau & Prins 2013, section 4.2.
    """
    time, early, late = first
    behind = time + travel
    if behind == np.inf or second[0] == np.inf or early + behind > second[2]:
        return np.inf, early, late
    wait = max(0.0, second[1] - behind - late)
    return behind + second[0] + wait, max(second[1] - behind, early) - wait, min(second[2] - behind, late)
