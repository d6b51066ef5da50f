"""What an instance is like, in numbers that mean the same at every size: what a learned controller chooses by."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from neuralns.problem.initial import nearest_neighbours
from neuralns.problem.instance import Instance
from neuralns.problem.limits import load_limit
from neuralns.problem.solution import Solution

Floats = npt.NDArray[np.float64]

INSTANCE_FEATURES = (
    "customers", "time", "route", "fill", "demand", "clusters", "far", "windows", "width", "horizon", "service",
    "general", "shipments", "optional", "types", "depots", "limited", "durations",
)  # fmt: skip
"""Their names, in order.

customers
    ln of their number over 200.
time
    ln of the seconds for each customer over 30 ms.
route
    ln of the customers of a route of the start over 12.
fill
    Share of the vehicles' capacity used by the start; 0 without limits of load.
demand
    Standard deviation of the demands over their mean.
clusters
    ln of the mean distance to the nearest neighbour over that of points spread evenly over the same area.
far
    ln of the mean distance from the depot over that between customers.
windows
    Share of the customers with a window that rules out some time at which a route to them alone could serve them.
width
    Mean width of these windows, as a share of the shift.
horizon
    ln of the shift over the time of a mean step between neighbours on routes, over 30.
service
    ln of 1 + the mean service over that of a step.
general, shipments, optional, limited, durations
    1 where there are such rules, 0 elsewhere.
types, depots
    ln of their number.
"""


def instance_features_of(instance: Instance, start: Solution, seconds: float) -> Floats:
    """Return the features of an instance and of the solution that a search of some seconds starts from."""
    customers = instance.customers
    routes = max(1, len(start.routes))
    served = max(1, sum(map(len, start.routes)))
    tails = np.array([tail for route in start.routes for tail in route[:-1]], np.int64)
    heads = np.array([head for route in start.routes for head in route[1:]], np.int64)
    steps = instance.times(tails, heads) if instance.timed else instance.legs(tails, heads)
    step = float(np.mean(steps)) if len(steps) else 0.0
    near = nearest_neighbours(instance, 1)[1:]
    nodes = np.arange(1, customers + 1)
    nearest = float(instance.legs(nodes, near[:, 0]).mean()) if near.shape[1] else 0.0
    rng = np.random.default_rng(0)
    some, others = rng.integers(1, customers + 1, (2, 2000))
    apart = float(instance.legs(some, others).mean())
    # Between points spread evenly over a square of side s: 0.521 s on average, 0.5 s / √n to the nearest.
    even = 0.5 * apart / 0.521 / math.sqrt(customers)
    depots = np.zeros(customers, np.int64)
    depot = float(instance.legs(depots, nodes).mean())
    demands = instance.demands[1 : customers + 1]
    limit = load_limit(instance)
    fill = float(demands.sum()) / (limit * routes) if 0 < limit < math.inf else 0.0
    opens, closes = instance.earliest[1 : customers + 1], instance.latest[1 : customers + 1]
    windowed = np.isfinite(closes) if instance.timed else np.zeros(customers, bool)
    shift = float(instance.latest[0] - instance.earliest[0]) if instance.timed else math.inf
    if not math.isfinite(shift):
        shift = float(closes[windowed].max() - opens[windowed].min()) if windowed.any() else 0.0
    out, back = instance.times(depots, nodes), instance.times(nodes, depots) + instance.services[nodes]
    windowed &= (opens > instance.earliest[0] + out + 0.02 * shift) | (
        closes < instance.latest[0] - back - 0.02 * shift
    )
    width = (
        float(np.mean(np.minimum((closes - opens)[windowed], shift))) / shift if windowed.any() and shift > 0 else 1.0
    )
    service = float(np.mean(instance.services[1 : customers + 1])) if instance.timed else 0.0
    return np.array(
        [
            math.log(customers / 200),
            math.log(max(seconds, 1e-3) / customers / 0.03),
            math.log(served / routes / 12),
            min(fill, 2.0),
            float(demands.std() / demands.mean()) if demands.any() else 0.0,
            _log_ratio(nearest, even),
            _log_ratio(depot, apart),
            float(windowed.mean()),
            width,
            _log_ratio(shift / 30, step) if shift > 0 else 2.0,
            math.log1p(service / step) if step > 0 else 0.0,
            float(instance.general),
            float(instance.shipments is not None),
            float(instance.prizes is not None),
            math.log(len(instance.types)),
            math.log(len(instance.depot_nodes)),
            float(instance.vehicles is not None or any(each.available is not None for each in instance.types)),
            float(instance.duration_cost > 0 or instance.max_duration is not None),
        ]
    )


def variant_of(instance: Instance) -> str:
    """Return the variant that an instance is of: the parts that it has beyond demands and distances.

    >>> from neuralns.problem.generate.variants import generate_of
    >>> variant_of(generate_of("pdptw", 20, 1)), variant_of(generate_of("cvrp", 20, 1))
    ('shipments + windows', 'plain')
    """
    parts = {
        "backhauls": instance.backhauls,
        "costs of durations": any(each.duration_cost > 0 for each in instance.types),
        "costs of routes": instance.route_costs is not None,
        "costs of vehicles": any(each.fixed_cost > 0 for each in instance.types),
        "depots": len(instance.depot_nodes) > 1,
        "dimensions": instance.dimensions > 1,
        "durations": any(each.max_duration is not None for each in instance.types),
        "groups": instance.groups is not None,
        "lengths": any(each.max_distance is not None for each in instance.types),
        "odd vehicles": instance.fleet_matters and len(instance.types) == 1,
        "optional": instance.prizes is not None,
        "pickups": instance.pickups is not None,
        "profiles": instance.profiles is not None,
        "releases": instance.release is not None,
        "several windows": instance.openings is not None,
        "shipments": instance.shipments is not None,
        "skills": instance.skills is not None,
        "vehicles of several types": len(instance.types) > 1,
        "windows": instance.timed,
    }
    return " + ".join(name for name, there in parts.items() if there) or "plain"


def _log_ratio(one: float, other: float) -> float:
    """Return the ln of a ratio, between −3 and 3; 0 if there is none."""
    return min(3.0, max(-3.0, math.log(one / other))) if one > 0 and other > 0 else 0.0
