"""Skills: whether a vehicle type may serve a customer. Hard: a skill cannot be lacked a little."""

from neuralns.compiled.caching import inlined


@inlined
def may_serve(state, vehicle, customer):
    """Return whether a vehicle type has the skills that a customer needs."""
    return state.skilled == 0 or state.allowed[vehicle, customer] != 0


@inlined
def keeps_sequence(state, count, vehicle):
    """Return whether a vehicle type may serve all of ``sequence``."""
    if state.skilled != 0:
        for index in range(count):
            if state.allowed[vehicle, state.sequence[index]] == 0:
                return False
    return True


@inlined
def keeps_route(state, slot, vehicle):
    """Return whether a vehicle type may serve all of a route."""
    if state.skilled != 0:
        node = state.first[slot]
        while node != 0:
            if state.allowed[vehicle, node] == 0:
                return False
            node = state.successor[node]
    return True
