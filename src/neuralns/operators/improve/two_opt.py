"""Improve operators that exchange two legs: 2-opt* between routes, 2-opt within one."""

from neuralns.operators.toolkit import arriving, compiled, has_windows, improve, leaving, leg, try_tails, try_turn


@improve("2-opt-star", "between routes")
def two_opt_star(state, near=10):
    """Let two routes exchange their ends: legs (i, j) and (k, l) become (i, l) and (k, j).

    Tried for each customer i that the step touched and its nearest ones l with c_il < c_ij, and likewise for each j. If
    time does not matter, the beginnings of two routes are joined as well: (i, k) and (j, l). Potvin & Rousseau 1995;
    neighbours as in Toth & Vigo 2003.
    """
    index = 0
    while index < state.n_touched:
        while _exchange_ends(state, state.touched[index], near):
            pass
        index += 1


@compiled
def _exchange_ends(state, node, near):
    """Make the first exchange found at a customer; return whether there was one."""
    slot = state.route[node]
    if slot < 0:
        return False
    before, after = state.predecessor[node], state.successor[node]
    ahead, behind, turns = arriving(state, node), leaving(state, node), not has_windows(state)
    for rank in range(min(int(near), state.neighbours.shape[1])):
        other = state.neighbours[node, rank]
        there = leg(state, slot, node, other)
        if there >= ahead and there >= behind:
            break
        other_slot = state.route[other]
        if other_slot < 0 or other_slot == slot:
            continue
        prior, following = state.predecessor[other], state.successor[other]
        if (
            there + leg(state, other_slot, prior, after) < behind + arriving(state, other)
            and try_tails(state, slot, node, other_slot, prior)
        ) or (
            leg(state, other_slot, other, node) + leg(state, slot, before, following) < ahead + leaving(state, other)
            and try_tails(state, slot, before, other_slot, other)
        ):
            return True
        if turns and _turn(state, node, other, there):
            return True
    return False


@compiled
def _turn(state, node, other, there):
    """Turn the way between two customers round, or that between those before them, if that is shorter."""
    slot, other_slot = state.route[node], state.route[other]
    before, after = state.predecessor[node], state.successor[node]
    prior, following = state.predecessor[other], state.successor[other]
    return (
        there + leg(state, slot, after, following) < leaving(state, node) + leaving(state, other)
        and try_turn(state, slot, node, other_slot, other)
    ) or (
        there + leg(state, slot, before, prior) < arriving(state, node) + arriving(state, other)
        and try_turn(state, slot, before, other_slot, prior)
    )


@improve("2-opt", "within routes")
def two_opt(state, near=10):
    """Turn part of a route round: legs (i, j) and (k, l) become (i, k) and (j, l).

    Tried for each customer i that the step touched and its nearest ones k with c_ik < c_ij, and likewise for each j.
    Croes 1958.
    """
    index = 0
    while index < state.n_touched:
        while _turn_part(state, state.touched[index], near):
            pass
        index += 1


@compiled
def _turn_part(state, node, near):
    slot = state.route[node]
    if slot < 0:
        return False
    longest = max(arriving(state, node), leaving(state, node))
    for rank in range(min(int(near), state.neighbours.shape[1])):
        other = state.neighbours[node, rank]
        there = leg(state, slot, node, other)
        if there >= longest:
            break
        if state.route[other] == slot and _turn(state, node, other, there):
            return True
    return False
