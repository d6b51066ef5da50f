"""The general way of evaluating routes: fleets, depots, pickups, shipments, backhauls, skills, groups, own costs.

`evaluate` and `edits` hand over to it for instances of the kind GENERAL, by address (`ask`), so that what is compiled
for other instances holds nothing of it. All rules have one signature.

Every route has a type of vehicle. Types that differ only in capacity and costs form a *class*: a route takes, with each
change, the cheapest free type of its class that carries its load; `settle` looks at other classes. Distances of all
profiles are held in one table, the rows of profile k from ``profile_rows[k]`` on; a node behind all others, at distance
0 from everything, stands for no depot.

A *place* is the customer to insert after, 0 for the start; for a shipment it is that of the pickup plus (customers + 1)
times that of the delivery.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numba import types

from neuralns.compiled.caching import compile_for, compiled, inlined
from neuralns.compiled.calls import address_of, caller
from neuralns.compiled.random import randint, random
from neuralns.routes.journal import chain, save_node, save_slot
from neuralns.routes.layout import state_type
from neuralns.routes.measures import computed_distance, link, segment_of
from neuralns.routes.removal_list import add_to_list, take_off_list

DELIVERED, PICKED_UP = 1, 2
"""Values of ``State.role`` where backhauls come last: what a customer is, 0 elsewhere."""

CHEAPEST, AS_THEY_ARE, LARGEST = range(3)
"""Values of ``State.sizing``, how a repair chooses among vehicles of one class: a new route gets the cheapest, and any
route a larger one when it needs it; routes keep theirs; or new routes get the largest that is free."""

# --- Distances. ------------------------------------------------------------------------------------------------------


@inlined
def _computed(state, tail, head):
    """Return a distance that is not held; the last node is nowhere, at distance 0."""
    if tail == state.nowhere or head == state.nowhere:
        return 0.0
    return computed_distance(state, tail, head)


@inlined
def _leg(state, base, tail, head):
    """Return a distance by the profile whose rows begin at ``base``."""
    if state.distances.shape[0] > 0:
        return state.distances[base + tail, head]
    return _computed(state, tail, head)


@inlined
def _time(state, base, tail, head):
    """Return a travel time by the profile whose rows begin at ``base``."""
    if state.durations.shape[0] > 0:
        return state.durations[base + tail, head]
    return _leg(state, base, tail, head)


@inlined
def _leg_to(state, base, tail, head):
    """Return a distance as `_leg` does, quicker where many are asked for that lead to one node."""
    if state.distances_to.shape[0] > 0:
        return state.distances_to[base + head, tail]
    return _computed(state, tail, head)


@inlined
def _time_to(state, base, tail, head):
    if state.durations_to.shape[0] > 0:
        return state.durations_to[base + head, tail]
    return _leg_to(state, base, tail, head)


@inlined
def _start(state, kind, node):
    """Return the node itself, the depot of a type of vehicle if it is 0."""
    return node if node != 0 else state.start_node[kind]


@inlined
def _end(state, kind, node):
    return node if node != 0 else state.end_node[kind]


# --- Times: `ready` and `late` for every customer on a route, segments where durations count. ------------------------


@inlined
def _opening(state, node, time):
    """Return when service begins that may begin at a time or later; infinite after the last window."""
    if state.n_openings[node] <= 1:
        return max(state.earliest[node], time)
    begin = state.first_opening[node]
    for index in range(begin, begin + state.n_openings[node]):
        if time <= state.closes[index]:
            return max(state.opens[index], time)
    return np.inf


@inlined
def _last_opening(state, node, time):
    """Return the last time up to a given one at which service may begin; minus infinity if there is none."""
    if state.n_openings[node] <= 1:
        last = min(state.latest[node], time)
        return last if last + state.noise >= state.earliest[node] else -np.inf
    begin = state.first_opening[node]
    for index in range(begin + state.n_openings[node] - 1, begin - 1, -1):
        if time + state.noise >= state.opens[index]:
            return min(state.closes[index], time)
    return -np.inf


@inlined
def _latest_before(state, node):
    """Return when a stop must begin at the latest if somebody comes behind it: by a detour the rest may be in time."""
    return state.late[node] if state.detour == 0.0 else state.latest[node]


@inlined
def _departure(state, kind, release):
    """Return the segment of leaving the depot."""
    return 0.0, max(state.shift_opens[kind], release), max(state.shift_leaves[kind], release)


@inlined
def _return(state, kind):
    """Return the segment of coming back."""
    return 0.0, -np.inf, state.shift_closes[kind]


@inlined
def _head(state, slot, kind, node):
    if node == 0:
        return _departure(state, kind, state.route_release[slot])
    return state.head_time[node], state.head_early[node], state.head_late[node]


@inlined
def _tail(state, kind, node):
    if node == 0:
        return _return(state, kind)
    return state.tail_time[node], state.tail_early[node], state.tail_late[node]


@compiled
def _sum_up(state, slot):
    """Work out the totals of a route, which hold whether or not it is dirty: length, loads at both ends, release.

    Returns the last customer.
    """
    goods = state.goods
    load = np.int64(slot) * goods
    for part in range(goods):
        state.start_load[load + part] = state.end_load[load + part] = 0.0
    length, release, node, last = state.entry[slot], -np.inf, state.first[slot], np.uint32(0)
    while node != 0:
        for part in range(goods):
            state.start_load[load + part] += state.delivery[node, part]
            state.end_load[load + part] += state.pickup[node, part]
        length += state.arc[node]
        release = max(release, state.release[node])
        last, node = node, state.successor[node]
    state.length[slot] = length
    state.route_release[slot] = release
    state.load[slot] = state.start_load[load]
    for part in range(goods):
        state.peak[load + part] = max(state.start_load[load + part], state.end_load[load + part])
    return last


@compiled
def renew_general(state, slot):
    """Work out all that is kept of a route beside the books: totals, loads, times, duration, whether it is allowed.

    Returns the last customer.
    """
    state.dirty[slot] = 0
    _sum_up(state, slot)
    kind, goods = state.vehicle[slot], state.goods
    base = state.profile_rows[kind]
    load = np.int64(slot) * goods
    legal, node, last = True, state.first[slot], np.uint32(0)
    role = DELIVERED
    while node != 0:
        if state.allowed[kind, node] == 0:
            legal = False
        if state.role[node] != 0:
            if state.role[node] < role or (last == 0 and state.role[node] == PICKED_UP):
                legal = False
            role = state.role[node]
        last, node = node, state.successor[node]
    if state.mixed != 0:
        _renew_loads(state, slot, last)
    if state.length[slot] > state.most_distance[kind] or state.size[slot] > state.most_stops[kind]:
        legal = False
    for part in range(goods):
        if state.peak[load + part] > state.carries[kind, part]:
            legal = False
    if state.timed != 0 and last != 0:
        legal = _renew_times(state, slot, kind, base, last) and legal
    if state.measured != 0:
        _renew_durations(state, slot, kind, base, last)
        if state.duration[slot] > state.most_duration[kind]:
            legal = False
    state.legal[slot] = 1 if legal else 0
    return last


@inlined
def _renew_loads(state, slot, last):
    """Work out the load behind each stop, the most up to it and the most from it on."""
    goods = state.goods
    at = np.int64(slot) * goods
    before, node = np.int64(-1), state.first[slot]
    while node != 0:
        here = np.int64(node) * goods
        for part in range(goods):
            ahead = state.start_load[at + part] if before < 0 else state.leg_load[before + part]
            most = ahead if before < 0 else state.head_peak[before + part]
            now = ahead - state.delivery[node, part] + state.pickup[node, part]
            state.leg_load[here + part] = now
            state.head_peak[here + part] = max(most, now)
            state.peak[at + part] = max(state.peak[at + part], now)
        before, node = here, state.successor[node]
    after, node = np.int64(-1), last
    while node != 0:
        here = np.int64(node) * goods
        for part in range(goods):
            now = state.leg_load[here + part]
            state.tail_peak[here + part] = now if after < 0 else max(now, state.tail_peak[after + part])
        after, node = here, state.predecessor[node]


@inlined
def _renew_times(state, slot, kind, base, last):
    """Work out `ready` and `late` of each stop; return whether the route is on time."""
    release = state.route_release[slot]
    leaves = max(state.shift_opens[kind], release)
    ready, before, node = leaves, state.start_node[kind], state.first[slot]
    while node != 0:
        ready = _opening(state, node, ready + _time(state, base, before, node)) + state.service[node]
        state.ready[node] = ready
        before, node = node, state.successor[node]
    late, after, node = state.shift_closes[kind], state.end_node[kind], last
    while node != 0:
        late = _last_opening(state, node, late - _time(state, base, node, after) - state.service[node])
        state.late[node] = late
        after, node = node, state.predecessor[node]
    first = state.first[slot]
    arrival = leaves + _time(state, base, state.start_node[kind], first)
    return _opening(state, first, arrival) <= state.late[first] + state.noise and leaves <= state.shift_leaves[kind]


@inlined
def _renew_durations(state, slot, kind, base, last):
    """Work out the segments up to each stop and from it on, and the duration of the route."""
    segment, before, node = (
        _departure(state, kind, state.route_release[slot]),
        state.start_node[kind],
        state.first[slot],
    )
    while node != 0:
        segment = link(segment, _time(state, base, before, node), segment_of(state, node))
        state.head_time[node], state.head_early[node], state.head_late[node] = segment
        before, node = node, state.successor[node]
    took = 0.0
    if last != 0:
        took, _, _ = link(segment, _time(state, base, last, state.end_node[kind]), _return(state, kind))
    if took == np.inf:
        # Late: it counts as if there were no windows.
        took, before, node = 0.0, state.start_node[kind], state.first[slot]
        while node != 0:
            took += _time(state, base, before, node) + state.service[node]
            before, node = node, state.successor[node]
        took += _time(state, base, before, state.end_node[kind])
    state.duration[slot] = took
    segment, after, node = _return(state, kind), state.end_node[kind], last
    while node != 0:
        segment = link(segment_of(state, node), _time(state, base, node, after), segment)
        state.tail_time[node], state.tail_early[node], state.tail_late[node] = segment
        after, node = node, state.predecessor[node]


@inlined
def _renew_if_dirty(state, slot):
    if state.dirty[slot] != 0:
        renew_general(state, slot)


# --- Costs. ----------------------------------------------------------------------------------------------------------

own_signature = types.float64(types.float64, types.float64, types.float64, types.float64, types.int64)
_call_own = caller(own_signature)


@inlined
def _own_cost(state, length, duration, load, stops, kind):
    """Return the costs of one's own of a route with such totals."""
    total = 0.0
    for index in range(len(state.own_costs)):
        total += _call_own(state.own_costs[index], (length, duration, load, stops, np.int64(kind)))
    return total


