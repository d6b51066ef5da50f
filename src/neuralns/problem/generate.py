"""Seeded generators of instances: Solomon's kinds, Gehring and Homberger's with windows, and the X set's options."""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np

from neuralns.errors import InputError
from neuralns.problem.distances import Floats
from neuralns.problem.instance import Instance

Customers = Literal["random", "clustered", "mixed"]
Depot = Literal["random", "center", "corner"]
Width = Literal["narrow", "wide"]
Horizon = Literal["short", "long"]
Demand = Literal["unit", "1-10", "5-10", "1-100", "50-100", "quadrant", "many-small"]


def generate_solomon(customers: int, kind: Customers = "random", seed: int = 0, capacity: float = 200.0) -> Instance:
    """Generate an instance in the manner of Solomon's sets R1, C1 and RC1 (Solomon 1987), without time windows.

    Customers lie in a square of side 100 with the depot near its middle: uniformly (``random``), in about n/10 tight
    clusters (``clustered``), or half and half (``mixed``). Demands are multiples of 10 from 10 to 50 in clusters and
    whole numbers from 1 to 41 elsewhere, as in the sets.

    Examples
    --------
    >>> generate_solomon(50, "mixed", seed=1).name
    'mixed-n51-s1'
    """
    _check(customers, seed, kind=(kind, Customers))
    if capacity < 50:
        raise InputError(f"capacity {capacity:g} is too small for demands of up to 50.")
    rng = np.random.default_rng(np.random.SeedSequence([seed, get_args(Customers).index(kind)]))
    in_clusters = {"random": 0, "clustered": customers, "mixed": customers // 2}[kind]
    centres = rng.uniform(10, 90, size=(max(1, round(in_clusters / 10)), 2))
    grouped = centres[rng.integers(len(centres), size=in_clusters)] + rng.normal(0, 3, size=(in_clusters, 2))
    scattered = rng.uniform(0, 100, size=(customers - in_clusters, 2))
    points = np.clip(np.rint(np.concatenate([grouped, scattered])), 0, 100)
    demands = np.concatenate(
        [10.0 * rng.integers(1, 6, size=in_clusters), rng.integers(1, 42, size=customers - in_clusters).astype(float)]
    )
    order = rng.permutation(customers)
    return Instance(
        f"{kind}-n{customers + 1}-s{seed}",
        np.concatenate([[0.0], demands[order]]),
        capacity,
        np.concatenate([[[40.0, 50.0]], points[order]]),
    )


WIDTHS = {
    ("short", "clustered"): {"narrow": 60, "wide": 360},
    ("long", "clustered"): {"narrow": 160, "wide": 880},
    ("short", "random"): {"narrow": 30, "wide": 120},
    ("long", "random"): {"narrow": 120, "wide": 480},
}
"""How wide windows are on average: as in Gehring and Homberger's C1, C2, R1 and R2."""


def generate_windows(
    customers: int,
    kind: Customers = "random",
    width: Width = "narrow",
    horizon: Horizon = "short",
    share: float = 1.0,
    seed: int = 0,
) -> Instance:
    """Generate an instance with time windows after the kinds of Gehring and Homberger (1999).

    The square grows with the customers as in their sets, with the depot in its middle: side 100 up to 100 customers,
    200 at 400, 500 at 1000. A ``short`` horizon with a capacity of 200 gives routes of about ten customers (their C1,
    R1 and RC1), a ``long`` one with 700 or 1000 routes of forty and more (C2, R2, RC2). Windows of ``clustered``
    customers lie about the times at which nearest-neighbour routes come by, and all others anywhere that a route to one
    customer alone may come by: everybody can be served. A ``share`` of the customers has a window, the others may be
    served at any time. Distances and travel times are cut to one decimal (rounding ``dimacs``).

    Examples
    --------
    >>> instance = generate_windows(200, "mixed", "wide", "long", seed=1)
    >>> instance.name, instance.capacity, instance.unservable
    ('mixed-wide-long-n201-s1', 1000.0, {})
    """
    _check(customers, seed, kind=(kind, Customers), width=(width, Width), horizon=(horizon, Horizon))
    if not 0 <= share <= 1:
        raise InputError(f"share {share:g} of customers with a window must lie between 0 and 1.")
    numbers = [
        seed,
        1999,
        *(get_args(kinds).index(chosen) for chosen, kinds in ((kind, Customers), (horizon, Horizon))),
    ]
    rng = np.random.default_rng(np.random.SeedSequence(numbers))
    in_clusters = {"random": 0, "clustered": customers, "mixed": customers // 2}[kind]
    side = round(max(100.0, 10.0 * customers**0.5, customers / 2.0))
    points = _in_square(rng, customers, in_clusters, side)
    demands = np.where(
        np.arange(customers) < in_clusters,
        10.0 * rng.choice(4, size=customers, p=[0.5, 0.3, 0.1, 0.1]) + 10.0,
        rng.integers(1, 36, size=customers),
    )
    order = rng.permutation(customers)
    points, demands = points[order], demands[order]
    home = np.array([side // 2, side // 2], dtype=float)
    if kind == "clustered":
        service, capacity = 90.0, {"short": 200.0, "long": 700.0}[horizon]
        shift = {"short": 1200.0 + round(1.25 * side), "long": 3500.0 + round(0.85 * side)}[horizon]
    else:
        service, capacity = 10.0, {"short": 200.0, "long": 1000.0}[horizon]
        shift = (150.0 + round(3.5 * side)) * {"short": 1.0, "long": 4.0}[horizon]
    # Whole numbers that hold under every rounding convention.
    away = np.ceil(np.sqrt(((points - home) ** 2).sum(axis=1)))
    last = shift - service - away
    middle = rng.uniform(away, last)
    if kind == "clustered":
        middle = _passing_times(points, home, demands, capacity, service, shift)
    mean = WIDTHS[horizon, "clustered" if kind == "clustered" else "random"][width]
    half = np.maximum(rng.normal(mean, mean / 4.0, size=customers), mean / 4.0) / 2.0
    closes = np.clip(np.rint(middle + half), away, last)
    opens = np.clip(np.rint(middle - half), 0.0, closes)
    free = rng.permutation(customers) >= round(share * customers)
    opens[free], closes[free] = 0.0, last[free]
    return Instance(
        f"{kind}-{width}-{horizon}-n{customers + 1}-s{seed}",
        np.concatenate([[0.0], demands]),
        capacity,
        np.concatenate([[home], points]),
        rounding="dimacs",
        windows=np.concatenate([[[0.0, shift]], np.column_stack([opens, closes])]),
        service=np.concatenate([[0.0], np.full(customers, service)]),
    )


def _in_square(rng: np.random.Generator, customers: int, in_clusters: int, side: float) -> Floats:
    """Return points on whole numbers: so many in clusters of about ten, the others anywhere."""
    centres = rng.uniform(0.1 * side, 0.9 * side, size=(max(1, round(in_clusters / 10)), 2))
    grouped = centres[rng.integers(len(centres), size=in_clusters)] + rng.normal(0, 3, size=(in_clusters, 2))
    scattered = rng.uniform(0, side, size=(customers - in_clusters, 2))
    points: Floats = np.clip(np.rint(np.concatenate([grouped, scattered])), 0, side)
    return points


def _passing_times(
    points: Floats, home: Floats, demands: Floats, capacity: float, service: float, shift: float
) -> Floats:
    """Return when routes come by that go on to the nearest customer who fits, and home when none does."""
    times = np.zeros(len(points))
    back = np.sqrt(((points - home) ** 2).sum(axis=1))
    waiting = np.ones(len(points), dtype=bool)
    place, now, room = home, 0.0, capacity
    while waiting.any():
        reach = np.sqrt(((points - place) ** 2).sum(axis=1))
        fits = waiting & (demands <= room) & (now + reach + service + back <= shift)
        if not fits.any():
            place, now, room = home, 0.0, capacity
            continue
        chosen = int(np.argmin(np.where(fits, reach, np.inf)))
        waiting[chosen] = False
        times[chosen] = now + reach[chosen]
        place, now, room = points[chosen], times[chosen] + service, room - demands[chosen]
    return times


def generate_x(
    customers: int,
    depot: Depot = "random",
    positions: Customers = "random",
    demand: Demand = "1-100",
    route_length: float | None = None,
    seed: int = 0,
) -> Instance:
    """Generate an instance with the options of the X set's generator (Uchoa et al. 2017).

    Points lie on the grid [0, 1000]². The depot is at a ``random`` point, in the ``center`` or in the ``corner``.
    Customers are ``random``, ``clustered`` around 3 to 8 seeds (a point at distances d_s from the seeds is taken with
    probability Σ_s exp(−d_s / 40)), or ``mixed`` half and half. Demands are ``unit``, uniform in a range, by
    ``quadrant`` (51 to 100 in two opposite quadrants, 1 to 50 in the others) or ``many-small`` (1 to 10 for 70–95 %
    of the customers, 50 to 100 for the rest). The capacity is ⌈r · Σq / n⌉ for ``route_length`` r, which is drawn
    from the triangular distribution (3, 6, 25) if left out. Distances are rounded to whole numbers.

    Examples
    --------
    >>> instance = generate_x(120, depot="corner", demand="unit", route_length=10, seed=3)
    >>> instance.customers, instance.capacity, instance.rounding
    (120, 10.0, 'round')
    """
    _check(customers, seed, depot=(depot, Depot), positions=(positions, Customers), demand=(demand, Demand))
    if route_length is not None and not 1 <= route_length <= customers:
        raise InputError(f"route length {route_length:g} must lie between 1 and the number of customers.")
    rng = np.random.default_rng(np.random.SeedSequence([seed, 2017]))
    home = {"center": (500, 500), "corner": (0, 0), "random": tuple(rng.integers(0, 1001, size=2))}[depot]
    points = _x_positions(rng, customers, positions, home)
    demands = _x_demands(rng, demand, points)
    length = rng.triangular(3, 6, 25) if route_length is None else route_length
    capacity = max(float(np.ceil(length * demands.sum() / customers)), float(demands.max()))
    return Instance(
        f"gen-n{customers + 1}-{depot}-{positions}-{demand}-s{seed}",
        np.concatenate([[0.0], demands]),
        capacity,
        np.concatenate([[home], points]).astype(float),
        rounding="round",
    )


def _x_positions(rng: np.random.Generator, customers: int, kind: Customers, home: tuple[int, ...]) -> Floats:
    scattered = {"random": customers, "clustered": 0, "mixed": customers // 2}[kind]
    points = [rng.integers(0, 1001, size=(scattered, 2)).astype(float)]
    if kind != "random":
        seeds = rng.integers(0, 1001, size=(min(int(rng.integers(3, 9)), customers - scattered), 2)).astype(float)
        points.append(seeds)
        missing = customers - scattered - len(seeds)
        while missing > 0:
            trial = rng.integers(0, 1001, size=(4096, 2)).astype(float)
            distance = np.sqrt(((trial[:, None, :] - seeds[None, :, :]) ** 2).sum(axis=2))
            taken = trial[rng.random(len(trial)) < np.exp(-distance / 40.0).sum(axis=1)][:missing]
            points.append(taken)
            missing -= len(taken)
    return np.concatenate(points)


def _x_demands(rng: np.random.Generator, kind: Demand, points: Floats) -> Floats:
    customers = len(points)
    if kind == "unit":
        return np.ones(customers)
    if kind == "quadrant":
        high = (points[:, 0] < 500) == (points[:, 1] < 500)
        return np.where(high, rng.integers(51, 101, size=customers), rng.integers(1, 51, size=customers)).astype(float)
    if kind == "many-small":
        small = rng.permutation(customers) < rng.uniform(0.70, 0.95) * customers
        return np.where(small, rng.integers(1, 11, size=customers), rng.integers(50, 101, size=customers)).astype(float)
    low, high_end = map(int, kind.split("-"))
    return rng.integers(low, high_end + 1, size=customers).astype(float)


def _check(customers: int, seed: int, **choices: tuple[str, object]) -> None:
    if not isinstance(seed, int | np.integer) or seed < 0:
        raise InputError(f"seed {seed!r} must be a whole number of at least 0.")
    if customers < 1:
        raise InputError(f"{customers} customers cannot be generated; at least 1 is needed.")
    for what, (value, allowed) in choices.items():
        if value not in get_args(allowed):
            raise InputError(f"{what} {value!r} is not known; choose one of {', '.join(get_args(allowed))}.")
