"""Stops: the most stops of a route."""

import numpy as np

from neuralns.compiled.caching import inlined


@inlined
def has_room(state, slot, vehicle, more):
    """Return False if so many more stops are too many for a vehicle type, where that has no price."""
    if state.limited == 0 or state.stops_price < np.inf:
        return True
    return violation(state, state.size[slot] + more, vehicle) == 0.0


@inlined
def violation(state, stops, vehicle):
    """Return by how many a number of stops is above the most of a vehicle type."""
    if state.limited != 0 and stops > state.most_stops[vehicle]:
        return float(stops - state.most_stops[vehicle])
    return 0.0
