"""What a variant of the problem changes: what an edit costs, where it is allowed, and the books of a route.

Operators, features and edits ask here and carry the answers without looking inside: a *place* on a route and a
*vehicle* (type) are opaque to them. Each question branches once on the kind of the instance: PLAIN looks at load and
length alone, TIMED at windows as well, with O(1) work a place on the times kept for each node, MEASURED at the
durations of routes too; there a place is the customer to insert after (0: the start), and there is one type of vehicle.
GENERAL leaves the answer to `general`.

=========================  ==========================================================================================
`best_insertion`           the cheapest place of a customer on a route
`best_near`                the cheapest place beside those that go well with a customer, on any route
`insertion`                the cost of a customer at a place
`beside`                   the cheaper of the two places beside a customer on a route
`renew_best`               the cheapest place after somebody else was inserted into the route
`random_place`             any place on a route
`best_opening`             the cost of a route of its own, and the vehicle for it
`may_run_out`              whether there may be too few vehicles for another route
`removal`                  what taking a customer off its route saves
`may_fit`                  quick filter: False if a customer fits nowhere on a route
`least_need`, `may_take`   quick filter for all removed customers: False if a route can take none of them
`penalty`, `worth`         the cost of a customer on no route, and the most that serving it may cost
`is_wanted`                whether nobody else of a customer's group is served
`other_end`                the other end of a customer's shipment
`request_of`               the customer that stands for a request
`ends_of_requests`         how many stops a request has at most
`from_depot`               the distance of a customer from the depot
`hopeless`                 whether no repair of the routes as they are can be accepted any more
`join`                     the length of a new route made of the beginning of one and the end of another
`carries_too_much`         whether a route breaks the limit on loads, which no operator may
`is_on_time`               whether a route keeps all other rules, which a removal may break
`start_of_service`         when a customer is served
`off_opening`              how far from the opening of a customer's window the vehicle comes
=========================  ==========================================================================================

Costs that cannot be (nowhere to go, not allowed) are infinite.
"""

import numpy as np

from neuralns.compiled.caching import compiled, inlined
from neuralns.compiled.calls import caller
from neuralns.compiled.random import randint, random
from neuralns.routes.general import (
    BEST,
    INSERTION,
    JOIN,
    NEAR,
    OPEN,
    RANDOM_PLACE,
    RECOMPUTE,
    REMOVAL,
    RENEW,
    fits_general,
    has_room,
    rule_signature,
)
from neuralns.routes.measures import computed_distance, link, segment_of

PLAIN, TIMED, MEASURED, GENERAL = range(4)
"""Kinds of instances: what counts is load and length; windows as well; durations and limits; or all of `general`."""


_call_rule = caller(rule_signature)


@inlined
def ask(state, rule, customer, slot=0, place=0, bound=0.0, blink=0.0):
    """Ask a rule of `general`."""
    return _call_rule(
        state.rules[rule],
        (state, np.int64(customer), np.int64(slot), np.int64(place), np.float64(bound), np.float64(blink)),
    )


@compiled
def distance(state, tail, head):
    """Return the rounded distance from node ``tail`` to node ``head``."""
    if state.distances.shape[0] > 0:
        return state.distances[tail, head]
    return computed_distance(state, tail, head)


@compiled
def travel_time(state, tail, head):
    """Return the rounded duration of travelling from node ``tail`` to node ``head``."""
    if state.durations.shape[0] > 0:
        return state.durations[tail, head]
    return distance(state, tail, head)


# --- The times of a route, kept for each of its nodes. ---------------------------------------------------------------


@inlined
def renew(state, slot):
    """Work out the times of a route again if it has changed."""
    if state.dirty[slot] != 0:
        _renew(state, slot)


