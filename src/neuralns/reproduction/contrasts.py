"""Figures compared with each other, agent by agent, with tests between them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from neuralns.experiments.statistics import holm, signed_rank, welch
from neuralns.reproduction.tables import Cell, Cells, Place

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


def contrasts(pairs: Mapping[Place, tuple[Cell, Cell]]) -> dict[Place, Contrast]:
    """Compare pairs of figures; p is corrected for their number."""
    raw = {place: welch(first.values, second.values) for place, (first, second) in pairs.items()}
    tested = [place for place, p in raw.items() if not math.isnan(p)]
    corrected = dict(zip(tested, holm([raw[place] for place in tested]), strict=True))
    return {
        place: Contrast(first.mean - second.mean, corrected.get(place, math.nan))
        for place, (first, second) in pairs.items()
    }


def compare_agents(
    cells: Cells, experiment: str, setting: str, first: str, second: str, statistic: str = ""
) -> dict[Place, Contrast]:
    """Compare two agents in all cells of an experiment and a setting that have both, under the places of the first."""
    return contrasts({
        place: (cell, cells[place.of(second)])
        for place, cell in cells.items()
        if (place.experiment, place.setting, place.agent, place.statistic) == (experiment, setting, first, statistic)
        and place.of(second) in cells
    })  # fmt: skip


def over_all(found: Iterable[Contrast]) -> float:
    """Return p of the Wilcoxon signed-rank test over cells, NaN for less than six, which could not be significant."""
    moved = [each.difference for each in found if each.difference != 0]
    return signed_rank(np.round(moved, 6)) if len(moved) >= 6 else math.nan