@inlined
def _price(state, kind, length, duration, load, stops):
    """Return the cost of a route of a type of vehicle."""
    total = state.fixed_cost[kind] + state.per_distance[kind] * length
    if state.measured != 0:
        total += state.per_duration[kind] * duration
        if len(state.own_costs) > 0:
            total += _own_cost(state, length, duration, load, stops, kind)
    return total


@inlined
def _saved_at_most(state, kind):
    """Return by how much a stop more on a route can cost less than its length does, by duration and costs of one's own.

    Nobody who comes on a route makes it shorter in time, but for what detours save.
    """
    if state.measured == 0:
        return 0.0
    if len(state.own_costs) > 0:
        return np.inf
    return state.per_duration[kind] * state.detour if state.per_duration[kind] > 0.0 else 0.0


@inlined
def _is_free(state, kind, own):
    """Return whether a type of vehicle is free, or the one that a route has."""
    return kind == own or state.used[kind] < state.available[kind]


@compiled
def _cheapest_type(state, slot):
    """Return the cheapest free type of a route's class that carries it, its own if there is none."""
    own = state.vehicle[slot]
    if state.class_size[own] == 1:
        return own
    at, goods = np.int64(slot) * state.goods, state.goods
    best, chosen = np.inf, own
    begin = state.class_begin[own]
    for index in range(begin, begin + state.class_size[own]):
        kind = state.by_class[index]
        if not _is_free(state, kind, own):
            continue
        fits = True
        for part in range(goods):
            if state.peak[at + part] > state.carries[kind, part]:
                fits = False
        if fits:
            cost = _price(state, kind, state.length[slot], state.duration[slot], state.peak[at], state.size[slot])
            if cost < best:
                best, chosen = cost, kind
    return chosen


# --- The books: which vehicles and depots are in use, who is served of a group, what routes cost. --------------------


@compiled
def _count_route(state, slot, by):
    """Count a route with customers among those of its vehicles and depots (1), or no longer (−1).

    Returns what depots cost that it opens, or that are closed without it.
    """
    kind, cost = state.vehicle[slot], 0.0
    state.used[kind] += by
    if state.has_depots != 0:
        for depot in (state.start_depot[kind], state.end_depot[kind]):
            if depot >= 0:
                before = state.depot_use[depot]
                state.depot_use[depot] += by
                if before == 0 or state.depot_use[depot] == 0:
                    cost += state.depot_cost[depot]
        depot = state.start_depot[kind]
        if depot >= 0:
            for part in range(state.goods):
                state.depot_load[depot, part] += by * state.start_load[np.int64(slot) * state.goods + part]
    return cost


@compiled
def _open_books(state, slot):
    """Take a route out of the books before it changes."""
    if state.size[slot] > 0:
        state.cost -= _count_route(state, slot, -1) + state.route_cost[slot]
        state.total_savings -= state.savings[slot]


@compiled
def _close_books(state, slot, resized):
    """Enter a route in the books after it has changed, ``resized`` in the cheapest vehicle of its class."""
    if state.size[slot] == 0:
        state.load[slot] = state.length[slot] = state.duration[slot] = state.route_cost[slot] = 0.0
        state.savings[slot] = 0.0
        state.dirty[slot] = 1
        return
    resized = resized and state.class_size[state.vehicle[slot]] > 1
    if state.measured != 0 or (resized and state.mixed != 0):
        last = renew_general(state, slot)
    else:
        # Totals say what it costs; the rest is worked out when somebody looks at it.
        last = _sum_up(state, slot)
        state.dirty[slot] = 1
    chosen = _cheapest_type(state, slot) if resized else state.vehicle[slot]
    if chosen != state.vehicle[slot]:
        # Of the same class, so that totals and times stay; whether it is allowed need not.
        state.vehicle[slot] = chosen
        state.dirty[slot] = 1
    at = np.int64(slot) * state.goods
    cost = _price(state, chosen, state.length[slot], state.duration[slot], state.peak[at], state.size[slot])
    state.route_cost[slot] = cost
    if state.retypes != 0:
        state.savings[slot] = _savings(state, slot, last)
        state.total_savings += state.savings[slot]
    state.cost += cost + _count_route(state, slot, 1)