@compiled
def _renew(state, slot):
    if state.kind == GENERAL:
        ask(state, RENEW, 0, slot)
        return
    state.dirty[slot] = 0
    if state.kind == MEASURED:
        _renew_segments(state, slot)
    ready, before, node, last = state.earliest[0], np.uint32(0), state.first[slot], np.uint32(0)
    while node != 0:
        ready = max(state.earliest[node], ready + travel_time(state, before, node)) + state.service[node]
        state.ready[node] = ready
        before, last, node = node, node, state.successor[node]
    late, after, node = state.latest[0], np.uint32(0), last
    while node != 0:
        late = min(state.latest[node], late - travel_time(state, node, after) - state.service[node])
        if late + state.noise < state.earliest[node]:
            # Whoever waits for this window is late behind it.
            late = -np.inf
        state.late[node] = late
        after, node = node, state.predecessor[node]


@compiled
def _renew_segments(state, slot):
    """Work out the part of the route up to each node, and that from it on, as `link` makes them.

    A route that is late counts as if there were no windows, which is never more than with them.
    """
    segment, before, node, last = segment_of(state, 0), np.uint32(0), state.first[slot], np.uint32(0)
    while node != 0:
        segment = link(segment, travel_time(state, before, node), segment_of(state, node))
        state.head_time[node], state.head_early[node], state.head_late[node] = segment
        before, last, node = node, node, state.successor[node]
    took = 0.0
    if last != 0:
        took, _, _ = link(segment, travel_time(state, before, 0), segment_of(state, 0))
    state.duration[slot] = took if took < np.inf else _without_waiting(state, slot)
    segment, after, node = segment_of(state, 0), np.uint32(0), last
    while node != 0:
        segment = link(segment_of(state, node), travel_time(state, node, after), segment)
        state.tail_time[node], state.tail_early[node], state.tail_late[node] = segment
        after, node = node, state.predecessor[node]


@compiled
def _without_waiting(state, slot):
    """Return how long a route takes without waiting: travel and service."""
    took, before, node = 0.0, np.uint32(0), state.first[slot]
    while node != 0:
        took += travel_time(state, before, node) + state.service[node]
        before, node = node, state.successor[node]
    return took + travel_time(state, before, 0)


@inlined
def _head(state, node):
    """Return the segment from the depot to a node."""
    if node == 0:
        return segment_of(state, 0)
    return state.head_time[node], state.head_early[node], state.head_late[node]


@inlined
def _tail(state, node):
    """Return the segment from a node to the depot."""
    if node == 0:
        return segment_of(state, 0)
    return state.tail_time[node], state.tail_early[node], state.tail_late[node]


# --- Questions. ------------------------------------------------------------------------------------------------------


@compiled
def may_fit(state, customer, slot):
    """Return False if a customer fits nowhere on a route; True promises nothing."""
    if state.kind == GENERAL:
        return fits_general(state, customer, slot)
    return state.load[slot] + state.demand[customer] <= state.most_load


@compiled
def least_need(state):
    """Return what every customer on the removal list needs at least, for `may_take`."""
    least = np.inf
    for index in range(state.n_removed):
        least = min(least, state.demand[state.removed[index]])
    return least


@compiled
def may_take(state, slot, least):
    """Return False if a route can take nobody who needs at least so much; True promises nothing."""
    if state.kind == GENERAL:
        if state.mixed != 0 or state.backhauls != 0:
            return True
        return state.load[slot] + least <= state.class_carries[state.vehicle[slot], 0]
    return state.load[slot] + least <= state.most_load


@compiled
def carries_too_much(state, slot):
    """Return whether the customers of a route need more than a vehicle carries."""
    return state.kind != GENERAL and state.load[slot] > state.most_load


@inlined
def overload(state, load):
    """Return what a load costs for being above the limit."""
    return state.overload_cost * max(0.0, load - state.limit)


@inlined
def _overloading(state, customer, slot):
    """Return what a customer on a route costs for the load above the limit."""
    load = state.load[slot] + state.demand[customer]
    return overload(state, load) - overload(state, state.load[slot]) if load > state.limit else 0.0


@compiled
def total_overload(state):
    """Return how much the routes carry above the limit."""
    total = 0.0
    for index in range(state.n_active):
        total += max(0.0, state.load[state.active[index]] - state.limit)
    return total


