"""Vehicles and depots of routes: which are in use, which type a route has, and when it gets another one.

Vehicle types that differ only in capacity and costs form a *class*: a route takes, with each insertion, the cheapest
free type of its class that carries its load; `reassign_vehicles` looks at other classes.
"""

import numpy as np

from neuralns.compiled.caching import compiled, inlined
from neuralns.compiled.random import randint, random
from neuralns.routes.cost import ask_cost, ask_renew, at_least, lay_out, price_of_route, renew_if_dirty
from neuralns.routes.journal import save_node, save_slot
from neuralns.routes.questions import ask
from neuralns.routes.rules import fleet, groups, load, stock
from neuralns.routes.rules.length import end_of, leg, rows_of, start_of, vehicle_of

_CLOSE_BOOKS, _close_books = ask("close_books")

CHEAPEST, AS_THEY_ARE, LARGEST_TYPE = range(3)
"""Values of ``State.sizing``, how a repair chooses among vehicles of one class: a new route gets the cheapest, and any
route a larger one when it needs it; routes keep theirs; or new routes get the largest that is free."""

PREFERRED_SHARE = 0.2
"""Share of the repairs that open routes with a vehicle type by chance: the cheapest one for its first customer need not
be the best for the route that comes of it."""


@compiled
def cheapest_type(state, slot):
    """Return the cheapest free type of a route's class that carries it, its own if there is none."""
    own = vehicle_of(state, slot)
    best, chosen = np.inf, own
    begin = state.class_begin[own]
    for index in range(begin, begin + state.class_size[own]):
        vehicle = state.by_class[index]
        if fleet.may_have(state, vehicle, own) and load.fits_route(state, slot, vehicle):
            cost = price_of_route(state, slot, vehicle)
            if cost < best:
                best, chosen = cost, vehicle
    return chosen


# --- The books. ------------------------------------------------------------------------------------------------------


@inlined
def count_route(state, slot, by):
    """Count a route with customers among those of its vehicles and depots (1), or no longer (−1).

    Returns what depots cost that it opens, or that are closed without it.
    """
    cost, vehicle = 0.0, vehicle_of(state, slot)
    if state.varied != 0:
        state.used[vehicle] += by
    if state.has_depots != 0:
        cost = _count_depots(state, slot, vehicle, by)
    return cost


@compiled
def _count_depots(state, slot, vehicle, by):
    cost = 0.0
    for depot in (state.start_depot[vehicle], state.end_depot[vehicle]):
        if depot >= 0:
            before = state.depot_use[depot]
            state.depot_use[depot] += by
            if before == 0 or state.depot_use[depot] == 0:
                cost += state.depot_cost[depot]
    depot = state.start_depot[vehicle]
    if depot >= 0:
        for part in range(state.goods):
            state.depot_load[depot, part] += by * state.start_load[np.int64(slot) * state.goods + part]
    return cost


@compiled
def open_books(state, slot):
    """Take a route out of the books before it changes."""
    if state.size[slot] > 0:
        state.cost -= count_route(state, slot, -1) + state.route_cost[slot]
        if state.retypes != 0:
            state.total_savings -= state.savings[slot]


@compiled
def close_books(state, slot, resized):
    """Enter a route in the books after it has changed, ``resized`` in the cheapest vehicle of its class."""
    state.dirty[slot] = 1
    if state.size[slot] == 0:
        load.clear(state, slot)
        state.length[slot] = state.duration[slot] = state.route_cost[slot] = 0.0
        state.savings[slot] = 0.0
        return
    if state.varied != 0:
        resized = resized and state.class_size[state.vehicle[slot]] > 1
    else:
        resized = False
    if state.measured != 0 or state.soft != 0 or (resized and state.mixed != 0):
        ask_renew(state, slot)
    if resized:
        chosen = cheapest_type(state, slot)
        if chosen != state.vehicle[slot]:
            # Of the same class, so that length, loads and times stay; whether it is feasible need not.
            state.vehicle[slot] = chosen
            if state.soft != 0:
                ask_renew(state, slot)
            else:
                state.dirty[slot] = 1
    state.cost += _enter(state, slot)


@inlined
def _enter(state, slot):
    """Enter a route in the books; return what it costs, with depots that it opens."""
    cost = price_of_route(state, slot, vehicle_of(state, slot))
    if state.soft != 0:
        cost += state.charges[slot]
    state.route_cost[slot] = cost
    if state.retypes != 0:
        state.savings[slot] = _savings(state, slot)
        state.total_savings += state.savings[slot]
    return cost + count_route(state, slot, 1)


@inlined
def costs_by_length(state):
    """Return whether the cost of a route follows its length alone, in the one type of vehicle."""
    if state.varied != 0 or state.measured != 0 or state.has_depots != 0 or state.shipments != 0:
        return False
    return state.soft == 0


