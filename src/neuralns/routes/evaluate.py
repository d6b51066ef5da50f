"""What operators ask about routes: what an edit costs, and where it is feasible.

Operators, features and edits ask here and carry the answers without looking inside: a *position* on a route and a
*vehicle* (type) are opaque to them. What depends on the rules of the instance is answered by functions compiled for
them (see `questions`).

=========================  ==========================================================================================
`best_insertion`           the cheapest position of a customer on a route
`best_on_routes`           the cheapest position of a customer on the routes in ``State.columns``
`best_of_each`             the cheapest position on each of them, noted in the table of a repair
`best_near`                the cheapest position beside those that go well with a customer, on any route
`insertion`                the cost of a customer at a position
`beside`                   the cheaper of the two positions beside a customer on a route
`renew_best`               the cheapest position after somebody else was inserted into the route
`random_position`          any position on a route
`best_opening`             the cost of a route of its own, and the vehicle for it
`opens_eagerly`            whether a repair opens a route for its first customer, by chance
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
`cost_without`             what a route costs without one of its customers, violations included
`join`                     the length of a new route made of the beginning of one and the end of another
`carries_too_much`         whether a route breaks the limit on loads, which no operator may
`is_on_time`               whether a route is feasible, which a removal may have changed
`keeps_hard_rules`         whether a route keeps all rules that have no price
`start_of_service`         when a customer is served
`off_opening`              how far from the opening of a customer's window the vehicle comes
=========================  ==========================================================================================
"""

import numpy as np

from neuralns.compiled.caching import compiled, inlined
from neuralns.compiled.random import random
from neuralns.routes.cost import ask_cost, lay_out
from neuralns.routes.questions import ask
from neuralns.routes.rules import duration, fleet, groups, length, load, stops
from neuralns.routes.rules.length import rows_of, start_of, vehicle_of

PLAIN = 0
"""Value of ``State.profile`` (of rules, see `answers`) where nothing but load and length counts."""

_BEST_ON_ROUTE, _best_on_route = ask("best_on_route")
_BEST_ON_ROUTES, _best_on_routes = ask("best_on_routes")
_BEST_OF_EACH, _best_of_each = ask("best_of_each")
_BEST_STILL, _best_still = ask("best_still")
_BEST_NEAR, _best_near = ask("best_near")
_COST_AT, _cost_at = ask("cost_at")
_RANDOM_POSITION, _random_position = ask("random_position")
_OPENING, _opening = ask("opening")
_MEASURE_ALONE, _measure_alone = ask("measure_alone")
_MAY_FIT, _may_fit = ask("may_fit")
_REMOVAL, _removal = ask("removal")
_JOIN, _join = ask("join")
_TAKE_OFF, _take_off = ask("take_off")
_PUT_ON, _put_on = ask("put_on")
_LOAD_ROUTE, _load_route = ask("load_route")
_CARRY_OUT, _carry_out = ask("carry_out")
_PREPARE, _prepare = ask("prepare")
_REASSIGN_VEHICLES, _reassign_vehicles = ask("reassign_vehicles")
_COUNT_CHANGED, _count_changed = ask("count_changed")
_RECOMPUTE, _recompute = ask("recompute")
_RENEW, _renew = ask("renew")


@compiled
def distance(state, tail, head):
    """Return the rounded distance from node ``tail`` to node ``head``."""
    if state.distances.shape[0] > 0:
        return state.distances[tail, head]
    return length.computed_distance(state, tail, head)


@compiled
def travel_time(state, tail, head):
    """Return the rounded duration of travelling from node ``tail`` to node ``head``."""
    if state.durations.shape[0] > 0:
        return state.durations[tail, head]
    return distance(state, tail, head)


# --- Questions that the rules of the instance answer. ----------------------------------------------------------------


@inlined
def best_insertion(state, customer, slot, bound=np.inf, blink=0.0):
    """Return the least cost of inserting a customer into a route, and the position.

    c_pi + c_is − c_ps for customer i between p and s. Infinite if no position costs less than ``bound``. A position
    that is better than the best one so far is overlooked with probability ``blink``.
    """
    if load.lacks_room(state, slot, customer):
        return np.inf, np.int64(0)
    cost = _best_on_route(state.questions[_BEST_ON_ROUTE], (state, customer, slot, bound, blink))
    return cost, state.found_position


