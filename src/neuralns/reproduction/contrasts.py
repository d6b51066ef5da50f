"""Figures compared with each other, agent by agent, with tests between them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from neuralns.experiments.statistics import holm, signed_rank, welch
from neuralns.reproduction.tables import Cell, Estimate, Estimates

LEVEL = 0.05
"""Differences with a corrected p below it count as significant."""


@dataclass(frozen=True)
class Contrast:
    """First minus second; ``p`` of Welch's t-test over seeds after Holm's correction, NaN if one has a single seed."""

    difference: float
    p: float

    @property
    def significant(self) -> bool:
        return self.p < LEVEL


def contrasts(pairs: Mapping[Cell, tuple[Estimate, Estimate]]) -> dict[Cell, Contrast]:
    """Compare pairs of figures; p is corrected for their number."""
    raw = {cell: welch(first.values, second.values) for cell, (first, second) in pairs.items()}
    tested = [cell for cell, p in raw.items() if not math.isnan(p)]
    corrected = dict(zip(tested, holm([raw[cell] for cell in tested]), strict=True))
    return {
        cell: Contrast(first.mean - second.mean, corrected.get(cell, math.nan))
        for cell, (first, second) in pairs.items()
    }


def compare_agents(
    estimates: Estimates, experiment: str, setting: str, first: str, second: str, statistic: str = ""
) -> dict[Cell, Contrast]:
    """Compare two agents in all cells of an experiment and a setting that have both, under those of the first."""
    return contrasts({
        cell: (estimate, estimates[cell.of(second)])
        for cell, estimate in estimates.items()
        if (cell.experiment, cell.setting, cell.agent, cell.statistic) == (experiment, setting, first, statistic)
        and cell.of(second) in estimates
    })  # fmt: skip


def over_all(found: Iterable[Contrast]) -> float:
    """Return p of the Wilcoxon signed-rank test over cells, NaN for less than six, which could not be significant."""
    moved = [each.difference for each in found if each.difference != 0]
    return signed_rank(np.round(moved, 6)) if len(moved) >= 6 else math.nan