@compiled
def _savings(state, slot, last):
    """Return the most that another vehicle can save on a route, whoever else comes on it.

    That is what the cheapest vehicle that carries its load saves, free or not: more customers only make routes longer,
    but for what detours save, and fit fewer vehicles.
    """
    first, at, least = state.first[slot], np.int64(slot) * state.goods, state.route_cost[slot]
    between = state.length[slot] - state.entry[slot] - state.arc[last]
    for kind in range(len(state.used)):
        if state.start_load[at] <= state.carries[kind, 0] and state.end_load[at] <= state.carries[kind, 0]:
            cost = _at_least(state, kind, first, last, between)
            if state.measured != 0 and state.same_hours != 0:
                cost += state.per_duration[kind] * state.duration[slot]
            least = min(least, cost)
    return state.route_cost[slot] - least


@compiled
def _detach(state, node):
    """Take a customer out of the chain of its route."""
    slot, before, after = np.uint32(state.route[node]), state.predecessor[node], state.successor[node]
    kind = state.vehicle[slot]
    base = state.profile_rows[kind]
    save_node(state, node)
    alone = before == 0 and after == 0
    bridge = 0.0 if alone else _leg(state, base, _start(state, kind, before), _end(state, kind, after))
    if before == 0:
        state.first[slot] = after
        state.entry[slot] = bridge
    else:
        save_node(state, before)
        state.successor[before] = after
        state.arc[before] = bridge
    if after != 0:
        save_node(state, after)
        state.predecessor[after] = before
    state.route[node] = -1
    state.size[slot] -= 1
    if state.size[slot] == 0:
        state.n_routes -= 1
    if state.group[node] >= 0:
        state.group_count[state.group[node]] -= 1


@compiled
def _attach(state, node, slot, before):
    """Put a customer into the chain of a route behind another one, 0 for the start."""
    kind = state.vehicle[slot]
    base = state.profile_rows[kind]
    save_node(state, node)
    arriving = _leg(state, base, _start(state, kind, before), node)
    if before == 0:
        after = state.first[slot]
        state.first[slot] = node
        state.entry[slot] = arriving
    else:
        save_node(state, before)
        after = state.successor[before]
        state.successor[before] = node
        state.arc[before] = arriving
    if after != 0:
        save_node(state, after)
        state.predecessor[after] = node
    state.predecessor[node] = before
    state.successor[node] = after
    state.arc[node] = _leg(state, base, node, _end(state, kind, after))
    state.route[node] = slot
    if state.size[slot] == 0:
        state.n_routes += 1
    state.size[slot] += 1
    if state.group[node] >= 0:
        state.group_count[state.group[node]] += 1


@compiled
def _take_off(state, customer):
    """Take a request off its route and put it on the removal list: a customer, or both ends of a shipment."""
    node = np.uint32(customer)
    slot = np.uint32(state.route[node])
    other = state.partner[node]
    request = node
    save_slot(state, slot)
    _open_books(state, slot)
    _detach(state, node)
    if other != 0:
        _detach(state, other)
        if state.is_delivery[node] != 0:
            request = other
    _close_books(state, slot, False)
    add_to_list(state, request)


def _remove(state, customer, _slot, _place, _bound, _blink):
    _take_off(state, customer)
    return 0.0


def _insert(state, customer, slot, place, _bound, _blink):
    """Put a request on a route, at a place, and take it off the removal list."""
    node, other, where = np.uint32(customer), state.partner[np.uint32(customer)], np.uint32(slot)
    size = state.customers + 1
    save_slot(state, where)
    _open_books(state, where)
    _attach(state, node, where, np.uint32(place % size))
    if other != 0:
        behind = place // size
        _attach(state, other, where, np.uint32(behind if behind != 0 else node))
    _close_books(state, where, state.sizing == CHEAPEST)
    take_off_list(state, node)
    return 0.0


# --- Questions. ------------------------------------------------------------------------------------------------------


@inlined
def has_room(state, customer, slot):
    """Return False if a route has no room for what is delivered to a customer: what rules out most."""
    if state.mixed != 0:
        return True
    return state.load[slot] + state.delivery[customer, 0] <= state.class_carries[state.vehicle[slot], 0]


@compiled
def fits_general(state, customer, slot):
    """Return False if a request fits nowhere on a route; True promises nothing."""
    if not has_room(state, customer, slot):
        return False
    kind, goods = state.vehicle[slot], state.goods
    at = np.int64(slot) * goods
    if state.mixed == 0:
        for part in range(goods):
            if (
                state.start_load[at + part] + state.delivery[customer, part] > state.class_carries[kind, part]
                or state.end_load[at + part] + state.pickup[customer, part] > state.class_carries[kind, part]
            ):
                return False
    if state.allowed[kind, customer] == 0 or state.size[slot] >= state.most_stops[kind]:
        return False
    if len(state.group_count) > 0 and state.group[customer] >= 0 and state.group_count[state.group[customer]] > 0:
        return False
    if state.shipments != 0:
        other = state.partner[customer]
        if other != 0 and (state.allowed[kind, other] == 0 or state.size[slot] + 2 > state.most_stops[kind]):
            return False
    if state.has_depots != 0:
        depot = state.start_depot[kind]
        if depot >= 0:
            for part in range(goods):
                if state.depot_load[depot, part] + state.delivery[customer, part] > state.depot_capacity[depot, part]:
                    return False
    return True


@inlined
def _fits_place(state, customer, slot, kind, before, here):
    """Return whether loads and roles allow a customer between two stops of a route."""
    if state.role[customer] == PICKED_UP:
        if before == 0 or (here != 0 and state.role[here] == DELIVERED):
            return False
    elif state.role[customer] == DELIVERED and before != 0 and state.role[before] == PICKED_UP:
        return False
    if state.mixed != 0:
        goods = state.goods
        at = np.int64(slot) * goods
        for part in range(goods):
            if before == 0:
                head, tail = state.start_load[at + part], state.peak[at + part]
            else:
                here_at = np.int64(before) * goods + part
                head, tail = state.head_peak[here_at], state.tail_peak[here_at]
                head = max(head, state.start_load[at + part])
            if (
                head + state.delivery[customer, part] > state.carries[kind, part]
                or tail + state.pickup[customer, part] > state.carries[kind, part]
            ):
                return False
    return True


@inlined
def _carries_more(state, kind, at, customer):
    """Return whether a type of vehicle carries what a route delivers and brings back with one more customer."""
    for part in range(state.goods):
        if state.start_load[at + part] + state.delivery[customer, part] > state.carries[kind, part] or (
            state.mixed == 0 and state.end_load[at + part] + state.pickup[customer, part] > state.carries[kind, part]
        ):
            return False
    return True


