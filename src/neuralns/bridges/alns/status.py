"""What a selector sees of a search: its status, and the numbers that the user's state tells about itself."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from neuralns.errors import InputError

Floats = npt.NDArray[np.float64]

STATUS = ("share", "gap", "won", "stuck", "success", "falling")
"""Names of the numbers of the status, in order."""
LIMIT = 3.0
"""Normalised numbers lie within this many standard deviations."""
_ALWAYS, _SELDOM = 50, 10
"""All of the first numbers count for their mean and deviation, then every tenth."""
_SMOOTH = 0.02
"""Weight of an iteration in what is remembered of recent ones."""


class Status:
    """The search's status as numbers of about the size of 1.

    - ``share`` of the budget that is spent, 0 where it is not known;
    - ``gap`` of the current solution above the best, in typical gains;
    - ``won`` since the start, as a share of the start's cost, on a scale of logarithms;
    - ``stuck``: iterations since the best, on a scale of logarithms;
    - ``success``: share of recent candidates that were better than the current solution;
    - ``falling``: recent gains against those of the whole run so far.
    """

    def __init__(self) -> None:
        self.start = math.nan
        self.iterations = self.best_at = 0
        self.success = 0.5
        self.recent = self.total = 0.0
        self.typical = 0.0

    def numbers(self, share: float, current: float, best: float) -> list[float]:
        """Return the status before an iteration; costs are those of the current and of the best solution."""
        if self.iterations == 0:
            self.start = current
        won = (self.start - best) / (abs(self.start) or 1.0)
        count = self.iterations + 1
        return [
            share,
            math.tanh((current - best) / (10.0 * self.typical)) if self.typical > 0.0 else 0.0,
            0.25 * math.log1p(100.0 * won) if won > 0.0 else 0.0,
            0.2 * math.log1p(self.iterations - self.best_at),
            self.success,
            math.tanh(self.recent * count / self.total) if self.total > 0.0 else 0.0,
        ]

    def tell(self, gain: float, improved: bool, is_best: bool) -> None:
        """Take in what an iteration brought."""
        self.iterations += 1
        if is_best:
            self.best_at = self.iterations
        self.success += _SMOOTH * (improved - self.success)
        self.recent += _SMOOTH * (gain - self.recent)
        self.total += gain
        if gain > 0.0:
            # The middle of gains on a scale of logarithms: one that is far from the others moves it no further.
            step = math.log(gain / self.typical) if self.typical > 0.0 else 0.0
            self.typical = (self.typical or gain) * math.exp(0.1 * max(-2.0, min(2.0, step)))


class Context:
    """The state's own numbers, each brought to mean 0 and deviation 1 by what has been seen of it so far."""

    def __init__(self, mean: Floats | None = None, deviation: Floats | None = None) -> None:
        self.mean = mean
        self.square = None if deviation is None or mean is None else deviation**2
        self.count = 0
        self._turn = 0
        self.fixed = mean is not None
        self.told: Floats = np.empty(0)
        """The last numbers, as they came."""
        self._inverse: Floats = np.ones(1) if deviation is None else 1.0 / (deviation + 1e-12)

    def numbers(self, state: Any) -> Floats | None:
        """Return the normalised numbers of a state, or None where it tells none."""
        tell = getattr(state, "get_context", None)
        when = "in training" if self.fixed else "before"
        if tell is None:
            if self.mean is not None and len(self.mean):
                raise InputError(f"the state has no get_context(), but told {len(self.mean)} numbers {when}.")
            return None
        values: Floats = np.asarray(tell(), dtype=np.float64)
        if values.ndim != 1:
            raise InputError(f"get_context() gave an array of shape {values.shape}; it must have one dimension.")
        total = float(values.dot(values))
        if not math.isfinite(total) and not np.isfinite(values).all():
            raise InputError(f"get_context() gave {values[~np.isfinite(values)][0]}; all numbers must be finite.")
        if self.mean is None or self.square is None:
            self.mean, self.square = values.copy(), np.zeros(len(values))
        elif len(values) != len(self.mean):
            raise InputError(f"get_context() gave {len(values)} numbers, but {len(self.mean)} {when}.")
        self.told = values
        # Numbers that have been seen often hardly change their mean any more.
        if not self.fixed and (self.count < _ALWAYS or self._turn % _SELDOM == 0):
            self.count += 1
            rate = max(1.0 / self.count, 0.01)
            off = values - self.mean
            self.mean += rate * off
            self.square += rate * (off * (values - self.mean) - self.square)
            self._inverse = 1.0 / np.sqrt(self.square + 1e-12 * (1.0 + self.mean * self.mean))
        self._turn += 1
        normal = values - self.mean
        normal *= self._inverse
        return np.minimum(np.maximum(normal, -LIMIT, out=normal), LIMIT, out=normal)
