"""What compiled functions read of an instance: its nodes, vehicle types and depots as tables, and what it has."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from neuralns.compiled.caching import compiled
from neuralns.compiled.calls import address_of
from neuralns.compiled.fingerprint import key_of
from neuralns.compiled.own import compile_own
from neuralns.problem.distances import ROUNDINGS
from neuralns.problem.fleet import VehicleType
from neuralns.problem.initial import nearest_neighbours
from neuralns.problem.instance import Instance
from neuralns.problem.limits import LOAD_TOLERANCE, lateness_allowed, load_limit, load_limits
from neuralns.problem.route_cost import RouteCost, RouteTotals
from neuralns.routes.answers import PROFILES, addresses_of, compilations_of, profile_of
from neuralns.routes.bounds import (
    from_depots,
    has_known_savings,
    is_owed,
    least_gain,
    lost_anyway,
    most_saved_by,
    unserved_cost,
)
from neuralns.routes.cost import own_signature
from neuralns.routes.insertion import COMPUTED, ONE_TABLE, TABLES
from neuralns.routes.rules.backhauls import BACKHAUL, LINEHAUL

FULL_NEIGHBOURS = 1000
"""Up to so many customers each node knows all others by distance; above, its nearest `SOME_NEIGHBOURS`."""
SOME_NEIGHBOURS = 100
PAIRS_AT_ONCE = 100_000
"""Pairs of nodes that are looked at at once: little memory, and few calls of numpy."""
UNLIMITED = 1 << 40
Floats = npt.NDArray[np.float64]


def facts_of(instance: Instance) -> dict[str, int]:
    """Return what an instance has, as rules are compiled for it (see `answers`)."""
    vehicle_types = instance.types
    pickups = instance.amounts[1]
    depots = any(depot.capacity is not None or depot.cost > 0 for depot in instance.depots or ())
    simple = (
        instance.dimensions == 1
        and not (pickups.any() or instance.shipments or instance.route_costs or depots or instance.backhauls)
        and np.array_equal(instance.amounts[0][:, 0], instance.demands)
    )
    measured = any(each.duration_cost > 0 or each.max_duration is not None for each in vehicle_types)
    found = {
        "varied": len(vehicle_types) > 1 or vehicle_types[0].profile > 0,
        "ends": any(each.start != 0 or each.end != 0 for each in vehicle_types),
        "simple_load": simple,
        "mixed": bool(instance.shipments) or (pickups.any() and not instance.backhauls),
        "timed": instance.timed,
        "measured": bool(instance.route_costs) or measured,
        "releases": instance.release is not None,
        "openings": bool(instance.openings),
        "owned": bool(instance.route_costs),
        "limited": any(each.max_distance is not None or each.max_stops is not None for each in vehicle_types),
        "skilled": any((instance.skills or {}).values()),
        "backhauls": instance.backhauls,
        "shipments": bool(instance.shipments),
        "rides": bool(instance.longest_rides),
        "grouped": bool(instance.groups),
        "has_depots": depots,
    }
    return {fact: int(value) for fact, value in found.items()}


def profile_of_instance(instance: Instance) -> str:
    """Return the profile of rules of an instance."""
    return profile_of(facts_of(instance))


def compilations_of_rules(instance: Instance) -> list[Callable[[], object]]:
    """Return what compiles what only this instance's search needs: its profile of rules, and costs of one's own."""
    own = [partial(_own_cost, cost) for cost in instance.route_costs or ()]
    return [*compilations_of(profile_of_instance(instance)), *own]


def tables_of(instance: Instance) -> dict[str, Any]:
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
    facts = facts_of(instance)
    profile = profile_of(facts)
    granular = granular_neighbours(instance, neighbours)
    tolerance = lateness_allowed(instance)
    charge = unserved_cost(instance)
    return {
        **_fleet_fields(instance),
        "prize": np.array([charge, *(min(charge, instance.prize(node)) for node in range(1, nodes))]),
        "granular": granular,
        "granular_distances": granular_distances(instance, granular),
        "profile": list(PROFILES).index(profile),
        "questions": addresses_of(profile),
        **facts,
        "vehicles": instance.customers + 1 if instance.vehicles is None else instance.vehicles,
        "slack": least_gain(instance),
        "unserved_cost": charge,
        "lost": lost_anyway(instance),
        "optional": int(instance.prizes is not None or instance.groups is not None),
        "servable": servable(instance),
        "durations": times,
        "durations_to": times_to,
        "lookup": _lookup(matrix, transposed, times, instance.timed),
        "earliest": np.ascontiguousarray(instance.earliest),
        "latest": instance.latest + tolerance / 2,
        "service": instance.services.copy(),
        "horizon": horizon(instance, float(from_depot.mean())),
        "detour": most_saved_by(instance, times=True) if instance.timed else 0.0,
        "shortcut": most_saved_by(instance) if facts["limited"] else 0.0,
        "noise": tolerance / 4,
        "customers": instance.customers,
        "capacity": load_limit(instance, LOAD_TOLERANCE / 2),
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


def _lookup(distances: Floats, transposed: Floats, times: Floats, timed: bool) -> int:
    """Return how legs are looked up."""
    if len(distances) == 0:
        return COMPUTED
    return ONE_TABLE if transposed is distances and (times is distances or not timed) else TABLES


def _fleet_fields(instance: Instance) -> dict[str, Any]:
    """Return vehicle types, depots, and what customers ask of them."""
    vehicle_types, nodes = instance.types, len(instance.demands)
    tolerance = lateness_allowed(instance)
    limits = load_limits(instance, LOAD_TOLERANCE / 2)
    classes, by_class = _classes(vehicle_types)
    begin = [by_class.index(next(vehicle for vehicle in by_class if classes[vehicle] == own)) for own in classes]
    size = [classes.count(own) for own in classes]
    deliveries, pickups = instance.amounts
    moved = np.zeros((nodes + 1, instance.dimensions))
    moved[:nodes] = pickups
    partner, is_delivery = np.zeros(nodes + 1, np.uint32), np.zeros(nodes + 1, np.uint8)
    longest_ride = np.full(nodes + 1, np.inf)
    for each in instance.shipments or ():
        partner[each.pickup], partner[each.delivery] = each.delivery, each.pickup
        is_delivery[each.delivery] = 1
        longest_ride[each.pickup] = _or_any(each.max_ride, tolerance)
        moved[each.pickup] += each.amount
        moved[each.delivery] -= each.amount
    brought = np.zeros_like(moved)
    brought[:nodes] = deliveries
    places = {node: place for place, node in enumerate(instance.depot_nodes)}
    shifts = [_shift(instance, each) for each in vehicle_types]
    return {
        "nowhere": nodes,
        "goods": instance.dimensions,
        "goods_weight": _goods_weights(limits),
        "carries": np.ascontiguousarray(limits),
        "available": np.array([UNLIMITED if each.available is None else each.available for each in vehicle_types]),
        "fixed_cost": np.array([each.fixed_cost for each in vehicle_types]),
        "per_distance": np.array([each.distance_cost for each in vehicle_types]),
        "per_duration": np.array([each.duration_cost for each in vehicle_types]),
        "start_node": np.array([nodes if each.start is None else each.start for each in vehicle_types], np.uint32),
        "end_node": np.array([nodes if each.end is None else each.end for each in vehicle_types], np.uint32),
        "shift_opens": np.array([opens for opens, _, _ in shifts]),
        "shift_leaves": np.array([leaves + tolerance / 2 for _, leaves, _ in shifts]),
        "shift_closes": np.array([closes + tolerance / 2 for _, _, closes in shifts]),
        "most_distance": np.array([_or_any(each.max_distance, tolerance) for each in vehicle_types]),
        "most_duration": np.array([_or_any(each.max_duration, tolerance) for each in vehicle_types]),
        "most_stops": np.array([UNLIMITED if each.max_stops is None else each.max_stops for each in vehicle_types]),
        "profile_rows": np.array([each.profile * (nodes + 1) for each in vehicle_types], np.uint32),
        "class_begin": np.array(begin),
        "class_size": np.array(size),
        "by_class": np.array(by_class),
        "n_classes": len(set(classes)),
        "scarce": int(len(vehicle_types) > 1 and any(each.available is not None for each in vehicle_types)),
        "allowed": _allowed(instance),
        "delivery": brought,
        "pickup": moved,
        "alone": np.full((len(vehicle_types), instance.customers + 1), np.nan),
        "longest_ride": longest_ride,
        "partner": partner,
        "is_delivery": is_delivery,
        "role": _roles(instance),
        "release": _padded(instance.release, nodes),
        **_openings(instance, tolerance),
        "group": np.array([instance.group_of.get(node, -1) for node in range(nodes + 1)], np.int32),
        "group_required": np.array([is_owed(instance, group) for group in instance.groups or ()], np.uint8),
        "from_depots": from_depots(instance),
        "start_depot": np.array([-1 if each.start is None else places[each.start] for each in vehicle_types]),
        "end_depot": np.array([-1 if each.end is None else places[each.end] for each in vehicle_types]),
        "depot_cost": np.array([depot.cost for depot in instance.depots or ()] or [0.0]),
        "depot_capacity": _depot_capacities(instance),
        "own_costs": np.array([_own_cost(cost) for cost in instance.route_costs or ()], np.int64),
        "priced": int(bool(instance.route_costs) or any(each.duration_cost > 0 for each in vehicle_types)),
        "by_distance": int(_legs_cost_distance(instance)),
        "retypes": int(len(vehicle_types) > 1 and has_known_savings(instance)),
        "same_hours": int(len({(each.duration_cost, each.shift, each.start, each.end) for each in vehicle_types}) == 1),
    }


def _legs_cost_distance(instance: Instance) -> bool:
    """Return whether the cost of a leg is its distance, which is held, whatever the vehicle."""
    same = all(
        (each.start, each.end, each.profile, each.distance_cost, each.duration_cost) == (0, 0, 0, 1.0, 0.0)
        for each in instance.types
    )
    return same and instance.distances is not None


def most_carried(instance: Instance) -> Floats:
    """Return for each vehicle type the most that any type of its class carries."""
    limits, classes = load_limits(instance, LOAD_TOLERANCE / 2), np.array(_classes(instance.types)[0])
    return np.array([limits[classes == own].max(axis=0) for own in classes])


def _goods_weights(limits: Floats) -> Floats:
    """Return how much of the first kind of goods is as much as one unit of each, by what vehicles carry of them."""
    most = np.array([each[np.isfinite(each) & (each > 0)].max(initial=0.0) for each in limits.T])
    found = np.ones(len(most))
    np.divide(most[0], most, out=found, where=(most > 0) & (most[0] > 0))
    return found


def _classes(vehicle_types: Sequence[VehicleType]) -> tuple[list[int], list[int]]:
    """Return the class of each type, those that differ in capacity and costs alone, and the types class by class.

    The order follows from what the types are, not from the order in which they were given.
    """
    rules = [
        repr((each.start, each.end, each.shift, each.max_distance, each.max_duration, each.max_stops,
              sorted(each.skills), each.profile))
        for each in vehicle_types
    ]  # fmt: skip
    costs = [(each.fixed_cost, each.distance_cost, each.duration_cost, each.capacity) for each in vehicle_types]
    names = sorted(set(rules))
    by_class = sorted(range(len(vehicle_types)), key=lambda vehicle: (rules[vehicle], costs[vehicle]))
    return [names.index(rule) for rule in rules], by_class


def _shift(instance: Instance, vehicle_type: VehicleType) -> tuple[float, float, float]:
    """Return the first departure, the last one, and the last return of a type of vehicle."""
    opens, closes = vehicle_type.shift
    leaves = closes
    if vehicle_type.start is not None:
        opens, leaves = (
            max(opens, float(instance.earliest[vehicle_type.start])),
            min(leaves, float(instance.latest[vehicle_type.start])),
        )
    if vehicle_type.end is not None:
        closes = min(closes, float(instance.latest[vehicle_type.end]))
    return opens, leaves, closes


def _or_any(limit: float | None, tolerance: float) -> float:
    return np.inf if limit is None else limit + tolerance / 2


def _allowed(instance: Instance) -> npt.NDArray[np.uint8]:
    found = np.ones((len(instance.types), len(instance.demands) + 1), np.uint8)
    for node, needed in (instance.skills or {}).items():
        for index, vehicle_type in enumerate(instance.types):
            found[index, node] = needed <= vehicle_type.skills
    return found


def _roles(instance: Instance) -> npt.NDArray[np.int32]:
    found = np.zeros(len(instance.demands) + 1, np.int32)
    if instance.backhauls:
        found[1 : instance.customers + 1] = LINEHAUL
        found[:-1][instance.amounts[1].any(axis=1)] = BACKHAUL
    return found


def _padded(values: Floats | None, nodes: int) -> Floats:
    return np.full(nodes + 1, -np.inf) if values is None else np.append(values, -np.inf)


def _openings(instance: Instance, tolerance: float) -> dict[str, Any]:
    """Return the windows of nodes that have several, in a row, and where each one's begin."""
    nodes = len(instance.demands)
    count, first = np.zeros(nodes + 1, np.int64), np.zeros(nodes + 1, np.int64)
    opens: list[float] = []
    closes: list[float] = []
    for node, windows in (instance.openings or {}).items():
        count[node], first[node] = len(windows), len(opens)
        opens += [begin for begin, _ in windows]
        closes += [end + tolerance / 2 for _, end in windows]
    return {"n_openings": count, "first_opening": first, "opens": np.array(opens), "closes": np.array(closes)}


