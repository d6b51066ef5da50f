"""Improve operators for routes that carry too much for a while: unload."""

from neuralns.operators.toolkit import (
    arriving,
    compiled,
    improve,
    is_overloaded,
    leaving,
    leg,
    new_visit,
    relief,
    try_move,
    try_swap,
)


@improve("unload", "between routes")
def unload(state, near=20, tries=10):
    """Move or exchange customers of overloaded routes that the step changed, while that costs less.

    A customer i of such a route moves beside a near one j of another route, or they exchange positions, if what that
    saves of overloads, at their price, is more than the legs cost more. At most ``tries`` such moves are tried for a
    route, since other rules may forbid them. Where no route carries too much it does nothing. Exchanges that pay for
    violations are those of Vidal, Crainic, Gendreau & Prins 2013.
    """
    seen = new_visit(state)
    for index in range(state.n_touched):
        slot = state.route[state.touched[index]]
        if slot >= 0 and state.visited_slots[slot] != seen:
            state.visited_slots[slot] = seen
            if is_overloaded(state, slot):
                _unload(state, slot, int(near), int(tries))


@compiled
def _unload(state, slot, near, tries):
    """Make moves that save overloads of a route, each the first that is found."""
    node = state.first[slot]
    while node != 0 and is_overloaded(state, slot):
        moved = False
        gain = arriving(state, node) + leaving(state, node)
        away = gain - leg(state, slot, state.predecessor[node], state.successor[node])
        for rank in range(min(near, state.neighbours.shape[1])):
            other = state.neighbours[node, rank]
            other_slot = state.route[other]
            if other_slot < 0 or other_slot == slot:
                continue
            before, after = state.predecessor[other], state.successor[other]
            saved = away + relief(state, slot, node, other_slot, 0)
            here, there = leg(state, other_slot, node, other), leg(state, other_slot, other, node)
            if saved > 0.0:
                if leg(state, other_slot, before, node) + here - arriving(state, other) < saved:
                    tries -= 1
                    moved = try_move(state, node, node, other_slot, before, False)
                elif there + leg(state, other_slot, node, after) - leaving(state, other) < saved:
                    tries -= 1
                    moved = try_move(state, node, node, other_slot, other, False)
            if not moved:
                saved = gain + arriving(state, other) + leaving(state, other)
                saved += relief(state, slot, node, other_slot, other)
                cost = leg(state, other_slot, before, node) + leg(state, other_slot, node, after)
                cost += leg(state, slot, state.predecessor[node], other) + leg(
                    state, slot, other, state.successor[node]
                )
                if cost < saved:
                    tries -= 1
                    moved = try_swap(state, node, other)
            if moved or tries <= 0:
                break
        if tries <= 0:
            return
        # What is left of the route is looked at anew.
        node = state.first[slot] if moved else state.successor[node]
