"""Moves of local search: what improve operators try, for every variant of the problem.

A move makes new routes of one or two old ones. It is *planned* first: the customers of the new routes are laid in a row
in ``plan``; then what they cost as routes of their slots is worked out, by all rules of the instance; and they are laid
into the slots if that is less. So a move costs time in proportion to the routes: operators try those that look like a
gain by the legs that they would change (`leg`, `arriving`, `leaving`).

=========================  ==========================================================================================
`try_tails`                two routes exchange what comes behind a stop of each
`try_turn`                 the way between two stops is turned round; of two routes, the beginnings are joined
`try_move`                 some stops in a row move to another place of their route or of another one
`try_swap`                 two customers exchange their places
`try_cross`                two customers of two routes change routes, and each goes to a given place there
=========================  ==========================================================================================

Each returns whether it was made. A stop 0 is the start of a route.
"""

import numpy as np

from neuralns.compiled.caching import compiled, inlined
from neuralns.routes.evaluate import GENERAL, MEASURED, PLAIN, TIMED, ask, distance, overload, renew, travel_time
from neuralns.routes.general import LAY, driving
from neuralns.routes.journal import chain, has_beside, save_slot
from neuralns.routes.measures import link, segment_of

NOISE = 1e-9
"""A gain below this share of the cost of the routes is the rounding of sums."""


@compiled
def touch(state):
    """Let improve operators begin with the customers who have other stops beside them than at the checkpoint."""
    count = 0
    for index in range(state.n_saved):
        node = state.saved[index]
        before, after = state.saved_predecessor[index], state.saved_successor[index]
        if state.saved_route[index] < 0 or not has_beside(state, node, before, after):
            state.touched[count] = node
            count += 1
    state.n_touched = count


# --- What legs cost. -------------------------------------------------------------------------------------------------


@inlined
def leg(state, slot, tail, head):
    """Return what driving from one stop to another costs on a route, 0 standing for its depots; waiting aside."""
    if state.kind <= TIMED and state.distances.shape[0] > 0:
        return state.distances[tail, head]
    return _leg(state, slot, tail, head)


@compiled
def _leg(state, slot, tail, head):
    if state.kind == GENERAL:
        return driving(state, slot, tail, head)
    if state.kind == MEASURED:
        return state.distance_cost * distance(state, tail, head) + state.duration_cost * travel_time(state, tail, head)
    return distance(state, tail, head)


@inlined
def arriving(state, customer):
    """Return what the leg to a customer on a route costs."""
    slot, before = state.route[customer], state.predecessor[customer]
    if state.kind > TIMED:
        return _leg(state, slot, before, customer)
    return state.entry[slot] if before == 0 else state.arc[before]


@inlined
def leaving(state, customer):
    """Return what the leg from a customer on a route costs."""
    if state.kind > TIMED:
        return _leg(state, state.route[customer], customer, state.successor[customer])
    return state.arc[customer]


# --- The moves. ------------------------------------------------------------------------------------------------------


@compiled
def try_tails(state, slot, stop, other_slot, other):
    """Exchange what comes behind a stop of a route with what comes behind a stop of another route."""
    after, other_after = _behind(state, slot, stop), _behind(state, other_slot, other)
    if state.kind != GENERAL:
        more = _tail_load(state, other_after) - _tail_load(state, after)
        if state.load[slot] + more > state.limit or state.load[other_slot] - more > state.limit:
            return False
    middle = _copy_rest(state, _copy_up_to(state, 0, slot, stop), other_after)
    end = _copy_rest(state, _copy_up_to(state, middle, other_slot, other), after)
    return _carry_out(state, slot, middle, other_slot, end)


@compiled
def try_turn(state, slot, stop, other_slot, other):
    """Drive from a stop to another one, and from the stop behind the first to that behind the other.

    On one route that turns round what lies between. Of two routes it makes one of both beginnings and one of both ends.
    """
    if slot == other_slot:
        if not _is_ahead(state, slot, stop, other):
            stop, other = other, stop
        middle = _copy_back(state, _copy_up_to(state, 0, slot, stop), other, stop)
        return _carry_out(state, slot, _copy_rest(state, middle, state.successor[other]), -1, 0)
    after, other_after = _behind(state, slot, stop), _behind(state, other_slot, other)
    if state.kind != GENERAL:
        load = state.load[slot] - _tail_load(state, after) + state.load[other_slot] - _tail_load(state, other_after)
        if load > state.limit or state.load[slot] + state.load[other_slot] - load > state.limit:
            return False
    middle = _copy_back(state, _copy_up_to(state, 0, slot, stop), other, 0)
    last = after
    while last != 0 and state.successor[last] != 0:
        last = state.successor[last]
    end = _copy_rest(state, _copy_back(state, middle, last, stop), other_after)
    return _carry_out(state, slot, middle, other_slot, end)


