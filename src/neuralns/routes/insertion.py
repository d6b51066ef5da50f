"""What a request costs on a route: at a position, or at the cheapest one.

A *position* is the customer to insert after, 0 for the start; for a shipment it is that of the pickup plus
(customers + 1) times that of the delivery. Each candidate is first judged by what it adds to the distance, then by the
rules of the instance: `may_fit` and `at_any_position` ask those that do not depend on the position, `beyond_distance`
the others, for one more stop between two others. `shipment_insertion` asks them for both stops of a shipment. Where
they have no answer in O(1), for rides that are limited and goods that are released later, the whole sequence is judged.
"""

import numpy as np

from neuralns.compiled.caching import compiled, inlined
from neuralns.compiled.random import random
from neuralns.routes.cost import (
    ask_cost,
    charge,
    own_cost,
    price_of_route,
    renew_if_dirty,
    saved_at_most,
)
from neuralns.routes.questions import ask
from neuralns.routes.rules import backhauls, duration, fleet, groups, length, load, skills, stock, stops, time
from neuralns.routes.rules.length import end_of, leg, leg_to, rows_of, start_of, time_to, vehicle_of
from neuralns.routes.vehicles import CHEAPEST

_BEST_ON_ROUTE, _best_on_route = ask("best_on_route")
_BEST_OF_SHIPMENT, _best_of_shipment = ask("best_of_shipment")

FEW_RULES = 1
"""Profiles up to this one (see `answers`) have so few rules that looking at a route takes about as long as a call."""

# --- Whether a route can take a request at all. ----------------------------------------------------------------------


@compiled
def may_fit(state, customer, slot):
    """Return False if a request fits nowhere on a route; True promises nothing."""
    vehicle = vehicle_of(state, slot)
    if not load.has_room(state, slot, customer, vehicle) or not skills.may_serve(state, vehicle, customer):
        return False
    if not stops.has_room(state, slot, vehicle, 1) or groups.is_served(state, customer):
        return False
    other = state.partner[customer] if state.shipments != 0 else np.uint32(0)
    if other != 0 and not (skills.may_serve(state, vehicle, other) and stops.has_room(state, slot, vehicle, 2)):
        return False
    return state.has_depots == 0 or stock.has_left(state, vehicle, customer)


@inlined
def upgraded(state, customer, slot, vehicle):
    """Return the vehicle type that a route would have with one more customer, and what the change of type alone costs.

    The cheapest free one of its class that carries what is to be delivered; −1 if there is none. Where loads differ
    along a route it is its own then: positions tell whether it carries the rest. So it is where load has a price.
    """
    if state.varied == 0 or state.class_size[vehicle] == 1:
        # Room was looked for already.
        return vehicle, 0.0
    if load.fits_ends(state, slot, customer, state.carries, vehicle):
        return vehicle, 0.0
    if state.sizing != CHEAPEST:
        return (vehicle if state.mixed != 0 or state.load_price < np.inf else np.int64(-1)), 0.0
    return _larger_type(state, customer, slot, vehicle)


@compiled
def _larger_type(state, customer, slot, own):
    best, chosen = np.inf, np.int64(-1)
    begin = state.class_begin[own]
    for index in range(begin, begin + state.class_size[own]):
        vehicle = state.by_class[index]
        if vehicle == own or not fleet.is_free(state, vehicle):
            continue
        if load.fits_ends(state, slot, customer, state.carries, vehicle):
            cost = price_of_route(state, slot, vehicle)
            if cost < best:
                best, chosen = cost, vehicle
    if chosen >= 0:
        return chosen, best - price_of_route(state, slot, own)
    return (own if state.mixed != 0 or state.load_price < np.inf else np.int64(-1)), 0.0


@inlined
def at_any_position(state, customer, slot, vehicle):
    """Return what one more customer costs on a route wherever it stands: load at both ends, stops."""
    cost = 0.0
    if state.load_price < np.inf and state.mixed == 0:
        own = vehicle_of(state, slot)
        more = load.violation_with(state, slot, customer, vehicle)
        if more > 0.0 or vehicle != own:
            cost += state.load_price * (more - load.violation_at_ends(state, slot, own))
    if state.limited != 0:
        more = stops.violation(state, state.size[slot] + 1, vehicle)
        if more > 0.0:
            cost += charge(state.stops_price, more)
            if cost < np.inf:
                cost -= charge(state.stops_price, stops.violation(state, state.size[slot], vehicle))
    return cost


# --- One more stop between two others. -------------------------------------------------------------------------------


