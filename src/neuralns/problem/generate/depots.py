"""Instances with several depots and time windows, after Cordeau's and Vidal's sets."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from neuralns.errors import InputError
from neuralns.problem.distances import Floats
from neuralns.problem.fleet import Depot, VehicleType
from neuralns.problem.generate.choices import Customers, Width, check_choices
from neuralns.problem.generate.routes import Stops, next_route
from neuralns.problem.generate.windows import in_square
from neuralns.problem.instance import Instance

MOST_DEPOTS = 50
SHIFT = 1000.0
NARROWEST = {"narrow": 90, "wide": 180}
"""How wide windows are at least; at most they are twice as wide."""


def generate_depots(
    customers: int,
    depots: int = 4,
    positions: Customers = "random",
    width: Width = "narrow",
    seed: int = 0,
) -> Instance:
    """Generate an instance with several depots and time windows, in the manner of Cordeau et al. (2001) and Vidal et
    al. (2013).

    Customers lie in a square of side 200, ``random``, ``clustered`` or ``mixed`` half and half, the depots in its
    inner quarter. All are open from 0 to 1000; windows are 90 to 180 (``narrow``) or 180 to 360 (``wide``) long,
    services 1 to 25, demands 1 to 25. Vehicles carry 170 to 200 and are on their way for 400 to 500 at most; each depot
    has the same number of them, as many as simple routes need: everybody can be served. Distances are not rounded.

    Examples
    --------
    >>> instance = generate_depots(100, depots=3, seed=1)
    >>> instance.depot_nodes, instance.unservable
    ((0, 101, 102), {})
    """
    check_choices(customers, seed, positions=(positions, Customers), width=(width, Width))
    if not 2 <= depots <= MOST_DEPOTS:
        raise InputError(f"{depots} depots cannot be generated; choose 2 to {MOST_DEPOTS}.")
    rng = np.random.default_rng(np.random.SeedSequence([seed, 2013]))
    in_clusters = {"random": 0, "clustered": customers, "mixed": customers // 2}[positions]
    homes = rng.integers(-50, 51, size=(depots, 2)).astype(float)
    points = rng.permutation(in_square(rng, customers, in_clusters, 200.0) - 100.0)
    service = rng.integers(1, 26, size=customers).astype(float)
    demands = rng.integers(1, 26, size=customers).astype(float)
    away = np.ceil(np.sqrt(((points[:, None] - homes[None]) ** 2).sum(axis=2)))
    nearest, least = away.argmin(axis=1), away.min(axis=1)
    last = SHIFT - service - least
    middle = rng.uniform(least, last)
    half = rng.uniform(1.0, 2.0, size=customers) * NARROWEST[width] / 2.0
    closes = np.clip(np.rint(middle + half), least, last)
    opens = np.clip(np.rint(middle - half), 0.0, closes)
    capacity = float(rng.choice([170, 180, 190, 200]))
    longest = max(10.0 * rng.integers(40, 51), float((2.0 * least + service).max()))
    stops = Stops(points, demands, opens, closes, service, capacity, SHIFT, longest)
    vehicles = _vehicles(stops, homes, nearest)
    nodes = [0, *range(customers + 1, customers + depots)]
    return Instance(
        f"depots-{depots}-{positions}-{width}-n{customers + depots}-s{seed}",
        np.concatenate([[0.0], demands, np.zeros(depots - 1)]),
        coordinates=np.concatenate([homes[:1], points, homes[1:]]),
        windows=np.concatenate([[[0.0, SHIFT]], np.column_stack([opens, closes]), [[0.0, SHIFT]] * (depots - 1)]),
        service=np.concatenate([[0.0], service, np.zeros(depots - 1)]),
        depots=[Depot()] * depots,
        fleet=[VehicleType(capacity, vehicles, start=node, end=node, max_duration=longest) for node in nodes],
    )


def _vehicles(stops: Stops, homes: Floats, nearest: npt.NDArray[np.int64]) -> int:
    """Return how many vehicles each depot needs, if depots take turns and serve first who is nearest to them."""
    waiting = np.ones(len(stops.points), dtype=bool)
    vehicles = 0
    while waiting.any():
        vehicles += 1
        for depot, home in enumerate(homes):
            own = waiting & (nearest == depot)
            waiting[next_route(stops, home, own if own.any() else waiting)] = False
    return vehicles
