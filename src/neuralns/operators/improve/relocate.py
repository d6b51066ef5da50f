"""Improve operators that move stops to other positions: or-opt."""

from neuralns.operators.toolkit import Dial, arriving, compiled, improve, leaving, leg, try_move


@improve("or-opt", "both", dials={"longest": Dial("length of strings", 0.45)})
def or_opt(state, near=10, longest=3):
    """Move up to ``longest`` stops in a row beside one of their nearest, in either direction, on any route.

    Stops i .. j between p and s move between k and l if c_pi + c_js + c_kl > c_ps + c_ki + c_jl. Tried for each i that
    the step touched, and likewise for each j, beside its nearest ones as long as they are nearer than what is gained.
    Or 1976.
    """
    index = 0
    while index < state.n_touched:
        while _move_away(state, state.touched[index], near, longest):
            pass
        index += 1


@compiled
def _move_away(state, node, near, longest):
    """Make the first move found of stops that begin or end at a customer; return whether there was one."""
    slot = state.route[node]
    if slot < 0:
        return False
    first = last = node
    for _ in range(int(longest)):
        if first == 0:
            break
        if _move_part(state, slot, first, node, node, near):
            return True
        first = state.predecessor[first]
    for _ in range(int(longest) - 1):
        last = state.successor[last]
        if last == 0:
            break
        if _move_part(state, slot, node, last, node, near):
            return True
    return False


@compiled
def _move_part(state, slot, first, last, node, near):
    """Move stops in a row beside a near one of ``node``, the first or the last of them."""
    before, after = state.predecessor[first], state.successor[last]
    gain = arriving(state, first) + leaving(state, last)
    if before != 0 or after != 0:
        gain -= leg(state, slot, before, after)
    far = first if node == last else last
    for rank in range(min(int(near), state.neighbours.shape[1])):
        other = state.neighbours[node, rank]
        there = leg(state, slot, node, other)
        if there >= gain:
            break
        other_slot = state.route[other]
        if other_slot < 0 or (other_slot == slot and _is_among(state, other, first, last)):
            continue
        prior, following = state.predecessor[other], state.successor[other]
        # Behind the other stop, `node` coming first; and ahead of it, `node` coming last.
        if (
            following != first
            and leg(state, other_slot, other, node) + leg(state, other_slot, far, following) - leaving(state, other)
            < gain
            and try_move(state, first, last, other_slot, other, node != first)
        ) or (
            prior != last
            and there + leg(state, other_slot, prior, far) - arriving(state, other) < gain
            and try_move(state, first, last, other_slot, prior, node != last)
        ):
            return True
    return False


@compiled
def _is_among(state, stop, first, last):
    """Return whether a stop is one of those from one to another."""
    node = first
    while node != stop and node != last:
        node = state.successor[node]
    return node == stop
