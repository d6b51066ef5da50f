"""A problem that is put together piece by piece, with the verbs that users of PyVRP know, and solved."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Literal

import numpy as np

from neuralns.errors import InputError
from neuralns.problem import fleet
from neuralns.problem.distances import Floats, euclidean
from neuralns.problem.instance import Instance
from neuralns.problem.route_cost import RouteCost, RouteTotals, route_cost
from neuralns.problem.values import amounts, not_negative, one_number, text, window
from neuralns.search.result import Result
from neuralns.search.solve import solve
from neuralns.search.stopping import Stop

Amount = float | Sequence[float]
"""Goods: a number, or one for each dimension."""
ALWAYS = (0.0, math.inf)


@dataclass(frozen=True, eq=False)
class Location:
    """A place; several clients and depots may be there."""

    x: float
    y: float
    name: str = ""


@dataclass(frozen=True, eq=False)
class Depot:
    """Where routes begin and end."""

    location: Location
    window: tuple[float, float]
    stock: tuple[float, ...] | None
    cost: float
    name: str


@dataclass(frozen=True, eq=False)
class Client:
    """A stop that wants service."""

    location: Location
    delivery: tuple[float, ...]
    pickup: tuple[float, ...]
    service: float
    windows: tuple[tuple[float, float], ...]
    release: float
    prize: float
    skills: frozenset[str]
    name: str


@dataclass(frozen=True, eq=False)
class ClientGroup:
    """Clients of whom at most one is served."""

    required: bool
    name: str
    clients: list[Client] = field(default_factory=list)


@dataclass(frozen=True, eq=False)
class Shipment:
    """Goods that one vehicle takes from a pickup to a delivery."""

    pickup: Client
    delivery: Client
    amount: tuple[float, ...]
    name: str
    max_ride: float | None = None


@dataclass(frozen=True, eq=False)
class Profile:
    """Edges that count for some types of vehicles."""

    name: str
    edges: dict[tuple[int, int], tuple[float, float]] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class VehicleType:
    """Vehicles that are alike."""

    capacity: tuple[float, ...] | None
    start: Depot | Literal["first"] | None
    end: Depot | Literal["first"] | None
    profile: Profile | None
    rest: dict[str, Any]
    name: str


class Model:
    """A problem, put together with the verbs of PyVRP's ``Model``; numbers may have fractions.

    Every verb checks what it is given at once, and returns what it made, for others to refer to. Names, which may be
    left out, turn up in results and sentences; no two clients or depots may have the same.

    Parameters
    ----------
    name
        What to call the problem in output.
    backhauls
        Whether all deliveries of a route come before its pickups, and no route has pickups alone.

    Examples
    --------
    >>> from neuralns import MaxIterations
    >>> model = Model()
    >>> depot = model.add_depot(0, 0, name="depot")
    >>> vans = model.add_vehicle_type(num_available=2, capacity=2, name="van")
    >>> for name, x, y in [("A", 0, 3), ("B", 4, 3), ("C", 4, 0)]:
    ...     client = model.add_client(x, y, delivery=1, name=name)
    >>> result = model.solve(MaxIterations(100))
    >>> result.cost, sorted(len(route.stops) for route in result.named_routes)
    (18.0, [1, 2])
    """

    def __init__(self, name: str = "model", *, backhauls: bool = False) -> None:
        self.name = text("name of a model", name)
        self.backhauls = bool(backhauls)
        self.locations: list[Location] = []
        self.depots: list[Depot] = []
        self.clients: list[Client] = []
        self.groups: list[ClientGroup] = []
        self.shipments: list[Shipment] = []
        self.profiles: list[Profile] = []
        self.vehicle_types: list[VehicleType] = []
        self.route_costs: list[RouteCost] = []
        self._edges: dict[tuple[int, int], tuple[float, float]] = {}
        self._indices: dict[Location, int] = {}
        self._names: dict[tuple[str, str], str] = {}
        self._dimensions: tuple[int, str] | None = None

    def __repr__(self) -> str:
        counts = len(self.clients), len(self.depots), len(self.vehicle_types)
        return "<Model {}: {} clients, {} depots, {} vehicle types>".format(self.name, *counts)

    # --- What there is: checked first, and added when nothing can go wrong any more. ----------------------------------

    def add_location(self, x: float, y: float, *, name: str = "") -> Location:
        """Add a place where several clients or depots can be; one alone just gives its own x and y."""
        what = _called("location", name, len(self.locations))
        return self._placed(
            Location(one_number(f"{what}: x", x), one_number(f"{what}: y", y), text("name of a location", name))
        )

    def add_depot(
        self,
        x: float | Location | None = None,
        y: float | None = None,
        tw_early: float = 0.0,
        tw_late: float = math.inf,
        *,
        capacity: Amount | None = None,
        cost: float = 0.0,
        location: Location | None = None,
        name: str = "",
    ) -> Depot:
        """Add a depot: at x and y, or at a `Location` in place of both.

        Parameters
        ----------
        tw_early, tw_late
            When the first vehicle may leave, and the last one must be back.
        capacity
            The most that all routes from here deliver; any amount if left out.
        cost
            Of opening the depot: paid once if any route begins or ends here.
        """
        what = _called("depot", name, len(self.depots))
        stock = None if capacity is None else _amounts(f"{what}: capacity", capacity)
        made = Depot(
            self._located(what, x, y, location),
            _span(what, tw_early, tw_late),
            stock,
            not_negative(f"{what}: cost", cost),
            self._free_name("depot", name, "stop"),
        )
        self._check_dimensions((f"{what}: capacity", stock or ()))
        self._take_name("depot", name, "stop")
        self._placed(made.location)
        self.depots.append(made)
        return made

    def add_client(
        self,
        x: float | Location | None = None,
        y: float | None = None,
        delivery: Amount = (),
        pickup: Amount = (),
        service_duration: float = 0.0,
        tw_early: float = 0.0,
        tw_late: float = math.inf,
        release_time: float = 0.0,
        prize: float = 0.0,
        required: bool = True,
        group: ClientGroup | None = None,
        *,
        windows: Iterable[Sequence[float]] | None = None,
        skills: Iterable[str] = (),
        location: Location | None = None,
        name: str = "",
    ) -> Client:
        """Add a client: at x and y, or at a `Location` in place of both.

        Parameters
        ----------
        delivery, pickup
            Amounts that come from the depot and go to it; a list for several dimensions of goods.
        service_duration
            How long the service takes.
        tw_early, tw_late
            When service may begin, first and last.
        release_time
            When the goods can leave the depot.
        prize, required
            A client that is not required may be left out, which costs its prize.
        group
            A group of whom at most one is served; its clients are not required by themselves.
        windows
            Several windows, as pairs, in place of ``tw_early`` and ``tw_late``.
        skills
            What the vehicle must be able to do.
        """
        what = _called("client", name, len(self.clients))
        if group is not None and not _among(group, self.groups):
            raise InputError(f"{what}: group {group!r:.60} is not of this model.")
        if group is not None and required:
            raise InputError(f"{what} is in a group, which says whether one has to be served; give required=False.")
        made = Client(
            self._located(what, x, y, location),
            _amounts(f"{what}: delivery", delivery),
            _amounts(f"{what}: pickup", pickup),
            not_negative(f"{what}: service duration", service_duration),
            _windows(what, tw_early, tw_late, windows),
            not_negative(f"{what}: release time", release_time),
            _prize(what, prize, required),
            _skills(what, skills),
            self._free_name("client", name, "stop"),
        )
        self._check_dimensions((f"{what}: delivery", made.delivery), (f"{what}: pickup", made.pickup))
        self._add(made)
        if group is not None:
            group.clients.append(made)
        return made

    def add_client_group(self, required: bool = True, *, name: str = "") -> ClientGroup:
        """Add a group of clients of whom at most one is served, and exactly one if the group is required."""
        made = ClientGroup(bool(required), self._free_name("group", name))
        self._take_name("group", name)
        self.groups.append(made)
        return made

    def add_shipment(
        self,
        pickup_location: Location | Sequence[float],
        delivery_location: Location | Sequence[float],
        pickup_tw_early: float = 0.0,
        pickup_tw_late: float = math.inf,
        pickup_service_duration: float = 0.0,
        delivery_tw_early: float = 0.0,
        delivery_tw_late: float = math.inf,
        delivery_service_duration: float = 0.0,
        amount: Amount = (),
        prize: float = 0.0,
        required: bool = True,
        *,
        skills: Iterable[str] = (),
        name: str = "",
        max_ride: float | None = None,
    ) -> Shipment:
        """Add goods that one vehicle takes from one place to another; each is a `Location` or a pair (x, y).

        Its stops, ``pickup`` and ``delivery`` of what is returned, are clients; results call them ``NAME pickup`` and
        ``NAME delivery``. A shipment that is not required may be left out, which costs its prize. ``max_ride`` is the
        most time from the end of service at the pickup to the start of service at the delivery; any if left out.
        """
        what = _called("shipment", name, len(self.shipments))
        worth, needed = _prize(what, prize, required), _skills(what, skills)

        def stop(side: str, place: Any, early: float, late: float, service: float) -> Client:
            there = f"{what}: {side}"
            if isinstance(place, Location):
                place = self._located(there, None, None, place)
            else:
                if isinstance(place, str) or not isinstance(place, Sequence | np.ndarray) or len(place) != 2:
                    raise InputError(f"{there}: {place!r:.60} is neither a location nor a pair (x, y).")
                place = Location(one_number(f"{there}: x", place[0]), one_number(f"{there}: y", place[1]))
            return Client(
                place,
                (),
                (),
                not_negative(f"{there}: service duration", service),
                _windows(there, early, late, None),
                0.0,
                worth,
                needed,
                self._free_name("client", f"{name} {side}" if name else "", "stop"),
            )

        made = Shipment(
            stop("pickup", pickup_location, pickup_tw_early, pickup_tw_late, pickup_service_duration),
            stop("delivery", delivery_location, delivery_tw_early, delivery_tw_late, delivery_service_duration),
            _amounts(f"{what}: amount", amount),
            self._free_name("shipment", name),
            None if max_ride is None else not_negative(f"{what}: longest ride", max_ride),
        )
        self._check_dimensions((f"{what}: amount", made.amount))
        self._take_name("shipment", name)
        self._add(made.pickup)
        self._add(made.delivery)
        self.shipments.append(made)
        return made

    def add_vehicle_type(
        self,
        num_available: int | None = 1,
        capacity: Amount | None = None,
        start_depot: Depot | Literal["first"] | None = "first",
        end_depot: Depot | Literal["first"] | None = "first",
        fixed_cost: float = 0.0,
        tw_early: float = 0.0,
        tw_late: float = math.inf,
        shift_duration: float = math.inf,
        max_distance: float = math.inf,
        unit_distance_cost: float = 1.0,
        unit_duration_cost: float = 0.0,
        profile: Profile | None = None,
        *,
        max_stops: int | None = None,
        skills: Iterable[str] = (),
        name: str = "",
    ) -> VehicleType:
        """Add vehicles that are alike.

        Parameters
        ----------
        num_available
            How many there are; None for as many as needed.
        capacity
            What one carries, a list for several dimensions of goods; any amount if left out.
        start_depot, end_depot
            Where routes begin and end: the first depot if left out; None for routes that begin or end at a client.
        fixed_cost, unit_distance_cost, unit_duration_cost
            Costs of each vehicle used, and of a unit of its distance and of its duration, waiting and service included.
        tw_early, tw_late
            The shift: from the first departure to the last return.
        shift_duration, max_distance, max_stops
            The longest that a route may take and be, and the most clients on it.
        profile
            Whose edges count; those that belong to no profile if left out.
        skills
            What the vehicle and its crew can do.
        """
        what = _called("vehicle type", name, len(self.vehicle_types))
        for side, depot in (("start", start_depot), ("end", end_depot)):
            if depot is not None and depot != "first" and not _among(depot, self.depots):
                raise InputError(f"{what}: {side} depot {depot!r:.60} is not of this model.")
        self._check_profile(what, profile)
        load = None if capacity is None else _amounts(f"{what}: capacity", capacity)
        shift = window(f"{what}: shift", (tw_early, tw_late))
        rest: dict[str, Any] = {
            "available": num_available,
            "fixed_cost": fixed_cost,
            "distance_cost": unit_distance_cost,
            "duration_cost": unit_duration_cost,
            "max_duration": None if shift_duration == math.inf else shift_duration,
            "max_distance": None if max_distance == math.inf else max_distance,
            "max_stops": max_stops,
            "skills": _skills(what, skills),
            "shift": fleet.ALWAYS if shift == ALWAYS else shift,
        }
        # Refuses what will not do.
        fleet.VehicleType(1.0, name=name or str(len(self.vehicle_types) + 1), **rest)
        made = VehicleType(load, start_depot, end_depot, profile, rest, self._free_name("vehicle type", name))
        self._check_dimensions((f"{what}: capacity", load or ()))
        self._take_name("vehicle type", name)
        self.vehicle_types.append(made)
        return made

    def add_profile(self, *, name: str = "") -> Profile:
        """Add a profile: distances and durations of its own for the types of vehicles that say so."""
        made = Profile(self._free_name("profile", name))
        self._take_name("profile", name)
        self.profiles.append(made)
        return made

    def add_edge(
        self,
        frm: Location | Client | Depot,
        to: Location | Client | Depot,
        distance: float,
        duration: float = 0.0,
        profile: Profile | None = None,
    ) -> None:
        """Say how far it is from one place to another, and how long it takes; the way back is an edge of its own.

        Without any edges, distances and durations are those of the straight lines between the coordinates; PyVRP needs
        edges. With edges, all pairs of places need one (see `instance`). Edges of a profile count for its vehicles in
        place of those of none; of two edges between the same places the last one counts.
        """
        tail, head = self._index_of(frm), self._index_of(to)
        what = f"edge from {_shown(frm, tail)} to {_shown(to, head)}"
        length, time = not_negative(f"{what}: distance", distance), not_negative(f"{what}: duration", duration)
        if tail == head and (length or time):
            raise InputError(f"{what} begins and ends at one place, so that its distance and duration must be 0.")
        self._check_profile(what, profile)
        (self._edges if profile is None else profile.edges)[tail, head] = length, time

    def add_route_cost(self, cost: RouteCost | Callable[[RouteTotals], float]) -> RouteCost:
        """Add a cost of your own to all routes: a `RouteCost`, or a function of a route's totals; decorator.

        >>> model = Model()
        >>> @model.add_route_cost
        ... def overtime(route):
        ...     return 2.0 * max(0.0, route.duration - 480.0)
        """
        made = cost if isinstance(cost, RouteCost) else route_cost(cost)
        self.route_costs.append(made)
        return made

    # --- What becomes of it. ------------------------------------------------------------------------------------------

    def instance(self, missing_value: float | None = None) -> Instance:
        """Return the problem as an `Instance`: the first depot, the clients in their order, the other depots.

        Where edges are given but not for all pairs, ``missing_value`` is the distance and the duration of the others (a
        large one keeps vehicles off them); without it, the first that is missing is refused.
        """
        if not self.depots:
            raise InputError(f"{self.name}: there is no depot; add one with add_depot.")
        if not self.clients:
            raise InputError(f"{self.name}: there is no client; add some with add_client or add_shipment.")
        if not self.vehicle_types:
            raise InputError(f"{self.name}: there is no vehicle; add some with add_vehicle_type.")
        first, *others = self.depots
        nodes: list[Client | Depot] = [first, *self.clients, *others]
        number = {node: index for index, node in enumerate(nodes)}
        points = np.array([(node.location.x, node.location.y) for node in nodes])
        parts: dict[str, Any] = {}
        dimensions = 1 if self._dimensions is None else self._dimensions[0]
        empty = (0.0,) * dimensions
        deliveries = [(node.delivery if isinstance(node, Client) else ()) or empty for node in nodes]
        pickups = [(node.pickup if isinstance(node, Client) else ()) or empty for node in nodes]
        if dimensions == 1 and not self.shipments and not np.any(pickups):
            parts["demands"] = [amount for (amount,) in deliveries]
        else:
            parts["deliveries"], parts["pickups"] = deliveries, pickups
        if self.shipments:
            parts["shipments"] = [
                fleet.Shipment(number[each.pickup], number[each.delivery], each.amount or empty, each.max_ride)
                for each in self.shipments
            ]
        # More than everything together fits a vehicle that takes any amount.
        loads = [*deliveries, *pickups, *(each.amount or empty for each in self.shipments)]
        unlimited = tuple(max(1.0, amount) for amount in np.sum(loads, axis=0).tolist())
        spans = [node.windows if isinstance(node, Client) else (node.window,) for node in nodes]
        if any(each != (ALWAYS,) for each in spans):
            parts["windows"] = [(each[0][0], each[-1][1]) for each in spans]
            parts["openings"] = {index: each for index, each in enumerate(spans) if len(each) > 1} or None
        for what, values, usual in (
            ("service", [node.service if isinstance(node, Client) else 0.0 for node in nodes], 0.0),
            ("release", [node.release if isinstance(node, Client) else 0.0 for node in nodes], 0.0),
            ("prizes", [node.prize if isinstance(node, Client) else math.inf for node in nodes], math.inf),
        ):
            if any(value != usual for value in values):
                parts[what] = values
        parts["skills"] = {number[client]: client.skills for client in self.clients if client.skills} or None
        parts["groups"] = [
            fleet.Group([number[client] for client in group.clients], group.required, group.name)
            for group in self.groups
        ] or None
        if len(self.depots) > 1 or first.stock is not None or first.cost > 0:
            parts["depots"] = [
                fleet.Depot(None if depot.stock is None else depot.stock or empty, depot.cost) for depot in self.depots
            ]
        if any(node.name for node in nodes):
            parts["names"] = [
                node.name or (str(index) if isinstance(node, Client) else f"depot {self.depots.index(node) + 1}")
                for index, node in enumerate(nodes)
            ]

        # Distances count that some vehicle uses.
        tables: list[Profile | None] = [None, *self.profiles]
        used = [table for table in tables if any(each.profile is table for each in self.vehicle_types)]
        made = [self._table(table, nodes, missing_value) for table in used]
        parts["matrix"], parts["durations"] = made[0]
        parts["profiles"] = [
            fleet.Profile(euclidean(points) if matrix is None else matrix, durations, table.name if table else "")
            for table, (matrix, durations) in zip(used[1:], made[1:], strict=True)
        ] or None
        parts["fleet"] = [
            fleet.VehicleType(
                unlimited if each.capacity is None else each.capacity or empty,
                start=None if each.start is None else 0 if each.start == "first" else number[each.start],
                end=None if each.end is None else 0 if each.end == "first" else number[each.end],
                profile=used.index(each.profile),
                name=each.name,
                **each.rest,
            )
            for each in self.vehicle_types
        ]
        return Instance(
            self.name,
            coordinates=points,
            backhauls=self.backhauls,
            route_costs=self.route_costs or None,
            **parts,
        )

    def solve(self, stop: Stop | float | None = None, *, missing_value: float | None = None, **options: Any) -> Result:
        """Search for good routes; all options are those of `neuralns.solve`."""
        return solve(self.instance(missing_value), stop, **options)

    def _table(
        self, profile: Profile | None, nodes: Sequence[Client | Depot], missing: float | None
    ) -> tuple[Floats | None, Floats | None]:
        """Return distances and durations from node to node; no distances if they follow from the coordinates, no
        durations if they are the distances.
        """
        edges = self._edges if profile is None else self._edges | profile.edges
        if not edges:
            return None, None
        indices = [self._indices[node.location] for node in nodes]
        spans = np.full((2, len(self.locations), len(self.locations)), math.nan)
        if not self._edges:
            spans[:] = euclidean(np.array([(location.x, location.y) for location in self.locations]))
        for index in range(len(self.locations)):
            spans[:, index, index] = 0.0
        pairs = np.array(list(edges))
        spans[:, pairs[:, 0], pairs[:, 1]] = np.array(list(edges.values())).T
        distances, durations = spans[:, indices][:, :, indices]
        absent = np.isnan(distances)
        if missing is not None:
            distances[absent] = durations[absent] = not_negative("missing value", missing)
        else:
            for tail, head in np.argwhere(absent)[:1].tolist():
                ends = (_shown(nodes[end], indices[end]) for end in (tail, head))
                where = f" of profile {profile.name}" if profile is not None and profile.name else ""
                raise InputError(
                    f"{self.name}: there is no edge from {' to '.join(ends)}{where}; add it, or give a missing_value "
                    "for all that are missing."
                )
        return distances, None if np.array_equal(distances, durations) else durations

    def _free_name(self, what: str, name: str, pool: str = "") -> str:
        """Return a name, if no other such thing has it already."""
        holder = self._names.get((pool or what, text(f"name of a {what}", name)))
        if holder is not None:
            raise InputError(f"{what} {name}: there is a {holder} of this name already.")
        return name

    def _take_name(self, what: str, name: str, pool: str = "") -> None:
        if name:
            self._names[pool or what, name] = what

    def _located(self, what: str, x: Any, y: Any, location: Any) -> Location:
        """Return the place that is given, or a new one."""
        if isinstance(x, Location) and location is None:
            location, x = x, None
        if location is None:
            if x is None or y is None:
                raise InputError(f"{what}: {'x' if x is None else 'y'} is missing.")
            return Location(one_number(f"{what}: x", x), one_number(f"{what}: y", y))
        if x is not None or y is not None:
            raise InputError(f"{what}: a location is given, which has its x and y; give other values by their names.")
        if not isinstance(location, Location) or location not in self._indices:
            raise InputError(f"{what}: location {location!r:.60} is not of this model.")
        return location

    def _placed(self, location: Location) -> Location:
        if location not in self._indices:
            self._indices[location] = len(self.locations)
            self.locations.append(location)
        return location

    def _add(self, client: Client) -> None:
        self._take_name("client", client.name, "stop")
        self._placed(client.location)
        self.clients.append(client)

    def _check_dimensions(self, *given: tuple[str, tuple[float, ...]]) -> None:
        """See to it that all amounts have equally many dimensions."""
        known = self._dimensions
        for what, values in given:
            if values:
                known = known or (len(values), what)
                if len(values) != known[0]:
                    raise InputError(f"{what} has {len(values)} dimensions of goods, but {known[1]} has {known[0]}.")
        self._dimensions = known

    def _check_profile(self, what: str, profile: Profile | None) -> None:
        if profile is not None and not _among(profile, self.profiles):
            raise InputError(f"{what}: profile {profile!r:.60} is not of this model.")

    def _index_of(self, end: Location | Client | Depot) -> int:
        location = end.location if isinstance(end, Client | Depot) else end
        found = self._indices.get(location) if isinstance(location, Location) else None
        if found is None:
            raise InputError(f"edge: {end!r:.60} is no location, client or depot of this model.")
        return found


def _called(what: str, name: Any, known: int) -> str:
    """Return what to call a thing in sentences: by its name, or its number."""
    return f"{what} {name:.60}" if isinstance(name, str) and name else f"{what} {known + 1}"


def _shown(end: Location | Client | Depot, index: int) -> str:
    if end.name or isinstance(end, Location):
        return end.name or f"location {index + 1}"
    return _shown(end.location, index)


def _among(thing: object, known: Sequence[object]) -> bool:
    return any(thing is each for each in known)


def _amounts(what: str, value: Amount) -> tuple[float, ...]:
    """Return amounts of goods by dimension; none at all for nothing."""
    if not isinstance(value, Sequence | np.ndarray):
        value = [value] if value else []
    return amounts(what, value) if len(value) else ()


def _span(what: str, early: float, late: float) -> tuple[float, float]:
    """Return a window, which may have no end."""
    opens = one_number(f"{what}: tw_early", early)
    return window(f"{what}: window", (opens, late if late == math.inf else one_number(f"{what}: tw_late", late)))


def _windows(what: str, early: float, late: float, several: Any) -> tuple[tuple[float, float], ...]:
    if several is None:
        return (_span(what, early, late),)
    if (early, late) != ALWAYS:
        raise InputError(f"{what}: give windows, or tw_early and tw_late, but not both.")
    if isinstance(several, str) or not isinstance(several, Iterable):
        raise InputError(f"{what}: windows {several!r:.60} must be a list of pairs.")
    spans = sorted(_span(what, *window(f"{what}: window", span)) for span in several)
    if not spans:
        raise InputError(f"{what}: windows are given, but none.")
    for (_, closes), (opens, _) in pairwise(spans):
        if opens <= closes:
            raise InputError(f"{what}: windows overlap: one ends at {closes:.10g}, another begins at {opens:.10g}.")
    return tuple(spans)


def _prize(what: str, prize: float, required: bool) -> float:
    """Return what is lost if somebody is left out."""
    worth = not_negative(f"{what}: prize", prize)
    if required and worth:
        raise InputError(f"{what} is required, so that a prize of {worth:g} says nothing; give required=False.")
    return math.inf if required else worth


def _skills(what: str, skills: Iterable[str]) -> frozenset[str]:
    if isinstance(skills, str) or not isinstance(skills, Iterable):
        raise InputError(f"{what}: skills {skills!r:.60} must be a list of texts.")
    return frozenset(text(f"{what}: skill", each) for each in skills)
