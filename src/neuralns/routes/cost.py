"""What routes cost: the vehicle, distance and duration, costs of one's own, and prices of violations."""

import numpy as np
from numba import types

from neuralns.compiled.caching import compiled, inlined
from neuralns.compiled.calls import caller
from neuralns.routes.questions import ask
from neuralns.routes.rules import backhauls, duration, length, load, shipments, skills, stops, time
from neuralns.routes.rules.length import length_of_sequence

own_signature = types.float64(types.float64, types.float64, types.float64, types.float64, types.int64)
_call_own = caller(own_signature)


@compiled
def own_cost(state, distance, took, most, size, vehicle):
    """Return the costs of one's own of a route with such totals."""
    total = 0.0
    for index in range(len(state.own_costs)):
        total += _call_own(state.own_costs[index], (distance, took, most, size, np.int64(vehicle)))
    return total


@inlined
def price(state, vehicle, distance, took, most, size):
    """Return what a route of a vehicle type costs: fixed + distance + duration + costs of one's own."""
    total = state.fixed_cost[vehicle] + state.per_distance[vehicle] * distance
    if state.measured != 0:
        total += state.per_duration[vehicle] * took
        if state.owned != 0:
            total += own_cost(state, distance, took, most, size, vehicle)
    return total


@inlined
def price_of_route(state, slot, vehicle):
    """Return what a route costs in a vehicle type, by what is kept of it; violations aside."""
    most = 0.0
    if state.owned != 0:
        most = state.peak[np.int64(slot) * state.goods]
    return price(state, vehicle, state.length[slot], state.duration[slot], most, state.size[slot])


@inlined
def charge(state_price, violation):
    """Return what a violation costs; infinite for any where the rule is hard."""
    return state_price * violation if violation > 0.0 else 0.0


@inlined
def saved_at_most(state, vehicle):
    """Return by how much a customer can lower what a route costs beyond its distance.

    Nobody who comes on a route makes it shorter in time, but for what detours save.
    """
    if state.limited != 0 and state.distance_price < np.inf and state.shortcut > 0.0:
        return _by_detours(state, vehicle) + state.distance_price * state.shortcut
    return _by_detours(state, vehicle)


@inlined
def _by_detours(state, vehicle):
    if state.measured == 0 and (state.timed == 0 or state.late_price == np.inf):
        return 0.0
    if state.owned != 0:
        return np.inf
    if state.detour == 0.0:
        return 0.0
    rate = state.per_duration[vehicle]
    if state.late_price < np.inf:
        rate += state.late_price
    if state.duration_price < np.inf:
        rate += state.duration_price
    return rate * state.detour if rate > 0.0 else 0.0


@inlined
def at_least(state, vehicle, first, last, between):
    """Return what a route of a vehicle type costs by its length alone, from one customer to another so long."""
    rows, none = length.rows_of(state, vehicle), np.uint32(0)
    ends = length.leg(state, rows, length.start_of(state, vehicle, none), first)
    ends += length.leg(state, rows, last, length.end_of(state, vehicle, none))
    return state.fixed_cost[vehicle] + state.per_distance[vehicle] * (ends + between)


# Called by their addresses: built into all that uses them, they would take long to compile.
_RENEW, _renew = ask("renew")
_COST_OF_SEQUENCE, _cost_of_sequence = ask("cost_of_sequence")


@inlined
def ask_renew(state, slot):
    """Work out what is kept of a route."""
    _renew(state.questions[_RENEW], (state, slot))


@inlined
def ask_cost(state, count, vehicle):
    """Return what ``sequence`` costs as a route of a vehicle type."""
    return _cost_of_sequence(state.questions[_COST_OF_SEQUENCE], (state, count, vehicle))


@inlined
def lay_out(state, slot, without=0):
    """Lay the stops of a route in ``sequence``, one left out if it is given; return how many there are."""
    count, node = 0, state.first[slot]
    while node != 0:
        if node != without:
            state.sequence[count] = node
            count += 1
        node = state.successor[node]
    return count


@compiled
def cost_of_sequence(state, count, vehicle):
    """Return what ``sequence`` costs as a route of a vehicle type, violations at their prices; infinite if a hard rule
    is broken.
    """
    if not skills.keeps_sequence(state, count, vehicle) or not backhauls.keeps_sequence(state, count):
        return np.inf
    if state.rides != 0 and not shipments.keeps_rides(state, count, vehicle):
        return np.inf
    charges = charge(state.stops_price, stops.violation(state, count, vehicle))
    distance = length_of_sequence(state, count, vehicle)
    charges += charge(state.distance_price, length.violation(state, distance, vehicle))
    too_much, most = load.of_sequence(state, count, vehicle)
    charges += charge(state.load_price, too_much)
    if charges == np.inf:
        return np.inf
    took = 0.0
    if state.timed != 0:
        release = time.release_of_sequence(state, count)
        lateness = time.violation_of_sequence(state, count, vehicle, release)
        if lateness > 0.0:
            charges += state.late_price * lateness
            if charges == np.inf:
                return np.inf
        if state.measured != 0:
            took = duration.of_sequence(state, count, vehicle, release)
            charges += charge(state.duration_price, duration.violation(state, took, vehicle))
    return price(state, vehicle, distance, took, most, count) + charges


