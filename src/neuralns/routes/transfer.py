"""Solutions into states and out again: the way between Python and the compiled world."""

from __future__ import annotations

from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from neuralns.compiled.caching import compiled
from neuralns.compiled.fingerprint import key_of
from neuralns.compiled.random import seed_words
from neuralns.compiled.structs import Struct
from neuralns.problem.distances import ROUNDINGS, triangle_excess
from neuralns.problem.initial import nearest_neighbours
from neuralns.problem.instance import Instance
from neuralns.problem.limits import LOAD_TOLERANCE, lateness_allowed, load_limit
from neuralns.problem.solution import Solution
from neuralns.routes.edits import MOST_TAKEN, bank_removed, disband_route, insert, open_route
from neuralns.routes.evaluate import GENERAL, MEASURED, PLAIN, TIMED, ask, recompute
from neuralns.routes.fleet import (
    all_distances,
    general_fields,
    is_owed,
    lost_anyway,
    lost_at_most,
    most_expensive,
    slack_of,
)
from neuralns.routes.general import LOAD
from neuralns.routes.history import new_history, remember
from neuralns.routes.journal import checkpoint
from neuralns.routes.layout import copy_fields, new_arrays, state_type
from neuralns.routes.status import copy_status, new_status

FULL_NEIGHBOURS = 1000
"""Up to so many customers each node knows all others by distance; above, its nearest `SOME_NEIGHBOURS`."""
SOME_NEIGHBOURS = 100
PAIRS_AT_ONCE = 100_000
"""Pairs of nodes that are looked at at once: little memory, and few calls of numpy."""
TRIANGLES = 300
"""Up to so many nodes it is worked out how far given distances break the triangle inequality."""


_common: WeakKeyDictionary[Instance, tuple[list[str], dict[str, Any]]] = WeakKeyDictionary()
"""What states of one instance hold in common."""
_excess: WeakKeyDictionary[Instance, dict[bool, float]] = WeakKeyDictionary()
"""What `triangle_excess` said of given distances (False) and durations of their own (True): several ask for it."""


class State(Struct):
    """A solution in the compiled world; made by `new_state`, read by `routes_of`."""

    __slots__ = ()


def new_state(
    instance: Instance,
    seed: int | np.random.SeedSequence,
    *,
    history: bool = False,
    solution: Solution | None = None,
    quota: int | None = None,
) -> State:
    """Return a state of an instance, with its own generator, holding a solution if one is given.

    Parameters
    ----------
    history
        Whether to keep the history of arcs (see `new_history`).
    quota
        The most customers that will be removed at a time; all of them by default.
    """
    common = _common_of(instance)
    rows = instance.customers if quota is None else quota
    if instance.may_leave_out:
        rows = instance.customers if instance.backhauls else min(rows + MOST_TAKEN, instance.customers)
    general = instance.general
    sizes = {
        "type": len(instance.types) if general else 0,
        "depot": len(instance.depot_nodes) if general else 0,
        "group": len(instance.groups or ()),
        "goods": instance.dimensions if general else 0,
    }
    own = new_arrays(instance.customers, rows, sizes)
    own["history"] = new_history(instance.customers) if history else np.zeros((0, 0))
    if history:
        # The history takes note of all candidates, so that none is given up half-way.
        common = common | {"slack": np.inf}
    state = State(state_type, **common, **own, random=seed_words(seed), status=new_status())
    if solution is not None:
        load_solution(state, solution)
    return state


def _common_of(instance: Instance) -> dict[str, Any]:
    """Return what all states of an instance share, made anew if a cost of the user's own is not what it was."""
    costs = [key_of(cost.function) for cost in instance.route_costs or () if cost.is_own]
    if instance not in _common or _common[instance][0] != costs:
        _common[instance] = costs, _of_instance(instance)
    return _common[instance][1]


