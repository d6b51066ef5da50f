"""The history of arcs: with each arc the cost of the best solution that had it."""

import numpy as np
import numpy.typing as npt

from neuralns.compiled.caching import compiled, inlined

MATRIX_LIMIT = 3000
"""Most customers for which every arc has a place of its own (72 MB); above, arcs share the places of a table."""
PLACES = 128
"""Places of that table for each node, at least; far more than the arcs that a search comes back to."""
_WIDTH_BITS = 10


def new_history(customers: int) -> npt.NDArray[np.float64]:
    """Return an empty history: a matrix, or for large instances a table that arcs are spread over by a hash.

    Two arcs that fall on one place are taken for one: the cost there is the least of both.
    """
    nodes = customers + 1
    if customers <= MATRIX_LIMIT:
        return np.full((nodes, nodes), np.inf)
    bits = max((PLACES * nodes - 1).bit_length(), _WIDTH_BITS)
    return np.full((1 << (bits - _WIDTH_BITS), 1 << _WIDTH_BITS), np.inf)


@inlined
def _place(state, tail, head):
    if state.history.shape[1] == state.customers + 1:
        return np.int64(tail), np.int64(head)
    code = np.uint64(tail) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(head) * np.uint64(0xC2B2AE3D27D4EB4F)
    code = (code ^ (code >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9)
    code = code >> np.uint64(20)
    rows = np.uint64(state.history.shape[0] - 1)
    return np.int64((code >> np.uint64(_WIDTH_BITS)) & rows), np.int64(code & np.uint64((1 << _WIDTH_BITS) - 1))


@compiled
def seen_cost(state, tail, head):
    """Return the cost of the best solution seen with an arc; infinite if there was none."""
    row, column = _place(state, tail, head)
    return state.history[row, column]


@compiled
def remember(state):
    """Note the cost of the present routes at each of their arcs, where it is the least seen so far.

    Arcs kept since the checkpoint have seen its cost already: if the routes are no better, only new arcs matter.
    """
    if state.history.shape[0] == 0:
        return
    if state.cost < state.saved_cost:
        for index in range(state.n_active):
            node = state.first[state.active[index]]
            if node != 0:
                _remember_arc(state, 0, node)
                while node != 0:
                    _remember_arc(state, node, state.successor[node])
                    node = state.successor[node]
    else:
        for index in range(state.n_saved):
            node = state.saved[index]
            _remember_arc(state, state.predecessor[node], node)
            _remember_arc(state, node, state.successor[node])
        for index in range(state.n_saved_slots):
            node = state.first[state.saved_slot[index]]
            if node != 0:
                _remember_arc(state, 0, node)


@compiled
def _remember_arc(state, tail, head):
    row, column = _place(state, tail, head)
    if state.cost < state.history[row, column]:
        state.history[row, column] = state.cost
