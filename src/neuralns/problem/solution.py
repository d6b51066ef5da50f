"""A set of routes, its cost and its faults, computed by code that shares nothing with the search."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from neuralns.errors import InputError
from neuralns.problem.assignment import assign_types
from neuralns.problem.instance import Instance
from neuralns.problem.limits import lateness_allowed, load_limits
from neuralns.problem.route_cost import RouteTotals
from neuralns.problem.schedule import Schedule, legs_of, schedule


def gap_between(cost: float, best: float) -> float:
    """Return how far a cost lies above another one in per cent; what rounding of sums can do is no gap.

    >>> gap_between(827.3000000000001, 827.3)
    0.0
    """
    gap = 100.0 * (cost / best - 1.0)
    return 0.0 if abs(gap) < 1e-9 else gap


@dataclass(frozen=True, repr=False)
class Solution:
    """Routes of an instance, each a sequence of customers without the depot.

    Examples
    --------
    >>> square = Instance("square", [0, 1, 1, 1], 2, coordinates=[[0, 0], [0, 3], [4, 3], [4, 0]])
    >>> solution = Solution(square, [[1, 2], [3]])
    >>> solution.cost, solution.feasible
    (20.0, True)
    >>> Solution(square, [[1, 2, 3]]).faults()
    ['route 1 carries 3, above the capacity 2.']
    """

    instance: Instance
    routes: tuple[tuple[int, ...], ...]
    vehicles: tuple[int, ...]

    def __init__(
        self, instance: Instance, routes: Iterable[Iterable[int]], vehicles: Iterable[int] | None = None
    ) -> None:
        clean = [tuple(int(customer) for customer in route) for route in routes]
        kept = [number for number, route in enumerate(clean) if route]
        object.__setattr__(self, "instance", instance)
        object.__setattr__(self, "routes", tuple(clean[number] for number in kept))
        if vehicles is None:
            chosen = _cheapest_types(instance, self.routes)
        else:
            vehicle_types = [int(vehicle_type) for vehicle_type in vehicles]
            if len(vehicle_types) != len(clean):
                raise InputError(f"{instance.name}: {len(vehicle_types)} vehicles do not fit {len(clean)} routes.")
            for vehicle_type in vehicle_types:
                if not 0 <= vehicle_type < len(instance.types):
                    raise InputError(
                        f"{instance.name}: vehicle type {vehicle_type} is not known; types are 0 to "
                        f"{len(instance.types) - 1}."
                    )
            chosen = tuple(vehicle_types[number] for number in kept)
        object.__setattr__(self, "vehicles", chosen)

    def __repr__(self) -> str:
        known = all(1 <= customer <= self.instance.customers for route in self.routes for customer in route)
        cost = f"cost {self.cost:.10g}" if known else "no cost"
        return f"<Solution of {self.instance.name}: {cost}, {len(self.routes)} routes>"

    @cached_property
    def lengths(self) -> tuple[float, ...]:
        """Length of each route, from its depot and back to it."""
        pairs = zip(self.routes, self.vehicles, strict=True)
        return tuple(_added(legs_of(self.instance, route, vehicle_type)) for route, vehicle_type in pairs)

    @cached_property
    def length(self) -> float:
        """Length of all routes, each from the depot and back to it."""
        total = 0.0
        for route, vehicle_type in zip(self.routes, self.vehicles, strict=True):
            for leg in legs_of(self.instance, route, vehicle_type):
                total += leg
        return total

    @cached_property
    def schedules(self) -> tuple[Schedule, ...]:
        """The timetable of each route."""
        pairs = zip(self.routes, self.vehicles, strict=True)
        return tuple(schedule(self.instance, route, vehicle_type) for route, vehicle_type in pairs)

    @cached_property
    def duration(self) -> float:
        """Duration of all routes, waiting and service included."""
        return sum(each.duration for each in self.schedules)

    def route_cost(self, number: int) -> float:
        """Cost of one route (counted from 0): its vehicle, length, duration, and costs of one's own."""
        vehicle_type, instance = self.vehicles[number], self.instance
        return _route_cost(instance, vehicle_type, self.lengths[number], lambda: self.schedules[number])

    @cached_property
    def cost(self) -> float:
        """F of the routes, the depots that they use, and the prizes of those who are left out though they are optional.

        F = distance cost × length + duration cost × duration + vehicle cost × routes, by the types of their vehicles.
        """
        instance = self.instance
        if not instance.general:
            total = instance.distance_cost * self.length
            if instance.duration_cost > 0:
                total += instance.duration_cost * self.duration
            return total + instance.vehicle_cost * len(self.routes) + self.lost
        total = sum(self.route_cost(number) for number in range(len(self.routes)))
        return total + sum((instance.depots or ())[index].cost for index in self._depots_used()) + self.lost

    def _depots_used(self) -> set[int]:
        """Return which of the depots that are described any route starts or ends at."""
        instance = self.instance
        if instance.depots is None:
            return set()
        vehicle_types = {instance.types[vehicle_type] for vehicle_type in self.vehicles}
        nodes = {
            node
            for vehicle_type in vehicle_types
            for node in (vehicle_type.start, vehicle_type.end)
            if node is not None
        }
        return {instance.depot_nodes.index(node) for node in nodes}

    @cached_property
    def lost(self) -> float:
        """The prizes of optional customers on no route, those of a shipment once."""
        ends = {each.delivery for each in self.instance.shipments or ()}
        return sum((self.instance.prize(customer) for customer in self.skipped if customer not in ends), 0.0)

    @cached_property
    def _left_out(self) -> tuple[int, ...]:
        served = {customer for route in self.routes for customer in route}
        return tuple(customer for customer in range(1, self.instance.customers + 1) if customer not in served)

    @cached_property
    def unserved(self) -> tuple[int, ...]:
        """Customers on no route who must be on one; of a required group that is left out, its first member."""
        instance = self.instance
        if instance.prizes is None and instance.groups is None:
            return self._left_out
        absent = set(self._left_out)
        missing = {
            group.members[0] for group in instance.groups or () if group.required and absent.issuperset(group.members)
        }
        return tuple(customer for customer in self._left_out if instance.required(customer) or customer in missing)

    @cached_property
    def skipped(self) -> tuple[int, ...]:
        """Customers on no route who need not be on one."""
        instance = self.instance
        if instance.prizes is None and instance.groups is None:
            return ()
        return tuple(customer for customer in self._left_out if not instance.required(customer))

    @property
    def gap(self) -> float | None:
        """How far the cost lies above the best known one, in per cent; None if none is known or somebody left out."""
        best = self.instance.best_known
        return None if best is None or best <= 0 or self.unserved else gap_between(self.cost, best)

    def faults(self) -> list[str]:
        """Return a sentence for each broken rule: those of `broken_rules`, and customers on no route."""
        reasons = self.instance.unservable
        return self.broken_rules() + [
            f"customer {self.instance.label(customer)} is not visited"
            f"{f': {reasons[customer]}' if customer in reasons else ''}."
            for customer in self.unserved
        ]

    def broken_rules(self) -> list[str]:
        """Return a sentence for each rule that the routes break, whoever they leave out.

        A customer visited twice or unknown; a route overloaded, late, too long, or with somebody whom its vehicle may
        not serve; too many routes; a depot that has not enough; a shipment torn apart or too long on its way; two of a
        group.
        """
        instance = self.instance
        found = []
        visits: Counter[int] = Counter()
        for number, (route, vehicle_type) in enumerate(zip(self.routes, self.vehicles, strict=True), 1):
            unknown = [customer for customer in route if not 1 <= customer <= instance.customers]
            for customer in unknown:
                found.append(
                    f"route {number} visits {customer}, but the customers are numbered 1 to {instance.customers}."
                )
            visits.update(route)
            if not unknown:
                found += out_of_limits(instance, number, route, vehicle_type)
        for customer in range(1, instance.customers + 1):
            if visits[customer] > 1:
                found.append(f"customer {instance.label(customer)} is visited {visits[customer]} times.")
        if instance.vehicles is not None and len(self.routes) > instance.vehicles:
            fleet = f"{instance.vehicles} vehicle{'s' if instance.vehicles > 1 else ''}"
            found.append(f"there are {len(self.routes)} routes, but {fleet}.")
        elif instance.fleet_matters:
            found += self._too_many_of_a_type()
        return found + self._torn_apart(visits) + (self._short_depots() if not found else [])

    def _too_many_of_a_type(self) -> list[str]:
        counts = Counter(self.vehicles)
        return [
            f"there are {counts[index]} routes of {self.instance.type_name(index)}, but {vehicle_type.available} such "
            "vehicles."
            for index, vehicle_type in enumerate(self.instance.types)
            if vehicle_type.available is not None and counts[index] > vehicle_type.available
        ]

    def _torn_apart(self, visits: Counter[int]) -> list[str]:
        """Return a sentence for each shipment that is not on one route in order, and each group served twice."""
        instance, found = self.instance, []
        position = {
            customer: (number, at) for number, route in enumerate(self.routes) for at, customer in enumerate(route)
        }
        for each in instance.shipments or ():
            names = f"the shipment from {instance.label(each.pickup)} to {instance.label(each.delivery)}"
            here, there = position.get(each.pickup), position.get(each.delivery)
            if (here is None) != (there is None):
                found.append(f"{names} is {'delivered' if here is None else 'picked up'} only.")
            elif here is not None and there is not None and here[0] != there[0]:
                found.append(f"{names} is on two routes, {here[0] + 1} and {there[0] + 1}.")
            elif here is not None and there is not None and here[1] > there[1]:
                found.append(f"{names} is delivered before it is picked up.")
        for number, group in enumerate(instance.groups or (), 1):
            served = [customer for customer in group.members if visits[customer] > 0]
            if len(served) > 1:
                names = " and ".join(instance.label(customer) for customer in served)
                found.append(f"of group {group.name or number} more than one is visited: {names}.")
        return found

    def _short_depots(self) -> list[str]:
        instance, found = self.instance, []
        for node, depot in zip(instance.depot_nodes, instance.depots or (), strict=False):
            if depot.capacity is None:
                continue
            given = np.zeros(instance.dimensions)
            for route, vehicle_type in zip(self.routes, self.vehicles, strict=True):
                if instance.types[vehicle_type].start == node:
                    given += instance.amounts[0][list(route)].sum(axis=0)
            for amount, limit in zip(given.tolist(), depot.capacity, strict=True):
                if amount > limit * (1 + 1e-9):
                    found.append(f"depot {instance.label(node)} gives out {amount:g}, above its capacity {limit:g}.")
        return found

    @cached_property
    def feasible(self) -> bool:
        """Whether every customer is visited once and the routes keep every rule."""
        return not self.faults()

    def checked(self, what: str) -> Solution:
        """Return the solution if it is feasible; otherwise refuse ``what`` with its first fault.

        Where customers may have to be left out, one that leaves some out is taken.
        """
        faults = self.broken_rules() if self.instance.may_leave_out else self.faults()
        if faults:
            others = len(faults) - 1
            more = f" ({others} more fault{'s' if others > 1 else ''})" if others else ""
            raise InputError(f"{what} does not fit {self.instance.name}: {faults[0]}{more}")
        return self