@inlined
def beyond_distance(state, customer, slot, vehicle, rows, before, here, longer, arrival, travel, head, hard):
    """Return what a customer between two stops costs beyond the distance that it adds; infinite if a hard rule is
    broken.

    The route gets ``longer`` by so much, the vehicle comes at its ``arrival`` and travels so long to the next stop;
    ``head`` is the stretch of the route before (see `rules.duration`). ``hard`` says whether nobody may be late.
    """
    cost = 0.0
    if state.limited != 0:
        over = length.violation(state, state.length[slot] + longer, vehicle)
        if over > 0.0 and state.distance_price == np.inf:
            return np.inf
        if state.distance_price < np.inf:
            # A detour may make a route shorter that is too long.
            cost += state.distance_price * (over - length.violation(state, state.length[slot], vehicle))
    if state.timed != 0:
        if hard:
            if not time.fits_between(state, vehicle, customer, arrival, travel, here):
                return np.inf
        else:
            lateness = time.violation_between(state, slot, vehicle, customer, arrival, travel, before, here)
            cost += state.late_price * (lateness - state.lateness[slot])
    if state.backhauls != 0 and not backhauls.fits_between(state, customer, before, here):
        return np.inf
    if state.mixed != 0:
        over = load.violation_between(state, slot, customer, vehicle, before)
        if over > 0.0 and state.load_price == np.inf:
            return np.inf
        if over > 0.0 or (state.load_price < np.inf and state.excess[slot] > 0.0):
            cost += state.load_price * (over - state.excess[slot])
    if state.measured != 0:
        cost += _by_duration(state, customer, slot, vehicle, rows, before, here, longer, head)
    return cost


@compiled
def _by_duration(state, customer, slot, vehicle, rows, before, here, longer, head):
    """Return what a customer between two stops costs by the duration of the route, and by costs of one's own."""
    found = duration.join(
        head,
        length.time(state, rows, start_of(state, vehicle, before), customer),
        duration.stretch_of(state, customer),
    )
    travel = length.time(state, rows, customer, end_of(state, vehicle, here))
    took, _, _, lateness = duration.join(found, travel, duration.tail(state, vehicle, here))
    if lateness > 0.0 and state.late_price == np.inf:
        return np.inf
    cost = state.per_duration[vehicle] * (took - state.duration[slot])
    over = duration.violation(state, took, vehicle)
    if over > 0.0 and state.duration_price == np.inf:
        return np.inf
    if state.duration_price < np.inf:
        cost += state.duration_price * (over - duration.violation(state, state.duration[slot], vehicle))
    if state.owned != 0:
        most, size = load.peak_with(state, slot, customer, before), state.size[slot]
        cost += own_cost(state, state.length[slot] + longer, took, most, size + 1.0, vehicle)
        now = state.peak[np.int64(slot) * state.goods]
        cost -= own_cost(state, state.length[slot], state.duration[slot], now, size, vehicle)
    return cost


# --- The cheapest position on a route. -------------------------------------------------------------------------------


ONE_TABLE, TABLES, COMPUTED = range(3)
"""How `_scan` looks up legs: distances and travel times are one table, the same both ways; they are in tables; or they
may have to be computed."""


