"""Fleet: no more vehicles are in use than there are, of each type and in all. Hard.

All routes share them. Where all vehicles are alike, routes are counted (``State.n_routes``); else
the routes of each type are (``State.used``).
"""

from neuralns.compiled.caching import inlined


@inlined
def is_free(state, vehicle):
    """Return whether a vehicle of a type is free, where types differ."""
    return state.used[vehicle] < state.available[vehicle]


@inlined
def may_have(state, vehicle, own):
    """Return whether a route may have a vehicle of a type: one is free, or it is the type that the route has."""
    return vehicle == own or is_free(state, vehicle)


@inlined
def may_open(state, more):
    """Return whether there is a vehicle, of whatever type, for one more route beside ``more`` others."""
    most = state.vehicles
    if state.varied == 0:
        most = min(most, state.available[0])
    return state.n_routes + more < most


@inlined
def is_kept(state):
    """Return whether there are as many vehicles as routes; whether there are of each type is not asked."""
    return state.n_routes <= state.vehicles