@compiled
def _upgrade(state, customer, slot):
    """Return the type that a route would have with one more customer, and what the change of type alone costs.

    The cheapest free one of its class that carries what is to be delivered; −1 if there is none. Where loads differ
    along a route it is its own then: places tell whether it carries the rest.
    """
    own, goods = state.vehicle[slot], state.goods
    at = np.int64(slot) * goods
    fits = _carries_more(state, own, at, customer)
    otherwise = np.int64(own) if fits or state.mixed != 0 else np.int64(-1)
    if fits or state.class_size[own] == 1 or state.sizing != CHEAPEST:
        return otherwise, 0.0
    best, chosen = np.inf, np.int64(-1)
    begin = state.class_begin[own]
    for index in range(begin, begin + state.class_size[own]):
        kind = state.by_class[index]
        if kind == own or state.used[kind] >= state.available[kind]:
            continue
        if _carries_more(state, kind, at, customer):
            cost = _price(state, kind, state.length[slot], state.duration[slot], state.peak[at], state.size[slot])
            if cost < best:
                best, chosen = cost, np.int64(kind)
    return (chosen, best - state.route_cost[slot]) if chosen >= 0 else (otherwise, 0.0)


@inlined
def _change(state, slot, kind, longer, took, load, more):
    """Return the change in cost beyond that of the distance of a route that gets longer, takes so long, carries so much
    at most and has more stops, by its duration and costs of one's own.
    """
    change = state.per_duration[kind] * (took - state.duration[slot])
    if len(state.own_costs) > 0:
        size, now = state.size[slot], state.peak[np.int64(slot) * state.goods]
        change += _own_cost(state, state.length[slot] + longer, took, load, size + more, kind)
        change -= _own_cost(state, state.length[slot], state.duration[slot], now, size, kind)
    return change


@inlined
def _measure(state, customer, slot, kind, base, before, here, longer, head):
    """Return the change in cost beyond that of the distance; infinite if that is late or takes too long."""
    part = link(head, _time(state, base, _start(state, kind, before), customer), segment_of(state, customer))
    took, _, _ = link(part, _time(state, base, customer, _end(state, kind, here)), _tail(state, kind, here))
    if took == np.inf or took > state.most_duration[kind]:
        return np.inf
    load = 0.0
    if len(state.own_costs) > 0:
        at, place = np.int64(slot) * state.goods, np.int64(before) * state.goods
        brought, fetched = state.delivery[customer, 0], state.pickup[customer, 0]
        load = state.start_load[at] + brought
        if state.backhauls != 0:
            load = max(load, state.end_load[at] + fetched)
        if state.mixed != 0 and before == 0:
            load = max(load, state.peak[at] + fetched)
        elif state.mixed != 0:
            load = max(load, state.head_peak[place] + brought, state.tail_peak[place] + fetched)
    return _change(state, slot, kind, longer, took, load, 1.0)


def _best(state, customer, slot, _place, bound, blink):
    """Find the cheapest place of a request on a route; the place is left in ``found_place``."""
    row, where = np.uint32(customer), np.uint32(slot)
    state.found_place = 0
    if not fits_general(state, row, where):
        return np.inf
    _renew_if_dirty(state, where)
    if state.partner[row] != 0:
        return _best_of_shipment(state, row, where, bound, blink)
    kind, extra = _upgrade(state, row, where)
    if kind < 0:
        return np.inf
    if state.by_length != 0:
        cost = _best_by_length(state, row, where, kind, (bound - extra) / state.per_distance[kind], blink)
        return state.per_distance[kind] * cost + extra
    rate = state.per_distance[kind]
    base = state.profile_rows[kind]
    most = state.most_distance[kind] - state.length[where]
    least, found = bound - extra, np.int64(-1)
    before, here = np.uint32(0), state.first[where]
    release = max(state.route_release[where], state.release[row])
    later = release > max(state.route_release[where], state.shift_opens[kind])
    left = max(state.shift_opens[kind], release)
    if later and left > state.shift_leaves[kind]:
        return np.inf
    latest, earliest = state.latest[row], state.earliest[row]
    last = latest + state.detour * state.size[where]
    timed, measured, guarded = state.timed != 0, state.measured != 0, state.mixed != 0 or state.role[row] != 0
    saved = _saved_at_most(state, kind)
    head = _departure(state, kind, release)
    cut = state.entry[where]
    while True:
        tail_node, head_node = _start(state, kind, before), _end(state, kind, here)
        arrival = left
        if timed:
            arrival = left + _time_to(state, base, tail_node, row)
            if arrival > last:
                break
        longer = _leg_to(state, base, tail_node, row) + _leg(state, base, row, head_node) - cut
        cost = rate * longer
        if cost - saved < least and longer <= most and arrival <= latest:
            fine = True
            if timed:
                begin = arrival if arrival > earliest and state.n_openings[row] <= 1 else _opening(state, row, arrival)
                gone = begin + state.service[row] + _time(state, base, row, head_node)
                fine = gone <= (state.late[here] if here != 0 else state.shift_closes[kind])
            if fine and guarded:
                fine = _fits_place(state, row, where, kind, before, here)
            if fine and measured:
                if not later:
                    head = _head(state, where, kind, before)
                cost += _measure(state, row, where, kind, base, before, here, longer, head)
            if fine and cost < least and (blink == 0.0 or random(state) >= blink):
                least, found = cost, np.int64(before)
        if here == 0:
            break
        if timed:
            if later:
                left = _opening(state, here, left + _time(state, base, tail_node, here)) + state.service[here]
                if left - state.service[here] > _latest_before(state, here):
                    break
                if measured:
                    head = link(head, _time(state, base, tail_node, here), segment_of(state, here))
            else:
                left = state.ready[here]
        before, cut, here = here, state.arc[here], state.successor[here]
    if found < 0:
        return np.inf
    state.found_place = found
    return least + extra


@inlined
def _best_by_length(state, row, slot, kind, bound, blink):
    """Find the cheapest place of a customer where nothing but length and load counts: the length that it adds."""
    distances, distances_to, arc, successor = state.distances, state.distances_to, state.arc, state.successor
    line, end = state.profile_rows[kind] + row, state.end_node[kind]
    if state.backhauls != 0:
        return _best_of_backhauls(state, row, slot, line, end, bound, blink)
    best, place = bound, np.int64(-1)
    before, cut, here = np.uint32(0), state.entry[slot], state.first[slot]
    to_customer = distances_to[line, state.start_node[kind]]
    while here != 0:
        cost = to_customer + distances[line, here] - cut
        if cost < best and (blink == 0.0 or random(state) >= blink):
            best, place = cost, np.int64(before)
        to_customer = distances_to[line, here]
        before, cut, here = here, arc[here], successor[here]
    cost = to_customer + distances[line, end] - cut
    if cost < best and (blink == 0.0 or random(state) >= blink):
        best, place = cost, np.int64(before)
    if place < 0:
        return np.inf
    state.found_place = place
    return best


@compiled
def _best_of_backhauls(state, row, slot, line, end, bound, blink):
    """Find the cheapest place as `_best_by_length` does, where deliveries come before pickups."""
    distances, distances_to, arc, successor = state.distances, state.distances_to, state.arc, state.successor
    best, place = bound, np.int64(-1)
    before, cut, here = np.uint32(0), state.entry[slot], state.first[slot]
    if state.role[row] == PICKED_UP:
        # Behind the last delivery.
        while here != 0 and state.role[here] == DELIVERED:
            before, cut, here = here, arc[here], successor[here]
        if before == 0:
            return np.inf
    to_customer = distances_to[line, before if before != 0 else state.start_node[state.vehicle[slot]]]
    while True:
        cost = to_customer + distances[line, here if here != 0 else end] - cut
        if cost < best and (blink == 0.0 or random(state) >= blink):
            best, place = cost, np.int64(before)
        if here == 0 or (state.role[row] == DELIVERED and state.role[here] == PICKED_UP):
            break
        to_customer = distances_to[line, here]
        before, cut, here = here, arc[here], successor[here]
    if place < 0:
        return np.inf
    state.found_place = place
    return best


