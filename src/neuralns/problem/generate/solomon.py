"""Instances in the manner of Solomon's sets, without time windows."""

from __future__ import annotations

from typing import get_args

import numpy as np

from neuralns.errors import InputError
from neuralns.problem.generate.choices import Customers, check_choices
from neuralns.problem.instance import Instance


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
    check_choices(customers, seed, kind=(kind, Customers))
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
