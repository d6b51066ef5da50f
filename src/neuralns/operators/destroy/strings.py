"""String removal: consecutive customers of routes that lie near each other."""

from neuralns.operators.toolkit import Dial, compiled, destroy, new_visit, randint, random, random_routed, remove


@destroy("string", "related", dials={"longest": Dial("length of strings", 0.45)})
def string_removal(state, quota, longest=10.0, split=0.5, keep=0.99):
    """Remove strings of consecutive customers from routes around a random customer.

    The customers near a random one are visited, nearest first; from the route of each, if it was not cut yet, a string
    that holds it is removed. A string's length is drawn from 1 to min(longest, mean customers of a route, customers of
    this one). A share ``split`` of the strings is split: customers in the middle are kept, one and with probability
    ``keep`` one more, again and again. Adjacent string removal of Christiaens & Vanden Berghe 2020 (SISR), section 5.1,
    with the quota in place of the number of strings. They keep one more with probability 0.01; keeping many is better
    here (docs/benchmarks.md).
    """
    longest = min(longest, state.present / state.n_routes)
    while state.n_removed < quota:
        cut = new_visit(state)
        seed = random_routed(state)
        _remove_string(state, seed, longest, split, keep, quota, cut)
        for index in range(state.neighbours.shape[1]):
            if state.n_removed >= quota:
                return
            customer = state.neighbours[seed, index]
            slot = state.route[customer]
            if slot >= 0 and state.visited_slots[slot] != cut:
                _remove_string(state, customer, longest, split, keep, quota, cut)


@compiled
def _remove_string(state, customer, longest, split, keep, quota, cut):
    """Remove a string that holds a customer from its route, split or whole, and mark the route as cut."""
    slot = state.route[customer]
    state.visited_slots[slot] = cut
    size = state.size[slot]
    length = max(1, min(int(1.0 + random(state) * min(longest, size)), size, quota - state.n_removed))
    kept = 0
    if 1 < length < size and random(state) < split:
        kept = 1
        while length + kept < size and random(state) < keep:
            kept += 1
    window = length + kept
    # The window may start so many customers before this one that it still holds it and ends on the route.
    before, start = 0, customer
    while before < window - 1 and state.predecessor[start] != 0:
        start = state.predecessor[start]
        before += 1
    behind, end = 0, customer
    while behind < window - 1 and state.successor[end] != 0:
        end = state.successor[end]
        behind += 1
    least = max(0, window - 1 - behind)
    for _ in range(before - (least + randint(state, before - least + 1))):
        start = state.successor[start]
    first_part = 1 + randint(state, length - 1) if kept > 0 else length
    node = start
    for index in range(window):
        if node == 0:
            # Other ends of shipments have left the route as well.
            return
        following = state.successor[node]
        if index < first_part or index >= first_part + kept:
            remove(state, node)
        node = following
