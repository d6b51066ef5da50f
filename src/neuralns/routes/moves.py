"""Moves of local search: what improve operators try, for every variant of the problem.

A move makes new routes of one or two old ones. It is *planned* first: the customers of the new routes are laid in a row
in ``plan``; then what they cost as routes of their slots is worked out, by all rules of the instance; and they are laid
into the slots if that is less. So a move costs time in proportion to the routes: operators try those that look like a
gain by the legs that they would change (`leg`, `arriving`, `leaving`).

=========================  ==========================================================================================
`try_tails`                two routes exchange what comes behind a stop of each
`try_turn`                 the way between two stops is turned round; of two routes, the beginnings are joined
`try_move`                 some stops in a row move to another position of their route or of another one
`try_swap`                 two customers exchange their positions
`try_cross`                two customers of two routes change routes, and each goes to a given position there
=========================  ==========================================================================================

Each returns whether it was made. A stop 0 is the start of a route. `is_overloaded` and `relief` tell what moves could
save where routes carry too much for a while.
"""

import numpy as np

from neuralns.compiled.caching import compiled, inlined
from neuralns.routes.evaluate import PLAIN, carry_out, renew
from neuralns.routes.journal import has_beside
from neuralns.routes.rules import length, load
from neuralns.routes.rules.length import end_of, rows_of, start_of, vehicle_of


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
    if state.by_distance != 0:
        return state.distances[tail, head]
    return _leg(state, slot, tail, head)


@compiled
def _leg(state, slot, tail, head):
    vehicle = vehicle_of(state, slot)
    rows, tail, head = rows_of(state, vehicle), start_of(state, vehicle, tail), end_of(state, vehicle, head)
    cost = state.per_distance[vehicle] * length.leg(state, rows, tail, head)
    if state.measured != 0:
        cost += state.per_duration[vehicle] * length.time(state, rows, tail, head)
    return cost


@inlined
def arriving(state, customer):
    """Return what the leg to a customer on a route costs."""
    slot, before = state.route[customer], state.predecessor[customer]
    if state.by_distance != 0:
        return state.entry[slot] if before == 0 else state.arc[before]
    return _leg(state, slot, before, customer)


@inlined
def leaving(state, customer):
    """Return what the leg from a customer on a route costs."""
    if state.by_distance != 0:
        return state.arc[customer]
    return _leg(state, state.route[customer], customer, state.successor[customer])


# --- The moves. ------------------------------------------------------------------------------------------------------


@compiled
def try_tails(state, slot, stop, other_slot, other):
    """Exchange what comes behind a stop of a route with what comes behind a stop of another route."""
    after, other_after = _behind(state, slot, stop), _behind(state, other_slot, other)
    if state.simple_load != 0:
        more = _tail_load(state, other_after) - _tail_load(state, after)
        if not _may_carry(state, slot, more) or not _may_carry(state, other_slot, -more):
            return False
    middle = _copy_rest(state, _copy_up_to(state, 0, slot, stop), other_after)
    end = _copy_rest(state, _copy_up_to(state, middle, other_slot, other), after)
    return carry_out(state, slot, middle, other_slot, end)


@compiled
def try_turn(state, slot, stop, other_slot, other):
    """Drive from a stop to another one, and from the stop behind the first to that behind the other.

    On one route that turns round what lies between. Of two routes it makes one of both beginnings and one of both ends.
    """
    if slot == other_slot:
        if not _is_ahead(state, slot, stop, other):
            stop, other = other, stop
        middle = _copy_back(state, _copy_up_to(state, 0, slot, stop), other, stop)
        return carry_out(state, slot, _copy_rest(state, middle, state.successor[other]), -1, 0)
    after, other_after = _behind(state, slot, stop), _behind(state, other_slot, other)
    if state.simple_load != 0:
        more = state.load[other_slot] - _tail_load(state, other_after) - _tail_load(state, after)
        if not _may_carry(state, slot, more) or not _may_carry(state, other_slot, -more):
            return False
    middle = _copy_back(state, _copy_up_to(state, 0, slot, stop), other, 0)
    last = after
    while last != 0 and state.successor[last] != 0:
        last = state.successor[last]
    end = _copy_rest(state, _copy_back(state, middle, last, stop), other_after)
    return carry_out(state, slot, middle, other_slot, end)