@compiled
def is_on_time(state, slot):
    """Return whether a route keeps all windows and the limits on its length and duration; all rules if GENERAL."""
    if state.kind == PLAIN or state.size[slot] == 0:
        return True
    renew(state, slot)
    if state.kind == GENERAL:
        return state.legal[slot] == 1
    first = state.first[slot]
    if state.ready[first] - state.service[first] > state.late[first] + state.noise:
        return False
    return state.kind == TIMED or (
        state.duration[slot] <= state.max_duration and state.length[slot] <= state.max_distance
    )


@compiled
def penalty(state, customer):
    """Return what a customer on no route costs; infinite if it must be on one."""
    return state.prize[customer] * state.absence[customer]


@compiled
def worth(state, customer):
    """Return the most that serving a customer may cost: its penalty, and that of its group if that has nobody."""
    if state.generous != 0 or customer == state.opener:
        return np.inf
    found = penalty(state, customer)
    if state.kind == GENERAL and state.group[customer] >= 0 and state.group_required[state.group[customer]] != 0:
        return found + state.unserved_cost if state.group_count[state.group[customer]] == 0 else found
    return found


@compiled
def is_wanted(state, customer):
    """Return False if somebody else of a customer's group is served already."""
    return state.kind != GENERAL or state.group[customer] < 0 or state.group_count[state.group[customer]] == 0


@compiled
def missing_groups(state):
    """Return how many required groups have nobody on a route."""
    count = 0
    for group in range(len(state.group_count)):
        if state.group_required[group] != 0 and state.group_count[group] == 0:
            count += 1
    return count


@compiled
def count_missing(state):
    """Return how many requests and groups are left out that must not be."""
    count = state.groups_missing
    for index in range(state.n_bank):
        if state.prize[state.bank[index]] >= state.unserved_cost:
            count += 1
    return count


@compiled
def other_end(state, customer):
    """Return the other end of a customer's shipment; 0 if it is no part of one."""
    return state.partner[customer] if state.kind == GENERAL else np.uint32(0)


@compiled
def request_of(state, customer):
    """Return the customer that stands for a request: of a shipment the pickup."""
    if state.kind == GENERAL and state.is_delivery[customer] != 0:
        return np.int64(state.partner[customer])
    return np.int64(customer)


@compiled
def ends_of_requests(state):
    """Return how many stops a request has at most: 2 where there are shipments."""
    return 2 if state.kind == GENERAL and state.shipments != 0 else 1


@compiled
def from_depot(state, customer):
    """Return the distance of a customer from the depot, from the nearest one if there are several."""
    return state.from_depots[customer] if state.kind == GENERAL else distance(state, 0, customer)


@compiled
def has_windows(state):
    """Return whether customers have windows or durations count, so that it matters when a customer is served."""
    return state.kind != PLAIN and (state.kind != GENERAL or state.timed != 0)


@compiled
def start_of_service(state, customer):
    """Return when the service of a customer on a route begins, as early as can be.

    Without windows a vehicle leaves at 0, and travel takes as long as it is far.
    """
    if state.kind == GENERAL and state.timed == 0:
        return 0.0
    slot = np.uint32(state.route[customer])
    renew(state, slot)
    return state.ready[customer] - state.service[customer]


@compiled
def off_opening(state, customer):
    """Return how long before or after the opening of its window a customer on a route is reached; 0 without windows."""
    if not has_windows(state):
        return 0.0
    if state.kind == GENERAL:
        return abs(start_of_service(state, customer) - state.earliest[customer])
    renew(state, np.uint32(state.route[customer]))
    before = state.predecessor[customer]
    left = state.earliest[0] if before == 0 else state.ready[before]
    return abs(left + travel_time(state, before, customer) - state.earliest[customer])


@compiled
def hopeless(state):
    """Return whether the routes cost so much that no insertion of those still removed can lead to acceptance.

    Where the triangle inequality holds, insertions never lower the cost; rounded distances break it by so little that
    it can be said how much. Other vehicles may save some more. Routes that cost less than a selector's reach are never
    hopeless.
    """
    status = state.status
    return state.cost - state.slack * state.n_removed - state.total_savings > max(status.threshold, status.reach)


