"""An instance of a vehicle routing problem: demands and a capacity, and as many other rules as it states."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from neuralns.errors import InputError
from neuralns.problem.clock import check_clock, format_time
from neuralns.problem.distances import Floats, Rounding, embed, euclidean, round_distances, rounding_named
from neuralns.problem.fleet import ALWAYS, Depot, Group, Profile, Shipment, VehicleType
from neuralns.problem.limits import find_lateness_allowed, find_unservable
from neuralns.problem.parts import (
    Windows,
    as_scalars,
    check_parts,
    listed,
    read_amounts,
    read_by_node,
    read_openings,
    read_skills,
)
from neuralns.problem.route_cost import RouteCost, RouteTotals, route_cost
from neuralns.problem.values import (
    LARGEST_NUMBER,
    form_of,
    not_negative,
    numbers,
    one_number,
    same_fields,
    whole_number,
)

MATRIX_LIMIT = 5000
"""Largest number of nodes for which distances are held as a matrix (200 MB); above it they are computed on demand."""


@dataclass(frozen=True, eq=False, init=False, repr=False)
class Instance:
    """Customers with demands, depots, vehicles, time windows, and the objective's parameters.

    Node 0 is the depot, nodes 1 to n are the customers, nodes from n + 1 on further depots. The objective is
    F = ``distance_cost`` × length + ``duration_cost`` × duration of all routes + ``vehicle_cost`` × number of routes,
    by type of vehicle if there is a fleet of several, and the prizes of customers left out, what it costs to open the
    depots used, and costs of one's own.

    Parameters
    ----------
    name
        What to call the instance in output.
    demands
        Demand of every node, the depot's first (0).
    capacity
        Load that one vehicle carries.
    coordinates
        Points of the nodes, shape (n + 1, 2); may be left out if ``matrix`` is given.
    matrix
        Explicit distances, shape (n + 1, n + 1); Euclidean distances of the coordinates if left out.
    rounding
        Convention applied to distances: ``none``, ``round``, ``trunc`` or ``dimacs``.
    vehicle_cost
        Cost of each route in addition to its length.
    best_known
        Best known cost under this rounding, if there is one.
    windows
        Earliest and latest start of service of every node, shape (n + 1, 2); the depot's is the shift, from the first
        departure to the last return. Waiting is allowed; ``inf`` as the latest means any time.
    service
        How long the service of every node takes, the depot's first (0).
    durations
        How long travelling takes, shape (n + 1, n + 1), under the same rounding; the distances if left out.
    vehicles
        The most routes; as many as needed if left out.
    max_duration, max_distance
        The longest that a route may take and be; any if left out.
    distance_cost, duration_cost
        What a unit of length and a unit of a route's duration costs, waiting and service included.
    names
        What to call the nodes in output, the depot first; their numbers if left out.
    clock
        Where times are minutes, what minute 0 is called: ``00:00``, or a date and time; output shows times by it.
    fleet
        Types of vehicles, in place of capacity, vehicles, their limits and costs.
    depots
        Where there are several, what there is to each: their capacities and costs.
    deliveries, pickups
        Amounts that every node gets from the depot and sends to it, of one or of several dimensions of goods (shape
        (n + 1, dimensions)); in place of demands, which are deliveries of one.
    openings
        Of nodes with several windows, all of them.
    release
        When the goods of every node can leave the depot.
    prizes
        What is lost if a node is not served: infinite (as for all if left out) where it has to be.
    groups
        Customers of whom only one is served.
    skills
        What nodes need a vehicle to be able to do.
    shipments
        Goods picked up at one customer and delivered to another one.
    backhauls
        Whether all deliveries of a route come before its pickups, and no route has pickups alone.
    profiles
        Distances and durations of their own for some types of vehicles.
    route_costs
        Costs of one's own, functions of a route's totals.

    Examples
    --------
    >>> square = Instance("square", [0, 1, 1, 1], 2, coordinates=[[0, 0], [0, 3], [4, 3], [4, 0]])
    >>> square.customers, square.distance(0, 2)
    (3, 5.0)
    """

    name: str
    demands: Floats
    capacity: float
    coordinates: Floats | None
    matrix: Floats | None
    rounding: Rounding
    vehicle_cost: float
    best_known: float | None
    windows: Floats | None
    service: Floats | None
    durations: Floats | None
    vehicles: int | None
    max_duration: float | None
    max_distance: float | None
    distance_cost: float
    duration_cost: float
    names: tuple[str, ...] | None
    clock: str | None
    fleet: tuple[VehicleType, ...] | None
    depots: tuple[Depot, ...] | None
    deliveries: Floats | None
    pickups: Floats | None
    openings: Mapping[int, Windows] | None
    release: Floats | None
    prizes: Floats | None
    groups: tuple[Group, ...] | None
    skills: Mapping[int, frozenset[str]] | None
    shipments: tuple[Shipment, ...] | None
    backhauls: bool
    profiles: tuple[Profile, ...] | None
    route_costs: tuple[RouteCost, ...] | None

    def __init__(
        self,
        name: str,
        demands: npt.ArrayLike | None = None,
        capacity: float | None = None,
        coordinates: npt.ArrayLike | None = None,
        matrix: npt.ArrayLike | None = None,
        rounding: Rounding = "none",
        vehicle_cost: float = 0.0,
        best_known: float | None = None,
        *,
        windows: npt.ArrayLike | None = None,
        service: npt.ArrayLike | None = None,
        durations: npt.ArrayLike | None = None,
        vehicles: int | None = None,
        max_duration: float | None = None,
        max_distance: float | None = None,
        distance_cost: float = 1.0,
        duration_cost: float = 0.0,
        names: Sequence[str] | None = None,
        clock: str | None = None,
        fleet: Sequence[VehicleType] | None = None,
        depots: Sequence[Depot] | None = None,
        deliveries: npt.ArrayLike | None = None,
        pickups: npt.ArrayLike | None = None,
        openings: Mapping[int, Iterable[Sequence[float]]] | None = None,
        release: npt.ArrayLike | None = None,
        prizes: npt.ArrayLike | None = None,
        groups: Sequence[Group] | None = None,
        skills: Mapping[int, Iterable[str]] | Sequence[Iterable[str]] | None = None,
        shipments: Sequence[Shipment] | None = None,
        backhauls: bool = False,
        profiles: Sequence[Profile] | None = None,
        route_costs: Sequence[RouteCost] | None = None,
    ) -> None:
        if not isinstance(name, str) or not name.isprintable():
            raise InputError(f"name {name!r:.60} of an instance must be text on one line.")
        fields: dict[str, Any] = {"name": name, "rounding": rounding_named(rounding)}
        fields["fleet"] = types = listed(name, "fleet", fleet, VehicleType)
        fields["depots"] = listed(name, "depots", depots, Depot)
        if fields["depots"] == (Depot(),):
            fields["depots"] = None
        fields["shipments"] = listed(name, "shipments", shipments, Shipment)
        fields["groups"] = listed(name, "groups", groups, Group)
        fields["profiles"] = listed(name, "profiles", profiles, Profile)
        fields["route_costs"] = listed(name, "route_costs", route_costs, RouteCost)
        fields["backhauls"] = bool(backhauls)
        fields["deliveries"] = read_amounts(name, "deliveries", deliveries)
        fields["pickups"] = read_amounts(name, "pickups", pickups)
        if demands is None or not all(fields[part] is None for part in ("deliveries", "pickups", "shipments")):
            places = coordinates if matrix is None else matrix
            sizes = _sizes(name, fields["deliveries"], fields["pickups"], fields["shipments"], places)
            if demands is not None and not np.array_equal(numbers(f"{name}: demands", demands, 1), sizes):
                raise InputError(
                    f"{name}: demands are given beside deliveries, pickups or shipments that say otherwise."
                )
            demands = sizes
            if fields["pickups"] is None and fields["shipments"] is None and fields["deliveries"] is not None:
                # Deliveries of one kind of goods are demands.
                fields["deliveries"] = None if fields["deliveries"].shape[1] == 1 else fields["deliveries"]
        fields["demands"] = quantities = numbers(f"{name}: demands", demands, 1)
        nodes = len(quantities)
        n_depots = max(1, len(fields["depots"] or ()))
        scalars: dict[str, Any] = {
            "capacity": capacity,
            "vehicles": vehicles,
            "vehicle_cost": vehicle_cost,
            "distance_cost": distance_cost,
            "duration_cost": duration_cost,
            "max_distance": max_distance,
            "max_duration": max_duration,
        }
        if types is not None and all(vehicle_type.available == 0 for vehicle_type in types):
            raise InputError(f"{name}: no vehicle is available.")
        if types is not None:
            scalars = _scalars_of(name, types, scalars)
        elif capacity is None:
            raise InputError(f"{name}: neither a capacity nor a fleet is given.")
        fields["capacity"] = limit = one_number(f"{name}: capacity", scalars["capacity"])
        fields["vehicle_cost"] = per_route = one_number(f"{name}: vehicle cost", scalars["vehicle_cost"])
        if nodes < n_depots + 1:
            raise InputError(f"{name}: at least one customer is needed, {max(nodes - n_depots, 0)} given.")
        if limit <= 0 and types is None:
            raise InputError(f"{name}: capacity {limit:g} must be above 0.")
        if per_route < 0:
            raise InputError(f"{name}: vehicle cost {per_route:g} must not be negative.")
        depot_nodes = (0, *range(nodes - n_depots + 1, nodes))
        for depot in depot_nodes:
            if quantities[depot] != 0:
                raise InputError(f"{name}: the depot has demand {quantities[depot]:g}, but must have 0.")
        for customer in np.flatnonzero(quantities < 0)[:1]:
            raise InputError(f"{name}: demand {quantities[customer]:g} of customer {customer} is negative.")
        if coordinates is None and matrix is None:
            raise InputError(f"{name}: neither coordinates nor a distance matrix is given.")
        fields["coordinates"] = None if coordinates is None else _points(name, coordinates, nodes)
        fields["matrix"] = None if matrix is None else _matrix(f"{name}: distance", matrix, nodes)
        fields["durations"] = None if durations is None else _matrix(f"{name}: duration", durations, nodes)
        spans = read_openings(name, openings, nodes)
        if spans is not None and windows is None:
            windows = [[0.0, np.inf]] * nodes
        fields["windows"] = None if windows is None else _windows(name, windows, nodes, depot_nodes, spans)
        # One window alone is that of the node by now.
        fields["openings"] = {node: each for node, each in (spans or {}).items() if len(each) > 1} or None
        fields["service"] = None if service is None else _service(name, service, nodes, depot_nodes)
        count = scalars["vehicles"]
        fields["vehicles"] = None if count is None else whole_number(f"{name}: number of vehicles", count)
        for what in ("max_duration", "max_distance"):
            bound = scalars[what]
            fields[what] = None if bound is None else not_negative(f"{name}: {what}", bound)
        for what in ("distance_cost", "duration_cost"):
            fields[what] = not_negative(f"{name}: {what}", scalars[what])
        fields["names"] = None if names is None else _names(name, names, nodes)
        fields["clock"] = None if clock is None else check_clock(clock)
        fields["best_known"] = None if best_known is None else one_number(f"{name}: best known cost", best_known)
        for what, stated in (("deliveries", deliveries), ("pickups", pickups)):
            # Counted as they were stated: those that are all 0 are none by now.
            given, count = fields[what], np.shape(stated)[0] if stated is not None else nodes
            if count != nodes:
                raise InputError(f"{name}: {count} {what} do not fit {nodes} demands.")
            for depot in depot_nodes if given is not None else ():
                if given[depot].any():
                    raise InputError(f"{name}: a depot has an amount in {what}, but must have none.")
        fields["release"] = freed = read_by_node(name, "release", release, nodes)
        if freed is not None and not freed.any():
            fields["release"] = None
        fields["prizes"] = worth = read_by_node(name, "prizes", prizes, nodes, endless=True)
        if worth is not None and np.isinf(np.delete(worth, depot_nodes)).all():
            fields["prizes"] = None
        if worth is not None:
            for depot in depot_nodes:
                if worth[depot] not in (0.0, np.inf):
                    raise InputError(f"{name}: {whose(depot, depot_nodes)} has a prize, but only customers have.")
        fields["skills"] = read_skills(name, skills, nodes)
        for field, value in fields.items():
            object.__setattr__(self, field, value)
        self._fold_shift()
        if self.stated:
            check_parts(self)

    def _fold_shift(self) -> None:
        """Make the shift of one ordinary type of vehicle the depot's window."""
        if self.fleet is None or len(self.fleet) != 1 or self.fleet[0].shift == ALWAYS or self.fleet_matters:
            return
        opens, closes = self.fleet[0].shift
        nodes = len(self.demands)
        first = min(opens, 0.0) if np.isfinite(opens) else 0.0
        given = np.tile([first, np.inf], (nodes, 1)) if self.windows is None else self.windows
        windows = given.copy()
        windows[0] = max(opens, given[0, 0]), min(closes, given[0, 1])
        object.__setattr__(self, "windows", _windows(self.name, windows, nodes, (0,), self.openings))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Instance):
            return NotImplemented
        return self is other or same_fields(self, other)

    def __hash__(self) -> int:
        return hash((self.capacity, self.demands.tobytes()))

    def __repr__(self) -> str:
        return f"<Instance {self.name}: {self.customers} customers, capacity {self.capacity:.10g}>"

    @property
    def stated(self) -> bool:
        """Whether it states any part beyond one depot, one type of vehicle, and one window for each customer."""
        parts = self.fleet, self.depots, self.deliveries, self.pickups, self.openings, self.release, self.groups
        others = self.prizes, self.skills, self.shipments, self.profiles, self.route_costs
        return self.backhauls or any(part is not None for part in (*parts, *others))

    @property
    def fleet_matters(self) -> bool:
        """Whether the fleet is more than one ordinary type, which the fields of the instance describe as well."""
        return self.fleet is not None and as_scalars(self.fleet) is None

    @property
    def general(self) -> bool:
        """Whether it has any part that only the general way of evaluating routes knows; prizes are known to all."""
        parts = self.depots, self.deliveries, self.pickups, self.openings, self.release, self.groups
        others = self.skills, self.shipments, self.profiles, self.route_costs
        return self.fleet_matters or self.backhauls or any(part is not None for part in (*parts, *others))

    @cached_property
    def types(self) -> tuple[VehicleType, ...]:
        """The types of vehicles: the fleet, or the one type that the instance itself describes."""
        if self.fleet is not None:
            return self.fleet
        only = VehicleType(
            (self.capacity,),
            self.vehicles,
            self.vehicle_cost,
            self.distance_cost,
            self.duration_cost,
            max_distance=self.max_distance,
            max_duration=self.max_duration,
        )
        return (only,)

    def type_name(self, vehicle: int) -> str:
        """Return what to call a type of vehicle: its name, or its number from 1."""
        return self.types[vehicle].name or f"type {vehicle + 1}"

    @property
    def dimensions(self) -> int:
        """How many dimensions amounts and capacities have."""
        for amounts in (self.deliveries, self.pickups):
            if amounts is not None:
                return int(amounts.shape[1])
        return len(self.types[0].capacity)

    @cached_property
    def amounts(self) -> tuple[Floats, Floats]:
        """Deliveries and pickups by node and dimension; shipments are not among them."""
        nothing = np.zeros((len(self.demands), self.dimensions))
        pickups = nothing if self.pickups is None else self.pickups
        if self.deliveries is not None:
            return self.deliveries, pickups
        if self.pickups is not None or self.shipments is not None:
            # Demands then only tell how large a customer is.
            return nothing, pickups
        deliveries = nothing.copy()
        deliveries[:, 0] = self.demands
        return deliveries, pickups

    @cached_property
    def _shipments_at(self) -> dict[int, Floats]:
        found = {}
        for each in self.shipments or ():
            amount = np.array(each.amount)
            found[each.pickup], found[each.delivery] = amount, -amount
        return found

    def shipped(self, node: int) -> Floats | float:
        """Return what a stop of a shipment brings on board, by dimension: below 0 where it is delivered."""
        return self._shipments_at.get(node, 0.0)

    @cached_property
    def longest_rides(self) -> dict[int, tuple[int, float]]:
        """The pickup and the longest ride of shipments that have one, by their deliveries."""
        return {
            each.delivery: (each.pickup, each.max_ride) for each in self.shipments or () if each.max_ride is not None
        }

    def windows_of(self, node: int) -> Windows:
        """Return the windows of a node, in order."""
        if self.openings is not None and node in self.openings:
            return self.openings[node]
        return ((float(self.earliest[node]), float(self.latest[node])),)

    def needs(self, node: int) -> frozenset[str]:
        """Return the skills that a node needs."""
        return frozenset() if self.skills is None else self.skills.get(node, frozenset())

    @cached_property
    def group_of(self) -> dict[int, int]:
        """The group of each customer who is in one."""
        return {node: number for number, group in enumerate(self.groups or ()) for node in group.members}

    def prize(self, node: int) -> float:
        """Return what is lost if a customer is not served; infinite if it has to be."""
        worth = np.inf if self.prizes is None else float(self.prizes[node])
        return 0.0 if node in self.group_of and np.isinf(worth) else worth

    def required(self, customer: int) -> bool:
        """Return whether a customer has to be served, whoever else is."""
        return self.prize(customer) == np.inf

    @property
    def timed(self) -> bool:
        """Whether time plays a part: windows, a limit on durations or rides, or durations that cost."""
        if self.windows is not None or self.release is not None or self.route_costs is not None:
            return True
        if self.longest_rides:
            return True
        return any(
            vehicle_type.max_duration is not None
            or vehicle_type.duration_cost > 0
            or (vehicle_type.shift != ALWAYS and self.fleet_matters)
            for vehicle_type in self.types
        )

    @property
    def may_leave_out(self) -> bool:
        """Whether customers may have to stay unserved: too few vehicles, no time, or some that nobody can serve."""
        limited = self.timed or self.vehicles is not None or self.max_distance is not None
        return limited or self.general or self.prizes is not None or bool(self.unservable)

    @cached_property
    def lateness_allowed(self) -> float:
        """How late, or how much too long or too far, is still blamed on the rounding of sums."""
        return find_lateness_allowed(self)

    @cached_property
    def unservable(self) -> dict[int, str]:
        """Customers that no route whatever can serve, and why."""
        return find_unservable(self)

    def label(self, node: int) -> str:
        """Return what to call a node: its name, or its number."""
        return str(node) if self.names is None else self.names[node]

    def at(self, time: float, exact: bool = True) -> str:
        """Return a time as this instance's clock shows it, to the second or, if it need not be exact, to the minute."""
        return format_time(float(time), self.clock, exact)

    @property
    def customers(self) -> int:
        """Number of customers (nodes without the depots)."""
        return len(self.demands) - max(1, len(self.depots or ()))

    @property
    def depot_nodes(self) -> tuple[int, ...]:
        """The nodes of the depots: 0, and those behind the customers."""
        return (0, *range(self.customers + 1, len(self.demands)))

    @cached_property
    def points(self) -> Floats:
        """Coordinates of all nodes; for an instance given by a matrix only, points fitted to its distances."""
        if self.coordinates is not None:
            return self.coordinates
        assert self.matrix is not None
        return embed(self.matrix)

    @cached_property
    def distances(self) -> Floats | None:
        """Matrix of rounded distances, or None for instances too large to hold one (see ``MATRIX_LIMIT``)."""
        computed = self.matrix is None and self.durations is None and self.profiles is None
        if computed and len(self.demands) > MATRIX_LIMIT:
            return None
        raw = self.matrix if self.matrix is not None else euclidean(self.points)
        rounded = np.ascontiguousarray(round_distances(raw, self.rounding))
        rounded.setflags(write=False)
        return rounded

    def distance(self, tail: int, head: int) -> float:
        """Rounded distance from node ``tail`` to node ``head``, computed from the given data."""
        if self.matrix is not None:
            raw = self.matrix[tail, head]
        else:
            raw = np.sqrt(((self.points[tail] - self.points[head]) ** 2).sum())
        return float(round_distances(np.asarray(raw), self.rounding))

    def legs(self, tails: npt.ArrayLike, heads: npt.ArrayLike, profile: int = 0) -> Floats:
        """Rounded distances from nodes to others, each as `distance` gives it, or by a profile."""
        starts, ends = np.asarray(tails, dtype=np.int64), np.asarray(heads, dtype=np.int64)
        given = self.matrix if profile == 0 else self._profile(profile).matrix
        if given is not None:
            raw = given[starts, ends]
        else:
            raw = np.sqrt(((self.points[starts] - self.points[ends]) ** 2).sum(axis=1))
        return round_distances(raw, self.rounding)

    def _profile(self, number: int) -> Profile:
        assert self.profiles is not None
        return self.profiles[number - 1]

    @cached_property
    def travel_times(self) -> Floats | None:
        """Matrix of rounded durations; None where they are the distances."""
        if self.durations is None:
            return None
        rounded = np.ascontiguousarray(round_distances(self.durations, self.rounding))
        rounded.setflags(write=False)
        return rounded

    def table(self, profile: int = 0, *, times: bool = False) -> Floats:
        """Matrix of rounded distances, or of durations, of the instance or of a profile, where distances are held."""
        assert self.distances is not None
        if profile == 0:
            return self.travel_times if times and self.travel_times is not None else self.distances
        stated = self._profile(profile)
        given = stated.durations if times and stated.durations is not None else stated.matrix
        return round_distances(given, self.rounding)

    def times(self, tails: npt.ArrayLike, heads: npt.ArrayLike, profile: int = 0) -> Floats:
        """Rounded durations of travelling from nodes to others, of the instance itself or of a profile."""
        given = self.durations if profile == 0 else self._profile(profile).durations
        if given is None:
            return self.legs(tails, heads, profile)
        starts, ends = np.asarray(tails, dtype=np.int64), np.asarray(heads, dtype=np.int64)
        return round_distances(given[starts, ends], self.rounding)

    @property
    def earliest(self) -> Floats:
        """Earliest start of service of every node; 0 without windows."""
        return np.zeros(len(self.demands)) if self.windows is None else self.windows[:, 0]

    @property
    def latest(self) -> Floats:
        """Latest start of service of every node; infinite without windows."""
        return np.full(len(self.demands), np.inf) if self.windows is None else self.windows[:, 1]

    @property
    def services(self) -> Floats:
        """Duration of the service of every node."""
        return np.zeros(len(self.demands)) if self.service is None else self.service

    def without(self, *parts: str) -> Instance:
        """Return the instance without some of its rules: ``windows`` (all that has to do with time) or ``vehicles``.

        The best known cost is kept only if nothing changed. Without windows a limit on vehicles, which is often meant
        for routes with windows, is gone as well, and so is rounding ``dimacs``, the convention of costs with windows.

        >>> timed = Instance("one", [0, 1], 1, [[0, 0], [3, 4]], windows=[[0, 20], [8, 9]], service=[0, 5])
        >>> timed.timed, timed.without("windows").timed
        (True, False)
        """
        changes: dict[str, Any] = {}
        for part in parts:
            if part not in PARTS:
                raise InputError(f"{part!r} cannot be left out of an instance, only {' and '.join(PARTS)}.")
            changes |= PARTS[part]
        if self.fleet is not None and parts:
            kept = self.fleet
            if "windows" in parts:
                kept = tuple(replace(vehicle_type, shift=ALWAYS, max_duration=None) for vehicle_type in kept)
            kept = tuple(replace(vehicle_type, available=None) for vehicle_type in kept)
            if kept != self.fleet:
                changes["fleet"] = kept
        if "windows" in parts and self.longest_rides:
            changes["shipments"] = tuple(replace(each, max_ride=None) for each in self.shipments or ())
        if not {"fleet", "shipments"} & changes.keys() and all(getattr(self, field) is None for field in changes):
            return self
        if "windows" in parts and self.windows is not None and self.rounding == "dimacs":
            changes["rounding"] = "none"
        return replace(self, **changes, best_known=None)

    def with_objective(self, objective: str) -> Instance:
        """Return the instance with an objective's costs: ``distance``, ``duration``, or weights to mix them.

        ``vehicles`` (fewest vehicles, then distance) is the search's business; its costs are those of ``distance``.

        >>> one = Instance("one", [0, 1], 1, [[0, 0], [3, 4]])
        >>> one.with_objective("distance=1,duration=0.5,vehicles=100").duration_cost
        0.5
        """
        changes: dict[str, Any] = {**objective_costs(objective)}
        same = all(
            getattr(vehicle_type, _OF_TYPES[field]) == value
            for vehicle_type in self.types
            for field, value in changes.items()
        )
        return self if same and objective != "vehicles" else self._changed(**changes)

    def _changed(self, **costs: Any) -> Instance:
        """Return the instance with other costs, those of all types of vehicles."""
        if self.fleet is not None:
            by_type = {_OF_TYPES[field]: value for field, value in costs.items()}
            costs = {} if self.fleet_matters else costs
            costs["fleet"] = tuple(replace(vehicle_type, **by_type) for vehicle_type in self.fleet)
        return replace(self, **costs, best_known=None)

    def with_rounding(self, rounding: str) -> Instance:
        """Return the instance under another rounding convention; the best known cost is kept only if it still holds."""
        name = rounding_named(rounding)
        return self if name == self.rounding else replace(self, rounding=name, best_known=None)

    def with_vehicle_cost(self, cost: float) -> Instance:
        """Return the instance with another cost per route; the best known cost is kept only if it still holds."""
        same = all(vehicle_type.fixed_cost == cost for vehicle_type in self.types)
        return self if same else self._changed(vehicle_cost=cost)

    def with_route_costs(self, costs: Iterable[RouteCost | Callable[[RouteTotals], float]]) -> Instance:
        """Return the instance with further costs of one's own, functions of a route's totals.

        >>> one = Instance("one", [0, 1], 1, [[0, 0], [3, 4]])
        >>> one.with_route_costs([lambda route: 2 * route.distance]).route_costs[0].name
        '<lambda>'
        """
        given = [costs] if isinstance(costs, RouteCost) or callable(costs) else costs
        if isinstance(given, str) or not isinstance(given, Iterable):
            raise InputError(f"route_costs {costs!r:.60} must be a list of functions of a route's totals.")
        added = [each if isinstance(each, RouteCost) else route_cost(each) for each in given]
        return replace(self, route_costs=(*(self.route_costs or ()), *added), best_known=None) if added else self

    def first(self, customers: int, *, scaled: bool = True) -> Instance:
        """Return the instance of the first ``customers`` customers, the capacity ``scaled`` in proportion or kept."""
        if not 1 <= customers <= self.customers:
            raise InputError(f"{self.name}: {customers} customers asked for, but it has {self.customers}.")
        if customers == self.customers:
            return self
        if self.stated:
            raise InputError(
                f"{self.name}: the first {customers} customers cannot be taken apart from its fleet's parts."
            )
        keep = customers + 1
        return Instance(
            f"{self.name}:{customers}",
            self.demands[:keep],
            self.capacity * customers / self.customers if scaled else self.capacity,
            None if self.coordinates is None else self.coordinates[:keep],
            None if self.matrix is None else self.matrix[:keep, :keep],
            self.rounding,
            self.vehicle_cost,
            windows=None if self.windows is None else self.windows[:keep],
            service=None if self.service is None else self.service[:keep],
            durations=None if self.durations is None else self.durations[:keep, :keep],
            vehicles=self.vehicles,
            max_duration=self.max_duration,
            max_distance=self.max_distance,
            distance_cost=self.distance_cost,
            duration_cost=self.duration_cost,
            names=None if self.names is None else self.names[:keep],
            clock=self.clock,
        )

    def in_paper_setting(self) -> Instance:
        """Return the instance in the setting that was fitted to the paper's published numbers.

        F = 100 × routes + length, where x is divided by the largest x, y by the largest y, and each demand by the
        largest demand, while the capacity stays as it is: it never binds.
        """
        scale = np.abs(self.points).max(axis=0)
        return Instance(
            f"{self.name} (paper)",
            self.demands / max(self.demands.max(), 1e-12),
            self.capacity,
            self.points / np.where(scale > 0, scale, 1.0),
            vehicle_cost=100.0,
        )


