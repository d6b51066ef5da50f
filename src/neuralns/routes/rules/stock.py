"""Stock: of each kind of goods a depot gives out no more than it has. Hard.

Routes that start at one depot share it.
"""

import numpy as np

from neuralns.compiled.caching import compiled, inlined


@inlined
def _is_enough(state, depot, more, part):
    return state.depot_load[depot, part] + more <= state.depot_capacity[depot, part]


@compiled
def has_left(state, vehicle, customer):
    """Return whether the depot where a vehicle type starts has enough for one more customer."""
    depot = state.start_depot[vehicle]
    if depot >= 0:
        for part in range(state.goods):
            if not _is_enough(state, depot, state.delivery[customer, part], part):
                return False
    return True


@compiled
def has_for_route(state, depot, slot):
    """Return whether a depot has enough for a route that starts at another one."""
    for part in range(state.goods):
        if not _is_enough(state, depot, state.start_load[np.int64(slot) * state.goods + part], part):
            return False
    return True


@compiled
def is_kept(state):
    """Return whether no depot gives out more than it has."""
    for depot in range(len(state.depot_use)):
        for part in range(state.goods):
            if not _is_enough(state, depot, 0.0, part):
                return False
    return True
