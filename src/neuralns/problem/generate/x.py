"""Instances with the options of the X set's generator."""

from __future__ import annotations

import numpy as np

from neuralns.errors import InputError
from neuralns.problem.distances import Floats
from neuralns.problem.generate.choices import Customers, Demand, Depot, check_choices
from neuralns.problem.instance import Instance


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
    check_choices(customers, seed, depot=(depot, Depot), positions=(positions, Customers), demand=(demand, Demand))
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


def _x_positions(rng: np.random.Generator, customers: int, positions: Customers, home: tuple[int, ...]) -> Floats:
    scattered = {"random": customers, "clustered": 0, "mixed": customers // 2}[positions]
    points = [rng.integers(0, 1001, size=(scattered, 2)).astype(float)]
    if positions != "random":
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


def _x_demands(rng: np.random.Generator, demand: Demand, points: Floats) -> Floats:
    customers = len(points)
    if demand == "unit":
        return np.ones(customers)
    if demand == "quadrant":
        high = (points[:, 0] < 500) == (points[:, 1] < 500)
        return np.where(high, rng.integers(51, 101, size=customers), rng.integers(1, 51, size=customers)).astype(float)
    if demand == "many-small":
        small = rng.permutation(customers) < rng.uniform(0.70, 0.95) * customers
        return np.where(small, rng.integers(1, 11, size=customers), rng.integers(50, 101, size=customers)).astype(float)
    low, high_end = map(int, demand.split("-"))
    return rng.integers(low, high_end + 1, size=customers).astype(float)
