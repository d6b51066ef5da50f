"""Solutions into states and out again: the way between Python and the compiled world."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt
from numba import types

from neuralns.compiled.caching import compiled
from neuralns.compiled.fingerprint import key_of
from neuralns.compiled.random import seed_words
from neuralns.compiled.structs import Struct
from neuralns.problem.instance import Instance
from neuralns.problem.solution import Solution
from neuralns.routes.edits import MOST_TAKEN, bank_removed, disband_route, open_route, relieve_routes
from neuralns.routes.evaluate import count_missing, load_route, measure_alone, recompute, total_charges
from neuralns.routes.history import new_history, remember
from neuralns.routes.journal import checkpoint
from neuralns.routes.layout import copy_fields, new_arrays, state_type
from neuralns.routes.removal_list import add_to_list
from neuralns.routes.status import copy_status, new_status
from neuralns.routes.tables import most_carried, tables_of

_common: WeakKeyDictionary[Instance, tuple[list[str], dict[str, Any]]] = WeakKeyDictionary()
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
    common = _common_of(instance)
    rows = instance.customers if quota is None else quota
    if instance.may_leave_out:
        rows = instance.customers if instance.backhauls else min(rows + MOST_TAKEN, instance.customers)
    sizes = {
        "type": len(instance.types),
        "depot": len(instance.depot_nodes),
        "group": len(instance.groups or ()),
        "goods": instance.dimensions,
    }
    own = new_arrays(instance.customers, rows, sizes)
    own["history"] = new_history(instance.customers) if history else np.zeros((0, 0))
    if history:
        # The history takes note of all candidates, so that none is given up half-way.
        common = common | {"slack": np.inf}
    own["soft_capacity"] = most_carried(instance)
    own["largest_load"] = own["soft_capacity"].max() if common["simple_load"] else np.inf
    state = State(state_type, **common, **own, random=seed_words(seed), status=new_status())
    if np.isnan(state.alone[0, 0]):
        measure_alone(state)
    if solution is not None:
        load_solution(state, solution)
    return state


def _common_of(instance: Instance) -> dict[str, Any]:
    """Return what all states of an instance share, made anew if a cost of the user's own is not what it was."""
    costs = [key_of(cost.function) for cost in instance.route_costs or () if cost.is_own]
    if instance not in _common or _common[instance][0] != costs:
        _common[instance] = costs, tables_of(instance)
    return _common[instance][1]


@compiled
def load_routes(state, customers, starts, vehicle_types):
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
    state.n_bank = 0
    state.n_taken = 0
    state.bank_index[:] = -1
    state.serve_all = 0
    state.forced = 0
    state.absence[:] = 1.0
    state.groups_missing = 0
    _lay_routes(state, customers, starts, vehicle_types)
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
def _load_part(state, customers, starts, vehicle_types):
    """Do as `load_routes`, but those on no route are nowhere."""
    load_routes(state, customers, starts, vehicle_types)
    for index in range(state.n_bank):
        state.bank_index[state.bank[index]] = -1
    state.n_bank = 0
    recompute(state)
    status = state.status
    status.start = status.current = status.best = status.candidate = state.cost
    checkpoint(state)


@compiled
def _lay_routes(state, customers, starts, vehicle_types):
    """Lay routes, each with its vehicle type, into empty slots; requests on none are the removal list."""
    state.vehicle[:] = 0
    state.route_cost[:] = 0.0
    state.savings[:] = 0.0
    state.start_load[:] = 0.0
    state.end_load[:] = 0.0
    state.used[:] = 0
    state.depot_use[:] = 0
    state.depot_load[:] = 0.0
    state.group_count[:] = 0
    state.total_savings = 0.0
    state.n_removed = 0
    checkpoint(state)
    for number in range(len(starts) - 1):
        if starts[number + 1] > starts[number]:
            slot = open_route(state, vehicle_types[number] if len(vehicle_types) > 0 else 0)
            for index in range(starts[number], starts[number + 1]):
                state.plan[index - starts[number]] = customers[index]
            load_route(state, slot, 0, starts[number + 1] - starts[number])
    state.present = 0
    for customer in range(1, state.customers + 1):
        if state.shipments == 0 or state.is_delivery[customer] == 0:
            state.present += 1
            if state.route[customer] < 0:
                add_to_list(state, customer)


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
def export_routes(state, customers, starts, vehicle_types):
    """Copy the routes into a row of customers, their starts and types (see `flatten`); return how many there are."""
    position, number = 0, 0
    for index in range(state.n_active):
        node = state.first[state.active[index]]
        if node == 0:
            continue
        starts[number] = position
        vehicle_types[number] = state.vehicle[state.active[index]]
        number += 1
        while node != 0:
            customers[position] = node
            position += 1
            node = state.successor[node]
    starts[number] = position
    return number


_row = types.Array(types.int32, 1, "C")


def compilations() -> list[Callable[[], object]]:
    """Return what compiles the functions on states that Python calls in a search."""
    rows = state_type, _row, _row, _row
    by_rows: tuple[Any, ...] = load_routes, _load_part, export_routes
    alone: tuple[Any, ...] = recompute, measure_alone, disband_route, relieve_routes, count_missing, total_charges
    return [
        *(partial(function.compile, rows) for function in by_rows),
        *(partial(function.compile, (state_type,)) for function in alone),
    ]


PRICES = ("load_price", "late_price", "duration_price", "distance_price", "stops_price")
"""Fields of a state that say what a unit of a violation costs, in the order of `total_violations`."""


def give_prices(state: State, prices: Sequence[float], share: float) -> None:
    """Let routes break rules at prices, 0 for a rule that stays hard; vehicles carry more by a share at most."""
    for name, price in zip(PRICES, prices, strict=True):
        if price > 0:
            setattr(state, name, price)
            state.soft = 1
    if prices[0] > 0:
        state.soft_capacity[...] *= 1 + share
        state.largest_load *= 1 + share


def take_prices(state: State, share: float) -> None:
    """Make all rules hard again that had prices; customers of routes that break them leave these."""
    relieve_routes(state)
    if state.load_price < math.inf:
        state.soft_capacity[...] /= 1 + share
        state.largest_load /= 1 + share
    for name in PRICES:
        setattr(state, name, math.inf)
    state.soft = 0


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
    row, starts, vehicle_types = (np.zeros(state.customers + more, np.int32) for more in (1, 2, 1))
    count = int(export_routes(state, row, starts, vehicle_types))
    return unflatten(row, starts, count), vehicle_types[:count].tolist()