def _points(name: str, coordinates: npt.ArrayLike, nodes: int) -> Floats:
    points = numbers(f"{name}: coordinates", coordinates, 2)
    if points.shape != (nodes, 2):
        raise InputError(f"{name}: coordinates of shape {points.shape} do not fit {nodes} demands (({nodes}, 2)).")
    return points


def _matrix(what: str, values: npt.ArrayLike, nodes: int) -> Floats:
    matrix = numbers(f"{what} matrix", values, 2)
    if matrix.shape != (nodes, nodes):
        raise InputError(f"{what} matrix of shape {matrix.shape} does not fit {nodes} demands.")
    for row, column in np.argwhere(matrix < 0)[:1]:
        raise InputError(f"{what} {matrix[row, column]:g} from node {row} to node {column} is negative.")
    return matrix


def _sizes(
    name: str, deliveries: Floats | None, pickups: Floats | None, shipments: tuple[Shipment, ...] | None, places: Any
) -> Floats:
    """Return how large each node is, by its amounts in the first dimension."""
    lengths = [len(given) for given in (deliveries, pickups, places) if isinstance(given, Sequence | np.ndarray)]
    if not lengths:
        raise InputError(f"{name}: neither demands nor deliveries nor pickups are given.")
    sizes = np.zeros(lengths[0])
    for given in (deliveries, pickups):
        if given is not None and len(given) == len(sizes):
            sizes = np.maximum(sizes, given[:, 0])
    for each in shipments or ():
        if each.pickup < len(sizes):
            sizes[each.pickup] = each.amount[0]
    return sizes


