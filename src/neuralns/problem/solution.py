"""A set of routes, its cost and its faults, computed by code that shares nothing with the search."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from neuralns.errors import InputError
from neuralns.problem.instance import Instance
from neuralns.problem.limits import lateness_allowed, load_limit
from neuralns.problem.schedule import Schedule, schedule


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

    def __init__(self, instance: Instance, routes: Iterable[Iterable[int]]) -> None:
        object.__setattr__(self, "instance", instance)
        clean = tuple(tuple(int(customer) for customer in route) for route in routes)
        object.__setattr__(self, "routes", tuple(route for route in clean if route))

    def __repr__(self) -> str:
        known = all(1 <= customer <= self.instance.customers for route in self.routes for customer in route)
        cost = f"cost {self.cost:.10g}" if known else "no cost"
        return f"<Solution of {self.instance.name}: {cost}, {len(self.routes)} routes>"

    @cached_property
    def length(self) -> float:
        """Length of all routes, each from the depot and back to it."""
        tails = [tail for route in self.routes for tail in (0, *route)]
        heads = [head for route in self.routes for head in (*route, 0)]
        total = 0.0
        for leg in self.instance.legs(tails, heads).tolist():
            total += leg
        return total

    @cached_property
    def schedules(self) -> tuple[Schedule, ...]:
        """The timetable of each route."""
        return tuple(schedule(self.instance, route) for route in self.routes)

    @cached_property
    def duration(self) -> float:
        """Duration of all routes, waiting and service included."""
        return sum(each.duration for each in self.schedules)

    @property
    def cost(self) -> float:
        """F = distance cost × length + duration cost × duration + vehicle cost × routes, for those who are served."""
        instance = self.instance
        total = instance.distance_cost * self.length
        if instance.duration_cost > 0:
            total += instance.duration_cost * self.duration
        return total + instance.vehicle_cost * len(self.routes)

    @cached_property
    def unserved(self) -> tuple[int, ...]:
        """Customers on no route."""
        served = {customer for route in self.routes for customer in route}
        return tuple(customer for customer in range(1, self.instance.customers + 1) if customer not in served)

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

        A customer visited twice or unknown; a route overloaded, late, too long; too many routes.
        """
        instance = self.instance
        found = []
        visits: Counter[int] = Counter()
        limit = load_limit(instance)
        for number, route in enumerate(self.routes, 1):
            unknown = [customer for customer in route if not 1 <= customer <= instance.customers]
            for customer in unknown:
                found.append(
                    f"route {number} visits {customer}, but the customers are numbered 1 to {instance.customers}."
                )
            visits.update(route)
            if unknown:
                continue
            load = sum(float(instance.demands[customer]) for customer in route)
            if load > limit:
                found.append(f"route {number} carries {load:g}, above the capacity {instance.capacity:g}.")
            found += out_of_limits(instance, number, route)
        for customer in range(1, instance.customers + 1):
            if visits[customer] > 1:
                found.append(f"customer {instance.label(customer)} is visited {visits[customer]} times.")
        if instance.vehicles is not None and len(self.routes) > instance.vehicles:
            fleet = f"{instance.vehicles} vehicle{'s' if instance.vehicles > 1 else ''}"
            found.append(f"there are {len(self.routes)} routes, but {fleet}.")
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


def out_of_limits(instance: Instance, number: int, route: Sequence[int]) -> list[str]:
    """Return a sentence for each window that a route misses, and for each limit on its length that it breaks."""
    allowed, found = lateness_allowed(instance), []
    if instance.timed:
        plan = schedule(instance, route)
        for stop in plan.stops:
            if stop.start > instance.latest[stop.node] + allowed:
                window = f"{instance.at(instance.earliest[stop.node])} to {instance.at(instance.latest[stop.node])}"
                found.append(
                    f"route {number} reaches customer {instance.label(stop.node)} at {instance.at(stop.arrival)}, "
                    f"after its window, {window}."
                )
        if plan.arrival > instance.latest[0] + allowed:
            found.append(
                f"route {number} is back at {instance.at(plan.arrival)}, after the depot's window, "
                f"{instance.at(instance.earliest[0])} to {instance.at(instance.latest[0])}."
            )
        if instance.max_duration is not None and plan.duration > instance.max_duration + allowed:
            found.append(f"route {number} takes {plan.duration:.10g}, above {instance.max_duration:.10g}.")
    if instance.max_distance is not None:
        nodes = (0, *route, 0)
        length = float(instance.legs(nodes[:-1], nodes[1:]).sum())
        if length > instance.max_distance + allowed:
            found.append(f"route {number} is {length:.10g} long, above {instance.max_distance:.10g}.")
    return found
