"""What compiled functions read of a GENERAL instance: its fleet, depots and customers as tables."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from neuralns.compiled.caching import compiled
from neuralns.compiled.calls import address_of
from neuralns.compiled.fingerprint import key_of
from neuralns.compiled.own import compile_own
from neuralns.errors import InputError
from neuralns.problem.fleet import Group, VehicleType
from neuralns.problem.instance import Instance
from neuralns.problem.limits import LOAD_TOLERANCE, lateness_allowed, load_limits
from neuralns.problem.route_cost import RouteCost, RouteTotals
from neuralns.routes.general import DELIVERED, PICKED_UP, own_signature, rule_addresses

UNLIMITED = 1 << 40
Floats = npt.NDArray[np.float64]


def general_fields(instance: Instance) -> dict[str, Any]:
    """Return the fields of a state that only GENERAL instances use; of others, tables without rows."""
    if not instance.general:
        return _nothing()
    kinds, nodes = instance.types, len(instance.demands)
    late = lateness_allowed(instance)
    limits = load_limits(instance, LOAD_TOLERANCE / 2)
    classes, by_class = _classes(kinds)
    begin = [by_class.index(next(kind for kind in by_class if classes[kind] == own)) for own in classes]
    size = [classes.count(own) for own in classes]
    deliveries, pickups = instance.amounts
    moved = np.zeros((nodes + 1, instance.dimensions))
    moved[:nodes] = pickups
    partner, is_delivery = np.zeros(nodes + 1, np.uint32), np.zeros(nodes + 1, np.uint8)
    for each in instance.shipments or ():
        partner[each.pickup], partner[each.delivery] = each.delivery, each.pickup
        is_delivery[each.delivery] = 1
        moved[each.pickup] += each.amount
        moved[each.delivery] -= each.amount
    brought = np.zeros_like(moved)
    brought[:nodes] = deliveries
    places = {node: place for place, node in enumerate(instance.depot_nodes)}
    special = instance.depots is not None and any(
        depot.capacity is not None or depot.cost > 0 for depot in instance.depots
    )
    shifts = [_shift(instance, kind) for kind in kinds]
    return {
        "rules": rule_addresses(),
        "nowhere": nodes,
        "goods": instance.dimensions,
        "carries": np.ascontiguousarray(limits),
        "class_carries": np.array(
            [limits[[kind for kind in by_class if classes[kind] == own]].max(0) for own in classes]
        ),
        "available": np.array([UNLIMITED if kind.available is None else kind.available for kind in kinds]),
        "fixed_cost": np.array([kind.fixed_cost for kind in kinds]),
        "per_distance": np.array([kind.distance_cost for kind in kinds]),
        "per_duration": np.array([kind.duration_cost for kind in kinds]),
        "start_node": np.array([nodes if kind.start is None else kind.start for kind in kinds], np.uint32),
        "end_node": np.array([nodes if kind.end is None else kind.end for kind in kinds], np.uint32),
        "shift_opens": np.array([opens for opens, _, _ in shifts]),
        "shift_leaves": np.array([leaves + late / 2 for _, leaves, _ in shifts]),
        "shift_closes": np.array([closes + late / 2 for _, _, closes in shifts]),
        "most_distance": np.array([_or_any(kind.max_distance, late) for kind in kinds]),
        "most_duration": np.array([_or_any(kind.max_duration, late) for kind in kinds]),
        "most_stops": np.array([UNLIMITED if kind.max_stops is None else kind.max_stops for kind in kinds]),
        "profile_rows": np.array([kind.profile * (nodes + 1) for kind in kinds]),
        "class_begin": np.array(begin),
        "class_size": np.array(size),
        "by_class": np.array(by_class),
        "n_classes": len(set(classes)),
        "allowed": _allowed(instance),
        "delivery": brought,
        "pickup": moved,
        "partner": partner,
        "is_delivery": is_delivery,
        "role": _roles(instance),
        "release": _padded(instance.release, nodes),
        **_openings(instance, late),
        "group": np.array([instance.group_of.get(node, -1) for node in range(nodes + 1)], np.int32),
        "group_required": np.array([is_owed(instance, group) for group in instance.groups or ()], np.uint8),
        "from_depots": _from_depots(instance),
        "has_depots": int(special),
        "start_depot": np.array([-1 if kind.start is None else places[kind.start] for kind in kinds]),
        "end_depot": np.array([-1 if kind.end is None else places[kind.end] for kind in kinds]),
        "depot_cost": np.array([depot.cost for depot in instance.depots or ()] or [0.0]),
        "depot_capacity": _depot_capacities(instance),
        "own_costs": np.array([_own_cost(cost) for cost in instance.route_costs or ()], np.int64),
        "mixed": int(bool(instance.shipments) or (bool(pickups.any()) and not instance.backhauls)),
        "timed": int(instance.timed),
        "priced": int(bool(instance.route_costs) or any(kind.duration_cost > 0 for kind in kinds)),
        "measured": int(
            bool(instance.route_costs) or any(kind.duration_cost > 0 or kind.max_duration is not None for kind in kinds)
        ),
        "by_length": int(_goes_by_length(instance)),
        "retypes": int(len(kinds) > 1 and _has_known_savings(instance)),
        "same_hours": int(len({(kind.duration_cost, kind.shift) for kind in kinds}) == 1),
        "backhauls": int(instance.backhauls),
        "shipments": int(bool(instance.shipments)),
    }


def compile_rules(instance: Instance) -> None:
    """Compile or load what only this instance's search needs: the rules of fleets, and costs of one's own."""
    if instance.general:
        rule_addresses()
        for cost in instance.route_costs or ():
            _own_cost(cost)


def _goes_by_length(instance: Instance) -> bool:
    """Return whether nothing but lengths and deliveries decides where a customer goes on a route."""
    one_way = instance.pickups is None or instance.backhauls
    plain = one_way and not instance.timed and instance.shipments is None and not instance.route_costs
    limited = any(kind.max_distance is not None or kind.distance_cost == 0 for kind in instance.types)
    return plain and not limited and instance.distances is not None


def _nothing() -> dict[str, Any]:
    """Return the same fields for an instance that is not GENERAL."""
    wholes, numbers, table = np.zeros(0, np.int64), np.zeros(0), np.zeros((0, 0))
    nodes, small, flags = np.zeros(0, np.uint32), np.zeros(0, np.int32), np.zeros(0, np.uint8)
    return {
        "rules": wholes, "nowhere": 0, "goods": 0, "carries": table, "class_carries": table, "available": wholes,
        "fixed_cost": numbers, "per_distance": numbers, "per_duration": numbers, "start_node": nodes,
        "end_node": nodes, "shift_opens": numbers, "shift_leaves": numbers, "shift_closes": numbers,
        "most_distance": numbers, "most_duration": numbers, "most_stops": wholes, "profile_rows": wholes,
        "class_begin": wholes, "class_size": wholes, "by_class": wholes, "n_classes": 1,
        "allowed": np.zeros((0, 0), np.uint8), "delivery": table, "pickup": table, "partner": nodes,
        "is_delivery": flags, "role": small, "release": numbers, "n_openings": wholes, "first_opening": wholes,
        "opens": numbers, "closes": numbers, "group": small, "group_required": flags, "from_depots": numbers,
        "has_depots": 0, "start_depot": wholes, "end_depot": wholes, "depot_cost": numbers, "depot_capacity": table,
        "own_costs": wholes, "mixed": 0, "timed": 0, "priced": 0, "measured": 0, "by_length": 0, "backhauls": 0,
        "retypes": 0, "same_hours": 0, "shipments": 0,
    }  # fmt: skip


def _classes(kinds: Sequence[VehicleType]) -> tuple[list[int], list[int]]:
    """Return the class of each type, those that differ in capacity and costs alone, and the types class by class."""
    seen: dict[Any, int] = {}
    found = []
    for kind in kinds:
        limits = kind.max_distance, kind.max_duration, kind.max_stops
        key = kind.start, kind.end, kind.shift, limits, kind.skills, kind.profile
        found.append(seen.setdefault(key, len(seen)))
    return found, sorted(range(len(kinds)), key=lambda kind: found[kind])


def _shift(instance: Instance, kind: VehicleType) -> tuple[float, float, float]:
    """Return the first departure, the last one, and the last return of a type of vehicle."""
    opens, closes = kind.shift
    leaves = closes
    if kind.start is not None:
        opens, leaves = (
            max(opens, float(instance.earliest[kind.start])),
            min(leaves, float(instance.latest[kind.start])),
        )
    if kind.end is not None:
        closes = min(closes, float(instance.latest[kind.end]))
    return opens, leaves, closes


def _or_any(limit: float | None, late: float) -> float:
    return np.inf if limit is None else limit + late / 2


def _allowed(instance: Instance) -> npt.NDArray[np.uint8]:
    found = np.ones((len(instance.types), len(instance.demands) + 1), np.uint8)
    for node, needed in (instance.skills or {}).items():
        for index, kind in enumerate(instance.types):
            found[index, node] = needed <= kind.skills
    return found


def _roles(instance: Instance) -> npt.NDArray[np.int32]:
    found = np.zeros(len(instance.demands) + 1, np.int32)
    if instance.backhauls:
        found[1 : instance.customers + 1] = DELIVERED
        found[:-1][instance.amounts[1].any(axis=1)] = PICKED_UP
    return found


def _padded(values: Floats | None, nodes: int) -> Floats:
    return np.full(nodes + 1, -np.inf) if values is None else np.append(values, -np.inf)


def _openings(instance: Instance, late: float) -> dict[str, Any]:
    """Return the windows of nodes that have several, in a row, and where each one's begin."""
    nodes = len(instance.demands)
    count, first = np.zeros(nodes + 1, np.int64), np.zeros(nodes + 1, np.int64)
    opens: list[float] = []
    closes: list[float] = []
    for node, windows in (instance.openings or {}).items():
        count[node], first[node] = len(windows), len(opens)
        opens += [begin for begin, _ in windows]
        closes += [end + late / 2 for _, end in windows]
    return {"n_openings": count, "first_opening": first, "opens": np.array(opens), "closes": np.array(closes)}