@compiled
def _best_of_shipment(state, pickup, slot, bound, blink):
    """Find the cheapest pair of places of a shipment on a route."""
    best, found = bound, np.int64(-1)
    before = np.uint32(0)
    while True:
        cost, behind = _best_delivery(state, pickup, slot, before, best, blink)
        if cost < best:
            best, found = cost, np.int64(before) + behind * (state.customers + 1)
        before = state.first[slot] if before == 0 else state.successor[before]
        if before == 0:
            break
        if state.timed != 0 and state.ready[before] > state.latest[pickup] + state.detour * state.size[slot]:
            break
    if found < 0:
        return np.inf
    state.found_place = found
    return best


@compiled
def _best_delivery(state, pickup, slot, before, bound, blink):
    """Find the cheapest place of a shipment's delivery if the pickup stands behind ``before``: cost and place."""
    kind, goods = np.int64(state.vehicle[slot]), state.goods
    base, delivery = state.profile_rows[kind], state.partner[pickup]
    nobody = np.int64(0)
    rate = state.per_distance[kind]
    timed, measured = state.timed != 0, state.measured != 0
    # Two stops, each of which may save a detour.
    saved = 2.0 * _saved_at_most(state, kind)
    here = state.first[slot] if before == 0 else state.successor[before]
    cut = state.entry[slot] if before == 0 else state.arc[before]
    at = np.int64(slot) * goods
    most_loaded = state.peak[at]
    for part in range(goods):
        ahead = state.start_load[at + part] if before == 0 else state.leg_load[np.int64(before) * goods + part]
        if ahead + state.pickup[pickup, part] > state.carries[kind, part]:
            return np.inf, nobody
        if part == 0:
            most_loaded = max(most_loaded, ahead + state.pickup[pickup, part])
    tail_node, head_node = _start(state, kind, before), _end(state, kind, here)
    to_pickup = _leg(state, base, tail_node, pickup)
    longer = to_pickup + _leg(state, base, pickup, head_node) - cut
    if rate * longer - state.slack - saved >= bound:
        # The delivery only adds to it.
        return np.inf, nobody
    left = max(state.shift_opens[kind], state.route_release[slot]) if before == 0 else state.ready[before]
    left_pickup, segment = left, _head(state, slot, kind, before)
    if timed:
        arrival = left + _time(state, base, tail_node, pickup)
        if arrival > state.latest[pickup]:
            return np.inf, nobody
        left_pickup = _opening(state, pickup, arrival) + state.service[pickup]
        if left_pickup + _time(state, base, pickup, delivery) > state.latest[delivery] + state.detour * (
            state.size[slot] + 1
        ):
            return np.inf, nobody
    if measured:
        segment = link(segment, _time(state, base, tail_node, pickup), segment_of(state, pickup))
    most = state.most_distance[kind] - state.length[slot]
    best, place = bound, nobody
    # Right behind the pickup.
    both = to_pickup + _leg(state, base, pickup, delivery) + _leg(state, base, delivery, head_node) - cut
    if rate * both - saved < best and both <= most:
        fine = _delivers_on_time(state, kind, base, left_pickup, pickup, delivery, here) if timed else True
        cost = rate * both
        if fine and measured:
            cost += _measure_delivery(state, slot, kind, base, segment, pickup, delivery, here, both, most_loaded)
        if fine and cost < best and (blink == 0.0 or random(state) >= blink):
            best, place = cost, np.int64(pickup)
    now, previous = left_pickup, np.uint32(pickup)
    while here != 0:
        # The pickup's goods are on board behind this stop too.
        for part in range(goods):
            load = state.leg_load[np.int64(here) * goods + part] + state.pickup[pickup, part]
            if load > state.carries[kind, part]:
                return best if place > 0 else np.inf, place
            if part == 0:
                most_loaded = max(most_loaded, load)
        travel = _time(state, base, previous, here) if timed or measured else 0.0
        if timed:
            begin = _opening(state, here, now + travel)
            if begin > _latest_before(state, here):
                break
            now = begin + state.service[here]
            if now > state.latest[delivery] + state.detour * state.size[slot]:
                break
        if measured:
            segment = link(segment, travel, segment_of(state, here))
        following = state.successor[here]
        end = _end(state, kind, following)
        both = longer + _leg(state, base, here, delivery) + _leg(state, base, delivery, end) - state.arc[here]
        if rate * both - saved < best and both <= most:
            fine = _delivers_on_time(state, kind, base, now, here, delivery, following) if timed else True
            cost = rate * both
            if fine and measured:
                cost += _measure_delivery(
                    state, slot, kind, base, segment, here, delivery, following, both, most_loaded
                )
            if fine and cost < best and (blink == 0.0 or random(state) >= blink):
                best, place = cost, np.int64(here)
        previous, here = here, following
    return best if place > 0 else np.inf, place


@inlined
def _delivers_on_time(state, kind, base, left, before, delivery, here):
    """Return whether a delivery is on time between two stops, the first left at a time, and the rest behind it."""
    arrival = left + _time(state, base, before, delivery)
    if arrival > state.latest[delivery]:
        return False
    gone = _opening(state, delivery, arrival) + state.service[delivery]
    gone += _time(state, base, delivery, _end(state, kind, here))
    return gone <= (state.late[here] if here != 0 else state.shift_closes[kind])


@inlined
def _measure_delivery(state, slot, kind, base, segment, before, delivery, here, longer, load):
    """Return the change in cost beyond that of the distance of a shipment, by durations and costs of one's own."""
    part = link(segment, _time(state, base, before, delivery), segment_of(state, delivery))
    took, _, _ = link(part, _time(state, base, delivery, _end(state, kind, here)), _tail(state, kind, here))
    if took == np.inf or took > state.most_duration[kind]:
        return np.inf
    return _change(state, slot, kind, longer, took, load, 2.0)


def _insertion(state, customer, slot, place, _bound, _blink):
    return _cost_at(state, customer, slot, place)