def _scalars_of(name: str, types: tuple[VehicleType, ...], given: dict[str, Any]) -> dict[str, Any]:
    """Return the fields that describe one type of vehicle, from the fleet; refuse others that are given beside it."""
    found = as_scalars(types) or {
        "capacity": max(vehicle_type.capacity[0] for vehicle_type in types),
        "vehicles": None
        if any(vehicle_type.available is None for vehicle_type in types)
        else sum(vehicle_type.available or 0 for vehicle_type in types),
        "vehicle_cost": 0.0,
        "distance_cost": 1.0,
        "duration_cost": 0.0,
        "max_distance": None,
        "max_duration": None,
    }
    usual = {"distance_cost": 1.0, "vehicle_cost": 0.0, "duration_cost": 0.0}
    for field, value in given.items():
        if value not in (usual.get(field), found[field]):
            raise InputError(f"{name}: {field} is given beside a fleet, whose types say it.")
    return found


def _windows(
    name: str,
    values: npt.ArrayLike,
    nodes: int,
    depots: Sequence[int] = (0,),
    openings: Mapping[int, Windows] | None = None,
) -> Floats:
    try:
        given = np.array(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"{name}: windows must be {form_of(2)}.") from None
    if given.ndim == 2 and given.shape != (nodes, 2):
        raise InputError(f"{name}: windows of shape {given.shape} do not fit {nodes} demands (({nodes}, 2)).")
    # A window may have no end, but it begins at some time.
    if given.ndim == 2:
        given[:, 1:] = np.where(given[:, 1:] == np.inf, LARGEST_NUMBER, given[:, 1:])
    windows = numbers(f"{name}: windows", given, 2).copy()
    for node in np.flatnonzero(windows[:, 0] > windows[:, 1])[:1]:
        raise InputError(f"{name}: the window of {whose(node, depots)}, {_span(windows[node])}, ends before it begins.")
    for node, spans in (openings or {}).items():
        windows[node] = spans[0][0], min(spans[-1][1], LARGEST_NUMBER)
    windows[windows[:, 1] == LARGEST_NUMBER, 1] = np.inf
    windows.setflags(write=False)
    return windows