@inlined
def best_insertion(state, customer, slot, bound=np.inf, blink=0.0):
    """Return the least cost of inserting a customer into a route, and the place.

    c_pi + c_is − c_ps for customer i between p and s. Infinite if no place costs less than ``bound``. A place that is
    better than the best one so far is overlooked with probability ``blink``.
    """
    if state.kind == GENERAL:
        if not has_room(state, customer, slot):
            return np.inf, np.int64(0)
        return ask(state, BEST, customer, slot, 0, bound, blink), state.found_place
    if not may_fit(state, customer, slot):
        return np.inf, np.int64(0)
    if state.kind != PLAIN:
        return _best_timed(state, customer, slot, bound, blink)
    more = _overloading(state, customer, slot)
    if state.distances.shape[0] == 0:
        least, place = _best_on_demand(state, customer, slot, bound - more, blink)
    elif blink > 0.0:
        least, place = _best_held(state, customer, slot, bound - more, blink)
    else:
        least, place = _best_held(state, customer, slot, bound - more, 0.0)
    return least + more, place


@inlined
def _best_held(state, customer, slot, bound, blink):
    """Find the best place by distances held in a matrix; where ``blink`` is the constant 0 it leaves no trace."""
    distances, distances_to, arc, successor = state.distances, state.distances_to, state.arc, state.successor
    row = np.uint32(customer)
    best, place = bound, np.uint32(0)
    before, cut, here = np.uint32(0), state.entry[slot], state.first[slot]
    to_customer = distances_to[row, 0]
    while True:
        cost = to_customer + distances[row, here] - cut
        if cost < best and (blink == 0.0 or random(state) >= blink):
            best, place = cost, before
        if here == 0:
            return best if best < bound else np.inf, np.int64(place)
        to_customer = distances_to[row, here]
        before, cut, here = here, arc[here], successor[here]


@compiled
def _best_on_demand(state, customer, slot, bound, blink):
    best, place = bound, np.uint32(0)
    before, cut, here = np.uint32(0), state.entry[slot], state.first[slot]
    to_customer = distance(state, 0, customer)
    while True:
        from_customer = distance(state, customer, here)
        cost = to_customer + from_customer - cut
        if cost < best and (blink == 0.0 or random(state) >= blink):
            best, place = cost, before
        if here == 0:
            return best if best < bound else np.inf, np.int64(place)
        # Distances computed from points are symmetric.
        to_customer = from_customer
        before, cut, here = here, state.arc[here], state.successor[here]


@compiled
def _best_timed(state, customer, slot, bound, blink):
    renew(state, slot)
    if state.kind == MEASURED:
        return _best_measured(state, customer, slot, bound, blink)
    if state.one_matrix != 0:
        return _best_both_ways(state, customer, slot, bound, blink, True)
    if state.distances.shape[0] == 0:
        return _best_both_ways(state, customer, slot, bound, blink, False)
    return _best_on_time(state, customer, slot, bound, blink)


@compiled
def _best_on_time(state, customer, slot, bound, blink):
    """Find the best place in time by matrices; no place is looked at once the vehicle would come too late from all.

    That is when it comes too late from one by more than detours over the rest of the route can save.
    """
    distances, distances_to, durations, durations_to = (
        state.distances, state.distances_to, state.durations, state.durations_to,
    )  # fmt: skip
    arc, successor, ready, late = state.arc, state.successor, state.ready, state.late
    row = np.uint32(customer)
    earliest, latest, service = state.earliest[row], state.latest[row], state.service[row]
    last = latest + state.detour * state.size[slot]
    best, place = bound, np.uint32(0)
    before, cut, here, left = np.uint32(0), state.entry[slot], state.first[slot], state.earliest[0]
    while True:
        arrival = left + durations_to[row, before]
        if arrival > last:
            break
        cost = distances_to[row, before] + distances[row, here] - cut
        if cost < best and arrival <= latest:
            start = max(arrival, earliest) + service + durations[row, here]
            if start <= (late[here] if here != 0 else state.latest[0]) and (blink == 0.0 or random(state) >= blink):
                best, place = cost, before
        if here == 0:
            break
        left = ready[here]
        before, cut, here = here, arc[here], successor[here]
    return best if best < bound else np.inf, np.int64(place)


