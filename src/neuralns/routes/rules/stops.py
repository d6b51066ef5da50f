"""Stops: the most stops of a route."""

from neuralns.compiled.caching import inlined


@inlined
def violation(state, stops, vehicle):
    """Return by how many a number of stops is above the most of a vehicle type."""
    if state.limited != 0 and stops > state.most_stops[vehicle]:
        return float(stops - state.most_stops[vehicle])
    return 0.0