@inlined
def best_on_routes(state, customer, bound, blink):
    """Return the least cost of a customer on the routes in ``columns``, its route (−1 for none) and position."""
    cost = _best_on_routes(state.questions[_BEST_ON_ROUTES], (state, customer, bound, blink))
    return cost, state.found_slot, state.found_position


@inlined
def best_of_each(state, customer, cell):
    """Note what a customer costs at least on each of the routes in ``columns``, from a cell of the table on."""
    _best_of_each(state.questions[_BEST_OF_EACH], (state, customer, cell))


@inlined
def best_near(state, customer, count, bound, blink):
    """Return the least cost of a customer beside those ``count`` that go best with it, its route and position.

    Infinite if no such position is feasible and costs less than ``bound``; `blink` as in `best_insertion`.
    """
    cost = _best_near(state.questions[_BEST_NEAR], (state, customer, count, bound, blink))
    return cost, state.found_slot, state.found_position


@inlined
def insertion(state, customer, slot, position):
    """Return the cost of inserting a customer into a route at a position."""
    return _cost_at(state.questions[_COST_AT], (state, customer, slot, position))


@inlined
def random_position(state, customer, slot):
    """Return a position on a route where a customer may be, uniformly; −1 if there is none."""
    return _random_position(state.questions[_RANDOM_POSITION], (state, customer, slot))


@inlined
def best_opening(state, customer):
    """Return the least cost of a route for one customer, there and back and the vehicle, and the type of vehicle."""
    if state.varied == 0 and state.has_depots == 0 and state.grouped == 0:
        # What is asked most often needs no call.
        return (state.alone[0, customer] if fleet.may_open(state, 0) else np.inf), np.int64(0)
    cost = _opening(state.questions[_OPENING], (state, customer))
    return cost, state.found_vehicle


@inlined
def measure_alone(state):
    """Work out what routes of one customer cost, once for an instance."""
    _measure_alone(state.questions[_MEASURE_ALONE], (state,))


@inlined
def may_fit(state, customer, slot):
    """Return False if a customer fits nowhere on a route; True promises nothing."""
    return _may_fit(state.questions[_MAY_FIT], (state, customer, slot))


@inlined
def removal(state, customer):
    """Return what removing a customer i between p and s saves: g_i = c_pi + c_is − c_ps."""
    return _removal(state.questions[_REMOVAL], (state, customer))


@inlined
def join(state, tail, head):
    """Return the length of the route that follows one up to ``tail`` and goes on with another from ``head``.

    0 stands for the depot: nothing before, or nothing after. Infinite if such a route breaks a hard rule.
    """
    return _join(state.questions[_JOIN], (state, tail, head))


@inlined
def take_off(state, customer):
    """Take a request off its route and put it on the removal list."""
    _take_off(state.questions[_TAKE_OFF], (state, customer))


@inlined
def put_on(state, customer, slot, position):
    """Put a request on a route, at a position, and take it off the removal list."""
    _put_on(state.questions[_PUT_ON], (state, customer, slot, position))


@inlined
def load_route(state, slot, begin, end):
    """Make customers ``begin`` .. ``end`` of ``plan`` the route of an empty slot whose vehicle is set."""
    _load_route(state.questions[_LOAD_ROUTE], (state, slot, begin, end))


@inlined
def carry_out(state, slot, middle, other, end):
    """Make a plan the routes of one slot or two if that costs less; return whether it did (see `moves`)."""
    return _carry_out(state.questions[_CARRY_OUT], (state, slot, middle, other, end)) != 0


@inlined
def prepare(state):
    """Make destroyed routes ready for a repair."""
    if state.varied != 0 or state.backhauls != 0:
        _prepare(state.questions[_PREPARE], (state,))


@inlined
def reassign_vehicles(state):
    """Give routes that have changed the cheapest vehicles; return whether a depot gives out more than it has."""
    if state.varied == 0 and state.has_depots == 0:
        return False
    return _reassign_vehicles(state.questions[_REASSIGN_VEHICLES], (state,)) != 0


