"""The history of arcs: with each arc the cost of the best solution that had it."""

from neuralns.compiled.caching import compiled


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
    if state.cost < state.history[tail, head]:
        state.history[tail, head] = state.cost