def _of_instance(instance: Instance) -> dict[str, Any]:
    """Return what compiled functions read of an instance."""
    nodes = instance.customers + 1
    distances = instance.distances
    if distances is None:
        matrix = transposed = np.zeros((0, 0))
        from_depot = np.hypot(*(instance.points[1:nodes] - instance.points[0]).T)
    else:
        matrix = distances
        if distances.diagonal().any():
            matrix = distances.copy()
            np.fill_diagonal(matrix, 0.0)
        transposed = matrix if np.array_equal(matrix, matrix.T) else np.ascontiguousarray(matrix.T)
        from_depot = matrix[0, 1:nodes]
    known = nodes if nodes <= FULL_NEIGHBOURS + 1 else SOME_NEIGHBOURS
    neighbours = nearest_neighbours(instance, known).astype(np.uint32)
    durations = instance.travel_times
    if not instance.timed:
        times = times_to = np.zeros((0, 0))
    elif durations is None:
        times, times_to = matrix, transposed
    else:
        times = np.ascontiguousarray(durations)
        times_to = times if np.array_equal(times, times.T) else np.ascontiguousarray(times.T)
    if instance.general and distances is not None:
        # A table for each profile, with a node more.
        matrix, transposed = all_distances(instance, times=False)
        times = times_to = np.zeros((0, 0))
        if instance.timed:
            same = instance.durations is None and all(each.durations is None for each in instance.profiles or ())
            times, times_to = (matrix, transposed) if same else all_distances(instance, times=True)
    fitting = fitting_neighbours(instance, neighbours)
    late = lateness_allowed(instance)
    charge = unserved_cost(instance)
    return {
        **general_fields(instance),
        "prize": np.array([charge, *(min(charge, instance.prize(node)) for node in range(1, nodes))]),
        "fitting": fitting,
        "fitting_distances": fitting_distances(instance, fitting),
        "kind": kind_of(instance),
        "vehicles": instance.customers + 1 if instance.vehicles is None else instance.vehicles,
        "slack": least_gain(instance),
        "unserved_cost": charge,
        "lost": lost_anyway(instance),
        "optional": int(instance.prizes is not None or instance.groups is not None),
        "servable": servable(instance),
        "durations": times,
        "durations_to": times_to,
        "one_matrix": int(instance.timed and times is matrix and transposed is matrix and matrix.shape[0] > 0),
        "earliest": np.ascontiguousarray(instance.earliest),
        "latest": instance.latest + late / 2,
        "service": instance.services.copy(),
        "horizon": horizon(instance, float(from_depot.mean())),
        "detour": most_time_saved(instance) if instance.timed else 0.0,
        "distance_cost": instance.distance_cost,
        "duration_cost": instance.duration_cost,
        "max_distance": np.inf if instance.max_distance is None else instance.max_distance + late / 2,
        "max_duration": np.inf if instance.max_duration is None else instance.max_duration + late / 2,
        "noise": late / 4,
        "customers": instance.customers,
        "limit": load_limit(instance, LOAD_TOLERANCE / 2),
        "most_load": load_limit(instance, LOAD_TOLERANCE / 2),
        "vehicle_cost": instance.vehicle_cost,
        "rounding": ROUNDINGS.index(instance.rounding),
        "unit": float(from_depot.mean()) or 1.0,
        "demand": instance.demands.copy(),
        "x": np.ascontiguousarray(instance.points[:, 0]),
        "y": np.ascontiguousarray(instance.points[:, 1]),
        "distances": matrix,
        "distances_to": transposed,
        "neighbours": neighbours,
    }