@compiled
def try_move(state, first, last, other_slot, place, backward):
    """Move the stops from one to another of a route behind a stop ``place``, which is none of them."""
    slot = state.route[first]
    if slot == other_slot:
        middle = _copy_changed(state, 0, slot, first, last, first, last, place, backward)
        return _carry_out(state, slot, middle, -1, 0)
    if not _has_room(state, other_slot, first, last):
        return False
    nobody = np.uint32(0)
    middle = _copy_changed(state, 0, slot, first, last, nobody, nobody, nobody, False)
    end = _copy_changed(state, middle, other_slot, nobody, nobody, first, last, place, backward)
    return _carry_out(state, slot, middle, other_slot, end)


@compiled
def try_swap(state, customer, other):
    """Exchange the places of two customers."""
    slot, other_slot = state.route[customer], state.route[other]
    if slot != other_slot:
        return try_cross(state, customer, state.predecessor[other], other, state.predecessor[customer])
    count, node = 0, state.first[slot]
    while node != 0:
        state.plan[count] = other if node == customer else customer if node == other else node
        count += 1
        node = state.successor[node]
    return _carry_out(state, slot, count, -1, 0)


@compiled
def may_cross(state, customer, other):
    """Return False if two customers cannot change their routes because of what they need; True promises nothing."""
    if state.kind == GENERAL:
        return True
    more = state.demand[other] - state.demand[customer]
    return (
        state.load[state.route[customer]] + more <= state.limit and state.load[state.route[other]] - more <= state.limit
    )


@compiled
def try_cross(state, customer, place, other, other_place):
    """Put a customer behind a stop ``place`` of another one's route, and that one behind a stop of the first one's.

    The places are none of the two: where one takes the other's, it is behind the stop before.
    """
    slot, other_slot = state.route[customer], state.route[other]
    if not may_cross(state, customer, other):
        return False
    middle = _copy_changed(state, 0, slot, customer, customer, other, other, other_place, False)
    end = _copy_changed(state, middle, other_slot, other, other, customer, customer, place, False)
    return _carry_out(state, slot, middle, other_slot, end)


@inlined
def _behind(state, slot, stop):
    return state.first[slot] if stop == 0 else state.successor[stop]


@compiled
def _tail_load(state, node):
    """Return what the customers of a route from one on need."""
    load = 0.0
    while node != 0:
        load += state.demand[node]
        node = state.successor[node]
    return load


@compiled
def _has_room(state, slot, first, last):
    """Return False if some stops in a row need more than a route has left; True promises nothing."""
    if state.kind == GENERAL:
        return True
    load = state.load[slot] + state.demand[last]
    while first != last:
        load += state.demand[first]
        first = state.successor[first]
    return load <= state.limit


@compiled
def _is_ahead(state, slot, stop, other):
    """Return whether a stop of a route comes before another one."""
    if stop == 0:
        return True
    node = other
    while node != 0:
        node = state.predecessor[node]
        if node == stop:
            return True
    return False


# --- Plans. ----------------------------------------------------------------------------------------------------------


@compiled
def _copy_up_to(state, count, slot, stop):
    """Add to a plan of so many the stops of a route up to one; return how many it has then."""
    if stop == 0:
        return count
    node = state.first[slot]
    while node != stop:
        state.plan[count] = node
        count += 1
        node = state.successor[node]
    state.plan[count] = node
    return count + 1


@compiled
def _copy_rest(state, count, node):
    """Add to a plan the stops of a route from one on."""
    while node != 0:
        state.plan[count] = node
        count += 1
        node = state.successor[node]
    return count


@compiled
def _copy_back(state, count, node, until):
    """Add to a plan the stops of a route from one on, backwards, up to one that is left out."""
    while node != until and node != 0:
        state.plan[count] = node
        count += 1
        node = state.predecessor[node]
    return count


