"""A set of routes, its cost and its faults, computed by code that shares nothing with the search."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from neuralns.errors import InputError
from neuralns.problem.instance import Instance

LOAD_TOLERANCE = 1e-9
"""Relative overload that is blamed on the rounding of sums of fractional demands."""


def load_limit(instance: Instance, tolerance: float = LOAD_TOLERANCE) -> float:
    """Return the largest sum of demands that a vehicle takes.

    Sums of whole numbers are exact, so that there nothing is above the capacity; sums of others may be off by rounding.

    >>> load_limit(Instance("heavy", [0, 1], 4e9, [[0, 0], [1, 1]])) == 4e9
    True
    """
    demands, capacity = instance.demands, instance.capacity
    whole = capacity.is_integer() and bool((demands == np.floor(demands)).all())
    exact = whole and max(capacity, float(demands.sum())) < 2**53
    return capacity if exact else capacity * (1.0 + tolerance)


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

    @property
    def cost(self) -> float:
        """F = length + vehicle cost × routes."""
        return self.length + self.instance.vehicle_cost * len(self.routes)

    @property
    def gap(self) -> float | None:
        """How far the cost lies above the best known one, in per cent; None if that is not known."""
        best = self.instance.best_known
        return None if best is None or best <= 0 else 100.0 * (self.cost / best - 1.0)

    def faults(self) -> list[str]:
        """Return a sentence for each broken rule: a customer missed, repeated or unknown, a route overloaded."""
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
            if not unknown:
                load = sum(float(instance.demands[customer]) for customer in route)
                if load > limit:
                    found.append(f"route {number} carries {load:g}, above the capacity {instance.capacity:g}.")
        for customer in range(1, instance.customers + 1):
            if visits[customer] == 0:
                found.append(f"customer {customer} is not visited.")
            elif visits[customer] > 1:
                found.append(f"customer {customer} is visited {visits[customer]} times.")
        return found

    @cached_property
    def feasible(self) -> bool:
        """Whether every customer is visited once and no route is overloaded."""
        return not self.faults()

    def checked(self, what: str) -> Solution:
        """Return the solution if it is feasible; otherwise refuse ``what`` with its first fault."""
        faults = self.faults()
        if faults:
            others = len(faults) - 1
            more = f" ({others} more fault{'s' if others > 1 else ''})" if others else ""
            raise InputError(f"{what} does not fit {self.instance.name}: {faults[0]}{more}")
        return self
