"""What a selector sees of a solution: numbers for each node and for the whole, written by compiled code.

Row i of the node features is node i, the depot being node 0: the same numbering as edges use. Notation: n customers,
quota d, distances c, F the cost and F0 that of the start, u the mean distance between the depot and a customer, Q the
capacity; p and s are the predecessor and successor of customer i on its route, the depot included.

Feature set ``paper`` (what section 4.1 of the paper names):

=================  =======================================================
``x``, ``y``       coordinates divided by the largest of the instance
``demand``         q_i divided by the largest demand
``depot``          c_0i divided by the largest distance to the depot
``routed``         1 on a route (and for the depot), 0 on the removal list
``tours``          number of tours / 5, the same for all nodes
=================  =======================================================

with ``phase`` (0 destroy, 1 repair) and ``budget`` (share of the budget left) for the whole.

Feature set ``rich``:

=================  =======================================================
``x``, ``y``       coordinates relative to the depot, divided by u
``demand``         q_i / Q
``depot``          c_0i / u
``routed``         as above
``before``         c_pi / u, 0 if removed (so are all below)
``after``          c_is / u
``gain``           (c_pi + c_is − c_ps) / u
``load``           load of the route / Q
``length``         length of the route / (8 u)
``size``           m / (m + d) for the m customers of the route
``position``       k / (m + 1) for the k-th customer of the route
``history``        ½ (w_pi + w_is) / F0, where w is the least cost seen with the arc, at most F0
=================  =======================================================

and for the whole, where "smallest" and "second" are routes by their number of customers, "shortest" and "longest" by
length, squash(m) = m / (m + d), move_i = (cost of the cheapest position for i on another route − its gain) / u, at most
4, over the positions beside those of the 8 nearest customers of i that are on another route with room, and figures of
routes are 0 if there is none:

====================  ======================================================================
``phase``             0 destroy, 1 repair
``budget``            share of the budget left
``cost``              F / F0
``routes``            K / √n for K routes with customers
``quota``             d / n
``removed``           customers on the removal list / d
``vehicles``          share of the vehicles' cost in F
``one`` … ``three``   1 if K = 1, 2, 3
``smallest``          squash(size of the smallest route)
``second``            squash(size of the second smallest route), 1 if there is none
``largest``           size of the largest route / n
``one_fits``          1 if a route has at most d customers
``two_fit``           1 if two routes together have at most d customers
``shortest_size``     squash(size of the shortest route)
``shortest``          length of the shortest route / (8 u)
``mean_length``       mean length / (8 u)
``longest``           length of the longest route / (8 u)
``spread_length``     standard deviation of the lengths / (8 u)
``smallest_length``   length of the smallest route / (8 u)
``least_load``        least load / Q
``mean_load``         mean load / Q
``most_load``         greatest load / Q
``spread_load``       standard deviation of the loads / Q
``fitting``           share of the routes that have at most d customers
``arc``               mean arc length / u
``waiting``           demand on the removal list / Q
``waiting_depot``     mean distance of the removed customers to the depot / u
``waiting_box``       half the perimeter of the box around the removed customers / (4 u)
``saved``             (F at the last complete solution − F) / F0
``emptied``           routes emptied since the last complete solution / 5
``shortest_moves``    share of the customers of the shortest route with a negative move
``shortest_move``     mean move of the customers of the shortest route
``smallest_moves``    share of the customers of the smallest route with a negative move
``smallest_move``     mean move of the customers of the smallest route (with fewer than two routes all 0, 4, 0, 4)
``gained``            by how much the last pair lowered F / F0, 0 if its result was rejected
``stalled``           k / (k + 2) for the k pairs since F last fell
====================  ======================================================================

Customers on no route count in F by their penalty, and are 0 below ``routed`` like removed ones.

Feature set ``relative``, which means the same at every size where d grows with n: that of ``rich`` without ``x``,
``y``, ``demand`` and ``depot``, which never change while one instance is learned on, and with routes as the measure of
routes. In ``before``, ``after``, ``gain``, ``arc`` (then always 1) and the mean moves, the mean length of an arc stands
for u; lengths of routes are divided by twice their mean instead of 8 u; ``routes`` is K / (K + 4).

Feature set ``routes``: that of ``rich``, and for the whole what follows of each of the six routes with the fewest
customers (among equals the shortest first), all 0 where there are fewer. Here move_i and where i would go, its *goal*,
are found over the positions beside those of the 10 nearest customers of i that are on another route with room. *First*
are the customers that a removal of the route begins with, d of them at most: stay_i is the cost of the cheapest
position for i on what is then left of its route, and leave_i = (cost of the cheapest of those positions − stay_i) / u,
from −4 to 4. Lengths alone count in stay_i; leave_i is −4 if nothing is left of the route, 4 if there is no such
position. The goal of a removed customer is on any route.

=================  =======================================================
``there``          1
``size``           squash(m) for its m customers
``length``         its length / (8 u)
``shortest``       1 if it is the shortest of all
``moves``          customers with a negative move / d
``move``           mean move of its customers
``least_move``     the least of them
``most_move``      the greatest of them
``leaves``         first customers with a negative leave / d
``leave``          mean leave of the first customers
``drawn``          customers of the six with a negative move whose goal it is / d
``goal``           customers of the six whose goal it is / n
``waiting``        removed customers whose goal it is / d
=================  =======================================================

Feature set ``windows``: that of ``rich``, then what follows, all from 0 to 1. T is the length of the shift, times are
since its begin; vehicles leave as early as they can. A window counts as far as it lies in the shift.

=================  =======================================================
``opens``          begin of the window / T
``closes``         end of the window / T
``service``        duration of the service / T
``start``          start of the service / T, 0 if on no route (so are all below)
``idle``           waiting before the service / T
``slack``          how much later the service may start / T, with nobody on the route late
=================  =======================================================

====================  ======================================================================
``widths``            mean of closes − opens over all customers
``unserved``          squash(customers on no route and not removed)
``idleness``          mean waiting of a route / T
``slackness``         mean slack of the customers on routes
``tightness``         mean over the routes of 1 − the least slack of a customer
``back``              mean return of a route / T
``last_back``         latest return of a route / T
``waiting_width``     mean of closes − opens over the removed customers
``waiting_centre``    mean of ½ (opens + closes) over the removed customers
``waiting_span``      latest of closes − earliest of opens over the removed customers
====================  ======================================================================
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from neuralns.compiled.caching import compiled
from neuralns.errors import InputError
from neuralns.problem.instance import Instance
from neuralns.routes.evaluate import beside, distance, removal, renew, travel_time
from neuralns.routes.history import seen_cost

_STATIC = ("x", "y", "demand", "depot")


@dataclass(frozen=True)
class FeatureSet:
    """A named and versioned set of features.

    Attributes
    ----------
    index
        What compiled code calls it.
    nodes, globals
        Names of the numbers for each node and for the whole, in order.
    static
        How many of the node features, the first ones, never change.
    """

    name: str
    version: int
    index: int
    nodes: tuple[str, ...]
    globals: tuple[str, ...]
    static: int = len(_STATIC)
    uses_history: bool = False


PAPER = FeatureSet("paper", 1, 0, (*_STATIC, "routed", "tours"), ("phase", "budget"))
RICH = FeatureSet(
    "rich", 1, 1,
    (*_STATIC, "routed", "before", "after", "gain", "load", "length", "size", "position", "history"),
    (
        "phase", "budget", "cost", "routes", "quota", "removed", "vehicles", "one", "two", "three", "smallest",
        "second", "largest", "one_fits", "two_fit", "shortest_size", "shortest", "mean_length", "longest",
        "spread_length", "smallest_length", "least_load", "mean_load", "most_load", "spread_load", "fitting", "arc",
        "waiting", "waiting_depot", "waiting_box", "saved", "emptied",
        "shortest_moves", "shortest_move", "smallest_moves", "smallest_move", "gained", "stalled",
    ),
    uses_history=True,
)  # fmt: skip
WINDOWS = FeatureSet(
    "windows", 1, 2,
    (*RICH.nodes, "opens", "closes", "service", "start", "idle", "slack"),
    (
        *RICH.globals, "widths", "unserved", "idleness", "slackness", "tightness", "back", "last_back",
        "waiting_width", "waiting_centre", "waiting_span",
    ),
    uses_history=True,
)  # fmt: skip
RELATIVE = FeatureSet("relative", 1, 3, RICH.nodes[len(_STATIC) :], RICH.globals, static=0, uses_history=True)
_ROUTES, _NEAR = 6, 10
_OF_A_ROUTE = (
    "there", "size", "length", "shortest", "moves", "move", "least_move", "most_move", "leaves", "leave", "drawn",
    "goal", "waiting",
)  # fmt: skip
ROUTES = FeatureSet(
    "routes", 1, 4, RICH.nodes,
    (*RICH.globals, *(f"{name}_{rank}" for rank in range(1, _ROUTES + 1) for name in _OF_A_ROUTE)),
    uses_history=True,
)  # fmt: skip
FEATURE_SETS = {entry.name: entry for entry in (PAPER, RICH, WINDOWS, RELATIVE, ROUTES)}


def features_named(name: str) -> FeatureSet:
    """Return the feature set of a name."""
    if name not in FEATURE_SETS:
        raise InputError(f"feature set {name!r} is not known; choose {', '.join(FEATURE_SETS)}.")
    return FEATURE_SETS[name]


def features_for(*instances: Instance) -> FeatureSet:
    """Return the richest feature set that says something about instances: ``windows`` if time plays a part in any."""
    return WINDOWS if any(instance.timed for instance in instances) else RICH


_PAPER, _WINDOWS, _RELATIVE, _BY_ROUTE = PAPER.index, WINDOWS.index, RELATIVE.index, ROUTES.index
_MOVES, _MOST_MOVE = 8, 4.0
_PAPER_WIDTH, _RICH_WIDTH, _WINDOWS_WIDTH = len(PAPER.nodes), len(RICH.nodes), len(WINDOWS.nodes)
_RELATIVE_WIDTH = len(RELATIVE.nodes)
# Indices of the features of the whole, and of those of a node that change with the routes.
(
    G_PHASE, G_BUDGET, G_COST, G_ROUTES, G_QUOTA, G_REMOVED, G_VEHICLES, G_ONE, G_TWO, G_THREE, G_SMALLEST, G_SECOND,
    G_LARGEST, G_ONE_FITS, G_TWO_FIT, G_SHORTEST_SIZE, G_SHORTEST, G_MEAN_LENGTH, G_LONGEST, G_SPREAD_LENGTH,
    G_SMALLEST_LENGTH, G_LEAST_LOAD, G_MEAN_LOAD, G_MOST_LOAD, G_SPREAD_LOAD, G_FITTING, G_ARC, G_WAITING,
    G_WAITING_DEPOT, G_WAITING_BOX, G_SAVED, G_EMPTIED, G_SHORTEST_MOVES, G_SHORTEST_MOVE, G_SMALLEST_MOVES,
    G_SMALLEST_MOVE, G_GAINED, G_STALLED,
) = range(len(RICH.globals))  # fmt: skip
(
    G_WIDTHS, G_UNSERVED, G_IDLENESS, G_SLACKNESS, G_TIGHTNESS, G_BACK, G_LAST_BACK, G_WAITING_WIDTH,
    G_WAITING_CENTRE, G_WAITING_SPAN,
) = range(len(RICH.globals), len(WINDOWS.globals))  # fmt: skip
G_ROUTE, _ROUTE_WIDTH = len(RICH.globals), len(_OF_A_ROUTE)
(
    R_THERE, R_SIZE, R_LENGTH, R_SHORTEST, R_MOVES, R_MOVE, R_LEAST_MOVE, R_MOST_MOVE, R_LEAVES, R_LEAVE, R_DRAWN,
    R_GOAL, R_WAITING,
) = range(_ROUTE_WIDTH)  # fmt: skip
_ROUTED, _BEFORE, _AFTER, _GAIN, _LOAD, _LENGTH, _SIZE, _POSITION, _HISTORY = range(4, 13)
_OPENS, _CLOSES, _SERVICE, _START, _IDLE, _SLACK = range(13, 19)


@compiled
def _share(state, time):
    """Return a length of time as a share of the shift, from 0 to 1."""
    return min(1.0, max(0.0, time / state.horizon))


@compiled
def _opens(state, node):
    return _share(state, state.earliest[node] - state.earliest[0])


@compiled
def _closes(state, node):
    return _share(state, state.latest[node] - state.earliest[0])


@compiled
def _times(state, before, node, left):
    """Return start, waiting and slack of a customer whose predecessor is left at some time, and when it is left."""
    arrival = left + travel_time(state, before, node)
    start = max(arrival, state.earliest[node])
    # Where nobody can be late, the state keeps no times.
    slack = 1.0 if state.timed == 0 else _share(state, state.latest_start[node] - start)
    since = _share(state, start - state.earliest[0])
    return since, _share(state, start - arrival), slack, start + state.service[node]


@compiled
def _lengths(state, feature_set):
    """Return what lengths of arcs and what those of routes are divided by."""
    if feature_set != _RELATIVE:
        return state.unit, 8.0 * state.unit
    total = 0.0
    for index in range(state.n_active):
        total += state.length[state.active[index]]
    if total <= 0.0:
        return state.unit, state.unit
    return total / _arcs(state), 2.0 * total / state.n_routes


@compiled
def _arcs(state):
    """Return the number of arcs of all routes, at least 1."""
    return max(1.0, state.present - state.n_removed + np.float64(state.n_routes))


@compiled
def _elsewhere(state, customer, near):
    """Return the cost of the cheapest position beside the nearest customers on other routes, and its slot or −1.

    That of a removed customer is on any route.
    """
    slot, best, goal = state.route[customer], np.inf, np.int64(-1)
    for index in range(min(near, state.neighbours.shape[1])):
        other = state.neighbours[customer, index]
        there = state.route[other]
        if there >= 0 and there != slot:
            cost, _ = beside(state, customer, other)
            if cost < best:
                best, goal = cost, np.int64(there)
    return best, goal


@compiled
def move_cost(state, customer, unit):
    """Return move_i of a customer on a route, in a unit of length."""
    best, _ = _elsewhere(state, customer, _MOVES)
    return min((best - removal(state, customer)) / unit, _MOST_MOVE)


@compiled
def _moves(state, slot, unit):
    """Return the share of negative moves and the mean move over the customers of a route."""
    node, negative, total = state.first[slot], 0, 0.0
    while node != 0:
        move = move_cost(state, node, unit)
        total += move
        if move < 0.0:
            negative += 1
        node = state.successor[node]
    size = max(1, state.size[slot])
    return negative / size, total / size


@compiled
def write_static(state, feature_set, out, base):
    """Write the node features that never change, node 0 at ``out[base]``."""
    nodes = state.customers + 1
    if feature_set == _PAPER:
        most_x = most_y = most_demand = most_depot = 1e-300
        for node in range(nodes):
            most_x, most_y = max(most_x, abs(state.x[node])), max(most_y, abs(state.y[node]))
            most_demand = max(most_demand, state.demand[node])
            most_depot = max(most_depot, distance(state, 0, node))
        for node in range(nodes):
            offset = base + node * _PAPER_WIDTH
            out[offset] = state.x[node] / most_x
            out[offset + 1] = state.y[node] / most_y
            out[offset + 2] = state.demand[node] / most_demand
            out[offset + 3] = distance(state, 0, node) / most_depot
    elif feature_set != _RELATIVE:
        width = _WINDOWS_WIDTH if feature_set == _WINDOWS else _RICH_WIDTH
        for node in range(nodes):
            offset = base + node * width
            out[offset] = (state.x[node] - state.x[0]) / state.unit
            out[offset + 1] = (state.y[node] - state.y[0]) / state.unit
            out[offset + 2] = state.demand[node] / state.capacity
            out[offset + 3] = distance(state, 0, node) / state.unit
            if feature_set == _WINDOWS:
                out[offset + _OPENS] = _opens(state, node)
                out[offset + _CLOSES] = _closes(state, node)
                out[offset + _SERVICE] = _share(state, state.service[node])


@compiled
def write_dynamic(state, feature_set, out, base):
    """Write the node features that change with the routes, node 0 at ``out[base]``."""
    if feature_set == _PAPER:
        tours = state.n_routes / 5.0
        for node in range(state.customers + 1):
            offset = base + node * _PAPER_WIDTH
            out[offset + 4] = 1.0 if node == 0 or state.route[node] >= 0 else 0.0
            out[offset + 5] = tours
        return
    width = _WINDOWS_WIDTH if feature_set == _WINDOWS else _RICH_WIDTH
    if feature_set == _RELATIVE:
        width, base = _RELATIVE_WIDTH, base - _ROUTED
    _clear(out, base, width)
    out[base + _ROUTED] = 1.0
    if state.present < state.customers:
        for node in range(1, state.customers + 1):
            if state.route[node] < 0:
                _clear(out, base + node * width, width)
    else:
        for index in range(state.n_removed):
            _clear(out, base + np.int64(state.removed[index]) * width, width)
    unit, long = _lengths(state, feature_set)
    per_unit, per_length = 1.0 / unit, 1.0 / long
    keeps, per_cost = state.history.shape[0] > 0, 1.0 / max(state.status.start, 1e-300)
    for index in range(state.n_active):
        slot = state.active[index]
        size = state.size[slot]
        if size == 0:
            continue
        load = state.load[slot] / state.capacity
        length = state.length[slot] * per_length
        share = size / (size + state.status.quota)
        step = 1.0 / (size + 1)
        before, node, rank = np.uint32(0), state.first[slot], 1
        arriving = state.entry[slot]
        while node != 0:
            after, leaving = state.successor[node], state.arc[node]
            offset = base + np.int64(node) * width
            out[offset + _ROUTED] = 1.0
            out[offset + _BEFORE] = arriving * per_unit
            out[offset + _AFTER] = leaving * per_unit
            out[offset + _GAIN] = (arriving + leaving - distance(state, before, after)) * per_unit
            out[offset + _LOAD] = load
            out[offset + _LENGTH] = length
            out[offset + _SIZE] = share
            out[offset + _POSITION] = rank * step
            if keeps:
                one = min(seen_cost(state, before, node), state.status.start)
                other = min(seen_cost(state, node, after), state.status.start)
                out[offset + _HISTORY] = 0.5 * (one + other) * per_cost
            else:
                out[offset + _HISTORY] = 0.0
            before, node, arriving = node, after, leaving
            rank += 1
        if feature_set == _WINDOWS:
            _write_times(state, slot, out, base)


@compiled
def _clear(out, offset, width):
    """Make 0 what changes with the routes in the row of a node."""
    for column in range(_ROUTED, _RICH_WIDTH):
        out[offset + column] = 0.0
    if width == _WINDOWS_WIDTH:
        for column in range(_START, _WINDOWS_WIDTH):
            out[offset + column] = 0.0


@compiled
def _write_times(state, slot, out, base):
    """Write when the customers of a route are served."""
    if state.timed != 0:
        renew(state, slot)
    before, node, left = np.uint32(0), state.first[slot], state.earliest[0]
    while node != 0:
        offset = base + np.int64(node) * _WINDOWS_WIDTH
        start, idle, slack, left = _times(state, before, node, left)
        out[offset + _START], out[offset + _IDLE], out[offset + _SLACK] = start, idle, slack
        before, node = node, state.successor[node]


@compiled
def write_globals(state, feature_set, phase, out, base):
    """Write the features of the whole solution from ``out[base]`` on."""
    out[base + G_PHASE] = phase
    out[base + G_BUDGET] = state.status.left
    if feature_set == _PAPER:
        return
    routes, quota, (arc, unit) = state.n_routes, np.float64(max(state.status.quota, 1)), _lengths(state, feature_set)
    smallest, second, largest, smallest_slot, shortest_slot = np.inf, np.inf, 0.0, np.uint32(0), np.uint32(0)
    shortest, longest, total, squares = np.inf, 0.0, 0.0, 0.0
    least_load, most_load, total_load, square_load, within_quota = np.inf, 0.0, 0.0, 0.0, 0.0
    for index in range(state.n_active):
        slot = state.active[index]
        size = np.float64(state.size[slot])
        if size == 0.0:
            continue
        length, load = state.length[slot], state.load[slot]
        if size < smallest:
            second, smallest, smallest_slot = smallest, size, slot
        elif size < second:
            second = size
        largest = max(largest, size)
        if size <= quota:
            within_quota += 1.0
        if length < shortest:
            shortest, shortest_slot = length, slot
        longest = max(longest, length)
        total += length
        squares += length * length
        least_load, most_load = min(least_load, load), max(most_load, load)
        total_load += load
        square_load += load * load
    any_route = routes > 0
    count = np.float64(max(routes, 1))
    mean, mean_load = total / count, total_load / count
    out[base + G_COST] = state.cost / max(state.status.start, 1e-300)
    out[base + G_ROUTES] = routes / (routes + 4.0) if feature_set == _RELATIVE else routes / np.sqrt(state.customers)
    out[base + G_QUOTA] = quota / state.customers
    out[base + G_REMOVED] = state.n_removed / quota
    out[base + G_VEHICLES] = state.vehicle_cost * routes / max(state.cost, 1e-300)
    out[base + G_ONE] = 1.0 if routes == 1 else 0.0
    out[base + G_TWO] = 1.0 if routes == 2 else 0.0
    out[base + G_THREE] = 1.0 if routes == 3 else 0.0
    out[base + G_SMALLEST] = smallest / (smallest + quota) if any_route else 0.0
    out[base + G_SECOND] = second / (second + quota) if routes > 1 else 1.0
    out[base + G_LARGEST] = largest / state.customers
    out[base + G_ONE_FITS] = 1.0 if smallest <= quota else 0.0
    out[base + G_TWO_FIT] = 1.0 if smallest + second <= quota else 0.0
    size = np.float64(state.size[shortest_slot])
    out[base + G_SHORTEST_SIZE] = size / (size + quota) if any_route else 0.0
    out[base + G_SHORTEST] = shortest / unit if any_route else 0.0
    out[base + G_MEAN_LENGTH] = mean / unit
    out[base + G_LONGEST] = longest / unit
    out[base + G_SPREAD_LENGTH] = np.sqrt(max(0.0, squares / count - mean * mean)) / unit
    out[base + G_SMALLEST_LENGTH] = state.length[smallest_slot] / unit if any_route else 0.0
    out[base + G_LEAST_LOAD] = least_load / state.capacity if any_route else 0.0
    out[base + G_MEAN_LOAD] = mean_load / state.capacity
    out[base + G_MOST_LOAD] = most_load / state.capacity
    out[base + G_SPREAD_LOAD] = np.sqrt(max(0.0, square_load / count - mean_load * mean_load)) / state.capacity
    out[base + G_FITTING] = within_quota / count
    out[base + G_ARC] = total / _arcs(state) / arc
    demand, depot = 0.0, 0.0
    left, right, low, high = np.inf, -np.inf, np.inf, -np.inf
    for index in range(state.n_removed):
        node = state.removed[index]
        demand += state.demand[node]
        depot += distance(state, 0, node)
        left, right = min(left, state.x[node]), max(right, state.x[node])
        low, high = min(low, state.y[node]), max(high, state.y[node])
    waiting = state.n_removed > 0
    out[base + G_WAITING] = demand / state.capacity
    out[base + G_WAITING_DEPOT] = depot / state.n_removed / state.unit if waiting else 0.0
    out[base + G_WAITING_BOX] = (right - left + high - low) / (4.0 * state.unit) if waiting else 0.0
    out[base + G_SAVED] = (state.saved_cost - state.cost) / max(state.status.start, 1e-300) if waiting else 0.0
    out[base + G_EMPTIED] = (state.saved_n_routes - routes) / 5.0 if waiting else 0.0
    if routes > 1:
        out[base + G_SHORTEST_MOVES], out[base + G_SHORTEST_MOVE] = _moves(state, shortest_slot, arc)
        if smallest_slot == shortest_slot:
            out[base + G_SMALLEST_MOVES], out[base + G_SMALLEST_MOVE] = (
                out[base + G_SHORTEST_MOVES],
                out[base + G_SHORTEST_MOVE],
            )
        else:
            out[base + G_SMALLEST_MOVES], out[base + G_SMALLEST_MOVE] = _moves(state, smallest_slot, arc)
    else:
        out[base + G_SHORTEST_MOVES] = out[base + G_SMALLEST_MOVES] = 0.0
        out[base + G_SHORTEST_MOVE] = out[base + G_SMALLEST_MOVE] = _MOST_MOVE
    out[base + G_GAINED] = state.status.gain / max(state.status.start, 1e-300)
    out[base + G_STALLED] = state.status.since_gain / (state.status.since_gain + 2.0)
    if feature_set == _WINDOWS:
        _write_global_times(state, quota, out, base)
    elif feature_set == _BY_ROUTE:
        _write_routes(state, quota, shortest_slot, out, base + G_ROUTE)


@compiled
def _smaller(state, one, other):
    """Return whether a slot comes before another one: fewer customers, then a shorter route."""
    if state.size[one] != state.size[other]:
        return state.size[one] < state.size[other]
    if state.length[one] != state.length[other]:
        return state.length[one] < state.length[other]
    return one < other


@compiled
def _rank_routes(state):
    """Note in ``columns`` the slots of the routes with the fewest customers; return how many there are."""
    count = 0
    while count < _ROUTES:
        next_slot = np.int64(-1)
        for index in range(state.n_active):
            slot = np.int64(state.active[index])
            behind = count == 0 or _smaller(state, np.int64(state.columns[count - 1]), slot)
            if state.size[slot] > 0 and behind and (next_slot < 0 or _smaller(state, slot, next_slot)):
                next_slot = slot
        if next_slot < 0:
            break
        state.columns[count] = next_slot
        count += 1
    return count


@compiled
def _rank_of(state, slot, count):
    """Return the rank of a slot among those that `_rank_routes` noted, or −1."""
    for rank in range(count):
        if state.columns[rank] == slot:
            return rank
    return -1


@compiled
def _stay(state, customer, rest):
    """Return the least length that a customer adds to what is left of its route from some customer on."""
    if rest == 0:
        return np.inf
    cost = distance(state, 0, customer) + distance(state, customer, rest) - distance(state, 0, rest)
    while rest != 0:
        after = state.successor[rest]
        cost = min(cost, distance(state, rest, customer) + distance(state, customer, after) - state.arc[rest])
        rest = after
    return cost


@compiled
def _write_routes(state, quota, shortest_slot, out, base):
    """Write what the set ``routes`` has beyond ``rich``."""
    for offset in range(base, base + _ROUTES * _ROUTE_WIDTH):
        out[offset] = 0.0
    count = _rank_routes(state)
    for rank in range(count):
        slot, offset = state.columns[rank], base + rank * _ROUTE_WIDTH
        size = np.float64(state.size[slot])
        out[offset + R_THERE] = 1.0
        out[offset + R_SIZE] = size / (size + quota)
        out[offset + R_LENGTH] = state.length[slot] / (8.0 * state.unit)
        out[offset + R_SHORTEST] = 1.0 if slot == shortest_slot else 0.0
        rest, first = state.first[slot], 0
        while rest != 0 and first < quota:
            rest = state.successor[rest]
            first += 1
        negative, total, least, most, leaves, leave, number = 0, 0.0, _MOST_MOVE, -np.inf, 0, 0.0, 0
        node = state.first[slot]
        while node != 0:
            best, goal = _elsewhere(state, node, _NEAR)
            move = min((best - removal(state, node)) / state.unit, _MOST_MOVE)
            if move < 0.0:
                negative += 1
            total += move
            least, most = min(least, move), max(most, move)
            if number < first:
                stay = _stay(state, node, rest)
                if best < stay:
                    leaves += 1
                if best == np.inf:
                    leave += _MOST_MOVE
                else:
                    leave += max(-_MOST_MOVE, min(_MOST_MOVE, (best - stay) / state.unit))
            rank_of_goal = _rank_of(state, goal, count)
            if rank_of_goal >= 0:
                there = base + rank_of_goal * _ROUTE_WIDTH
                out[there + R_GOAL] += 1.0 / state.customers
                if move < 0.0:
                    out[there + R_DRAWN] += 1.0 / quota
            number += 1
            node = state.successor[node]
        out[offset + R_MOVES], out[offset + R_MOVE] = negative / quota, total / size
        out[offset + R_LEAST_MOVE], out[offset + R_MOST_MOVE] = least, most
        out[offset + R_LEAVES], out[offset + R_LEAVE] = leaves / quota, leave / first
    for index in range(state.n_removed):
        _, goal = _elsewhere(state, state.removed[index], _NEAR)
        rank_of_goal = _rank_of(state, goal, count)
        if rank_of_goal >= 0:
            out[base + rank_of_goal * _ROUTE_WIDTH + R_WAITING] += 1.0 / quota


@compiled
def _write_global_times(state, quota, out, base):
    """Write what the set ``windows`` has beyond ``rich`` of the whole."""
    widths = 0.0
    for node in range(1, state.customers + 1):
        widths += _closes(state, node) - _opens(state, node)
    idleness, slackness, tightness, back, last, served = 0.0, 0.0, 0.0, 0.0, 0.0, 0
    for index in range(state.n_active):
        slot = state.active[index]
        if state.size[slot] == 0:
            continue
        if state.timed != 0:
            renew(state, slot)
        before, node, left, least = np.uint32(0), state.first[slot], state.earliest[0], 1.0
        while node != 0:
            _, idle, slack, left = _times(state, before, node, left)
            idleness += idle
            slackness += slack
            least = min(least, slack)
            served += 1
            before, node = node, state.successor[node]
        home = _share(state, left + travel_time(state, before, 0) - state.earliest[0])
        tightness += 1.0 - least
        back += home
        last = max(last, home)
    count = np.float64(max(state.n_routes, 1))
    out[base + G_WIDTHS] = widths / state.customers
    out[base + G_UNSERVED] = state.n_bank / (state.n_bank + quota)
    out[base + G_IDLENESS] = min(1.0, idleness / count)
    out[base + G_SLACKNESS] = slackness / max(served, 1)
    out[base + G_TIGHTNESS] = tightness / count
    out[base + G_BACK] = back / count
    out[base + G_LAST_BACK] = last
    width, centre, opens, closes = 0.0, 0.0, 1.0, 0.0
    for index in range(state.n_removed):
        node = state.removed[index]
        begin, end = _opens(state, node), _closes(state, node)
        width += end - begin
        centre += 0.5 * (begin + end)
        opens, closes = min(opens, begin), max(closes, end)
    removed = np.float64(max(state.n_removed, 1))
    out[base + G_WAITING_WIDTH] = width / removed
    out[base + G_WAITING_CENTRE] = centre / removed
    out[base + G_WAITING_SPAN] = max(0.0, closes - opens)