def out_of_limits(instance: Instance, number: int, route: Sequence[int], vehicle_type: int = 0) -> list[str]:
    """Return a sentence for each rule that a route of a type of vehicle breaks by itself."""
    vehicle, plan = instance.types[vehicle_type], schedule(instance, route, vehicle_type)
    found = []
    for load, limit, stated in zip(
        plan.most_loaded, load_limits(instance)[vehicle_type], vehicle.capacity, strict=True
    ):
        if load > limit:
            found.append(f"route {number} carries {load:g}, above the capacity {stated:g}.")
    found += _late(instance, number, vehicle_type, plan) + _long_rides(instance, number, plan)
    if vehicle.max_distance is not None:
        length = float(np.sum(legs_of(instance, route, vehicle_type)))
        if length > vehicle.max_distance + lateness_allowed(instance):
            found.append(f"route {number} is {length:.10g} long, above {vehicle.max_distance:.10g}.")
    if vehicle.max_stops is not None and len(route) > vehicle.max_stops:
        found.append(f"route {number} has {len(route)} stops, above {vehicle.max_stops}.")
    for customer in route:
        missing = instance.needs(customer) - vehicle.skills
        if missing:
            found.append(
                f"route {number} visits customer {instance.label(customer)}, who needs skill {sorted(missing)[0]!r}, "
                f"which {instance.type_name(vehicle_type)} has not."
            )
    if instance.backhauls:
        gives = instance.amounts[1][list(route)].any(axis=1)
        gets = ~gives  # who has no goods at all counts as a delivery
        if gives.any() and not gets.any():
            found.append(f"route {number} has pickups alone.")
        elif gets.any() and gives.any() and np.flatnonzero(gets).max() > np.flatnonzero(gives).min():
            found.append(f"route {number} has a pickup before a delivery.")
    return found