@inlined
def _scan(state, customer, slot, vehicle, extra, bound, blink, lookup):
    """Return the least cost of a customer on a route, infinite if it is not below a bound; position in ``found_*``.

    ``extra`` is what it costs wherever it stands; ``lookup`` is a constant. No position is looked at once the vehicle
    would come too late from all that follow: too late by more than detours can save.
    """
    row, rows, rate = np.uint32(customer), rows_of(state, vehicle), state.per_distance[vehicle]
    line = rows + row
    distances, distances_to, durations, durations_to = (
        state.distances, state.distances_to, state.durations, state.durations_to,
    )  # fmt: skip
    arc, successor, departures = state.arc, state.successor, state.earliest_departure
    saved, hard = saved_at_most(state, vehicle), state.late_price == np.inf
    # Adding nothing would take a third of the time where length is all that counts.
    has_more = state.limited != 0 or state.timed != 0 or state.backhauls != 0 or state.mixed != 0 or state.measured != 0
    best, position = bound - extra, np.int64(-1)
    before, cut, here = np.uint32(0), state.entry[slot], state.first[slot]
    tail_node = start_of(state, vehicle, before)
    to_leg = leg_to(state, rows, tail_node, row) if lookup == COMPUTED else distances_to[line, tail_node]
    arrival, travel, left, last, later = 0.0, 0.0, 0.0, np.inf, False
    head = duration.departing(state, vehicle, -np.inf)
    if state.timed != 0:
        release = -np.inf
        if state.releases != 0:
            release = max(state.route_release[slot], state.release[row])
            later = release > max(state.route_release[slot], state.shift_opens[vehicle])
        left = time.leaves(state, vehicle, release)
        if later and hard and time.departs_late(state, vehicle, left) > 0.0:
            return np.inf
        if hard:
            last = time.last_arrival(state, row, state.size[slot])
        head = duration.departing(state, vehicle, release)
    while True:
        head_node = end_of(state, vehicle, here)
        if state.timed != 0:
            if lookup == ONE_TABLE:
                arrival = left + to_leg
            elif lookup == TABLES:
                arrival = left + durations_to[line, tail_node]
            else:
                arrival = left + time_to(state, rows, tail_node, row)
            if arrival > last:
                break
        from_leg = leg(state, rows, row, head_node) if lookup == COMPUTED else distances[line, head_node]
        longer = to_leg + from_leg - cut
        cost = rate * longer
        if cost - saved < best:
            if state.timed != 0:
                if lookup == ONE_TABLE:
                    travel = from_leg
                elif lookup == TABLES:
                    travel = durations[line, head_node]
                else:
                    travel = length.time(state, rows, row, head_node)
                if state.measured != 0 and not later:
                    head = duration.head(state, slot, vehicle, before)
            if later and not hard:
                cost = cost_by_sequence(state, row, slot, np.int64(before)) - extra
            elif has_more:
                cost += beyond_distance(
                    state, row, slot, vehicle, rows, before, here, longer, arrival, travel, head, hard
                )
            if (
                cost < best
                and (state.rides == 0 or cost_by_sequence(state, row, slot, np.int64(before)) < np.inf)
                and (blink == 0.0 or random(state) >= blink)
            ):
                best, position = cost, np.int64(before)
        if here == 0:
            break
        if later:
            # Goods that come later make the vehicle leave later.
            travel = length.time(state, rows, tail_node, here)
            begin = time.start_of_service(state, here, left + travel)
            if hard and begin > time.last_before(state, here):
                break
            left = begin + state.service[here]
            if state.measured != 0:
                head = duration.join(head, travel, duration.stretch_of(state, here))
        elif state.timed != 0:
            left = departures[here]
        if lookup == ONE_TABLE:
            to_leg = from_leg
        elif lookup == TABLES:
            to_leg = distances_to[line, here]
        else:
            to_leg = leg_to(state, rows, here, row)
        before, tail_node, cut, here = here, here, arc[here], successor[here]
    if position < 0:
        return np.inf
    state.found_position = position
    return best + extra


@inlined
def _on_route(state, customer, slot, bound, blink):
    """Return the least cost of a request on a route as `best_on_route` does."""
    slot, customer = np.uint32(slot), np.uint32(customer)
    state.found_position = 0
    if not may_fit(state, customer, slot):
        return np.inf
    if state.timed != 0 or state.mixed != 0:
        renew_if_dirty(state, slot)
    if state.shipments != 0 and state.partner[customer] != 0:
        return _best_of_shipment(state.questions[_BEST_OF_SHIPMENT], (state, customer, slot, bound, blink))
    vehicle, extra = upgraded(state, customer, slot, vehicle_of(state, slot))
    if vehicle < 0:
        return np.inf
    extra += at_any_position(state, customer, slot, vehicle)
    if state.lookup == ONE_TABLE:
        return _scan(state, customer, slot, vehicle, extra, bound, blink, ONE_TABLE)
    if state.lookup == TABLES:
        return _scan(state, customer, slot, vehicle, extra, bound, blink, TABLES)
    return _scan(state, customer, slot, vehicle, extra, bound, blink, COMPUTED)


@compiled
def best_on_route(state, customer, slot, bound, blink):
    """Return the least cost of a request on a route, infinite if it is not below a bound; position in ``found_*``.

    A position that is better than the best one so far is overlooked with probability ``blink``.
    """
    return _on_route(state, customer, slot, bound, blink)


@inlined
def _on_any_route(state, customer, slot, bound, blink):
    """Return the same: built in where the rules are few, so that calls do not cost more than what they look for."""
    if state.profile <= FEW_RULES:
        return _on_route(state, customer, slot, bound, blink)
    return _best_on_route(state.questions[_BEST_ON_ROUTE], (state, customer, slot, bound, blink))


@compiled
def best_on_routes(state, customer, bound, blink):
    """Return the least cost of a request on the routes in ``columns``; route and position in ``found_*``."""
    best, slot, position = bound, np.int64(-1), np.int64(0)
    for column in range(state.n_columns):
        if load.lacks_room(state, state.columns[column], customer):
            continue
        cost = _on_any_route(state, customer, state.columns[column], best, blink)
        if cost < best:
            best, slot, position = cost, np.int64(state.columns[column]), state.found_position
    state.found_slot, state.found_position = slot, position
    return best if slot >= 0 else np.inf


@compiled
def best_of_each(state, customer, cell):
    """Note what a request costs at least on each of the routes in ``columns``, and where, in a row of the table."""
    for column in range(state.n_columns):
        cost = np.inf
        state.found_position = 0
        if not load.lacks_room(state, state.columns[column], customer):
            cost = _on_any_route(state, customer, state.columns[column], np.inf, 0.0)
        state.table_delta[cell + column], state.table_position[cell + column] = cost, state.found_position