def _service(name: str, values: npt.ArrayLike, nodes: int, depots: Sequence[int]) -> Floats:
    service = numbers(f"{name}: service", values, 1)
    if service.shape != (nodes,):
        raise InputError(f"{name}: {len(service)} service times do not fit {nodes} demands.")
    for node in np.flatnonzero(service < 0)[:1]:
        raise InputError(f"{name}: service time {service[node]:g} of {whose(node, depots)} is negative.")
    for depot in depots:
        if service[depot] != 0:
            raise InputError(f"{name}: {whose(depot, depots)} has service time {service[depot]:g}, but must have 0.")
    return service


def _names(name: str, values: Any, nodes: int) -> tuple[str, ...]:
    if isinstance(values, str) or not isinstance(values, Sequence):
        raise InputError(f"{name}: names must be a list of texts.")
    names = tuple(values)
    if len(names) != nodes:
        raise InputError(f"{name}: {len(names)} names do not fit {nodes} demands.")
    for each in names:
        if not isinstance(each, str) or not each.isprintable():
            raise InputError(f"{name}: name {each!r:.60} of a node must be text on one line.")
    return names


def whose(node: int, depots: Sequence[int] = (0,)) -> str:
    """Return what to call a node in a refusal."""
    return "the depot" if node == 0 else f"depot {node}" if node in depots else f"customer {node}"


