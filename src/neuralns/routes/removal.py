"""What taking a request off its route saves, and how long a route of parts of two others is."""

import numpy as np

from neuralns.compiled.caching import compiled, inlined
from neuralns.routes.cost import ask_cost, cost_of_whole_sequence, renew_if_dirty
from neuralns.routes.rules import duration, length
from neuralns.routes.rules.length import end_of, leg, rows_of, start_of, vehicle_of


@compiled
def removal(state, customer):
    """Return what taking a request off its route saves: of a customer i between p and s, g_i = c_pi + c_is − c_ps.

    The vehicle of a route that gets empty counts where there are several vehicle types.
    """
    node = np.uint32(customer)
    if state.route[node] < 0:
        return 0.0
    slot = np.uint32(state.route[node])
    vehicle = vehicle_of(state, slot)
    other = state.partner[node] if state.shipments != 0 else np.uint32(0)
    if state.size[slot] == 1 or (other != 0 and state.size[slot] == 2):
        return state.route_cost[slot] - (state.fixed_cost[vehicle] if state.varied == 0 else 0.0)
    if state.measured != 0:
        return _removal_by_duration(state, node, other, slot, vehicle)
    shorter = _shorter(state, slot, vehicle, node, node)
    if other != 0:
        first, second = (other, node) if state.is_delivery[node] != 0 else (node, other)
        if state.successor[first] == second:
            shorter = _shorter(state, slot, vehicle, first, second)
        else:
            shorter += _shorter(state, slot, vehicle, other, other)
    return state.per_distance[vehicle] * shorter


@inlined
def _shorter(state, slot, vehicle, first, last):
    """Return by how much a route is shorter without the stops from one to another, which is the next or the same."""
    before, after = state.predecessor[first], state.successor[last]
    arriving = state.entry[slot] if before == 0 else state.arc[before]
    between = state.arc[first] if first != last else 0.0
    bridge = leg(state, rows_of(state, vehicle), start_of(state, vehicle, before), end_of(state, vehicle, after))
    return arriving + between + state.arc[last] - bridge


@compiled
def _removal_by_duration(state, node, other, slot, vehicle):
    renew_if_dirty(state, slot)
    if other == 0 and state.owned == 0 and state.releases == 0:
        before, after = state.predecessor[node], state.successor[node]
        tail_node, head_node = start_of(state, vehicle, before), end_of(state, vehicle, after)
        travel = length.time(state, rows_of(state, vehicle), tail_node, head_node)
        took, _, _, lateness = duration.join(
            duration.head(state, slot, vehicle, before), travel, duration.tail(state, vehicle, after)
        )
        if lateness > 0.0:
            # By a detour less the rest can be late: it counts as it is.
            took = state.duration[slot]
        saved = state.per_distance[vehicle] * _shorter(state, slot, vehicle, node, node)
        return saved + state.per_duration[vehicle] * (state.duration[slot] - took)
    count, here = 0, state.first[slot]
    while here != 0:
        if here != node and here != other:
            state.sequence[count] = here
            count += 1
        here = state.successor[here]
    cost = ask_cost(state, count, vehicle)
    return state.route_cost[slot] - cost if cost < np.inf else 0.0


@compiled
def join(state, tail, head):
    """Return the length of the route that follows one up to ``tail`` and goes on with another from ``head``.

    0 stands for the depot: nothing before, or nothing after. Infinite if such a route breaks a hard rule.
    """
    if tail == 0 and head == 0:
        return 0.0
    count, node = 0, np.uint32(tail)
    slot = np.uint32(state.route[tail] if tail != 0 else state.route[head])
    while node != 0:
        count += 1
        node = state.predecessor[node]
    node = np.uint32(tail)
    for index in range(count - 1, -1, -1):
        state.sequence[index] = node
        node = state.predecessor[node]
    node = np.uint32(head)
    while node != 0:
        state.sequence[count] = node
        count += 1
        node = state.successor[node]
    vehicle = vehicle_of(state, slot)
    if cost_of_whole_sequence(state, count, vehicle) == np.inf:
        return np.inf
    return length.length_of_sequence(state, count, vehicle)
