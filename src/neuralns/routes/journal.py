"""Undo: nodes and slots are saved when they are first changed after a checkpoint, and brought back to the bit."""

import numpy as np

from neuralns.compiled.caching import compiled, inlined
from neuralns.routes.layout import copy_node_back, copy_node_out, copy_slot_back, copy_slot_out


@compiled
def checkpoint(state):
    """Make the routes as they are now what `undo` returns to; they must be complete."""
    state.stamp += 1
    state.n_saved = 0
    state.n_saved_slots = 0
    state.saved_cost = state.cost
    state.saved_total_savings = state.total_savings
    state.saved_n_routes = state.n_routes


@compiled
def save_node(state, node):
    """Save a node before its first change since the checkpoint."""
    if state.node_stamp[node] != state.stamp:
        state.node_stamp[node] = state.stamp
        index = state.n_saved
        state.saved[index] = node
        copy_node_out(state, node, index)
        state.n_saved = index + 1


@compiled
def save_slot(state, slot):
    """Save a slot before its first change since the checkpoint."""
    if state.slot_stamp[slot] != state.stamp:
        state.slot_stamp[slot] = state.stamp
        index = state.n_saved_slots
        state.saved_slot[index] = slot
        copy_slot_out(state, slot, index)
        if state.simple_load == 0:
            _copy_loads(state, state.start_load, slot, state.saved_start_load, index)
            _copy_loads(state, state.end_load, slot, state.saved_end_load, index)
        state.n_saved_slots = index + 1


@inlined
def _copy_loads(state, source, tail, target, head):
    """Copy the loads of all kinds of goods from one place to another."""
    tail, head = np.int64(tail) * state.goods, np.int64(head) * state.goods
    for part in range(state.goods):
        target[head + part] = source[tail + part]


@inlined
def has_beside(state, node, before, after):
    """Return whether a node has two others beside it on its route, in either direction."""
    now_before, now_after = state.predecessor[node], state.successor[node]
    return (now_before == before and now_after == after) or (now_before == after and now_after == before)


@compiled
def chain(state, slot, before, node, after, arc):
    """Put a node on a route between two others; one that has other stops beside it than before is noted as touched."""
    if (
        state.predecessor[node] == before
        and state.successor[node] == after
        and state.route[node] == slot
        and state.arc[node] == arc
    ):
        return
    save_node(state, node)
    if not has_beside(state, node, before, after) and state.n_touched < len(state.touched):
        state.touched[state.n_touched] = node
        state.n_touched += 1
    state.predecessor[node] = before
    state.successor[node] = after
    state.route[node] = slot
    state.arc[node] = arc


@compiled
def restore(state):
    """Bring back all entries saved since the checkpoint, and the totals."""
    for index in range(state.n_saved):
        copy_node_back(state, index, state.saved[index])
    for index in range(state.n_saved_slots):
        slot = state.saved_slot[index]
        copy_slot_back(state, index, slot)
        if state.simple_load == 0:
            _copy_loads(state, state.saved_start_load, index, state.start_load, slot)
            _copy_loads(state, state.saved_end_load, index, state.end_load, slot)
        state.dirty[slot] = 1
    state.cost = state.saved_cost
    state.total_savings = state.saved_total_savings
    state.n_routes = state.saved_n_routes
