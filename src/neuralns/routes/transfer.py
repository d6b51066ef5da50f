"""Solutions into states and out again: the way between Python and the compiled world."""

from __future__ import annotations

from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from neuralns.compiled.caching import compiled
from neuralns.compiled.random import seed_words
from neuralns.compiled.structs import Struct
from neuralns.problem.distances import ROUNDINGS
from neuralns.problem.initial import nearest_neighbours
from neuralns.problem.instance import Instance
from neuralns.problem.limits import LOAD_TOLERANCE, load_limit
from neuralns.problem.solution import Solution
from neuralns.routes.edits import insert, open_route
from neuralns.routes.evaluate import recompute
from neuralns.routes.history import new_history, remember
from neuralns.routes.journal import checkpoint
from neuralns.routes.layout import copy_fields, new_arrays, state_type
from neuralns.routes.status import copy_status, new_status

FULL_NEIGHBOURS = 1000
"""Up to so many customers each node knows all others by distance; above, its nearest `SOME_NEIGHBOURS`."""
SOME_NEIGHBOURS = 100


_common: WeakKeyDictionary[Instance, dict[str, Any]] = WeakKeyDictionary()
"""What states of one instance hold in common."""


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
    common = _common.get(instance)
    if common is None:
        common = _common[instance] = _of_instance(instance)
    own = new_arrays(instance.customers, instance.customers if quota is None else quota)
    own["history"] = new_history(instance.customers) if history else np.zeros((0, 0))
    state = State(state_type, **common, **own, random=seed_words(seed), status=new_status())
    if solution is not None:
        load_solution(state, solution)
    return state


def _of_instance(instance: Instance) -> dict[str, Any]:
    """Return what compiled functions read of an instance."""
    nodes = instance.customers + 1
    distances = instance.distances
    if distances is None:
        matrix = transposed = np.zeros((0, 0))
        from_depot = np.hypot(*(instance.points[1:] - instance.points[0]).T)
    else:
        matrix = distances
        if distances.diagonal().any():
            matrix = distances.copy()
            np.fill_diagonal(matrix, 0.0)
        transposed = matrix if np.array_equal(matrix, matrix.T) else np.ascontiguousarray(matrix.T)
        from_depot = matrix[0, 1:]
    neighbours = nearest_neighbours(instance, nodes if nodes <= FULL_NEIGHBOURS + 1 else SOME_NEIGHBOURS)
    return {
        "customers": instance.customers,
        "limit": load_limit(instance, LOAD_TOLERANCE / 2),
        "vehicle_cost": instance.vehicle_cost,
        "rounding": ROUNDINGS.index(instance.rounding),
        "unit": float(from_depot.mean()) or 1.0,
        "demand": instance.demands.copy(),
        "x": np.ascontiguousarray(instance.points[:, 0]),
        "y": np.ascontiguousarray(instance.points[:, 1]),
        "distances": matrix,
        "distances_to": transposed,
        "neighbours": neighbours.astype(np.uint32),
    }


@compiled
def load_routes(state, customers, starts):
    """Make routes, laid in a row as `flatten` does, those of a state, with a fresh status and an empty history."""
    state.route[:] = -1
    state.size[:] = 0
    state.first[:] = 0
    state.entry[:] = 0.0
    state.load[:] = 0.0
    state.length[:] = 0.0
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
    checkpoint(state)
    for number in range(len(starts) - 1):
        slot, before = open_route(state), 0
        for index in range(starts[number], starts[number + 1]):
            insert(state, customers[index], slot, before)
            before = customers[index]
    recompute(state)
    status = state.status
    status.start = status.current = status.best = status.candidate = state.cost
    status.left = 1.0
    status.gain = 0.0
    status.acceptance = 1.0
    status.iteration = status.since_best = status.since_gain = 0
    state.history[:] = np.inf
    state.saved_cost = np.inf
    remember(state)
    checkpoint(state)


@compiled
def copy_routes(source, target):
    """Give a state the complete routes, the history and the status of another state of the same instance.

    Its next edits, with the same random numbers, are those of the other state.
    """
    copy_fields(source, target)
    target.n_removed = 0
    target.fault = 0
    copy_status(source.status, target.status)
    checkpoint(target)


@compiled
def export_routes(state, customers, starts):
    """Copy the routes into a row of customers and their starts (see `flatten`); return how many routes there are."""
    position, number = 0, 0
    for index in range(state.n_active):
        node = state.first[state.active[index]]
        if node == 0:
            continue
        starts[number] = position
        number += 1
        while node != 0:
            customers[position] = node
            position += 1
            node = state.successor[node]
    starts[number] = position
    return number


def load_solution(state: State, solution: Solution) -> None:
    """Make a feasible solution the routes of a state, with a fresh status and an empty history."""
    customers, starts = flatten(solution)
    load_routes(state, customers, starts)


def flatten(solution: Solution) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]:
    """Return the customers of all routes in a row, and where each route starts (and the last one ends)."""
    customers = np.array([customer for route in solution.routes for customer in route], dtype=np.int32)
    starts = np.cumsum([0, *(len(route) for route in solution.routes)]).astype(np.int32)
    return customers, starts


def unflatten(customers: npt.NDArray[np.int32], starts: npt.NDArray[np.int32], routes: int) -> list[list[int]]:
    """Return the routes that `flatten` laid in a row."""
    return [customers[starts[number] : starts[number + 1]].tolist() for number in range(routes)]


def routes_of(state: State) -> list[list[int]]:
    """Return the routes that a state holds."""
    row, starts = np.zeros(state.customers + 1, np.int32), np.zeros(state.customers + 2, np.int32)
    return unflatten(row, starts, int(export_routes(state, row, starts)))
