"""What a route may carry and how long it may take, to the last digit, and who can be on no route at all."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from neuralns.problem.instance import Instance

LOAD_TOLERANCE = 1e-9
"""Relative overload that is blamed on the rounding of sums of fractional demands."""
TIME_TOLERANCE = 1e-11
"""Lateness that is blamed on the rounding of sums, as a share of the latest time that routes come near to."""
FARTHEST = 1e13
"""Times later than that never count: a share of them is 100 and more, which is no rounding."""


def load_limit(instance: Instance, tolerance: float = LOAD_TOLERANCE) -> float:
    """Return the largest sum of demands that a vehicle takes.

    Sums of whole numbers are exact, so that there nothing is above the capacity; sums of others may be off by rounding.

    >>> from neuralns import Instance
    >>> load_limit(Instance("heavy", [0, 1], 4e9, [[0, 0], [1, 1]])) == 4e9
    True
    """
    demands, capacity = instance.demands, instance.capacity
    whole = capacity.is_integer() and bool((demands == np.floor(demands)).all())
    exact = whole and max(capacity, float(demands.sum())) < 2**53
    return capacity if exact else capacity * (1.0 + tolerance)


def load_limits(instance: Instance, tolerance: float = LOAD_TOLERANCE) -> npt.NDArray[np.float64]:
    """Return the largest amounts that vehicles of each type take, by dimension, as `load_limit` does for one."""
    limits = np.array([vehicle_type.capacity for vehicle_type in instance.types])
    amounts = [*instance.amounts, np.array([each.amount for each in instance.shipments or ()]), limits]
    exact = all((part == np.floor(part)).all() and float(part.sum()) < 2**53 for part in amounts)
    return limits if exact else limits * (1.0 + tolerance)


def lateness_allowed(instance: Instance) -> float:
    """Return how late, or how much too long or too far, is still blamed on the rounding of sums."""
    return instance.lateness_allowed


def find_lateness_allowed(instance: Instance) -> float:
    """Return a share of the largest number that sums of times or lengths come near to.

    Ends that no route comes near, such as one of 1e17 that means never, are no such number: a share of it would be more
    than all ways together.
    """
    begins, ends = [np.zeros(1)], [np.ones(1)]
    for vehicle_type in instance.types:
        begins.append(np.array([vehicle_type.shift[0]]))
        ends.append(
            np.array([vehicle_type.shift[1], vehicle_type.max_duration or 0.0, vehicle_type.max_distance or 0.0])
        )
    if instance.release is not None:
        begins.append(instance.release)
    ends.append(np.array([longest for _, longest in instance.longest_rides.values()]))
    if instance.windows is not None:
        begins.append(instance.windows[:, 0])
        ends.append(instance.windows[:, 1])
    first, last = np.abs(np.concatenate(begins)), np.abs(np.concatenate(ends))
    first = first[first <= FARTHEST]
    horizon = first.max() + (len(instance.demands) + 1) * (1.0 + _longest_leg(instance)) + instance.services.sum()
    return TIME_TOLERANCE * float(max(first.max(), last[last <= min(horizon, FARTHEST)].max(initial=1.0)))


def _longest_leg(instance: Instance) -> float:
    """Return what no leg is longer than, nor takes longer."""
    tables = [instance.matrix, instance.durations]
    for profile in instance.profiles or ():
        tables += [profile.matrix, profile.durations]
    found = [float(table.max()) for table in tables if table is not None]
    if instance.matrix is None:
        found.append(float(np.hypot(*np.ptp(instance.points, axis=0))))
    return max(found)


def find_unservable(instance: Instance) -> dict[int, str]:
    """Return the customers that no route whatever can serve, each with a clause that says why.

    Where distances or travel times are given or rounded, a detour may be quicker than the way itself: the quickest way
    counts.
    """
    if instance.general:
        return _unservable_by_all(instance)
    reasons: dict[int, str] = {}
    limit, tolerance = load_limit(instance), lateness_allowed(instance)
    for customer in np.flatnonzero(instance.demands > limit).tolist():
        demand = instance.demands[customer]
        reasons[customer] = f"its demand {demand:.10g} is above the capacity {instance.capacity:.10g}"
    nodes = np.arange(instance.customers + 1)
    depot = np.zeros_like(nodes)
    detours = instance.matrix is not None or instance.rounding != "none"
    if instance.timed:
        out, back = instance.times(depot, nodes), instance.times(nodes, depot)
        matrix = instance.distances if instance.durations is None else instance.travel_times
        if matrix is not None and (detours or instance.durations is not None):
            out, back = _least_from_depot(matrix), _least_from_depot(matrix.T)
        begin = np.maximum(instance.earliest[0] + out, instance.earliest)
        done = begin + instance.services + back
        for customer in np.flatnonzero(begin > instance.latest + tolerance).tolist():
            reasons.setdefault(
                customer,
                f"its window ends at {instance.at(instance.latest[customer])}, and nobody can be there before "
                f"{instance.at(begin[customer])}",
            )
        for customer in np.flatnonzero(done[1:] > instance.latest[0] + tolerance).tolist():
            reasons.setdefault(
                customer + 1,
                f"nobody who serves it is back before {instance.at(done[customer + 1])}, and the depot closes at "
                f"{instance.at(instance.latest[0])}",
            )
        if instance.max_duration is not None:
            least = out + instance.services + back
            for customer in np.flatnonzero(least > instance.max_duration + tolerance).tolist():
                reasons.setdefault(
                    customer,
                    f"a route to it takes at least {least[customer]:.10g}, and may take {instance.max_duration:.10g}",
                )
    if instance.max_distance is not None:
        far = instance.legs(depot, nodes) + instance.legs(nodes, depot)
        if detours and instance.distances is not None:
            far = _least_from_depot(instance.distances) + _least_from_depot(instance.distances.T)
        for customer in np.flatnonzero(far > instance.max_distance + tolerance).tolist():
            reasons.setdefault(
                customer,
                f"a route to it is at least {far[customer]:.10g} long, and may be {instance.max_distance:.10g}",
            )
    return dict(sorted(reasons.items()))


def _unservable_by_all(instance: Instance) -> dict[int, str]:
    """Return the customers that no type of vehicle can serve, each with what rules out the last type."""
    nodes = np.arange(instance.customers + 1)
    reasons: dict[int, str] = {}
    served = np.zeros(len(nodes), dtype=bool)
    limits, tolerance = load_limits(instance), lateness_allowed(instance)
    deliveries, pickups = instance.amounts
    ways: dict[tuple[int, int | None, bool, bool], npt.NDArray[np.float64]] = {}

    def way(profile: int, depot: int | None, back: bool, time: bool) -> npt.NDArray[np.float64]:
        key = profile, depot, back, time
        if key not in ways:
            ways[key] = _least_ways(instance, profile, depot, back, time)[: len(nodes)]
        return ways[key]

    for index, vehicle_type in enumerate(instance.types):
        who = f"vehicles of {instance.type_name(index)}" if len(instance.types) > 1 else "vehicles"
        why: dict[int, str] = {}
        heavy = (np.maximum(deliveries, pickups)[nodes] > limits[index]).any(axis=1)
        for node in np.flatnonzero(heavy).tolist():
            why.setdefault(node, f"its amount is above the capacity of {who}")
        if instance.skills is not None:
            for node, needed in instance.skills.items():
                if not needed <= vehicle_type.skills:
                    why.setdefault(node, f"{who} lack the skill {sorted(needed - vehicle_type.skills)[0]!r}")
        if instance.timed:
            out, back = (
                way(vehicle_type.profile, vehicle_type.start, False, True),
                way(vehicle_type.profile, vehicle_type.end, True, True),
            )
            first = max(
                vehicle_type.shift[0], -np.inf if vehicle_type.start is None else instance.earliest[vehicle_type.start]
            )
            last = min(vehicle_type.shift[1], np.inf if vehicle_type.end is None else instance.latest[vehicle_type.end])
            freed = first if instance.release is None else np.maximum(first, instance.release[nodes])
            begin = np.maximum(freed + out, instance.earliest[nodes])
            done = begin + instance.services[nodes] + back
            leaves = min(
                vehicle_type.shift[1], np.inf if vehicle_type.start is None else instance.latest[vehicle_type.start]
            )
            for node in np.flatnonzero(np.broadcast_to(freed > leaves + tolerance, len(nodes))).tolist():
                why.setdefault(node, f"{who} could leave only after {instance.at(leaves)}, when the depot has closed")
            for node in np.flatnonzero(begin > instance.latest[nodes] + tolerance).tolist():
                why.setdefault(
                    node,
                    f"its window ends at {instance.at(instance.latest[node])}, and {who} cannot be there before "
                    f"{instance.at(begin[node])}",
                )
            for node in np.flatnonzero(done > last + tolerance).tolist():
                why.setdefault(
                    node, f"{who} that serve it are back at {instance.at(done[node])} at the earliest, too late"
                )
            if vehicle_type.max_duration is not None:
                least = out + instance.services[nodes] + back
                for node in np.flatnonzero(least > vehicle_type.max_duration + tolerance).tolist():
                    why.setdefault(node, f"a route to it takes {who} at least {least[node]:.10g}, too long")
        for delivery, (pickup, longest) in instance.longest_rides.items():
            ride = _least_ride(instance, vehicle_type.profile, pickup, delivery, longest + tolerance)
            if ride > longest + tolerance:
                reason = f"the goods of its shipment ride at least {ride:.10g} in {who}, and may ride {longest:.10g}"
                for node in (pickup, delivery):
                    why.setdefault(node, reason)
        if vehicle_type.max_distance is not None:
            far = way(vehicle_type.profile, vehicle_type.start, False, False) + way(
                vehicle_type.profile, vehicle_type.end, True, False
            )
            for node in np.flatnonzero(far > vehicle_type.max_distance + tolerance).tolist():
                why.setdefault(node, f"a route to it is at least {far[node]:.10g} long, too far for {who}")
        if vehicle_type.available == 0 or vehicle_type.max_stops == 0:
            why = {int(node): why.get(int(node), f"{who} serve nobody") for node in nodes}
        for node in nodes.tolist():
            if node not in why:
                served[node] = True
        reasons |= why
    found = {node: reason for node, reason in reasons.items() if node > 0 and not served[node]}
    for each in instance.shipments or ():
        for node, other in ((each.pickup, each.delivery), (each.delivery, each.pickup)):
            if node in found:
                found.setdefault(other, f"the other end of its shipment cannot be served: {found[node]}")
    return dict(sorted(found.items()))


def _least_ride(instance: Instance, profile: int, pickup: int, delivery: int, enough: float) -> float:
    """Return how long goods ride at least: on the quickest way, and from the last pickup to the first delivery.

    Detours are looked for only where the way itself takes longer than is ``enough``.
    """
    way = float(instance.times([pickup], [delivery], profile)[0])
    if way > enough:
        way = min(way, float(_least_ways(instance, profile, pickup, False, True)[delivery]))
    return max(way, float(instance.earliest[delivery] - instance.latest[pickup] - instance.services[pickup]))


def _least_ways(instance: Instance, profile: int, depot: int | None, back: bool, time: bool) -> npt.NDArray[np.float64]:
    """Return the least distance or travel time from a depot to all nodes or back; 0 without a depot."""
    nodes = len(instance.demands)
    if depot is None:
        return np.zeros(nodes)
    everyone, there = np.arange(nodes), np.full(nodes, depot)
    ends = (everyone, there) if back else (there, everyone)
    computed = profile == 0 and instance.matrix is None and not (time and instance.durations is not None)
    if computed and (instance.rounding == "none" or instance.distances is None):
        return instance.legs(*ends)
    matrix = instance.table(profile, times=time)
    return _least_from_depot(matrix.T if back else matrix, depot)


def _least_from_depot(matrix: npt.NDArray[np.float64], depot: int = 0) -> npt.NDArray[np.float64]:
    """Return the shortest ways from a node to all nodes (Dijkstra 1959)."""
    least: npt.NDArray[np.float64] = matrix[depot].copy()
    least[depot] = 0.0
    waiting = np.ones(len(matrix), dtype=bool)
    waiting[depot] = False
    while waiting.any():
        nearest = int(np.argmin(np.where(waiting, least, np.inf)))
        waiting[nearest] = False
        np.minimum(least, least[nearest] + matrix[nearest], out=least)
    return least