@inlined
def _best_both_ways(state, customer, slot, bound, blink, held):
    """Find the best place in time where distances and durations are one and symmetric: a matrix ``held``, or computed.

    Where ``held`` is a constant it leaves no trace.
    """
    distances, arc, successor, ready, late = state.distances, state.arc, state.successor, state.ready, state.late
    row = np.uint32(customer)
    earliest, latest, service = state.earliest[row], state.latest[row], state.service[row]
    last = latest + state.detour * state.size[slot]
    best, place = bound, np.uint32(0)
    before, cut, here = np.uint32(0), state.entry[slot], state.first[slot]
    home = distances[row, 0] if held else distance(state, row, 0)
    to_customer, arrival = home, state.earliest[0] + home
    while here != 0 and arrival <= last:
        from_customer = distances[row, here] if held else distance(state, row, here)
        cost = to_customer + from_customer - cut
        if (
            cost < best
            and arrival <= latest
            and max(arrival, earliest) + service + from_customer <= late[here]
            and (blink == 0.0 or random(state) >= blink)
        ):
            best, place = cost, before
        to_customer, arrival = from_customer, ready[here] + from_customer
        before, cut, here = here, arc[here], successor[here]
    if here == 0 and arrival <= latest:
        cost = to_customer + home - cut
        if (
            cost < best
            and max(arrival, earliest) + service + home <= state.latest[0]
            and (blink == 0.0 or random(state) >= blink)
        ):
            best, place = cost, before
    return best if best < bound else np.inf, np.int64(place)


@inlined
def _at_least(state, longer):
    """Return the least that a route can cost more that gets so much longer.

    Whoever comes on a route never makes it shorter in time, but for what detours save.
    """
    if state.kind != MEASURED:
        return longer
    saved = state.duration_cost * state.detour if state.duration_cost > 0.0 else 0.0
    return state.distance_cost * longer - saved


@compiled
def _best_measured(state, customer, slot, bound, blink):
    best, place = bound, np.uint32(0)
    before, cut, here = np.uint32(0), state.entry[slot], state.first[slot]
    to_customer = distance(state, 0, customer)
    while True:
        if _at_least(state, to_customer + distance(state, customer, here) - cut) < best:
            cost = _measured(state, customer, slot, before, here)
            if cost < best and (blink == 0.0 or random(state) >= blink):
                best, place = cost, before
        if here == 0:
            return best if best < bound else np.inf, np.int64(place)
        to_customer = distance(state, here, customer)
        before, cut, here = here, state.arc[here], state.successor[here]


@compiled
def _measured(state, customer, slot, before, after):
    """Return the cost of a customer between two nodes of a route by length and duration; its times must be renewed."""
    longer = _lengthening(state, customer, slot, before)
    if state.length[slot] + longer > state.max_distance:
        return np.inf
    part = link(_head(state, before), travel_time(state, before, customer), segment_of(state, customer))
    took, _, _ = link(part, travel_time(state, customer, after), _tail(state, after))
    if took > state.max_duration or took == np.inf:
        return np.inf
    return state.distance_cost * longer + state.duration_cost * (took - state.duration[slot])


@compiled
def insertion(state, customer, slot, place):
    """Return the cost of inserting a customer into a route at a place."""
    if state.kind == GENERAL:
        return ask(state, INSERTION, customer, slot, place)
    if not may_fit(state, customer, slot):
        return np.inf
    if state.kind == PLAIN:
        return _lengthening(state, customer, slot, place) + _overloading(state, customer, slot)
    renew(state, slot)
    after = state.first[slot] if place == 0 else state.successor[place]
    return _if_on_time(state, customer, slot, place, after, _lengthening(state, customer, slot, place))


