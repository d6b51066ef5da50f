"""What a search shows of itself once it runs, in numbers that mean the same at every size and cost."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from neuralns.operators.registry import Operator
from neuralns.selection.controller import View

Floats = npt.NDArray[np.float64]

SEARCH_FEATURES = (
    "fall",
    "height",
    "acceptance",
    "speed",
    "stagnation",
    "gain",
    "long strings",
    "near repairs",
    "temperature",
)
"""Their names, in order.

fall
    ln of the best cost over that of the start, in per cent.
height
    ln of the current cost over the best, in per cent.
acceptance
    Share of the candidates accepted so far.
speed
    ln of the iterations a second for each customer.
stagnation
    ln of the share of the iterations since the best solution was found.
gain
    ln of the gain of an iteration in hundred-thousandths of the best cost.
long strings, near repairs
    ln of the gain per second of such operators over that of all.
temperature
    ln of the temperature in hundredths of the mean cost of a customer.
"""
LONG = 20
"""From so many customers on a string is long."""
FURTHEST = 2.0
"""Logarithms of ratios count as no further from 0."""


class SearchFeatures:
    """Sums up what a controller is told, and reads the search features from it."""

    def __init__(self) -> None:
        self._sums: tuple[Floats, ...] | None = None

    def observe(self, view: View) -> None:
        """Add what came of a stretch."""
        told = [np.asarray(part, np.float64) for part in (view.uses, view.accepted, view.gains, view.seconds)]
        before = self._sums or tuple(np.zeros_like(part) for part in told)
        self._sums = tuple(map(np.add, before, told))

    def read(self, view: View) -> Floats:
        """Return the features; all 0 before the first iteration."""
        if self._sums is None or not self._sums[0].any():
            return np.zeros(len(SEARCH_FEATURES))
        uses, accepted, gains, seconds = self._sums
        spent = max(1e-9, (1.0 - view.left) * view.horizon)
        customers, used = view.instance.customers, float(uses.sum())
        best = max(view.best, 1e-9)
        strings = [parameter(entry, "longest") >= LONG for entry in view.portfolio.destroys]
        near = [parameter(entry, "near") > 0 for entry in view.portfolio.repairs]
        whole = gains.sum(), seconds.sum()
        return np.array(
            [
                100.0 * math.log(best / max(view.start, 1e-9)),
                100.0 * math.log(max(view.current, 1e-9) / best),
                float(accepted.sum()) / used,
                math.log(max(view.iteration, 1) / spent / customers),
                math.log((1 + view.since_best) / (1 + view.iteration)),
                math.log(1e-3 + 1e5 * float(gains.sum()) / best / used),
                _advantage(gains[strings].sum(), seconds[strings].sum(), *whole),
                _advantage(gains[:, near].sum(), seconds[:, near].sum(), *whole),
                math.log(1e-6 + 100.0 * view.temperature / best * customers),
            ]
        )


def parameter(entry: Operator, name: str) -> float:
    """Return a parameter of an operator, 0 if it has none of that name."""
    return float(dict(entry.parameters).get(name, 0.0))


def _advantage(gain: float, seconds: float, whole_gain: float, whole_seconds: float) -> float:
    """Return the ln of one gain per second over another, not far from 0; 0 where there is none."""
    if gain <= 0 or seconds <= 0 or whole_gain <= 0:
        return 0.0
    return min(FURTHEST, max(-FURTHEST, math.log(gain / seconds * whole_seconds / whole_gain)))