@inlined
def note_length(state, slot, longer):
    """Enter in the books that a route has become longer, where the cost follows the length (see `costs_by_length`)."""
    state.dirty[slot] = 1
    state.cost += state.per_distance[0] * longer
    if state.size[slot] == 0:
        load.clear(state, slot)
        state.length[slot] = state.route_cost[slot] = 0.0
        state.cost -= state.fixed_cost[0]
    else:
        if state.route_cost[slot] == 0.0:
            # It was empty; one that is not costs the vehicle, if that costs anything.
            state.cost += state.fixed_cost[0]
        state.route_cost[slot] = state.fixed_cost[0] + state.per_distance[0] * state.length[slot]


@compiled
def _savings(state, slot):
    """Return the most that another vehicle can save on a route, whoever else comes on it.

    That is what the cheapest vehicle that carries its load saves, free or not: more customers only make routes longer,
    but for what detours save, and fit fewer vehicles.
    """
    own = vehicle_of(state, slot)
    first, least = state.first[slot], state.route_cost[slot]
    last = _last(state, slot)
    between = state.length[slot] - state.entry[slot] - state.arc[last]
    for vehicle in range(len(state.used)):
        if vehicle != own and (state.load_price < np.inf or load.may_fit_route(state, slot, vehicle)):
            cost = at_least(state, vehicle, first, last, between)
            if state.load_price < np.inf:
                cost += state.load_price * load.violation_at_ends(state, slot, vehicle)
            if state.measured != 0 and state.same_hours != 0:
                cost += state.per_duration[vehicle] * state.duration[slot]
            least = min(least, cost)
    return state.route_cost[slot] - least


@inlined
def _last(state, slot):
    """Return the last customer of a route."""
    last, node = np.uint32(0), state.first[slot]
    while node != 0:
        last, node = node, state.successor[node]
    return last


@compiled
def count_changed(state, by):
    """Enter what has changed since the checkpoint in the books (1), or take it out of them (−1)."""
    if state.varied != 0 or state.has_depots != 0:
        for index in range(state.n_saved_slots):
            slot = state.saved_slot[index]
            if state.size[slot] > 0:
                count_route(state, slot, by)
    if state.grouped != 0:
        for index in range(state.n_saved):
            node = state.saved[index]
            if state.route[node] >= 0:
                groups.count(state, node, by)


@compiled
def recompute(state):
    """Return the cost of all routes and depots from scratch, and make the books anew."""
    total = state.total_savings = 0.0
    for vehicle in range(len(state.used)):
        state.used[vehicle] = 0
    for depot in range(len(state.depot_use)):
        state.depot_use[depot] = 0
        for part in range(state.goods):
            state.depot_load[depot, part] = 0.0
    for index in range(state.n_active):
        slot = state.active[index]
        if state.size[slot] == 0:
            continue
        _sum_up(state, slot)
        if costs_by_length(state):
            state.route_cost[slot] = state.fixed_cost[0] + state.per_distance[0] * state.length[slot]
            state.dirty[slot] = 1
            total += state.per_distance[0] * state.length[slot]
            continue
        ask_renew(state, slot)
        total += _enter(state, slot)
    return total + state.fixed_cost[0] * state.n_routes if costs_by_length(state) else total


@compiled
def _sum_up(state, slot):
    """Work out length and loads of a route from its stops."""
    load.clear(state, slot)
    distance, node = state.entry[slot], state.first[slot]
    while node != 0:
        load.change(state, slot, node, 1.0)
        distance += state.arc[node]
        node = state.successor[node]
    state.length[slot] = distance


# --- Depots. ---------------------------------------------------------------------------------------------------------


@compiled
def opening_depots(state, vehicle, customer):
    """Return what it costs to open the depots of a vehicle type; infinite if they have not enough."""
    if not stock.has_left(state, vehicle, customer):
        return np.inf
    total, start, end = 0.0, state.start_depot[vehicle], state.end_depot[vehicle]
    if start >= 0 and state.depot_use[start] == 0:
        total += state.depot_cost[start]
    if end >= 0 and end != start and state.depot_use[end] == 0:
        total += state.depot_cost[end]
    return total


@compiled
def _moving_depots(state, slot, own, vehicle):
    """Return what it costs to open and saves to close depots if a route changes its vehicle; infinite if a depot has
    not enough.
    """
    change, start = 0.0, state.start_depot[vehicle]
    if start >= 0 and start != state.start_depot[own] and not stock.has_for_route(state, start, slot):
        return np.inf
    for depot in range(len(state.depot_use)):
        leaving = (1 if state.start_depot[own] == depot else 0) + (1 if state.end_depot[own] == depot else 0)
        coming = (1 if state.start_depot[vehicle] == depot else 0) + (1 if state.end_depot[vehicle] == depot else 0)
        if state.depot_use[depot] == leaving and leaving > 0 and coming == 0:
            change -= state.depot_cost[depot]
        elif state.depot_use[depot] == 0 and coming > 0:
            change += state.depot_cost[depot]
    return change