@compiled
def cost_of_whole_sequence(state, count, vehicle):
    """Return the cost of ``sequence`` as `cost_of_sequence` does; infinite also if a shipment is cut in two."""
    if not shipments.keeps_sequence(state, count):
        return np.inf
    return ask_cost(state, count, vehicle)


@compiled
def renew(state, slot):
    """Work out all that is kept of a route that has changed: loads, times, duration, violations and whether it is
    feasible.
    """
    state.dirty[slot] = 0
    vehicle = length.vehicle_of(state, slot)
    load.begin(state, slot)
    lateness = over = 0.0
    if state.releases != 0:
        state.route_release[slot] = time.release_of(state, slot)
    if (state.mixed != 0 or state.timed != 0) and state.size[slot] > 0:
        if state.late_price < np.inf:
            lateness, over = _renew_stops(state, slot, vehicle, True)
        else:
            lateness, over = _renew_stops(state, slot, vehicle, False)
    feasible = skills.keeps_route(state, slot, vehicle) and backhauls.keeps_route(state, slot)
    if state.rides != 0:
        feasible = feasible and shipments.keeps_rides_of_route(state, slot, vehicle)
    charges, excess = 0.0, load.finish(state, slot, vehicle)
    if excess > 0.0:
        feasible, charges = False, charges + _part_of_cost(state.load_price, excess)
    if state.limited != 0:
        far = length.violation(state, state.length[slot], vehicle)
        if far > 0.0:
            feasible, charges = False, charges + _part_of_cost(state.distance_price, far)
        many = stops.violation(state, state.size[slot], vehicle)
        if many > 0.0:
            feasible, charges = False, charges + _part_of_cost(state.stops_price, many)
    if lateness > 0.0:
        feasible, charges = False, charges + _part_of_cost(state.late_price, lateness)
    if over > 0.0:
        feasible, charges = False, charges + _part_of_cost(state.duration_price, over)
    if state.soft != 0:
        state.excess[slot], state.lateness[slot], state.charges[slot] = excess, lateness, charges
    state.legal[slot] = 1 if feasible else 0


@inlined
def _renew_stops(state, slot, vehicle, soft):
    """Work out what is kept at the stops of a route, once forth and once back; return its lateness, and by how much it
    takes too long. ``soft`` says, as a constant, whether lateness has a price.
    """
    rows, none = length.rows_of(state, vehicle), np.uint32(0)
    release = state.route_release[slot]
    begin, travel = time.leaves(state, vehicle, release), 0.0
    departure, lateness = begin, time.departs_late(state, vehicle, begin)
    stretch = duration.departing(state, vehicle, release)
    last, node, before = none, state.first[slot], length.start_of(state, vehicle, none)
    while node != 0:
        if state.timed != 0:
            travel = length.time(state, rows, before, node)
            departure, lateness = time.extend_head(state, node, departure + travel, lateness, soft)
            if state.measured != 0:
                stretch = duration.extend_head(state, node, travel, stretch)
        if state.mixed != 0:
            load.extend_head(state, slot, last, node)
        last, before, node = node, node, state.successor[node]
    over = duration.finish(state, slot, vehicle, rows, last, stretch) if state.measured != 0 else 0.0
    end = length.end_of(state, vehicle, none)
    if soft and state.timed != 0:
        lateness += time.returns_late(state, vehicle, departure + length.time(state, rows, last, end))
    latest, behind, stretch = time.latest_at(state, vehicle, none), 0.0, duration.returning(state, vehicle)
    node, next_node, after = last, end, none
    while node != 0:
        if state.timed != 0:
            travel = length.time(state, rows, node, next_node)
            latest, behind = time.extend_tail(state, node, latest - travel - state.service[node], behind, soft)
            if state.measured != 0:
                stretch = duration.extend_tail(state, node, travel, stretch)
        if state.mixed != 0:
            load.extend_tail(state, node, after)
        next_node, after, node = node, node, state.predecessor[node]
    if state.timed != 0 and not soft:
        lateness = time.violation_by_ends(state, slot, vehicle, rows, begin)
    return lateness, over


@inlined
def _part_of_cost(state_price, violation):
    """Return what a violation adds to the cost of a route: nothing where the rule is hard, which rules it out."""
    return state_price * violation if state_price < np.inf else 0.0


@inlined
def renew_if_dirty(state, slot):
    """Work out what is kept of a route again if it has changed."""
    if state.dirty[slot] != 0:
        ask_renew(state, slot)