def _depot_capacities(instance: Instance) -> Floats:
    depots = instance.depots or (None,)
    nothing = (np.inf,) * instance.dimensions
    rows = [nothing if depot is None or depot.capacity is None else depot.capacity for depot in depots]
    return np.array(rows) * (1.0 + LOAD_TOLERANCE / 2)


def _own_cost(cost: RouteCost) -> int:
    """Return the address of a cost of one's own, compiled."""
    return address_of(_compiled_cost(str(cost), cost.function))


_costs: dict[tuple[Any, ...], Any] = {}


def _compiled_cost(what: str, function: Callable[[RouteTotals], float]) -> Any:
    key = what, function, key_of(function)
    if key not in _costs:
        _costs[key] = _compile_cost(what, function)
    return _costs[key]


def _compile_cost(what: str, function: Callable[[RouteTotals], float]) -> Any:
    inner = compiled(function, error_model="python")

    def call(distance, duration, load, stops, vehicle):
        cost = float(inner(RouteTotals(distance, duration, load, stops, vehicle)))
        # Routes whose cost is no number are avoided.
        return cost if np.isfinite(cost) else np.inf

    return compile_own(what, own_signature, call, written=function)


def all_distances(instance: Instance, times: bool) -> tuple[Floats, Floats]:
    """Return the distances, or the durations, of all profiles one below the other, with a node that stands for none.

    They come from each node to all others, and to each node from all others, in the same memory if that is the same.
    """
    nodes, profiles = len(instance.demands), 1 + len(instance.profiles or ())
    # They are large: each is written to its place, and there is no other copy.
    tables = np.zeros((profiles, nodes + 1, nodes + 1))
    for profile, table in enumerate(tables):
        table[:nodes, :nodes] = instance.table(profile, times=times)
        np.fill_diagonal(table, 0.0)
    there = tables.reshape(-1, nodes + 1)
    if all(np.array_equal(table, table.T) for table in tables):
        return there, there
    return there, np.ascontiguousarray(tables.transpose(0, 2, 1)).reshape(-1, nodes + 1)


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


def granular_neighbours(instance: Instance, neighbours: npt.NDArray[np.uint32]) -> npt.NDArray[np.uint32]:
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


def granular_distances(instance: Instance, granular: npt.NDArray[np.uint32]) -> npt.NDArray[np.float32]:
    """Return how far those of `granular_neighbours` are, where lengths between points are all that counts."""
    plain = profile_of_instance(instance) == "plain" and instance.types[0].distance_cost == 1
    if not plain or instance.matrix is not None:
        return np.zeros((0, 0), np.float32)
    found = np.zeros(granular.shape, np.float32)
    rows = max(1, PAIRS_AT_ONCE // max(1, granular.shape[1]))
    for begin in range(0, len(granular), rows):
        block = granular[begin : begin + rows]
        nodes = np.repeat(np.arange(begin, begin + len(block)), block.shape[1])
        found[begin : begin + rows] = instance.legs(nodes, block.ravel()).reshape(block.shape)
    return found