def _late(instance: Instance, number: int, vehicle_type: int, plan: Schedule) -> list[str]:
    """Return a sentence for each window that a route misses, and if it takes too long."""
    if not instance.timed:
        return []
    allowed, vehicle, found = lateness_allowed(instance), instance.types[vehicle_type], []
    for stop in plan.stops:
        if stop.start > instance.latest[stop.node] + allowed:
            window = f"{instance.at(instance.earliest[stop.node])} to {instance.at(instance.latest[stop.node])}"
            found.append(
                f"route {number} reaches customer {instance.label(stop.node)} at {instance.at(stop.arrival)}, "
                f"after its window, {window}."
            )
    opens, closes = (-np.inf, np.inf) if plan.end is None else (instance.earliest[plan.end], instance.latest[plan.end])
    if plan.arrival > closes + allowed:
        found.append(
            f"route {number} is back at {instance.at(plan.arrival)}, after the depot's window, "
            f"{instance.at(opens)} to {instance.at(closes)}."
        )
    elif plan.arrival > vehicle.shift[1] + allowed:
        found.append(
            f"route {number} is back at {instance.at(plan.arrival)}, after the end of the shift, "
            f"{instance.at(vehicle.shift[1])}."
        )
    closes = np.inf if plan.start is None else instance.latest[plan.start]
    if plan.departure > min(closes, vehicle.shift[1]) + allowed:
        found.append(f"route {number} leaves at {instance.at(plan.departure)}, after the depot has closed.")
    if vehicle.max_duration is not None and plan.duration > vehicle.max_duration + allowed:
        found.append(f"route {number} takes {plan.duration:.10g}, above {vehicle.max_duration:.10g}.")
    return found