@compiled
def try_move(state, first, last, other_slot, position, backward):
    """Move the stops from one to another of a route behind a stop ``position``, which is none of them."""
    slot = state.route[first]
    if slot == other_slot:
        middle = _copy_changed(state, 0, slot, first, last, first, last, position, backward)
        return carry_out(state, slot, middle, -1, 0)
    if not _has_room(state, other_slot, first, last):
        return False
    nobody = np.uint32(0)
    middle = _copy_changed(state, 0, slot, first, last, nobody, nobody, nobody, False)
    end = _copy_changed(state, middle, other_slot, nobody, nobody, first, last, position, backward)
    return carry_out(state, slot, middle, other_slot, end)


@compiled
def try_swap(state, customer, other):
    """Exchange the positions of two customers."""
    slot, other_slot = state.route[customer], state.route[other]
    if slot != other_slot:
        return try_cross(state, customer, state.predecessor[other], other, state.predecessor[customer])
    count, node = 0, state.first[slot]
    while node != 0:
        state.plan[count] = other if node == customer else customer if node == other else node
        count += 1
        node = state.successor[node]
    return carry_out(state, slot, count, -1, 0)


@compiled
def may_cross(state, customer, other):
    """Return False if two customers cannot change their routes because of what they need; True promises nothing."""
    if state.simple_load == 0:
        return True
    more = state.demand[other] - state.demand[customer]
    return _may_carry(state, state.route[customer], more) and _may_carry(state, state.route[other], -more)


@compiled
def try_cross(state, customer, position, other, other_position):
    """Put a customer behind a stop ``position`` of another one's route, and that one behind a stop of the first one's.

    The positions are none of the two: where one takes the other's, it is behind the stop before.
    """
    slot, other_slot = state.route[customer], state.route[other]
    if not may_cross(state, customer, other):
        return False
    middle = _copy_changed(state, 0, slot, customer, customer, other, other, other_position, False)
    end = _copy_changed(state, middle, other_slot, other, other, customer, customer, position, False)
    return carry_out(state, slot, middle, other_slot, end)


@inlined
def _behind(state, slot, stop):
    return state.first[slot] if stop == 0 else state.successor[stop]


@compiled
def _tail_load(state, node):
    """Return what the customers of a route from one on need."""
    total = 0.0
    while node != 0:
        total += state.demand[node]
        node = state.successor[node]
    return total


@compiled
def _has_room(state, slot, first, last):
    """Return False if some stops in a row need more than a route has left; True promises nothing."""
    if state.simple_load == 0:
        return True
    more = state.demand[last]
    while first != last:
        more += state.demand[first]
        first = state.successor[first]
    return _may_carry(state, slot, more)


@inlined
def _may_carry(state, slot, more):
    """Return False if a route cannot carry so much more; True promises nothing.

    Where nothing but load and length counts, moves do not break the capacity: the rest of a search does that.
    """
    if state.size[slot] == 0 or (state.load_price < np.inf and state.profile != PLAIN):
        return True
    return load.has_room_for(state, slot, vehicle_of(state, slot), more)


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


@compiled
def is_overloaded(state, slot):
    """Return whether a route carries too much, at a price."""
    if state.load_price == np.inf:
        return False
    renew(state, slot)
    return state.excess[slot] > 0.0


@compiled
def relief(state, slot, leaving, other_slot, coming):
    """Return by how much the overloads of two routes cost less once a customer of each has changed to the other.

    0 stands for none; so it is where loads are hard. By loads at both ends: where deliveries and pickups are on board
    together it is an estimate.
    """
    if state.load_price == np.inf:
        return 0.0
    one, two = vehicle_of(state, slot), vehicle_of(state, other_slot)
    before = load.violation_at_ends(state, slot, one) + load.violation_at_ends(state, other_slot, two)
    after = load.violation_exchanged(state, slot, one, leaving, coming)
    after += load.violation_exchanged(state, other_slot, two, coming, leaving)
    return state.load_price * (before - after)


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
def _copy_changed(state, count, slot, out_first, out_last, in_first, in_last, position, backward):
    """Add to a plan a route without some stops in a row, and with others behind a stop ``position``."""
    before, node, waiting = np.uint32(0), state.first[slot], in_first != 0
    while True:
        if node != 0 and node == out_first:
            node = state.successor[out_last]
        if waiting and before == position:
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