def _span(window: Floats) -> str:
    return f"{window[0]:.10g} to {'any time' if window[1] >= LARGEST_NUMBER else f'{window[1]:.10g}'}"


OBJECTIVES = ("distance", "vehicles", "duration")
"""Objectives by name; weights mix them."""
PARTS: dict[str, dict[str, Any]] = {
    "windows": {
        "windows": None,
        "service": None,
        "durations": None,
        "max_duration": None,
        "vehicles": None,
        "openings": None,
        "release": None,
    },
    "vehicles": {"vehicles": None},
}
"""What `Instance.without` leaves out, by name."""


_OF_TYPES = {"distance_cost": "distance_cost", "duration_cost": "duration_cost", "vehicle_cost": "fixed_cost"}
"""What types of vehicles call the costs of an instance."""


def objective_costs(objective: str) -> dict[str, float]:
    """Return the costs of an objective given by name, or by weights: ``distance=1,duration=0.5,vehicles=100``."""
    if objective in ("distance", "vehicles"):
        return {"distance_cost": 1.0, "duration_cost": 0.0}
    if objective == "duration":
        return {"distance_cost": 0.0, "duration_cost": 1.0}
    weights = {"distance": 0.0, "duration": 0.0, "vehicles": 0.0}
    for part in objective.split(","):
        name, equals, value = (word.strip() for word in part.partition("="))
        if name not in weights or not equals:
            raise InputError(
                f"objective {objective!r:.60} is not known; choose one of {', '.join(OBJECTIVES)}, or give weights "
                "as in distance=1,duration=0.5,vehicles=100."
            )
        weights[name] = one_number(f"objective {objective!r:.60}: weight", value)
        if weights[name] < 0:
            raise InputError(f"objective {objective!r:.60}: weight {value} of {name} must not be negative.")
    if not any(weights.values()):
        raise InputError(f"objective {objective!r:.60}: at least one weight must be above 0.")
    return {f"{name.removesuffix('s')}_cost": weight for name, weight in weights.items()}
