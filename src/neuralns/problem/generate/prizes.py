"""Instances with time windows and optional customers."""

from __future__ import annotations

import numpy as np

from neuralns.problem.generate.choices import Customers, Horizon, Width
from neuralns.problem.generate.routes import Stops, inserted_routes
from neuralns.problem.generate.windows import generate_windows
from neuralns.problem.instance import Instance

PRIZES = 0.75, 1.2
"""Prizes on average, as multiples of what a customer costs on simple routes."""


def generate_prizes(
    customers: int,
    positions: Customers = "random",
    width: Width = "narrow",
    horizon: Horizon = "short",
    share: float = 1.0,
    seed: int = 0,
) -> Instance:
    """Generate an instance with time windows of which nobody has to be served, at the price of a prize.

    Customers are those of `generate_windows` with the same options. Prizes grow with demands, and are such that most
    good solutions leave out 10 to 40 % of the customers (fewer where clusters are served by routes of their own).

    Examples
    --------
    >>> instance = generate_prizes(100, "clustered", seed=1)
    >>> bool((instance.prizes[1:] >= 1).all()), instance.required(1)
    (True, False)
    """
    base = generate_windows(customers, positions, width, horizon, share, seed)
    rng = np.random.default_rng(np.random.SeedSequence([seed, 2023]))
    worth = base.demands[1:] / base.demands[1:].mean() * rng.uniform(0.5, 1.5, size=customers)
    mean = rng.uniform(*PRIZES) * _cost(base)
    return Instance(
        f"prizes-{base.name}",
        base.demands,
        base.capacity,
        base.points,
        rounding=base.rounding,
        windows=base.windows,
        service=base.service,
        prizes=np.concatenate([[np.inf], np.ceil(mean * worth)]),
    )


def _cost(instance: Instance) -> float:
    """Return about what it costs to serve a customer."""
    routes = inserted_routes(Stops.of(instance), instance.points[0], np.ones(instance.customers, dtype=bool))
    nodes = np.array([0, *(node for route in routes for node in (*(stop + 1 for stop in route), 0))])
    return float(instance.legs(nodes[:-1], nodes[1:]).sum()) / instance.customers
