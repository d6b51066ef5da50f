"""Bounds: what routes can cost at most, what an insertion can save at most, what leaving somebody out costs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from neuralns.errors import InputError
from neuralns.problem.distances import triangle_excess
from neuralns.problem.fleet import Group
from neuralns.problem.instance import Instance
from neuralns.problem.route_cost import RouteCost, RouteTotals
from neuralns.problem.solution import Solution

TRIANGLES = 300
"""Up to so many nodes it is worked out how far given distances break the triangle inequality."""

_excess: WeakKeyDictionary[Instance, dict[bool, float]] = WeakKeyDictionary()
"""What `triangle_excess` said of given distances (False) and durations of their own (True): several ask for it."""


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


def most_saved_by(instance: Instance, times: bool = False) -> float:
    """Return by how much the way by another node can be shorter or quicker than the direct one, by any profile."""
    found, nodes = most_saved(instance, times), len(instance.demands)
    for profile in range(1, 1 + len(instance.profiles or ())):
        if nodes > TRIANGLES:
            return float("inf")
        found = max(found, triangle_excess(instance.table(profile, times=times)))
    return found


def _given(instance: Instance, times: bool) -> Any:
    """Return the distances or the durations that an instance was given, rounded; None if they are computed."""
    if times and instance.durations is not None:
        return instance.travel_times
    return None if instance.matrix is None else instance.distances


def slack_of(instance: Instance, most_saved: Callable[..., float]) -> float:
    """Return the most by which an insertion can lower the cost, infinite if that cannot be told.

    What another vehicle can save on a route is counted apart (``State.savings``).
    """
    if not has_known_savings(instance):
        return float("inf")
    found = max(each.distance_cost for each in instance.types) * most_saved(instance)
    most = max(each.duration_cost for each in instance.types)
    if most > 0:
        found += most * most_saved(instance, times=True)
    rates = max(1.0, *(each.distance_cost for each in instance.types))
    return found + 1e-9 * rates * max(1.0, float(from_depots(instance).max()))


def has_known_savings(instance: Instance) -> bool:
    """Return whether it can be told what another vehicle saves at most on a route, by its length and duration."""
    costly = any(depot.cost > 0 for depot in instance.depots or ())
    return not (instance.profiles or instance.route_costs or (costly and len(instance.types) > 1))


def lost_anyway(instance: Instance) -> float:
    """Return the prizes of customers who can be on no route."""
    ends = {each.delivery for each in instance.shipments or ()}
    prizes = [instance.prize(node) for node in instance.unservable if node not in ends]
    return float(sum(prize for prize in prizes if np.isfinite(prize)))


def is_owed(instance: Instance, group: Group) -> bool:
    """Return whether one of a group must be served, and can be."""
    return group.required and not instance.unservable.keys() >= set(group.members)


def lost_at_most(instance: Instance) -> float:
    """Return the sum of all prizes."""
    prizes = [instance.prize(node) for node in range(1, instance.customers + 1)] if instance.prizes is not None else []
    return float(sum(prize for prize in prizes if np.isfinite(prize)))


def _tried(cost: RouteCost, totals: RouteTotals) -> float:
    """Return the amount of a cost of one's own; 0 if it knows no such routes."""
    try:
        return abs(cost(totals))
    except InputError:
        return 0.0


def most_expensive(instance: Instance) -> float:
    """Return more than any routes of an instance can cost."""
    vehicle_types = instance.types
    profiles = range(1 + len(instance.profiles or ()))
    if instance.distances is None:
        low, high = instance.points.min(axis=0), instance.points.max(axis=0)
        farthest = slowest = float(np.hypot(*(high - low))) + 1.0
    else:
        farthest = max(float(instance.table(profile).max()) for profile in profiles)
        slowest = max(float(instance.table(profile, times=True).max()) for profile in profiles)
    opening = instance.earliest[np.isfinite(instance.earliest)]
    waiting = float(opening.max(initial=0.0) - min(0.0, opening.min(initial=0.0)))
    if instance.release is not None:
        waiting += float(instance.release.max())
    stop = max(each.fixed_cost for each in vehicle_types) + 2.0 * farthest * max(
        each.distance_cost for each in vehicle_types
    )
    took = 2.0 * slowest + waiting + float(instance.services.max())
    stop += took * max(each.duration_cost for each in vehicle_types)
    total = instance.customers * stop + sum(depot.cost for depot in instance.depots or ())
    if instance.route_costs:
        size = instance.customers
        for index in range(len(vehicle_types)):
            load = float(instance.demands.sum())
            # Not all costs grow with the route: some are for routes with few stops, say.
            tried = [
                RouteTotals(share * size * 2.0 * farthest, share * size * took, share * load, float(stops), index)
                for share in (0.0, 0.5 / size, 1.0 / size, 3.0 / size, 0.1, 1.0)
                for stops in {*range(1, min(size, 30) + 1), size}
            ]
            total += size * sum(max(_tried(cost, totals) for totals in tried) for cost in instance.route_costs)
    return 1.0 + total + lost_at_most(instance)


def from_depots(instance: Instance) -> npt.NDArray[np.float64]:
    """Return the distance of each customer from the nearest depot that vehicles start or end at."""
    nodes = len(instance.demands)
    depots = {node for each in instance.types for node in (each.start, each.end) if node is not None} or {0}
    everyone = np.arange(nodes)
    legs = [instance.legs(np.full(nodes, depot), everyone) for depot in sorted(depots)]
    return np.append(np.min(legs, axis=0), 0.0)
