"""Random-based repair operators: customers go anywhere they fit."""

import numpy as np

from neuralns.operators.toolkit import best_opening, insert, may_fit, open_route, randint, random_position, repair


@repair("random-insertion", "random")
def random_insertion(state):
    """Insert each customer at a random position of a random route with room.

    Every route with room is as likely as any other, and so is every position on it; without room anywhere a route is
    opened. A baseline since Shaw 1998.
    """
    for index in range(state.n_removed - 1, -1, -1):
        customer = state.removed[index]
        chosen, seen = -1, 0
        for column in range(state.n_active):
            slot = state.active[column]
            if state.size[slot] > 0 and may_fit(state, customer, slot):
                seen += 1
                if randint(state, seen) == 0:
                    chosen = int(slot)
        position = np.int64(-1) if chosen < 0 else random_position(state, customer, chosen)
        if position < 0:
            cost, vehicle = best_opening(state, customer)
            if cost < np.inf:
                insert(state, customer, open_route(state, vehicle), 0)
        else:
            insert(state, customer, chosen, position)
