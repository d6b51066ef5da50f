"""Settings to try: what is there already, and what is drawn by chance."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from neuralns.operators.portfolio import Portfolio, default_for, portfolio_named
from neuralns.problem.instance import Instance
from neuralns.selection.dials import FURTHEST, Dials

Floats = npt.NDArray[np.float64]


def candidates_for(instances: Sequence[Instance], portfolio: Portfolio, count: int, seed: int) -> list[Floats]:
    """Return so many different rows of dials: all at 0, the defaults for the instances, and random ones around them.

    Of a default that needs operators which the portfolio lacks, there is none. The same seed draws the same rows, and
    more of them begin with the same ones.
    """
    dials = Dials(portfolio)
    defaults = [portfolio_named(name) for name in dict.fromkeys(map(default_for, instances))]
    alike = [dials.like(default) for default in defaults]
    rows = [dials.row({}), *(row for row in alike if row is not None)]
    different = {tuple(row): row for row in (each.round(4) for each in rows)}
    around = list(different.values())[1:] or rows[:1]
    generator = np.random.default_rng([seed, 0])
    while len(different) < count:
        row = draw_row(dials, around[generator.integers(len(around))], generator).round(4)
        different[tuple(row)] = row
    return list(different.values())[:count]


def draw_row(dials: Dials, default: Floats, rng: np.random.Generator) -> Floats:
    """Return a setting from afar: around the default or all dials at 0, some operators left out, others brought in."""
    row = default.copy() if rng.random() < 0.5 else np.zeros(len(dials.names))
    destroys, repairs, improves, rest = dials.sizes
    operators = destroys + repairs
    for first, last in ((0, destroys), (destroys, operators)):
        part = row[first:last]
        part += rng.normal(0.0, 1.0, last - first)
        for index in range(last - first):
            chance = rng.random()
            if chance < 0.4:
                part[index] = -2 * FURTHEST if chance < 0.2 else rng.normal()
        if (part < -FURTHEST).all():
            part[rng.integers(last - first)] = 0.0
    for index in range(operators, operators + improves):
        chance = rng.random()
        if chance < 0.7:
            row[index] = -2 * FURTHEST if chance < 0.35 else rng.uniform(-2.0, 2.3)
    row[operators + improves :] = rng.normal(0.0, 0.6, rest)
    return row
