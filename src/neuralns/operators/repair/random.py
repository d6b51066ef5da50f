"""Random-based repair operators: customers go anywhere they fit."""

from neuralns.operators.toolkit import best_opening, insert, may_fit, open_route, randint, random_place, repair


@repair("random-insertion", "random")
def random_insertion(state):
    """Insert each customer at a random place of a random route with room.

    Every route with room is as likely as any other, and so is every place on it; without room anywhere a route is
    opened. A baseline since Shaw 1998.
    """
    while state.n_removed > 0:
        customer = state.removed[state.n_removed - 1]
        chosen, seen = -1, 0
        for column in range(state.n_active):
            slot = state.active[column]
            if state.size[slot] > 0 and may_fit(state, customer, slot):
                seen += 1
                if randint(state, seen) == 0:
                    chosen = int(slot)
        if chosen < 0:
            _, vehicle = best_opening(state, customer)
            insert(state, customer, open_route(state, vehicle), 0)
            continue
        insert(state, customer, chosen, random_place(state, chosen))
