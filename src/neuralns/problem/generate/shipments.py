"""Instances with shipments and time windows, in the manner of Li and Lim."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from neuralns.errors import InputError
from neuralns.problem.fleet import Shipment
from neuralns.problem.generate.choices import Customers, Horizon, Width
from neuralns.problem.generate.routes import Stops, inserted_routes
from neuralns.problem.generate.windows import generate_windows
from neuralns.problem.instance import Instance


def generate_shipments(
    customers: int,
    positions: Customers = "random",
    width: Width = "narrow",
    horizon: Horizon = "short",
    share: float = 1.0,
    seed: int = 0,
) -> Instance:
    """Generate an instance with shipments and time windows in the manner of Li and Lim (2001).

    Half of the ``customers``, an even number, are pickups, the others their deliveries. They are those of
    `generate_windows` with the same options; whoever is on the same route of a solution made for the purpose is paired
    at random, and what is shipped is the demand of the earlier one: all of them can be served. Distances are not
    rounded.

    Examples
    --------
    >>> instance = generate_shipments(100, "mixed", "wide", seed=1)
    >>> len(instance.shipments), instance.unservable
    (50, {})
    """
    base = generate_windows(customers, positions, width, horizon, share, seed)
    if customers % 2:
        raise InputError(f"{customers} customers cannot be paired; shipments need an even number.")
    rng = np.random.default_rng(np.random.SeedSequence([seed, 2001]))
    stops, home = Stops.of(base), base.points[0]
    shift = stops.shift
    waiting = np.ones(customers, dtype=bool)
    shipments = []
    while waiting.any():
        routes = [route[: len(route) // 2 * 2] for route in inserted_routes(stops, home, waiting) if len(route) > 1]
        if not routes:
            pair, enough = _fit(stops, *_nearest_two(stops, waiting), stops.away(home))
            routes, shift = [pair], max(shift, enough)
        for route in routes:
            waiting[route] = False
            for first, second in np.sort(rng.permutation(len(route)).reshape(-1, 2)):
                shipments.append(Shipment(route[first] + 1, route[second] + 1, stops.demands[route[first]]))
    shipments.sort(key=lambda each: each.pickup)
    return Instance(
        f"shipments-{base.name}",
        capacity=base.capacity,
        coordinates=base.points,
        windows=np.concatenate([[[0.0, shift]], np.column_stack([stops.opens, stops.closes])]),
        service=base.services,
        shipments=shipments,
    )


def _nearest_two(stops: Stops, waiting: npt.NDArray[np.bool_]) -> tuple[int, int]:
    """Return the first who waits, and who of the others is nearest."""
    one, *others = np.flatnonzero(waiting).tolist()
    away = stops.away(stops.points[one])
    return one, min(others, key=lambda stop: float(away[stop]))


def _fit(stops: Stops, one: int, other: int, away: npt.NDArray[np.float64]) -> tuple[list[int], float]:
    """Move the windows of two, as little as needed, so that a route visits both; return it and when the shift ends."""
    first, second = sorted((one, other), key=lambda stop: stops.closes[stop])
    between = stops.service[first] + stops.away(stops.points[first])[second]
    after = stops.service[second] + away[second]
    shift = max(stops.shift, away[first] + between + after)
    early = max(stops.closes[first] - (shift - after - between), 0.0)
    stops.closes[first] -= early
    stops.opens[first] = max(stops.opens[first] - early, 0.0)
    lateness = max(max(away[first], stops.opens[first]) + between - stops.closes[second], 0.0)
    stops.closes[second] += lateness
    stops.opens[second] += lateness
    return [first, second], float(shift)
