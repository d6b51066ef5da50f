"""Groups: of those who stand for each other one is served at most, and of a required group one must be. Hard."""

from neuralns.compiled.caching import compiled, inlined


@inlined
def is_served(state, customer):
    """Return whether somebody of a customer's group is on a route already."""
    return state.grouped != 0 and state.group[customer] >= 0 and state.group_count[state.group[customer]] > 0


@inlined
def is_owed(state, customer):
    """Return whether a customer is of a required group of whom nobody is served."""
    if state.grouped == 0 or state.group[customer] < 0 or is_served(state, customer):
        return False
    return state.group_required[state.group[customer]] != 0


@inlined
def count(state, customer, by):
    """Count a customer among those of its group who are served (1), or no longer (−1)."""
    if state.grouped != 0 and state.group[customer] >= 0:
        state.group_count[state.group[customer]] += by


@compiled
def missing(state):
    """Return how many required groups have nobody on a route."""
    found = 0
    for group in range(len(state.group_count)):
        if state.group_required[group] != 0 and state.group_count[group] == 0:
            found += 1
    return found
