"""Backhauls: on a route all deliveries come before all pickups, and no route has pickups alone. Hard.

Goetschalckx & Jacobs-Blecha 1989.
"""

import numpy as np

from neuralns.compiled.caching import inlined

LINEHAUL, BACKHAUL = 1, 2
"""Values of ``State.role`` where backhauls come last: what a customer is; 0 elsewhere."""


@inlined
def fits_between(state, customer, before, here):
    """Return whether a customer may come between two stops of a route, 0 standing for its ends."""
    if state.backhauls == 0:
        return True
    if state.role[customer] == BACKHAUL:
        return before != 0 and (here == 0 or state.role[here] != LINEHAUL)
    return before == 0 or state.role[before] != BACKHAUL


@inlined
def has_pickups_alone(state, slot):
    """Return whether a route that is in order has pickups alone."""
    return state.backhauls != 0 and state.size[slot] > 0 and state.role[state.first[slot]] == BACKHAUL


@inlined
def keeps_sequence(state, count):
    """Return whether the order of ``sequence`` is right."""
    if state.backhauls != 0:
        before = np.int64(0)
        for index in range(count):
            role = state.role[state.sequence[index]]
            if role < before or (index == 0 and role == BACKHAUL):
                return False
            before = np.int64(role)
    return True


@inlined
def keeps_route(state, slot):
    """Return whether the order of a route is right."""
    if state.backhauls != 0:
        before, node = np.int64(0), state.first[slot]
        while node != 0:
            role = state.role[node]
            if role < before or (before == 0 and role == BACKHAUL):
                return False
            before, node = np.int64(role), state.successor[node]
    return True