@compiled
def _lengthening(state, customer, slot, before):
    """Return c_pi + c_is − c_ps for customer i after p (0: at the start of the route)."""
    if before == 0:
        cut, after = state.entry[slot], state.first[slot]
    else:
        cut, after = state.arc[before], state.successor[before]
    return distance(state, before, customer) + distance(state, customer, after) - cut


@compiled
def beside(state, customer, other):
    """Return the lesser cost of the two places beside another customer on its route, and the place."""
    slot, before = state.route[other], state.predecessor[other]
    if not may_fit(state, customer, slot):
        return np.inf, np.int64(0)
    behind, ahead = insertion(state, customer, slot, other), insertion(state, customer, slot, before)
    return (behind, np.int64(other)) if behind <= ahead else (ahead, np.int64(before))


@compiled
def best_near(state, customer, count, bound, blink):
    """Return the least cost of a customer beside those ``count`` that go best with it, its route and place.

    Infinite if no such place is allowed and costs less than ``bound``; `blink` as in `best_insertion`.
    """
    if state.kind == GENERAL:
        least = ask(state, NEAR, customer, count, 0, bound, blink)
        return least, state.found_slot, state.found_place
    if state.fitting_distances.shape[0] > 0:
        return _best_near_by_length(state, customer, count, bound, blink)
    best, where, place = bound, -1, np.int64(0)
    row = np.uint32(customer)
    for index in range(min(count, state.fitting.shape[1])):
        other = state.fitting[row, index]
        slot = state.route[other]
        if slot < 0 or state.load[slot] + state.demand[row] > state.limit:
            continue
        if state.kind != PLAIN:
            renew(state, slot)
        after, before = state.successor[other], state.predecessor[other]
        cost = distance(state, other, customer) + distance(state, customer, after) - state.arc[other]
        if _at_least(state, cost) < best:
            cost = _if_on_time(state, customer, slot, other, after, cost)
            if cost < best and (blink == 0.0 or random(state) >= blink):
                best, where, place = cost, int(slot), np.int64(other)
        bridge = state.entry[slot] if before == 0 else state.arc[before]
        cost = distance(state, before, customer) + distance(state, customer, other) - bridge
        if _at_least(state, cost) < best:
            cost = _if_on_time(state, customer, slot, before, other, cost)
            if cost < best and (blink == 0.0 or random(state) >= blink):
                best, where, place = cost, int(slot), np.int64(before)
    return (best if where >= 0 else np.inf), where, place


@compiled
def _best_near_by_length(state, customer, count, bound, blink):
    """Find the best place beside the nearest where nothing but load and the length between points counts.

    Of a place between j and k, j the nearer one to customer i or k the depot, the cost c_ij + c_ik − c_jk is at least
    c_ij + min(c_ij, c_i0) − c_jk, which mostly needs no look at anything but c_jk.
    """
    successor, predecessor, arc, arriving = state.successor, state.predecessor, state.arc, state.arriving
    nearest, distances = state.fitting, state.fitting_distances
    row = np.uint32(customer)
    room = state.limit - state.demand[row]
    from_depot = computed_distance(state, 0, row)
    best, where, place = bound, -1, np.int64(0)
    for index in range(min(count, distances.shape[1])):
        other = nearest[row, index]
        least = distances[row, index] + min(np.float64(distances[row, index]), from_depot) - best
        if least >= arc[other] and least >= arriving[other]:
            continue
        slot = state.route[other]
        if slot < 0 or state.load[slot] > room:
            continue
        there = computed_distance(state, row, other)
        if least < arc[other]:
            cost = there - arc[other] + computed_distance(state, row, successor[other])
            if cost < best and (blink == 0.0 or random(state) >= blink):
                best, where, place = cost, int(slot), np.int64(other)
        if least < arriving[other]:
            cost = there - arriving[other] + computed_distance(state, row, predecessor[other])
            if cost < best and (blink == 0.0 or random(state) >= blink):
                best, where, place = cost, int(slot), np.int64(predecessor[other])
    return (best if where >= 0 else np.inf), where, place