def fitting_neighbours(instance: Instance, neighbours: npt.NDArray[np.uint32]) -> npt.NDArray[np.uint32]:
    """Return for every node the customers that go best right before or after it on a route, best first.

    Of i and j it is the lesser of the two ways round of c_ij + w · waiting + t · lateness, with the waiting and the
    lateness at j that cannot be avoided after i, w = 0.2 and t = 1 (Vidal, Crainic, Gendreau & Prins 2013,
    section 4.1). Without windows they are the nearest, in the same memory where there are no more of these.
    """
    if instance.windows is None:
        return np.ascontiguousarray(neighbours[:, :SOME_NEIGHBOURS])
    nodes = instance.customers + 1
    earliest, latest, service = instance.earliest, instance.latest, instance.services
    candidates = neighbours
    if nodes <= FULL_NEIGHBOURS + 1:
        candidates = np.broadcast_to(np.arange(nodes, dtype=np.uint32), (nodes, nodes))
    found = np.zeros((nodes, min(SOME_NEIGHBOURS, neighbours.shape[1])), np.uint32)
    rows = max(1, PAIRS_AT_ONCE // max(1, candidates.shape[1]))
    for begin in range(0, nodes, rows):
        block = candidates[begin : begin + rows]
        node, others = np.repeat(np.arange(begin, begin + len(block)), block.shape[1]), block.ravel()
        there, back = instance.times(node, others), instance.times(others, node)
        after = (
            instance.legs(node, others)
            + 0.2 * np.maximum(0.0, earliest[others] - there - service[node] - latest[node])
            + np.maximum(0.0, earliest[node] + service[node] + there - latest[others])
        )
        before = (
            instance.legs(others, node)
            + 0.2 * np.maximum(0.0, earliest[node] - back - service[others] - latest[others])
            + np.maximum(0.0, earliest[others] + service[others] + back - latest[node])
        )
        apart = np.where((others == node) | (others == 0), np.inf, np.minimum(after, before)).reshape(block.shape)
        best = np.argsort(apart, axis=1, kind="stable")[:, : found.shape[1]]
        found[begin : begin + rows] = np.take_along_axis(block, best, axis=1)
    return found


def fitting_distances(instance: Instance, fitting: npt.NDArray[np.uint32]) -> npt.NDArray[np.float32]:
    """Return how far those of `fitting_neighbours` are, where lengths between points are all that counts."""
    if kind_of(instance) != PLAIN or instance.matrix is not None:
        return np.zeros((0, 0), np.float32)
    found = np.zeros(fitting.shape, np.float32)
    rows = max(1, PAIRS_AT_ONCE // max(1, fitting.shape[1]))
    for begin in range(0, len(fitting), rows):
        block = fitting[begin : begin + rows]
        nodes = np.repeat(np.arange(begin, begin + len(block)), block.shape[1])
        found[begin : begin + rows] = instance.legs(nodes, block.ravel()).reshape(block.shape)
    return found


def kind_of(instance: Instance) -> int:
    """Return which of the kinds of `evaluate` an instance is."""
    if instance.general:
        return GENERAL
    limits = instance.max_duration, instance.max_distance
    if instance.duration_cost > 0 or instance.distance_cost != 1 or limits != (None, None):
        return MEASURED
    return TIMED if instance.windows is not None else PLAIN


def horizon(instance: Instance, unit: float) -> float:
    """Return how long a shift is: as the depot's window says, else until the last window ends, else eight units."""
    ends = instance.latest[np.isfinite(instance.latest)]
    last = instance.latest[0] if np.isfinite(instance.latest[0]) else ends.max(initial=-np.inf)
    shift = float(last - instance.earliest[0])
    return shift if 0 < shift < np.inf else 8 * unit or 1.0


def servable(instance: Instance) -> npt.NDArray[np.uint8]:
    """Return for each node whether any route can serve it."""
    found = np.ones(instance.customers + 1, np.uint8)
    found[list(instance.unservable)] = 0
    return found


def unserved_cost(instance: Instance) -> float:
    """Return the penalty of a customer on no route: so high that serving one more always pays.

    It is more than any routes can cost; infinite where everybody has to be served.
    """
    if not instance.may_leave_out:
        return float("inf")
    customers = instance.customers
    if instance.general:
        return most_expensive(instance)
    total = instance.vehicle_cost * customers
    if instance.distance_cost > 0:
        total += instance.distance_cost * _longest(instance)
    if instance.duration_cost > 0:
        travel = _longest(instance, times=True)
        waiting = customers * max(0.0, float(instance.earliest.max() - instance.earliest[0]))
        total += instance.duration_cost * (travel + float(instance.services.sum()) + waiting)
    return 1.0 + total + lost_at_most(instance)


def _longest(instance: Instance, times: bool = False) -> float:
    """Return how long all routes can be at most, by distances or by durations.

    A leg is no longer than the way by the depot and what `most_saved` says.
    """
    customers = instance.customers
    saved = most_saved(instance, times)
    if saved == float("inf"):
        return 2.0 * customers * float(_given(instance, times).max())
    legs = instance.times if times else instance.legs
    everyone, depot = np.arange(1, customers + 1), np.zeros(customers, np.int64)
    return float((legs(depot, everyone) + legs(everyone, depot)).sum()) + 2.0 * customers * saved


def charged_cost(solution: Solution) -> float:
    """Return F of a solution as states have it: with the penalty of everybody left out who could be served."""
    instance = solution.instance
    ends = {each.delivery for each in instance.shipments or ()}
    left_out = set(filter(instance.required, solution.unserved)) - set(instance.unservable) - ends
    groups = [group for group in instance.groups or () if is_owed(instance, group)]
    missing = len(left_out) + sum(group.members[0] in solution.unserved for group in groups)
    return solution.cost + (missing * unserved_cost(instance) if missing else 0.0)


def least_gain(instance: Instance) -> float:
    """Return the most by which an insertion can lower the cost: 0 but for rounding where the triangle inequality holds.

    It is the same for durations with waiting, the longest of chains of which an insertion changes one link each.
    """
    if instance.general:
        return slack_of(instance, most_saved)
    found = 0.0
    if instance.distance_cost > 0:
        found += instance.distance_cost * most_saved(instance)
    if instance.duration_cost > 0:
        found += instance.duration_cost * most_saved(instance, times=True)
    # Sums of distances are rounded.
    everyone, depot = np.arange(1, instance.customers + 1), np.zeros(instance.customers, np.int64)
    return found + 1e-9 * max(1.0, float(instance.legs(depot, everyone).max()))


def most_saved(instance: Instance, times: bool = False) -> float:
    """Return by how much the way by another node can be shorter than the direct one, by distances or by durations.

    ⌊a⌋ + ⌊b⌋ ≥ ⌊a + b⌋ − 1, so that computed ones break the triangle inequality by 1 at most if they are cut or rounded
    to whole numbers.
    """
    given = _given(instance, times)
    if given is None:
        return {"none": 0.0, "round": 1.0, "trunc": 1.0, "dimacs": 0.1}[instance.rounding]
    if len(given) > TRIANGLES:
        return float("inf")
    known = _excess.setdefault(instance, {})
    own = times and instance.durations is not None
    if own not in known:
        known[own] = triangle_excess(given)
    return known[own]


def most_time_saved(instance: Instance) -> float:
    """Return by how much the way by another node can be quicker than the direct one, by any profile."""
    found, nodes = most_saved(instance, times=True), len(instance.demands)
    for profile in range(1, 1 + len(instance.profiles or ())):
        if nodes > TRIANGLES:
            return float("inf")
        found = max(found, triangle_excess(instance.table(profile, times=True)))
    return found


def _given(instance: Instance, times: bool) -> Any:
    """Return the distances or the durations that an instance was given, rounded; None if they are computed."""
    if times and instance.durations is not None:
        return instance.travel_times
    return None if instance.matrix is None else instance.distances


@compiled
def load_routes(state, customers, starts, kinds):
    """Make routes, laid in a row as `flatten` does, those of a state, with a fresh status and an empty history."""
    state.route[:] = -1
    state.size[:] = 0
    state.first[:] = 0
    state.entry[:] = 0.0
    state.load[:] = 0.0
    state.length[:] = 0.0
    state.duration[:] = 0.0
    state.dirty[:] = 1
    state.n_active = 0
    state.n_routes = 0
    state.n_free = 0
    for slot in range(state.customers - 1, -1, -1):
        state.free[state.n_free] = slot
        state.n_free += 1
    state.cost = 0.0
    state.fault = 0
    # Every customer starts on the removal list, so that `insert` builds all books.
    state.n_removed = state.customers
    for customer in range(1, state.customers + 1):
        state.removed[customer - 1] = customer
        state.place[customer] = customer - 1
    state.n_bank = 0
    state.n_taken = 0
    state.bank_place[:] = -1
    state.generous = 0
    state.opener = 0
    state.absence[:] = 1.0
    state.present = state.customers
    state.groups_missing = 0
    if state.kind == GENERAL:
        _load_general(state, customers, starts, kinds)
    else:
        checkpoint(state)
        for number in range(len(starts) - 1):
            slot, before = open_route(state), 0
            for index in range(starts[number], starts[number + 1]):
                insert(state, customers[index], slot, before)
                before = customers[index]
    _leave_out(state)
    recompute(state)
    status = state.status
    status.start = status.current = status.best = status.candidate = state.cost
    status.threshold = np.inf
    status.left = 1.0
    status.gain = 0.0
    status.acceptance = 1.0
    status.iteration = status.since_best = status.since_gain = 0
    state.history[:] = np.inf
    state.saved_cost = np.inf
    remember(state)
    checkpoint(state)


@compiled
def _load_part(state, customers, starts, kinds):
    """Do as `load_routes`, but those on no route are nowhere."""
    load_routes(state, customers, starts, kinds)
    for index in range(state.n_bank):
        state.bank_place[state.bank[index]] = -1
    state.n_bank = 0
    recompute(state)
    status = state.status
    status.start = status.current = status.best = status.candidate = state.cost
    checkpoint(state)


@compiled
def _load_general(state, customers, starts, kinds):
    """Load routes of a GENERAL instance, each with its type of vehicle; the requests on none are the removal list."""
    state.vehicle[:] = 0
    state.route_cost[:] = 0.0
    state.start_load[:] = 0.0
    state.used[:] = 0
    state.depot_use[:] = 0
    state.depot_load[:] = 0.0
    state.group_count[:] = 0
    state.n_removed = 0
    checkpoint(state)
    for number in range(len(starts) - 1):
        if starts[number + 1] > starts[number]:
            slot = open_route(state, kinds[number])
            for index in range(starts[number], starts[number + 1]):
                state.sequence[index] = customers[index]
            ask(state, LOAD, starts[number + 1], slot, starts[number])
    state.present = 0
    for customer in range(1, state.customers + 1):
        if state.is_delivery[customer] == 0:
            state.present += 1
            if state.route[customer] < 0:
                state.place[customer] = state.n_removed
                state.removed[state.n_removed] = customer
                state.n_removed += 1


@compiled
def _leave_out(state):
    """Move those who are on no route to the bank, except who cannot be on any: they are nowhere."""
    left = 0
    for index in range(state.n_removed):
        customer = state.removed[index]
        if state.servable[customer] == 1:
            state.removed[left] = customer
            left += 1
        else:
            state.present -= 1
    state.n_removed = left
    bank_removed(state)


@compiled
def copy_routes(source, target):
    """Give a state the complete routes, the history and the status of another state of the same instance.

    Its next edits, with the same random numbers, are those of the other state.
    """
    copy_fields(source, target)
    target.n_removed = 0
    target.n_taken = 0
    target.dirty[:] = 1
    target.fault = 0
    copy_status(source.status, target.status)
    checkpoint(target)


@compiled
def export_routes(state, customers, starts, kinds):
    """Copy the routes into a row of customers, their starts and types (see `flatten`); return how many there are."""
    position, number = 0, 0
    for index in range(state.n_active):
        node = state.first[state.active[index]]
        if node == 0:
            continue
        starts[number] = position
        kinds[number] = state.vehicle[state.active[index]]
        number += 1
        while node != 0:
            customers[position] = node
            position += 1
            node = state.successor[node]
    starts[number] = position
    return number


def do_without_route(state: State, vehicles: int) -> None:
    """Leave out the customers of one route, and allow no more than so many."""
    disband_route(state)
    state.vehicles = vehicles


def load_solution(state: State, solution: Solution, *, alone: bool = False) -> None:
    """Make a feasible solution the routes of a state, with a fresh status and an empty history.

    If they are to be ``alone``, customers on none of them are nowhere, as if the instance were without them.
    """
    (_load_part if alone else load_routes)(state, *flatten(solution))


def flatten(solution: Solution) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32], npt.NDArray[np.int32]]:
    """Return the customers of all routes in a row, where each route starts (and the last one ends), and their types."""
    customers = np.array([customer for route in solution.routes for customer in route], dtype=np.int32)
    starts = np.cumsum([0, *(len(route) for route in solution.routes)]).astype(np.int32)
    return customers, starts, np.array(solution.vehicles, dtype=np.int32)


def unflatten(customers: npt.NDArray[np.int32], starts: npt.NDArray[np.int32], routes: int) -> list[list[int]]:
    """Return the routes that `flatten` laid in a row."""
    return [customers[starts[number] : starts[number + 1]].tolist() for number in range(routes)]


def routes_of(state: State) -> list[list[int]]:
    """Return the routes that a state holds."""
    return _exported(state)[0]


def solution_of(state: State, instance: Instance) -> Solution:
    """Return the routes that a state holds, with their types of vehicles."""
    return Solution(instance, *_exported(state))


def _exported(state: State) -> tuple[list[list[int]], list[int]]:
    row, starts, kinds = (np.zeros(state.customers + more, np.int32) for more in (1, 2, 1))
    count = int(export_routes(state, row, starts, kinds))
    return unflatten(row, starts, count), kinds[:count].tolist()