@compiled
def best_still(state, customer, slot, inserted, known, position):
    """Return the least cost of a request on a route, known before another one was inserted there; position in
    ``found_position``.

    Where the length is all that counts, two positions are new, those beside the inserted customer, and one is gone.
    """
    node, before = np.uint32(customer), state.predecessor[inserted]
    state.found_position = 0
    if not may_fit(state, node, np.uint32(slot)):
        return np.inf
    # Elsewhere all positions may be dearer now; so they are if the route was just opened or the best one was taken.
    if (
        state.varied != 0 or state.timed != 0 or state.shipments != 0 or state.mixed != 0 or state.limited != 0
        or state.backhauls != 0 or state.owned != 0 or state.size[slot] == 1 or position == before
        or state.simple_load == 0 or not load.has_room_for(state, slot, 0, state.demand[node])
    ):  # fmt: skip
        return _on_any_route(state, customer, slot, np.inf, 0.0)
    first = cost_behind(state, node, np.uint32(slot), np.int64(0), 0.0, np.uint32(before), np.inf)
    second = cost_behind(state, node, np.uint32(slot), np.int64(0), 0.0, np.uint32(inserted), np.inf)
    if first < known and first <= second:
        state.found_position = before
        return first
    if second < known:
        state.found_position = inserted
        return second
    state.found_position = position
    return known


# --- A given position. -----------------------------------------------------------------------------------------------


@inlined
def cost_behind(state, row, slot, vehicle, extra, before, bound):
    """Return the cost of a customer behind a stop of a route, infinite if it is not below a bound."""
    rows = rows_of(state, vehicle)
    here = state.first[slot] if before == 0 else state.successor[before]
    cut = state.entry[slot] if before == 0 else state.arc[before]
    tail_node, head_node = start_of(state, vehicle, before), end_of(state, vehicle, here)
    longer = leg(state, rows, tail_node, row) + leg(state, rows, row, head_node) - cut
    cost = state.per_distance[vehicle] * longer + extra
    if cost - saved_at_most(state, vehicle) >= bound:
        return np.inf
    arrival, travel, hard = 0.0, 0.0, state.late_price == np.inf
    head = duration.departing(state, vehicle, -np.inf)
    if state.timed != 0:
        if state.releases != 0 and state.release[row] > max(state.route_release[slot], state.shift_opens[vehicle]):
            return cost_by_sequence(state, row, slot, np.int64(before))
        arrival = time.earliest_at(state, slot, vehicle, before) + length.time(state, rows, tail_node, row)
        travel = length.time(state, rows, row, head_node)
        if state.measured != 0:
            head = duration.head(state, slot, vehicle, before)
    cost += beyond_distance(state, row, slot, vehicle, rows, before, here, longer, arrival, travel, head, hard)
    if state.rides != 0 and cost < bound and cost_by_sequence(state, row, slot, np.int64(before)) == np.inf:
        return np.inf
    return cost


@compiled
def cost_at(state, customer, slot, position):
    """Return the cost of a request at a position of a route, in the cheapest free vehicle of its class."""
    slot, node = np.uint32(slot), np.uint32(customer)
    if not may_fit(state, node, slot):
        return np.inf
    vehicle = vehicle_of(state, slot)
    if (state.varied != 0 and state.class_size[vehicle] > 1) or (state.shipments != 0 and state.partner[node] != 0):
        return cost_by_sequence(state, node, slot, position)
    if state.timed != 0 or state.mixed != 0:
        renew_if_dirty(state, slot)
    extra = at_any_position(state, node, slot, vehicle)
    return cost_behind(state, node, slot, vehicle, extra, np.uint32(position), np.inf)


@compiled
def cost_by_sequence(state, node, slot, position):
    """Return the same by the whole sequence."""
    count = _sequence_with(state, node, slot, position)
    own = vehicle_of(state, slot)
    if state.varied == 0 or state.sizing != CHEAPEST:
        return ask_cost(state, count, own) - state.route_cost[slot]
    best = np.inf
    begin = state.class_begin[own]
    for index in range(begin, begin + state.class_size[own]):
        vehicle = state.by_class[index]
        if fleet.may_have(state, vehicle, own):
            best = min(best, ask_cost(state, count, vehicle))
    return best - state.route_cost[slot]


@inlined
def _sequence_with(state, node, slot, position):
    """Lay a route with one more request in ``sequence``; return how many stops that has."""
    size = state.customers + 1
    first, second = np.uint32(position % size), np.uint32(position // size)
    count, before, following = 0, np.uint32(0), state.first[slot]
    other = state.partner[node] if state.shipments != 0 else np.uint32(0)
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
            return count
        state.sequence[count] = following
        count += 1
        before, following = following, state.successor[following]