@compiled
def _if_on_time(state, customer, slot, before, after, cost):
    """Return the cost of a customer between two nodes, infinite if that is not allowed; times must be renewed."""
    if state.kind == PLAIN:
        return cost
    if state.kind == MEASURED:
        return _measured(state, customer, slot, before, after)
    arrival = (state.earliest[0] if before == 0 else state.ready[before]) + travel_time(state, before, customer)
    if arrival > state.latest[customer]:
        return np.inf
    left = max(arrival, state.earliest[customer]) + state.service[customer] + travel_time(state, customer, after)
    return cost if left <= (state.latest[0] if after == 0 else state.late[after]) else np.inf


@compiled
def random_place(state, customer, slot):
    """Return a place on a route where a customer may be, uniformly; −1 if there is none."""
    if state.kind == GENERAL:
        ask(state, RANDOM_PLACE, customer, slot)
        return state.found_place
    if state.kind == PLAIN:
        if not may_fit(state, customer, slot):
            return np.int64(-1)
        before, following = np.uint32(0), state.first[slot]
        for _ in range(randint(state, state.size[slot] + 1)):
            before, following = following, state.successor[following]
        return np.int64(before)
    chosen, seen, before = np.int64(-1), 0, np.uint32(0)
    while True:
        if insertion(state, customer, slot, before) < np.inf:
            seen += 1
            if randint(state, seen) == 0:
                chosen = np.int64(before)
        before = state.first[slot] if before == 0 else state.successor[before]
        if before == 0:
            return chosen


@compiled
def renew_best(state, customer, slot, inserted, known, place):
    """Return the least cost and the place of a customer on a route, known before another one was inserted there.

    Two places are new, those beside the inserted customer, and one is gone.
    """
    before = state.predecessor[inserted]
    if not may_fit(state, customer, slot):
        return np.inf, np.int64(0)
    too_much = state.load[slot] + state.demand[customer] > state.limit
    if state.kind != PLAIN or state.size[slot] == 1 or place == before or too_much:
        # All places may be too late or dearer now; the route was just opened; or the insertion took its best place.
        return best_insertion(state, customer, slot)
    first = _lengthening(state, customer, slot, before)
    second = _lengthening(state, customer, slot, inserted)
    if first < known and first <= second:
        return first, np.int64(before)
    if second < known:
        return second, np.int64(inserted)
    return known, place


@compiled
def best_opening(state, customer):
    """Return the least cost of a route for one customer, there and back and the vehicle, and the type of vehicle."""
    if state.kind == GENERAL:
        return ask(state, OPEN, customer), state.found_vehicle
    if state.n_routes >= state.vehicles:
        return np.inf, 0
    there_and_back = distance(state, 0, customer) + distance(state, customer, 0)
    if state.kind != PLAIN:
        part = link(segment_of(state, 0), travel_time(state, 0, customer), segment_of(state, customer))
        took, _, _ = link(part, travel_time(state, customer, 0), segment_of(state, 0))
        if took == np.inf or took > state.max_duration or there_and_back > state.max_distance:
            return np.inf, 0
        if state.kind == MEASURED:
            there_and_back = state.distance_cost * there_and_back + state.duration_cost * took
    return there_and_back + state.vehicle_cost, 0


@compiled
def may_run_out(state, more=0):
    """Return whether opening so many more routes may change what the next one costs: vehicles are limited."""
    return state.kind == GENERAL or state.n_routes + more >= state.vehicles


@compiled
def removal(state, customer):
    """Return what removing a customer i between p and s saves: g_i = c_pi + c_is − c_ps."""
    if state.kind == GENERAL:
        return ask(state, REMOVAL, customer)
    before, after = state.predecessor[customer], state.successor[customer]
    slot = state.route[customer]
    arriving = state.entry[slot] if before == 0 else state.arc[before]
    shorter = arriving + state.arc[customer] - distance(state, before, after)
    if state.kind != MEASURED:
        return shorter
    renew(state, slot)
    took = 0.0
    if state.size[slot] > 1:
        took, _, _ = link(_head(state, before), travel_time(state, before, after), _tail(state, after))
        if took == np.inf:
            # Where a detour saves time, the rest can be late: it counts as it is.
            took = state.duration[slot]
    return state.distance_cost * shorter + state.duration_cost * (state.duration[slot] - took)