def _long_rides(instance: Instance, number: int, plan: Schedule) -> list[str]:
    """Return a sentence for each shipment that is longer on its way than it may be."""
    found: list[str] = []
    left: dict[int, float] = {}
    for stop in plan.stops if instance.longest_rides else ():
        pickup, longest = instance.longest_rides.get(stop.node, (0, np.inf))
        if pickup in left and stop.start - left[pickup] > longest + lateness_allowed(instance):
            found.append(
                f"route {number} rides {stop.start - left[pickup]:.10g} with the goods of the shipment from "
                f"{instance.label(pickup)} to {instance.label(stop.node)}, longer than {longest:.10g}."
            )
        left[stop.node] = stop.departure
    return found


def _route_cost(instance: Instance, vehicle_type: int, length: float, plan: Callable[[], Schedule]) -> float:
    """Return the cost of a route of a type of vehicle; its timetable is asked for only where it costs."""
    vehicle = instance.types[vehicle_type]
    total = vehicle.fixed_cost + vehicle.distance_cost * length
    if vehicle.duration_cost > 0:
        total += vehicle.duration_cost * plan().duration
    for cost in instance.route_costs or ():
        found = plan()
        totals = RouteTotals(length, found.duration, found.most_loaded[0], float(len(found.stops)), vehicle_type)
        total += cost(totals)
    return total


def _cheapest_types(instance: Instance, routes: tuple[tuple[int, ...], ...]) -> tuple[int, ...]:
    """Return the types of vehicles that drive routes at the least cost, breaking as few rules as can be."""
    if len(instance.types) == 1 or any(not 1 <= node <= instance.customers for route in routes for node in route):
        return (0,) * len(routes)

    def cost(route: Sequence[int], vehicle_type: int) -> float:
        if out_of_limits(instance, 1, route, vehicle_type):
            return np.inf
        return _route_cost(
            instance,
            vehicle_type,
            _added(legs_of(instance, route, vehicle_type)),
            lambda: schedule(instance, route, vehicle_type),
        )

    return assign_types(routes, [vehicle_type.available for vehicle_type in instance.types], cost)


def _added(numbers: Iterable[float]) -> float:
    total = 0.0
    for each in numbers:
        total += each
    return total
