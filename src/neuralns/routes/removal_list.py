"""The removal list: requests that are off their routes and wait for a repair."""

from neuralns.compiled.caching import inlined


@inlined
def add_to_list(state, request):
    """Put a request on the removal list."""
    state.list_index[request] = state.n_removed
    state.removed[state.n_removed] = request
    state.n_removed += 1


@inlined
def take_off_list(state, request):
    """Take a request off the removal list; the last entry takes its position.

    Behind the entries that are left, requests that were on the list can still be read, each once.
    """
    state.n_removed -= 1
    last = state.removed[state.n_removed]
    state.removed[state.list_index[request]] = last
    state.removed[state.n_removed] = request
    state.list_index[last] = state.list_index[request]