@compiled
def join(state, tail, head):
    """Return the length of the route that follows one up to ``tail`` and goes on with another from ``head``.

    0 stands for the depot: nothing before, or nothing after. Infinite if such a route is not allowed.
    """
    if state.kind == GENERAL:
        return ask(state, JOIN, tail, head)
    length, load, node = distance(state, tail, head), 0.0, tail
    while node != 0:
        load += state.demand[node]
        before = state.predecessor[node]
        length += state.entry[state.route[node]] if before == 0 else state.arc[before]
        node = before
    node = head
    while node != 0:
        load += state.demand[node]
        length += state.arc[node]
        node = state.successor[node]
    if load > state.limit:
        return np.inf
    if state.kind == PLAIN:
        return length
    if tail != 0:
        renew(state, state.route[tail])
    if head != 0:
        renew(state, state.route[head])
    travel = travel_time(state, tail, head)
    if state.kind == MEASURED:
        took, _, _ = link(_head(state, tail), travel, _tail(state, head))
        return length if took <= state.max_duration and took < np.inf and length <= state.max_distance else np.inf
    left = state.earliest[0] if tail == 0 else state.ready[tail]
    return length if left + travel <= (state.latest[0] if head == 0 else state.late[head]) else np.inf


# --- The books of a route, kept by `edits`. --------------------------------------------------------------------------


@compiled
def note_removal(state, customer, slot, gain):
    """Enter in the books that a customer has left a route, which became so much shorter."""
    if state.load[slot] > state.limit:
        state.cost += overload(state, state.load[slot] - state.demand[customer]) - overload(state, state.load[slot])
    state.load[slot] -= state.demand[customer]
    state.length[slot] -= gain
    state.size[slot] -= 1
    state.dirty[slot] = 1
    if state.kind == MEASURED:
        state.cost -= state.distance_cost * gain
        _note_duration(state, slot)
    else:
        state.cost -= gain
    if state.size[slot] == 0:
        state.load[slot] = 0.0
        state.length[slot] = 0.0
        state.n_routes -= 1
        state.cost -= state.vehicle_cost


@compiled
def _note_duration(state, slot):
    """Enter in the books what the duration of a route has become."""
    before = state.duration[slot]
    _renew(state, slot)
    state.cost += state.duration_cost * (state.duration[slot] - before)


@compiled
def note_insertion(state, customer, slot, added):
    """Enter in the books that a customer has joined a route, which became so much longer."""
    if state.kind == PLAIN:
        state.cost += _overloading(state, customer, slot)
    state.load[slot] += state.demand[customer]
    state.length[slot] += added
    state.dirty[slot] = 1
    if state.kind == MEASURED:
        state.cost += state.distance_cost * added
        _note_duration(state, slot)
    else:
        state.cost += added
    if state.size[slot] == 0:
        state.n_routes += 1
        state.cost += state.vehicle_cost
    state.size[slot] += 1


@compiled
def recompute(state):
    """Make the books anew from the routes, which wipes out the rounding errors of many edits."""
    total = 0.0
    for index in range(state.n_active if state.kind != GENERAL else 0):
        slot = state.active[index]
        node = state.first[slot]
        load, length = 0.0, state.entry[slot]
        while node != 0:
            load += state.demand[node]
            length += state.arc[node]
            node = state.successor[node]
        state.load[slot] = load
        state.length[slot] = length
        if state.kind == MEASURED:
            renew(state, slot)
            total += state.distance_cost * length + state.duration_cost * state.duration[slot]
        else:
            total += length + overload(state, load)
    state.cost = total + state.vehicle_cost * state.n_routes
    if state.kind == GENERAL:
        state.cost = ask(state, RECOMPUTE, 0)
        if state.groups_missing > 0:
            state.cost += state.groups_missing * state.unserved_cost
    state.cost += state.lost
    for index in range(state.n_bank):
        state.cost += penalty(state, state.bank[index])