@compiled
def _copy_changed(state, count, slot, out_first, out_last, in_first, in_last, place, backward):
    """Add to a plan a route without some stops in a row, and with others behind a stop ``place``."""
    before, node, waiting = np.uint32(0), state.first[slot], in_first != 0
    while True:
        if node != 0 and node == out_first:
            node = state.successor[out_last]
        if waiting and before == place:
            waiting = False
            here, last = (in_last, in_first) if backward else (in_first, in_last)
            while True:
                state.plan[count] = here
                count += 1
                if here == last:
                    break
                here = state.predecessor[here] if backward else state.successor[here]
        if node == 0:
            return count
        state.plan[count] = node
        count += 1
        before, node = node, state.successor[node]


@compiled
def _carry_out(state, slot, middle, other, end):
    """Make the first ``middle`` of a plan the route of a slot, and the rest that of another one, if that costs less.

    There is no other slot where that is below 0.
    """
    if state.kind == GENERAL:
        return ask(state, LAY, other, slot, middle, end, NOISE) > 0.0
    before, after = _cost_of(state, slot), _planned_cost(state, 0, middle)
    if other >= 0 and after < np.inf:
        before += _cost_of(state, other)
        after += _planned_cost(state, middle, end)
    if not after < before - NOISE * abs(before):
        return False
    _lay(state, slot, 0, middle)
    if other >= 0:
        _lay(state, other, middle, end)
    return True


@compiled
def _cost_of(state, slot):
    """Return what the route of a slot costs."""
    cost = state.length[slot] + state.vehicle_cost + overload(state, state.load[slot])
    if state.kind == MEASURED:
        cost = state.distance_cost * state.length[slot] + state.duration_cost * state.duration[slot]
        cost += state.vehicle_cost
    return cost


@compiled
def _planned_cost(state, begin, end):
    """Return what part of a plan costs as a route; infinite if it is not allowed."""
    if begin == end:
        return 0.0
    load, length, before = 0.0, 0.0, np.uint32(0)
    for index in range(begin, end):
        node = state.plan[index]
        load += state.demand[node]
        length += distance(state, before, node)
        before = node
    length += distance(state, before, 0)
    if load > state.limit:
        return np.inf
    if state.kind == PLAIN:
        return length + state.vehicle_cost
    if state.kind == TIMED:
        return length + state.vehicle_cost if _plan_is_on_time(state, begin, end) else np.inf
    segment, before = segment_of(state, 0), np.uint32(0)
    for index in range(begin, end):
        node = state.plan[index]
        segment = link(segment, travel_time(state, before, node), segment_of(state, node))
        before = node
    took, _, _ = link(segment, travel_time(state, before, 0), segment_of(state, 0))
    if took == np.inf or took > state.max_duration or length > state.max_distance:
        return np.inf
    return state.distance_cost * length + state.duration_cost * took + state.vehicle_cost


@compiled
def _plan_is_on_time(state, begin, end):
    now, before = state.earliest[0], np.uint32(0)
    for index in range(begin, end):
        node = state.plan[index]
        now = max(state.earliest[node], now + travel_time(state, before, node))
        if now > state.latest[node]:
            return False
        now += state.service[node]
        before = node
    return now + travel_time(state, before, 0) <= state.latest[0]


@compiled
def _lay(state, slot, begin, end):
    """Make part of a plan the route of a slot."""
    slot = np.uint32(slot)
    save_slot(state, slot)
    if state.size[slot] > 0:
        state.n_routes -= 1
        state.cost -= _cost_of(state, slot)
    state.size[slot] = end - begin
    state.first[slot] = state.plan[begin] if end > begin else np.uint32(0)
    state.entry[slot] = distance(state, 0, state.first[slot])
    load, length, before, arc = 0.0, state.entry[slot], np.uint32(0), state.entry[slot]
    for index in range(begin, end):
        node = state.plan[index]
        following = state.plan[index + 1] if index + 1 < end else np.uint32(0)
        leaves = distance(state, node, following)
        chain(state, slot, before, node, following, leaves)
        state.arriving[node] = arc
        load += state.demand[node]
        length += leaves
        before, arc = node, leaves
    state.load[slot] = load
    state.length[slot] = length if end > begin else 0.0
    state.dirty[slot] = 1
    if state.kind == MEASURED:
        renew(state, slot)
    if end > begin:
        state.n_routes += 1
        state.cost += _cost_of(state, slot)
