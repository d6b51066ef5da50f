"""Instances with types of vehicles that differ, after the X set's heterogeneous fleets."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from neuralns.problem.distances import Floats
from neuralns.problem.fleet import VehicleType
from neuralns.problem.generate.choices import Customers, Demand, Depot, Fleet, check_choices
from neuralns.problem.generate.x import generate_x
from neuralns.problem.instance import Instance

Numbers = npt.NDArray[np.int64]
LIMITED = ("hvrp", "hd")
"""Fleets with a number of vehicles of each type; of others there are as many as customers."""
WITH_FIXED_COST = ("hvrp", "fsmf", "fsmfd")
WITH_OWN_DISTANCE_COST = ("hvrp", "hd", "fsmd", "fsmfd")


def generate_fleet(
    customers: int,
    fleet: Fleet = "hvrp",
    depot: Depot = "random",
    positions: Customers = "random",
    demand: Demand = "1-100",
    route_length: float | None = None,
    seed: int = 0,
) -> Instance:
    """Generate an instance with a heterogeneous fleet, in the manner of Pessoa, Sadykov and Uchoa's (2018) sets.

    Customers are those of `generate_x` with the same options. There are 3, 5 or 9 types; the middle one has the
    capacity that all have there, the largest carries four or six times as much as the smallest. Fleets ``hvrp`` and
    ``hd`` are limited: all vehicles together carry 5 to 20 % more than is asked for, or more where demands could not be
    packed otherwise. Of fleets ``fsmf``, ``fsmd`` and ``fsmfd`` there are as many vehicles of each type as customers.
    In ``hvrp``, ``fsmf`` and ``fsmfd`` vehicles have a fixed cost, which grows faster than their capacity; in all but
    ``fsmf`` a unit of distance costs more with larger vehicles. Distances are not rounded.

    Examples
    --------
    >>> instance = generate_fleet(100, "fsmf", seed=2)
    >>> [vehicle_type.capacity[0] for vehicle_type in instance.fleet]
    [354.0, 500.0, 707.0, 1000.0, 1414.0]
    """
    check_choices(customers, seed, fleet=(fleet, Fleet))
    base = generate_x(customers, depot, positions, demand, route_length, seed)
    rng = np.random.default_rng(np.random.SeedSequence([seed, 2018]))
    types, span = int(rng.choice([3, 5, 9])), float(rng.choice([4.0, 6.0]))
    sizes = span ** np.linspace(-0.5, 0.5, types)
    capacities = np.unique(np.maximum(np.rint(base.capacity * sizes), 1.0))
    sizes = capacities / base.capacity
    there_and_back = 2.0 * np.sqrt(((base.points[1:] - base.points[0]) ** 2).sum(axis=1)).mean()
    fixed = np.rint(rng.uniform(0.4, 1.5) * there_and_back * sizes**1.2)
    steepness = rng.uniform(0.4, 0.8) if fleet in LIMITED else rng.uniform(0.8, 1.0)
    by_distance = np.round(sizes**steepness, 2)
    alike, slack = bool(rng.integers(2)), rng.uniform(1.05, 1.2)
    available = np.full(len(capacities), customers)
    if fleet in LIMITED:
        available = _numbers(capacities, base.demands[1:], slack, alike)
    return Instance(
        f"{fleet}-{base.name}",
        base.demands,
        coordinates=base.points,
        fleet=[
            VehicleType(
                capacities[vehicle_type],
                int(available[vehicle_type]),
                fixed[vehicle_type] if fleet in WITH_FIXED_COST else 0.0,
                by_distance[vehicle_type] if fleet in WITH_OWN_DISTANCE_COST else 1.0,
            )
            for vehicle_type in range(len(capacities))
        ],
    )


def _numbers(capacities: Floats, demands: Floats, slack: float, alike: bool) -> Numbers:
    """Return how many vehicles of each type suffice: the same number of each, or of about the same capacity in all."""
    shares = np.full(len(capacities), capacities.mean()) if alike else capacities
    while True:
        numbers: Numbers = np.ceil(slack * demands.sum() / len(capacities) / shares).astype(np.int64)
        if _packed(np.repeat(capacities, numbers), demands):
            return numbers
        slack *= 1.05


def _packed(room: Floats, demands: Floats) -> bool:
    """Tell whether demands fit, the largest first, each where it leaves the least room."""
    for demand in np.sort(demands)[::-1]:
        left = np.where(room >= demand, room - demand, np.inf)
        best = int(np.argmin(left))
        if left[best] == np.inf:
            return False
        room[best] = left[best]
    return True
