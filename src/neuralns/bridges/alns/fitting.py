"""What pairs of operators are worth in which state, from records of searches: a regression of rates.

Events, that is gains, come at a rate a second whose logarithm is linear in what the selector sees: one part for all
pairs alike (the search slows down for all), one for each operator, and one for each pair, all but the first drawn
towards 0. The choice between pairs asks for the second and third part alone. With a horizon above 1 the gains of the
following iterations count as well, so that a pair is also valued for what it makes possible.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

_LIMIT = 12.0
"""Bound of the logarithms of rates, far outside of what occurs."""


@dataclass(frozen=True)
class Record:
    """One run: for each iteration the pair, what was seen (a row), the event, and its seconds."""

    pairs: npt.NDArray[np.int64]
    seen: Floats
    events: Floats
    seconds: Floats

    def over(self, horizon: int) -> tuple[Floats, Floats]:
        """Return events and seconds of each iteration and those after it, over a horizon."""
        return _ahead(self.events, horizon), _ahead(self.seconds, horizon)


def _ahead(values: Floats, horizon: int) -> Floats:
    """Return sums over each entry and its followers.

    >>> _ahead(np.array([1.0, 2.0, 4.0]), 2)
    array([3., 6., 4.])
    """
    sums = np.concatenate(([0.0], np.cumsum(values)))
    ends = np.minimum(np.arange(len(values)) + horizon, len(values))
    found: Floats = sums[ends] - sums[:-1]
    return found


def fit(records: Sequence[Record], shape: tuple[int, int], horizon: int = 1, ridge: float = 3.0) -> Floats:
    """Return for each pair the logarithm of its worth as a linear function of what is seen, a row each."""
    from scipy.optimize import minimize

    destroys, repairs = shape
    pairs = np.concatenate([record.pairs for record in records])
    seen = np.concatenate([record.seen for record in records])
    sums = [record.over(horizon) for record in records]
    events = np.concatenate([events for events, _ in sums])
    seconds = np.concatenate([seconds for _, seconds in sums])
    features = seen.shape[1]
    # Rows of the coefficients: for all, for each destroy operator, for each repair operator, for each pair.
    parts = 1 + destroys + repairs + destroys * repairs
    rows = np.stack([
        np.zeros(len(pairs), np.int64), 1 + pairs // repairs, 1 + destroys + pairs % repairs,
        1 + destroys + repairs + pairs,
    ])  # fmt: skip
    # What is the same for all iterations is nearly free; a slope of one operator has to earn its place.
    weight = np.full((parts, features), ridge * horizon)
    weight[:, 0] /= 3.0
    weight[0] = 1e-3
    exposure = seconds / max(float(seconds.mean()), 1e-12)

    def loss(flat: Floats) -> tuple[float, Floats]:
        table = flat.reshape(parts, features)
        slopes = table[rows].sum(axis=0)
        logs = np.clip(np.einsum("if,if->i", slopes, seen), -_LIMIT, _LIMIT)
        expected = exposure * np.exp(logs)
        off = ((expected - events)[:, None] * seen).astype(np.float64)
        gradient = weight * table
        for part in rows:
            for feature in range(features):
                gradient[:, feature] += np.bincount(part, off[:, feature], parts)
        value = float((expected - events * logs).sum() + 0.5 * (weight * table * table).sum())
        return value, gradient.ravel()

    found: Any = minimize(loss, np.zeros(parts * features), jac=True, method="L-BFGS-B", options={"maxiter": 150})
    table = found.x.reshape(parts, features)
    number = np.arange(destroys * repairs)
    slopes: Floats = (
        table[1 + number // repairs] + table[1 + destroys + number % repairs] + table[1 + destroys + repairs + number]
    )
    # Against the mean pair: what is common to all says nothing.
    slopes -= slopes.mean(axis=0)
    return slopes
