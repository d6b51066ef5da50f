"""Instances with time windows, after Gehring and Homberger's kinds."""

from __future__ import annotations

from typing import get_args

import numpy as np

from neuralns.errors import InputError
from neuralns.problem.distances import Floats
from neuralns.problem.generate.choices import Customers, Horizon, Width, check_choices
from neuralns.problem.instance import Instance

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
    check_choices(customers, seed, kind=(kind, Customers), width=(width, Width), horizon=(horizon, Horizon))
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
    points = in_square(rng, customers, in_clusters, side)
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


def in_square(rng: np.random.Generator, customers: int, in_clusters: int, side: float) -> Floats:
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
        distances = np.sqrt(((points - place) ** 2).sum(axis=1))
        fits = waiting & (demands <= room) & (now + distances + service + back <= shift)
        if not fits.any():
            place, now, room = home, 0.0, capacity
            continue
        chosen = int(np.argmin(np.where(fits, distances, np.inf)))
        waiting[chosen] = False
        times[chosen] = now + distances[chosen]
        place, now, room = points[chosen], times[chosen] + service, room - demands[chosen]
    return times
