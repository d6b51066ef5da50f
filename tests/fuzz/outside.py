"""An outside checker: what routes cost and whether they serve everybody, from the instance's data and nothing else."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

from neuralns import Instance

Routes = Sequence[Sequence[int]]


def leg(instance: Instance, tail: int, head: int) -> float:
    """The rounded distance of a leg."""
    if instance.matrix is not None:
        raw = float(instance.matrix[tail][head])
    else:
        assert instance.coordinates is not None
        (x, y), (to_x, to_y) = instance.coordinates[tail], instance.coordinates[head]
        raw = math.sqrt((x - to_x) ** 2 + (y - to_y) ** 2)
    if instance.rounding == "round":
        return math.floor(raw + 0.5)
    if instance.rounding == "trunc":
        return math.floor(raw)
    return math.floor(10 * raw) / 10 if instance.rounding == "dimacs" else raw


def cost(instance: Instance, routes: Routes) -> float:
    """F of the routes."""
    legs = [leg(instance, tail, head) for route in routes for tail, head in pairwise((0, *route, 0))]
    return math.fsum(legs) + instance.vehicle_cost * len(routes)


def complaints(instance: Instance, routes: Routes, missing: Sequence[int] = ()) -> list[str]:
    """What is wrong with routes that are to serve everybody but those that are ``missing``."""
    found = []
    served = [customer for route in routes for customer in route]
    if sorted([*served, *missing]) != list(range(1, instance.customers + 1)):
        found.append(f"served {sorted(served)} and missing {sorted(missing)} are not all of {instance.customers}")
    for route in routes:
        known = [customer for customer in route if 1 <= customer <= instance.customers]
        load = math.fsum(float(instance.demands[customer]) for customer in known)
        if not route:
            found.append("a route is empty")
        if load > instance.capacity * (1 + 1e-9):
            found.append(f"route {list(route)} carries {load}, above {instance.capacity}")
    return found