@compiled
def _cost_at(state, customer, slot, place):
    """Return the cost of a request at a place of a route, by trying it."""
    where, node = np.uint32(slot), np.uint32(customer)
    if not fits_general(state, node, where):
        return np.inf
    size = state.customers + 1
    first, second = np.uint32(place % size), np.uint32(place // size)
    count, before = 0, np.uint32(0)
    following = state.first[where]
    other = state.partner[node]
    if other != 0 and second == 0:
        second = node
    while True:
        if before == first:
            state.sequence[count] = node
            count += 1
            if other != 0 and second == node:
                state.sequence[count] = other
                count += 1
        if other != 0 and before != 0 and before == second:
            state.sequence[count] = other
            count += 1
        if following == 0:
            break
        state.sequence[count] = following
        count += 1
        before, following = following, state.successor[following]
    own = state.vehicle[where]
    if state.sizing != CHEAPEST:
        return _try(state, count, own) - state.route_cost[where]
    best = np.inf
    begin = state.class_begin[own]
    for index in range(begin, begin + state.class_size[own]):
        kind = state.by_class[index]
        if _is_free(state, kind, own):
            best = min(best, _try(state, count, kind))
    return best - state.route_cost[where]


@compiled
def _try(state, count, kind):
    """Return the cost of the customers in ``sequence`` as a route of a type of vehicle; infinite if not allowed."""
    goods, base = state.goods, state.profile_rows[kind]
    if count > state.most_stops[kind]:
        return np.inf
    length, release, role = 0.0, -np.inf, 0
    before = state.start_node[kind]
    for index in range(count):
        node = state.sequence[index]
        if state.allowed[kind, node] == 0:
            return np.inf
        if state.role[node] != 0:
            if state.role[node] < role or (index == 0 and state.role[node] == PICKED_UP):
                return np.inf
            role = state.role[node]
        length += _leg(state, base, before, node)
        release = max(release, state.release[node])
        before = node
    length += _leg(state, base, before, state.end_node[kind])
    if length > state.most_distance[kind]:
        return np.inf
    most = 0.0
    for part in range(goods):
        load = 0.0
        for index in range(count):
            load += state.delivery[state.sequence[index], part]
        if load > state.carries[kind, part]:
            return np.inf
        if part == 0:
            most = load
        if state.mixed != 0 or state.backhauls != 0:
            for index in range(count):
                node = state.sequence[index]
                load += state.pickup[node, part] - state.delivery[node, part]
                if load > state.carries[kind, part]:
                    return np.inf
                if part == 0:
                    most = max(most, load)
    took = 0.0
    if state.timed != 0:
        now, before = max(state.shift_opens[kind], release), state.start_node[kind]
        if now > state.shift_leaves[kind]:
            return np.inf
        for index in range(count):
            node = state.sequence[index]
            now = _opening(state, node, now + _time(state, base, before, node))
            if now > state.latest[node]:
                return np.inf
            now += state.service[node]
            before = node
        if now + _time(state, base, before, state.end_node[kind]) > state.shift_closes[kind]:
            return np.inf
    if state.measured != 0:
        segment, before = _departure(state, kind, release), state.start_node[kind]
        for index in range(count):
            node = state.sequence[index]
            segment = link(segment, _time(state, base, before, node), segment_of(state, node))
            before = node
        took, _, _ = link(segment, _time(state, base, before, state.end_node[kind]), _return(state, kind))
        if took == np.inf or took > state.most_duration[kind]:
            return np.inf
    return _price(state, kind, length, took, most, count)


def _near(state, customer, count, _place, bound, blink):
    """Find the cheapest place of a request beside those that go well with it: route and place in ``found_*``."""
    row, best = np.uint32(customer), bound
    other_end = state.partner[row]
    state.found_slot = -1
    if other_end != 0:
        state.mark += 1
        seen = state.mark
        found = np.int64(0)
        for end in (row, other_end):
            for index in range(min(count // 4, state.fitting.shape[1])):
                slot = state.route[state.fitting[end, index]]
                if slot < 0 or state.slot_marks[slot] == seen:
                    continue
                state.slot_marks[slot] = seen
                if not fits_general(state, row, np.uint32(slot)):
                    continue
                _renew_if_dirty(state, np.uint32(slot))
                cost = _best_of_shipment(state, row, np.uint32(slot), best, blink)
                if cost < best:
                    best, state.found_slot, found = cost, np.int64(slot), np.int64(state.found_place)
        state.found_place = found
        return best if state.found_slot >= 0 else np.inf
    for index in range(min(count, state.fitting.shape[1])):
        other = state.fitting[row, index]
        if state.route[other] < 0:
            continue
        slot = np.uint32(state.route[other])
        if not fits_general(state, row, slot):
            continue
        _renew_if_dirty(state, slot)
        for side in range(2):
            before = other if side == 0 else state.predecessor[other]
            cost = _at(state, row, slot, before, best)
            if cost < best and (blink == 0.0 or random(state) >= blink):
                best, state.found_slot, state.found_place = cost, np.int64(slot), np.int64(before)
    return best if state.found_slot >= 0 else np.inf


@compiled
def _at(state, row, slot, before, bound):
    """Return the cost of a customer behind another one on a route, infinite if it is not below a bound."""
    kind, extra = _upgrade(state, row, slot)
    if kind < 0:
        return np.inf
    if state.release[row] > max(state.route_release[slot], state.shift_opens[kind]):
        return _cost_at(state, row, slot, np.int64(before))
    base = state.profile_rows[kind]
    here = state.first[slot] if before == 0 else state.successor[before]
    cut = state.entry[slot] if before == 0 else state.arc[before]
    tail_node, head_node = _start(state, kind, before), _end(state, kind, here)
    longer = _leg(state, base, tail_node, row) + _leg(state, base, row, head_node) - cut
    cost = state.per_distance[kind] * longer + extra
    if cost - _saved_at_most(state, kind) >= bound or longer > state.most_distance[kind] - state.length[slot]:
        return np.inf
    if state.timed != 0:
        left = max(state.shift_opens[kind], state.route_release[slot]) if before == 0 else state.ready[before]
        arrival = left + _time(state, base, tail_node, row)
        if arrival > state.latest[row]:
            return np.inf
        gone = _opening(state, row, arrival) + state.service[row] + _time(state, base, row, head_node)
        if gone > (state.late[here] if here != 0 else state.shift_closes[kind]):
            return np.inf
    if (state.mixed != 0 or state.role[row] != 0) and not _fits_place(state, row, slot, kind, before, here):
        return np.inf
    if state.measured != 0:
        cost += _measure(state, row, slot, kind, base, before, here, longer, _head(state, slot, kind, before))
    return cost


def _open(state, customer, _slot, _place, _bound, _blink):
    """Return the least cost of a route for one request, with the vehicle; its type is left in ``found_vehicle``."""
    node = np.uint32(customer)
    state.found_vehicle = -1
    if state.n_routes >= state.vehicles or (state.group[node] >= 0 and state.group_count[state.group[node]] > 0):
        return np.inf
    state.sequence[0] = node
    count = 1
    if state.partner[node] != 0:
        state.sequence[1] = state.partner[node]
        count = 2
    best = np.inf
    for kind in range(len(state.used)):
        if state.used[kind] >= state.available[kind]:
            continue
        if state.priced == 0 and _at_least(state, kind, state.sequence[0], state.sequence[count - 1], 0.0) >= best:
            continue
        cost = _try(state, count, kind)
        if state.has_depots != 0 and cost < np.inf:
            cost += _opening_depots(state, kind, node)
        if cost < best:
            best, state.found_vehicle = cost, kind
    if state.sizing == LARGEST and state.found_vehicle >= 0:
        begin = state.class_begin[state.found_vehicle]
        size = state.class_size[state.found_vehicle]
        most = state.carries[state.found_vehicle, 0]
        for index in range(begin, begin + size):
            kind = state.by_class[index]
            if state.used[kind] < state.available[kind] and state.carries[kind, 0] > most:
                cost = _try(state, count, kind)
                if state.has_depots != 0 and cost < np.inf:
                    cost += _opening_depots(state, kind, node)
                if cost < np.inf:
                    best, most, state.found_vehicle = cost, state.carries[kind, 0], kind
    return best


@compiled
def _opening_depots(state, kind, node):
    """Return what it costs to open the depots of a type of vehicle; infinite if they have not enough."""
    total, start, end = 0.0, state.start_depot[kind], state.end_depot[kind]
    if start >= 0:
        if state.depot_use[start] == 0:
            total += state.depot_cost[start]
        for part in range(state.goods):
            if state.depot_load[start, part] + state.delivery[node, part] > state.depot_capacity[start, part]:
                return np.inf
    if end >= 0 and end != start and state.depot_use[end] == 0:
        total += state.depot_cost[end]
    return total


def _removal(state, customer, _slot, _place, _bound, _blink):
    """Return what taking a request off its route saves."""
    node = np.uint32(customer)
    if state.route[node] < 0:
        return 0.0
    slot = np.uint32(state.route[node])
    kind, other = state.vehicle[slot], state.partner[node]
    if state.size[slot] == 1 or (other != 0 and state.size[slot] == 2):
        return state.route_cost[slot]
    if state.measured != 0:
        count, here = 0, state.first[slot]
        while here != 0:
            if here != node and here != other:
                state.sequence[count] = here
                count += 1
            here = state.successor[here]
        cost = _try(state, count, kind)
        return state.route_cost[slot] - cost if cost < np.inf else 0.0
    shorter = _shorter(state, slot, kind, node, node)
    if other != 0:
        first, second = (other, node) if state.is_delivery[node] != 0 else (node, other)
        if state.successor[first] == second:
            shorter = _shorter(state, slot, kind, first, second)
        else:
            shorter += _shorter(state, slot, kind, other, other)
    return state.per_distance[kind] * shorter


@inlined
def _shorter(state, slot, kind, first, last):
    """Return by how much a route is shorter without the stops from one to another, which is the next or the same."""
    before, after = state.predecessor[first], state.successor[last]
    arriving = state.entry[slot] if before == 0 else state.arc[before]
    between = state.arc[first] if first != last else 0.0
    bridge = _leg(state, state.profile_rows[kind], _start(state, kind, before), _end(state, kind, after))
    return arriving + between + state.arc[last] - bridge


def _random_place(state, customer, slot, _place, _bound, _blink):
    """Choose a place on a route where a request may be, uniformly, and leave it in ``found_place``; −1 for none."""
    node, where = np.uint32(customer), np.uint32(slot)
    state.found_place = -1
    if not fits_general(state, node, where):
        return np.inf
    _renew_if_dirty(state, where)
    seen, before = 0, np.uint32(0)
    size = state.customers + 1
    while True:
        behind = before
        while True:
            place = np.int64(before)
            if state.partner[node] != 0:
                place += size * np.int64(node if behind == before else behind)
            if _cost_at(state, node, where, place) < np.inf:
                seen += 1
                if randint(state, seen) == 0:
                    state.found_place = place
            behind = state.first[where] if behind == 0 else state.successor[behind]
            if behind == 0 or state.partner[node] == 0:
                break
        before = state.first[where] if before == 0 else state.successor[before]
        if before == 0:
            return 0.0 if state.found_place >= 0 else np.inf


def _join(state, tail, head, _place, _bound, _blink):
    """Return the length of the route that follows one up to ``tail`` and goes on with another from ``head``."""
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
    kind = state.vehicle[slot]
    if _try(state, count, kind) == np.inf or not _has_whole_shipments(state, count):
        return np.inf
    length, before = 0.0, state.start_node[kind]
    for index in range(count):
        length += _leg(state, state.profile_rows[kind], before, state.sequence[index])
        before = state.sequence[index]
    return length + _leg(state, state.profile_rows[kind], before, state.end_node[kind])


@compiled
def _has_whole_shipments(state, count):
    """Return whether both ends of every shipment are in ``sequence``, the pickup first."""
    state.mark += 1
    seen, open_ends = state.mark, 0
    for index in range(count):
        node = state.sequence[index]
        if state.partner[node] != 0:
            if state.is_delivery[node] == 0:
                state.marks[node] = seen
                open_ends += 1
            elif state.marks[state.partner[node]] != seen:
                return False
            else:
                open_ends -= 1
    return open_ends == 0


# --- Between destroy and repair, and behind it. ----------------------------------------------------------------------


def _tidy(state, _customer, _slot, _place, _bound, _blink):
    """Draw how sizes of vehicles are chosen; remove all from routes with pickups alone, where backhauls come last."""
    state.sizing = CHEAPEST
    if state.n_classes < len(state.used):
        draw = random(state)
        if draw < 0.4:
            state.sizing = AS_THEY_ARE if draw < 0.3 else LARGEST
        else:
            _resize(state)
    if state.backhauls == 0:
        return 0.0
    for index in range(state.n_saved_slots):
        slot = state.saved_slot[index]
        if state.size[slot] > 0 and state.role[state.first[slot]] == PICKED_UP:
            while state.first[slot] != 0:
                _take_off(state, state.first[slot])
    return 0.0


@compiled
def _resize(state):
    """Give routes that have changed the cheapest free vehicle of their class."""
    for index in range(state.n_saved_slots):
        slot = state.saved_slot[index]
        if state.size[slot] > 0 and state.class_size[state.vehicle[slot]] > 1:
            if state.mixed != 0:
                _renew_if_dirty(state, slot)
            if _cheapest_type(state, slot) != state.vehicle[slot]:
                _open_books(state, slot)
                _close_books(state, slot, True)


def _settle(state, _customer, _slot, _place, _bound, _blink):
    """Give routes that have changed a vehicle of another class where that is cheaper.

    Returns 1 if a depot gives out more than it has: costs known from before an insertion do not tell.
    """
    if state.n_classes < len(state.used):
        _resize(state)
    if state.n_classes > 1:
        for index in range(state.n_saved_slots):
            slot = state.saved_slot[index]
            if state.size[slot] > 0:
                _change_class(state, slot)
    if state.has_depots != 0:
        for depot in range(len(state.depot_use)):
            for part in range(state.goods):
                if state.depot_load[depot, part] > state.depot_capacity[depot, part]:
                    return 1.0
    return 0.0


@inlined
def _at_least(state, kind, first, last, between):
    """Return what a route of a type of vehicle costs by its length alone, from one customer to another so long."""
    base = state.profile_rows[kind]
    ends = _leg(state, base, state.start_node[kind], first) + _leg(state, base, last, state.end_node[kind])
    return state.fixed_cost[kind] + state.per_distance[kind] * (ends + between)


@compiled
def _change_class(state, slot):
    """Give a route the cheapest free vehicle of another class, if that is cheaper."""
    own, count, node, last = state.vehicle[slot], 0, state.first[slot], np.uint32(0)
    while node != 0:
        state.sequence[count] = node
        count += 1
        last, node = node, state.successor[node]
    between = state.length[slot] - state.entry[slot] - state.arc[last]
    best, chosen = state.route_cost[slot] - 1e-9 * abs(state.route_cost[slot]), np.int64(-1)
    for kind in range(len(state.used)):
        if state.class_begin[kind] != state.class_begin[own] and state.used[kind] < state.available[kind]:
            if (
                state.priced == 0
                and state.profile_rows[kind] == state.profile_rows[own]
                and state.has_depots == 0
                and _at_least(state, kind, state.first[slot], last, between) >= best
            ):
                continue
            cost = _try(state, count, kind)
            if cost < best and state.has_depots != 0:
                cost += _moving_depots(state, slot, own, kind)
            if cost < best:
                best, chosen = cost, np.int64(kind)
    if chosen < 0:
        return
    save_slot(state, slot)
    _open_books(state, slot)
    state.vehicle[slot] = chosen
    base, before = state.profile_rows[chosen], state.start_node[chosen]
    for index in range(count):
        node = state.sequence[index]
        following = state.end_node[chosen] if index == count - 1 else state.sequence[index + 1]
        if index == 0:
            state.entry[slot] = _leg(state, base, before, node)
        if state.profile_rows[own] != base or index == count - 1:
            save_node(state, node)
            state.arc[node] = _leg(state, base, node, following)
    _close_books(state, slot, False)


@compiled
def _moving_depots(state, slot, own, kind):
    """Return what it costs to open and saves to close depots if a route changes its vehicle; infinite if a depot has
    not enough.
    """
    change = 0.0
    at = np.int64(slot) * state.goods
    start = state.start_depot[kind]
    if start >= 0 and start != state.start_depot[own]:
        for part in range(state.goods):
            if state.depot_load[start, part] + state.start_load[at + part] > state.depot_capacity[start, part]:
                return np.inf
    for depot in range(len(state.depot_use)):
        leaving = (1 if state.start_depot[own] == depot else 0) + (1 if state.end_depot[own] == depot else 0)
        coming = (1 if state.start_depot[kind] == depot else 0) + (1 if state.end_depot[kind] == depot else 0)
        if state.depot_use[depot] == leaving and leaving > 0 and coming == 0:
            change -= state.depot_cost[depot]
        elif state.depot_use[depot] == 0 and coming > 0:
            change += state.depot_cost[depot]
    return change


def _renew(state, _customer, slot, _place, _bound, _blink):
    renew_general(state, np.uint32(slot))
    return 0.0


@compiled
def _count_changed(state, by):
    """Enter what has changed since the checkpoint in the books (1), or take it out of them (−1)."""
    for index in range(state.n_saved_slots):
        slot = state.saved_slot[index]
        if state.size[slot] > 0:
            if by > 0:
                _sum_up(state, slot)
            _count_route(state, slot, by)
    if len(state.group_count) > 0:
        for index in range(state.n_saved):
            node = state.saved[index]
            if state.route[node] >= 0 and state.group[node] >= 0:
                state.group_count[state.group[node]] += by


def _undo(state, _customer, half, _place, _bound, _blink):
    """The half of `undo` before (0) or behind (1) what brings back the entries."""
    _count_changed(state, -1 if half == 0 else 1)
    return 0.0


def _load(state, end, slot, begin, _bound, _blink):
    """Make customers ``begin`` .. ``end`` of ``sequence`` the route of an empty slot whose vehicle is set."""
    before, where = np.uint32(0), np.uint32(slot)
    for index in range(begin, end):
        _attach(state, state.sequence[index], where, before)
        before = state.sequence[index]
    _close_books(state, where, False)
    return 0.0


@inlined
def driving(state, slot, tail, head):
    """Return what a leg of a route costs, 0 standing for its depots; waiting and costs of one's own aside."""
    kind = state.vehicle[slot]
    base, tail, head = state.profile_rows[kind], _start(state, kind, tail), _end(state, kind, head)
    cost = state.per_distance[kind] * _leg(state, base, tail, head)
    if state.measured != 0:
        cost += state.per_duration[kind] * _time(state, base, tail, head)
    return cost


@compiled
def _planned(state, slot, begin, end):
    """Return what part of a plan of `moves` costs as the route of a slot; infinite if it is not allowed."""
    if begin == end:
        return 0.0
    for index in range(begin, end):
        state.sequence[index - begin] = state.plan[index]
    if state.shipments != 0 and not _has_whole_shipments(state, end - begin):
        return np.inf
    return _try(state, end - begin, state.vehicle[slot])


def _lay(state, other, slot, middle, end, noise):
    """Make the first ``middle`` of a plan the route of a slot, the rest that of another one (no other: below 0).

    Only if that costs less; returns 1 if so. Routes that begin at different depots exchange nothing.
    """
    one, two, until = np.uint32(slot), np.uint32(max(other, 0)), np.int64(end)
    before, after = state.route_cost[one], _planned(state, one, 0, middle)
    if other >= 0 and after < np.inf:
        if state.has_depots != 0 and state.start_depot[state.vehicle[one]] != state.start_depot[state.vehicle[two]]:
            return 0.0
        before += state.route_cost[two]
        after += _planned(state, two, middle, until)
    if not after < before - noise * abs(before):
        return 0.0
    save_slot(state, one)
    _open_books(state, one)
    if other >= 0:
        save_slot(state, two)
        _open_books(state, two)
        _chain_plan(state, two, middle, until)
    _chain_plan(state, one, 0, middle)
    # Each keeps its vehicle: a cheaper one that is free now may be the other's. `settle` looks at them.
    _close_books(state, one, False)
    if other >= 0:
        _close_books(state, two, False)
    return 1.0


@compiled
def _chain_plan(state, slot, begin, end):
    """Make part of a plan the chain of a route that is not in the books."""
    kind = state.vehicle[slot]
    base, before = state.profile_rows[kind], np.uint32(0)
    if state.size[slot] > 0:
        state.n_routes -= 1
    for index in range(begin, end):
        node = state.plan[index]
        following = state.plan[index + 1] if index + 1 < end else np.uint32(0)
        chain(state, slot, before, node, following, _leg(state, base, node, _end(state, kind, following)))
        before = node
    state.size[slot] = end - begin
    state.first[slot] = np.uint32(0)
    state.entry[slot] = 0.0
    if end > begin:
        state.n_routes += 1
        state.first[slot] = state.plan[begin]
        state.entry[slot] = _leg(state, base, state.start_node[kind], state.plan[begin])


def _recompute(state, _customer, _slot, _place, _bound, _blink):
    """Return the cost of all routes and depots from scratch, and make the books anew."""
    total = state.total_savings = 0.0
    for kind in range(len(state.used)):
        state.used[kind] = 0
    for depot in range(len(state.depot_use)):
        state.depot_use[depot] = 0
        for part in range(state.goods):
            state.depot_load[depot, part] = 0.0
    for index in range(state.n_active):
        slot = state.active[index]
        if state.size[slot] == 0:
            continue
        last = renew_general(state, slot)
        at = np.int64(slot) * state.goods
        kind = state.vehicle[slot]
        cost = _price(state, kind, state.length[slot], state.duration[slot], state.peak[at], state.size[slot])
        state.route_cost[slot] = cost
        if state.retypes != 0:
            state.savings[slot] = _savings(state, slot, last)
            state.total_savings += state.savings[slot]
        total += cost + _count_route(state, slot, 1)
    return total


RULES = (
    _best, _insertion, _near, _open, _removal, _random_place, _join, _remove, _insert, _tidy, _settle, _renew, _undo,
    _load, _recompute, _lay,
)  # fmt: skip
(
    BEST, INSERTION, NEAR, OPEN, REMOVAL, RANDOM_PLACE, JOIN, REMOVE, INSERT, TIDY, SETTLE, RENEW, UNDO, LOAD,
    RECOMPUTE, LAY,
) = range(len(RULES))  # fmt: skip

rule_signature = types.float64(state_type, types.int64, types.int64, types.int64, types.float64, types.float64)


@cache
def rule_addresses() -> Any:
    """Return the addresses of all rules, compiled when they are first needed."""
    return np.array([address_of(compile_for(rule_signature, rule)) for rule in RULES], np.int64)