@inlined
def count_changed(state, by):
    """Enter what has changed since the checkpoint in the books (1), or take it out of them (−1)."""
    if state.varied != 0 or state.has_depots != 0 or state.grouped != 0:
        _count_changed(state.questions[_COUNT_CHANGED], (state, by))


@inlined
def renew(state, slot):
    """Work out what is kept of a route again if it has changed."""
    if state.dirty[slot] != 0:
        _renew(state.questions[_RENEW], (state, slot))


@compiled
def recompute(state):
    """Make the books anew from the routes, which wipes out the rounding errors of many edits."""
    state.cost = _recompute(state.questions[_RECOMPUTE], (state,))
    if state.groups_missing > 0:
        state.cost += state.groups_missing * state.unserved_cost
    state.cost += state.lost
    for index in range(state.n_bank):
        state.cost += penalty(state, state.bank[index])


# --- Filters and violations. -----------------------------------------------------------------------------------------


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
    return load.may_take(state, slot, vehicle_of(state, slot), least)


@compiled
def carries_too_much(state, slot):
    """Return whether the customers of a route need more than a vehicle carries; where that has a price, none do."""
    return load.is_too_much(state, slot, vehicle_of(state, slot))


@compiled
def cost_without(state, slot, customer):
    """Return what a route costs without one of its customers, violations included."""
    count = lay_out(state, slot, customer)
    return ask_cost(state, count, vehicle_of(state, slot)) if count > 0 else 0.0


@compiled
def total_violations(state):
    """Return by how much all routes together break each rule that may have a price: load, time, duration, distance,
    stops.
    """
    overload = lateness = longer = farther = more = 0.0
    for index in range(state.n_active):
        slot = state.active[index]
        if state.size[slot] > 0:
            renew(state, slot)
            vehicle = vehicle_of(state, slot)
            overload += state.excess[slot]
            lateness += state.lateness[slot]
            if state.measured != 0:
                longer += duration.violation(state, state.duration[slot], vehicle)
            farther += length.violation(state, state.length[slot], vehicle)
            more += stops.violation(state, state.size[slot], vehicle)
    return overload, lateness, longer, farther, more


@compiled
def total_charges(state):
    """Return what the violations of all routes cost, as far as they have prices."""
    total = 0.0
    for index in range(state.n_active):
        slot = state.active[index]
        if state.size[slot] > 0:
            renew(state, slot)
            total += state.charges[slot]
    return total


@compiled
def keeps_hard_rules(state, slot):
    """Return whether a route breaks no rule that has no price, while others have one."""
    renew(state, slot)
    if state.legal[slot] != 0:
        return True
    vehicle = vehicle_of(state, slot)
    if (state.load_price == np.inf and state.excess[slot] > 0.0) or (
        state.late_price == np.inf and state.lateness[slot] > 0.0
    ):
        return False
    took = state.duration[slot] if state.measured != 0 and state.duration_price == np.inf else 0.0
    if took > 0.0 and duration.violation(state, took, vehicle) > 0.0:
        return False
    if state.distance_price == np.inf and length.violation(state, state.length[slot], vehicle) > 0.0:
        return False
    return state.stops_price < np.inf or stops.violation(state, state.size[slot], vehicle) == 0.0


@compiled
def all_feasible(state):
    """Return whether all routes keep all rules."""
    for index in range(state.n_active):
        if not is_on_time(state, state.active[index]):
            return False
    return True


@compiled
def is_on_time(state, slot):
    """Return whether a route keeps all rules."""
    if state.size[slot] == 0:
        return True
    renew(state, slot)
    return state.legal[slot] == 1


@compiled
def penalty(state, customer):
    """Return what a customer on no route costs; infinite if it must be on one."""
    return state.prize[customer] * state.absence[customer]


@compiled
def worth(state, customer):
    """Return the most that serving a customer may cost: its penalty, and that of its group if that has nobody."""
    if state.serve_all != 0 or customer == state.forced:
        return np.inf
    found = penalty(state, customer)
    return found + state.unserved_cost if groups.is_owed(state, customer) else found


@compiled
def is_wanted(state, customer):
    """Return False if somebody else of a customer's group is served already."""
    return not groups.is_served(state, customer)


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
    return state.partner[customer] if state.shipments != 0 else np.uint32(0)


