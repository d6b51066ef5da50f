"""The parts of an instance beyond one depot, one type of vehicle and one window each: read, and checked against all."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from neuralns.errors import InputError
from neuralns.problem.distances import Floats
from neuralns.problem.fleet import VehicleType
from neuralns.problem.values import numbers, text, window

if TYPE_CHECKING:
    from neuralns.problem.instance import Instance

Windows = tuple[tuple[float, float], ...]


def listed(name: str, what: str, values: Any, part_type: type) -> tuple[Any, ...] | None:
    """Return parts of one kind as a tuple, None if there are none."""
    if values is None:
        return None
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise InputError(f"{name}: {what} must be a list of {part_type.__name__}.")
    found = tuple(values)
    for each in found:
        if not isinstance(each, part_type):
            raise InputError(f"{name}: {what} must be a list of {part_type.__name__}, not {each!r:.60}.")
    return found or None


def read_amounts(name: str, what: str, values: Any) -> Floats | None:
    """Return amounts of goods by node and dimension, none below 0, None if there are none at all."""
    if values is None:
        return None
    try:
        flat = np.ndim(values) == 1
    except ValueError:
        flat = False
    table = numbers(f"{name}: {what}", values, 1 if flat else 2)
    for node in np.argwhere(table < 0)[:1, 0]:
        raise InputError(f"{name}: amount {np.min(table[node]):g} of node {node} in {what} is negative.")
    column = table[:, None] if flat else table
    column.setflags(write=False)
    return column if column.any() else None


def read_openings(name: str, values: Any, nodes: int) -> dict[int, Windows] | None:
    """Return the windows of the nodes that have any here, in order."""
    if values is None:
        return None
    pairs = values.items() if isinstance(values, Mapping) else enumerate(values)
    found: dict[int, Windows] = {}
    for node, spans in pairs:
        if not (isinstance(node, int | np.integer) and 0 <= node < nodes):
            raise InputError(f"{name}: openings are given for node {node!r:.60}, but nodes are 0 to {nodes - 1}.")
        windows = sorted(window(f"{name}: a window of customer {node}", span) for span in spans)
        for (_, closes), (opens, _) in pairwise(windows):
            if opens <= closes:
                raise InputError(
                    f"{name}: the windows of customer {node} overlap: one ends at {closes:.10g}, another begins at "
                    f"{opens:.10g}."
                )
        if windows:
            found[int(node)] = tuple(windows)
    return found or None


def read_skills(name: str, values: Any, nodes: int) -> dict[int, frozenset[str]] | None:
    """Return the skills that nodes need, of those that need any."""
    if values is None:
        return None
    pairs = values.items() if isinstance(values, Mapping) else enumerate(values)
    found: dict[int, frozenset[str]] = {}
    for node, needed in pairs:
        if not (isinstance(node, int | np.integer) and 0 <= node < nodes):
            raise InputError(f"{name}: skills are given for node {node!r:.60}, but nodes are 0 to {nodes - 1}.")
        if isinstance(needed, str):
            raise InputError(f"{name}: skills {needed!r:.60} of customer {node} must be a list of texts.")
        if needed:
            found[int(node)] = frozenset(text(f"{name}: skill of customer {node}", each) for each in needed)
    return found or None


def read_by_node(name: str, what: str, values: Any, nodes: int, *, endless: bool = False) -> Floats | None:
    """Return a number for each node, none below 0; None if none is given."""
    if values is None:
        return None
    found = numbers(f"{name}: {what}", values, 1, endless=endless)
    if len(found) != nodes:
        raise InputError(f"{name}: {len(found)} {what} do not fit {nodes} demands.")
    for node in np.flatnonzero(found < 0)[:1]:
        raise InputError(f"{name}: {found[node]:g} of node {node} in {what} is negative.")
    return found


def as_scalars(fleet: Sequence[VehicleType]) -> dict[str, Any] | None:
    """Return a fleet of one ordinary type as the fields of an instance that say the same; None if it is not."""
    if len(fleet) != 1:
        return None
    (only,) = fleet
    ordinary = len(only.capacity) == 1 and only.capacity[0] > 0 and not only.skills and only.available != 0
    if not ordinary or (only.start, only.end, only.profile, only.max_stops) != (0, 0, 0, None):
        return None
    return {
        "capacity": only.capacity[0],
        "vehicles": only.available,
        "vehicle_cost": only.fixed_cost,
        "distance_cost": only.distance_cost,
        "duration_cost": only.duration_cost,
        "max_distance": only.max_distance,
        "max_duration": only.max_duration,
    }


def check_parts(instance: Instance) -> None:
    """Refuse parts of an instance that contradict one another, and combinations that the search cannot do."""
    name, nodes, depots = instance.name, len(instance.demands), set(instance.depot_nodes)

    def refuse(sentence: str) -> None:
        raise InputError(f"{name}: {sentence}")

    dimensions = instance.dimensions
    for number, vehicle_type in enumerate(instance.types, 1):
        what = f"vehicle type {vehicle_type.name or number}"
        for end, where in ((vehicle_type.start, "starts"), (vehicle_type.end, "ends")):
            if end is not None and end not in depots:
                refuse(f"{what} {where} at node {end}, which is no depot.")
        if len(vehicle_type.capacity) != dimensions:
            refuse(f"{what} has capacities in {len(vehicle_type.capacity)} dimensions, but amounts have {dimensions}.")
        if vehicle_type.profile > len(instance.profiles or ()):
            refuse(f"{what} has profile {vehicle_type.profile}, but there are {len(instance.profiles or ())}.")
    if instance.fleet is not None and all(vehicle_type.available == 0 for vehicle_type in instance.fleet):
        refuse("no vehicle is available.")
    for number, profile in enumerate(instance.profiles or (), 1):
        for what, matrix in (("distance", profile.matrix), ("duration", profile.durations)):
            if matrix is not None and matrix.shape != (nodes, nodes):
                refuse(
                    f"{what} matrix of shape {matrix.shape} of profile {profile.name or number} does not fit {nodes} "
                    "nodes."
                )
            if matrix is not None and (matrix < 0).any():
                refuse(f"profile {profile.name or number} has a negative {what}.")
    for depot, node in zip(instance.depots or (), instance.depot_nodes, strict=False):
        stated = dimensions if depot.capacity is None else len(depot.capacity)
        if stated != dimensions:
            refuse(f"depot {instance.label(node)} has capacities in {stated} dimensions, not {dimensions}.")
    for cost in instance.route_costs or ():
        cost.check_types(name, len(instance.types))
    _check_shipments(instance, refuse)
    _check_rides(instance, refuse)
    _check_groups(instance, refuse)
    for node, needed in (instance.skills or {}).items():
        if node in depots:
            refuse(f"depot {instance.label(node)} needs skills, but only customers do.")
        if not any(needed <= vehicle_type.skills for vehicle_type in instance.types):
            missing = sorted(needed - frozenset().union(*(vehicle_type.skills for vehicle_type in instance.types)))
            if missing:
                refuse(f"customer {instance.label(node)} needs skill {missing[0]!r}, which no vehicle type has.")
            refuse(
                f"customer {instance.label(node)} needs skills {sorted(needed)}, which no vehicle type has together."
            )
    if instance.backhauls:
        deliveries, pickups = instance.amounts
        both = (deliveries.max(axis=1) > 0) & (pickups.max(axis=1) > 0)
        for node in np.flatnonzero(both)[:1]:
            refuse(f"customer {instance.label(node)} has a delivery and a pickup, which backhauls rule out.")
        if instance.shipments:
            refuse("backhauls do not go with shipments, whose pickups come before their deliveries.")
    if instance.openings:
        if any(
            vehicle_type.duration_cost > 0 or vehicle_type.max_duration is not None for vehicle_type in instance.types
        ):
            refuse(
                "several windows do not go with costs or limits of durations: the least duration depends on the "
                "windows that stops get."
            )
        if instance.route_costs:
            refuse(
                "several windows do not go with route costs: the least duration depends on the windows that stops get."
            )
        if any(node in instance.openings for node in depots):
            refuse("a depot has several windows; give each shift a vehicle type of its own.")
    if instance.release is not None:
        for each in instance.shipments or ():
            for node in (each.pickup, each.delivery):
                if instance.release[node] > 0:
                    refuse(
                        f"customer {instance.label(node)} is part of a shipment and has a release time, but only goods "
                        "from a depot are released; give its pickup a window."
                    )
        if any(instance.release[node] > 0 for node in depots):
            refuse("a depot has a release time, but only customers do.")


def _check_shipments(instance: Instance, refuse: Any) -> None:
    seen: set[int] = set()
    deliveries, pickups = instance.amounts
    most = [
        max(vehicle_type.capacity[dimension] for vehicle_type in instance.types)
        for dimension in range(instance.dimensions)
    ]
    for number, each in enumerate(instance.shipments or (), 1):
        for node in (each.pickup, each.delivery):
            if not 1 <= node <= instance.customers:
                refuse(f"shipment {number} visits node {node}, which is no customer.")
            if node in seen:
                refuse(f"customer {instance.label(node)} is part of two shipments, or of one twice.")
            seen.add(node)
            if deliveries[node].any() or pickups[node].any():
                refuse(f"customer {instance.label(node)} is part of a shipment and has an amount of its own.")
        if len(each.amount) != instance.dimensions:
            refuse(f"shipment {number} has an amount in {len(each.amount)} dimensions, not {instance.dimensions}.")
        for amount, limit in zip(each.amount, most, strict=True):
            if amount > limit * (1 + 1e-9):
                refuse(
                    f"shipment {number} (from {instance.label(each.pickup)} to {instance.label(each.delivery)}) is of "
                    f"{amount:.10g}, more than any vehicle carries ({limit:.10g})."
                )
        needed = instance.needs(each.pickup) | instance.needs(each.delivery)
        if needed and not any(needed <= vehicle_type.skills for vehicle_type in instance.types):
            refuse(f"shipment {number} needs skills {sorted(needed)}, which no vehicle type has together.")
        if instance.prize(each.pickup) != instance.prize(each.delivery):
            refuse(f"pickup and delivery of shipment {number} have different prizes; both must have that of the whole.")


def _check_rides(instance: Instance, refuse: Any) -> None:
    """Refuse what limited rides do not go with: start times that make rides short can make a route take longer."""
    if not instance.longest_rides:
        return
    if instance.openings:
        refuse("longest rides of shipments do not go with several windows: both choose when stops are served.")
    if any(vehicle_type.duration_cost > 0 or vehicle_type.max_duration is not None for vehicle_type in instance.types):
        refuse(
            "longest rides of shipments do not go with costs or limits of durations: shorter rides can make longer "
            "routes."
        )
    if instance.route_costs:
        refuse("longest rides of shipments do not go with route costs: shorter rides can make longer routes.")


def _check_groups(instance: Instance, refuse: Any) -> None:
    seen: dict[int, int] = {}
    shipped = {node for each in instance.shipments or () for node in (each.pickup, each.delivery)}
    for number, group in enumerate(instance.groups or (), 1):
        what = f"group {group.name or number}"
        if not group.members:
            refuse(f"{what} has no members.")
        for node in group.members:
            if not 1 <= node <= instance.customers:
                refuse(f"{what} has node {node}, which is no customer.")
            if node in seen:
                refuse(f"customer {instance.label(node)} is in two groups, or in one twice.")
            if node in shipped:
                refuse(
                    f"{what} has customer {instance.label(node)} of a shipment, but groups choose between single stops."
                )
            seen[node] = number