def _from_depots(instance: Instance) -> Floats:
    """Return the distance of each customer from the nearest depot that vehicles start or end at."""
    nodes = len(instance.demands)
    depots = {node for kind in instance.types for node in (kind.start, kind.end) if node is not None} or {0}
    everyone = np.arange(nodes)
    legs = [instance.legs(np.full(nodes, depot), everyone) for depot in sorted(depots)]
    return np.append(np.min(legs, axis=0), 0.0)


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


def slack_of(instance: Instance, most_saved: Callable[..., float]) -> float:
    """Return the most by which an insertion can lower the cost, infinite if that cannot be told.

    What another vehicle can save on a route is counted apart (``State.savings``).
    """
    if not _has_known_savings(instance):
        return float("inf")
    found = max(kind.distance_cost for kind in instance.types) * most_saved(instance)
    most = max(kind.duration_cost for kind in instance.types)
    if most > 0:
        found += most * most_saved(instance, times=True)
    rates = max(1.0, *(kind.distance_cost for kind in instance.types))
    return found + 1e-9 * rates * max(1.0, float(_from_depots(instance).max()))


def _has_known_savings(instance: Instance) -> bool:
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
    kinds = instance.types
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
    stop = max(kind.fixed_cost for kind in kinds) + 2.0 * farthest * max(kind.distance_cost for kind in kinds)
    took = 2.0 * slowest + waiting + float(instance.services.max())
    stop += took * max(kind.duration_cost for kind in kinds)
    total = instance.customers * stop + sum(depot.cost for depot in instance.depots or ())
    if instance.route_costs:
        size = instance.customers
        for index in range(len(kinds)):
            load = float(instance.demands.sum())
            # Not all costs grow with the route: some are for routes with few stops, say.
            tried = [
                RouteTotals(share * size * 2.0 * farthest, share * size * took, share * load, float(stops), index)
                for share in (0.0, 0.5 / size, 1.0 / size, 3.0 / size, 0.1, 1.0)
                for stops in {*range(1, min(size, 30) + 1), size}
            ]
            total += size * sum(max(_tried(cost, totals) for totals in tried) for cost in instance.route_costs)
    return 1.0 + total + lost_at_most(instance)