# --- Between destroy and repair, and behind it. ----------------------------------------------------------------------


@compiled
def choose_sizing(state):
    """Draw how a repair chooses vehicles: their sizes, and now and then the type of new routes."""
    state.sizing, state.preferred = CHEAPEST, -1
    if state.n_classes > 1 and random(state) < PREFERRED_SHARE:
        state.preferred = state.by_class[randint(state, len(state.by_class))]
    if state.n_classes < len(state.used):
        draw = random(state)
        if draw < 0.4:
            state.sizing = AS_THEY_ARE if draw < 0.3 else LARGEST_TYPE
        else:
            _resize(state)


@compiled
def _resize(state):
    """Give routes that have changed the cheapest free vehicle of their class."""
    for index in range(state.n_saved_slots):
        slot = state.saved_slot[index]
        if state.size[slot] > 0 and state.class_size[state.vehicle[slot]] > 1:
            if state.mixed != 0:
                renew_if_dirty(state, slot)
            if cheapest_type(state, slot) != state.vehicle[slot]:
                open_books(state, slot)
                _close_books(state.questions[_CLOSE_BOOKS], (state, slot, True))


@compiled
def reassign_vehicles(state):
    """Give routes that have changed a cheaper vehicle; return 1 if a depot gives out more than it has, else 0.

    Costs known from before an insertion do not tell of depots.
    """
    if state.varied != 0:
        if state.n_classes < len(state.used):
            _resize(state)
        if state.n_classes > 1:
            for index in range(state.n_saved_slots):
                slot = state.saved_slot[index]
                if state.size[slot] > 0:
                    _change_class(state, slot)
        if state.scarce != 0 and state.has_depots == 0:
            for index in range(state.n_saved_slots):
                if state.size[state.saved_slot[index]] > 0:
                    _exchange_vehicles(state, state.saved_slot[index])
    return 1 if state.has_depots != 0 and not stock.is_kept(state) else 0


@compiled
def _exchange_vehicles(state, slot):
    """Let a route exchange vehicles with another one, by chance, if that is cheaper and other vehicles are in use."""
    other = state.active[randint(state, state.n_active)]
    own, theirs = vehicle_of(state, slot), vehicle_of(state, other)
    if own == theirs or state.size[other] == 0 or fleet.is_free(state, theirs):
        return
    before = state.route_cost[slot] + state.route_cost[other]
    after = ask_cost(state, lay_out(state, slot), theirs)
    if after < before:
        after += ask_cost(state, lay_out(state, other), own)
    if after < before - 1e-9 * abs(before):
        give_vehicle(state, slot, theirs)
        give_vehicle(state, other, own)


@compiled
def _change_class(state, slot):
    """Give a route the cheapest free vehicle of another class, if that is cheaper."""
    own, count = vehicle_of(state, slot), lay_out(state, slot)
    last = state.sequence[count - 1]
    between = state.length[slot] - state.entry[slot] - state.arc[last]
    best, chosen = state.route_cost[slot] - 1e-9 * abs(state.route_cost[slot]), np.int64(-1)
    for index in range(len(state.by_class)):
        vehicle = state.by_class[index]
        if state.class_begin[vehicle] != state.class_begin[own] and fleet.is_free(state, vehicle):
            if (
                state.priced == 0
                and state.profile_rows[vehicle] == state.profile_rows[own]
                and state.has_depots == 0
                and at_least(state, vehicle, state.first[slot], last, between) >= best
            ):
                continue
            cost = ask_cost(state, count, vehicle)
            if cost < best and state.has_depots != 0:
                cost += _moving_depots(state, slot, own, vehicle)
            if cost < best:
                best, chosen = cost, np.int64(vehicle)
    if chosen >= 0:
        give_vehicle(state, slot, chosen)


@compiled
def give_vehicle(state, slot, vehicle):
    """Give a route another vehicle type."""
    save_slot(state, slot)
    open_books(state, slot)
    own = vehicle_of(state, slot)
    state.vehicle[slot] = vehicle
    rows, node, before = rows_of(state, vehicle), state.first[slot], start_of(state, vehicle, np.uint32(0))
    state.entry[slot] = leg(state, rows, before, node)
    distance = state.entry[slot]
    while node != 0:
        following = state.successor[node]
        if state.profile_rows[own] != rows or following == 0:
            save_node(state, node)
            state.arc[node] = leg(state, rows, node, end_of(state, vehicle, following))
        distance += state.arc[node]
        node = following
    state.length[slot] = distance
    _close_books(state.questions[_CLOSE_BOOKS], (state, slot, False))