@compiled
def request_of(state, customer):
    """Return the customer that stands for a request: of a shipment the pickup."""
    if state.shipments != 0 and state.is_delivery[customer] != 0:
        return np.int64(state.partner[customer])
    return np.int64(customer)


@compiled
def ends_of_requests(state):
    """Return how many stops a request has at most: 2 where there are shipments."""
    return 2 if state.shipments != 0 else 1


@compiled
def from_depot(state, customer):
    """Return the distance of a customer from the depot, from the nearest one if there are several."""
    return state.from_depots[customer]


@compiled
def has_windows(state):
    """Return whether customers have windows or durations count, so that it matters when a customer is served."""
    return state.timed != 0


@compiled
def start_of_service(state, customer):
    """Return when the service of a customer on a route begins, as early as can be.

    Without windows a vehicle leaves at 0, and travel takes as long as it is far.
    """
    if state.timed != 0:
        renew(state, np.uint32(state.route[customer]))
        return state.earliest_departure[customer] - state.service[customer]
    before, begin = state.predecessor[customer], 0.0
    while before != 0:
        begin += state.service[before] + state.arc[before]
        before = state.predecessor[before]
    return begin + state.entry[state.route[customer]]


@compiled
def off_opening(state, customer):
    """Return how long before or after the opening of its window a customer on a route is reached; 0 without windows."""
    if state.timed == 0:
        return 0.0
    slot, before = np.uint32(state.route[customer]), state.predecessor[customer]
    renew(state, slot)
    vehicle = vehicle_of(state, slot)
    left = (
        state.earliest_departure[before] if before != 0 else max(state.shift_opens[vehicle], state.route_release[slot])
    )
    travel = length.time(state, rows_of(state, vehicle), start_of(state, vehicle, before), customer)
    return abs(left + travel - state.earliest[customer])


@compiled
def least_to_come(state):
    """Return the least that the routes can cost once all removed customers are inserted, wherever they go.

    Where the triangle inequality holds, insertions never lower the cost; rounded distances break it by so little that
    it can be said how much. Other vehicles may save some more.
    """
    slack = state.slack
    if state.late_price < np.inf and state.detour > 0.0:
        slack += state.late_price * state.detour
    if state.duration_price < np.inf and state.detour > 0.0:
        slack += state.duration_price * state.detour
    if state.distance_price < np.inf and state.shortcut > 0.0:
        slack += state.distance_price * state.shortcut
    return state.cost - slack * state.n_removed - state.total_savings


@compiled
def hopeless(state):
    """Return whether the routes cost so much that no insertion of those still removed can lead to acceptance.

    Routes below the cost up to which a selector wants to know theirs (``finish_below``) are never hopeless.
    """
    status = state.status
    limit = max(status.threshold, status.finish_below)
    if state.soft != 0:
        # It may be the best feasible solution although it costs more than the current one, which breaks rules.
        limit = max(limit, status.best)
    return least_to_come(state) > limit


@compiled
def beside(state, customer, other):
    """Return the lesser cost of the two positions beside another customer on its route, and the position."""
    slot, before = state.route[other], state.predecessor[other]
    if not may_fit(state, customer, slot):
        return np.inf, np.int64(0)
    behind, ahead = insertion(state, customer, slot, other), insertion(state, customer, slot, before)
    return (behind, np.int64(other)) if behind <= ahead else (ahead, np.int64(before))


@inlined
def renew_best(state, customer, slot, inserted, known, position):
    """Return the least cost and the position of a customer on a route, known before another one was inserted there."""
    cost = _best_still(state.questions[_BEST_STILL], (state, customer, slot, inserted, known, position))
    return cost, state.found_position


EAGER_SHARE = 0.05
"""Share of the repairs that open a route for their first customer."""


@inlined
def opens_eagerly(state):
    """Return whether a repair opens a route for its first customer whatever that costs: drawn, where customers are
    optional or vehicles differ.

    A customer alone hardly ever pays for a route that several would pay for.
    """
    return (state.optional != 0 or state.varied != 0) and random(state) < EAGER_SHARE


@compiled
def may_run_out(state, more=0):
    """Return whether opening so many more routes may change what the next one costs: vehicles are limited."""
    if state.varied != 0 or state.has_depots != 0:
        return True
    return not fleet.may_open(state, more)
