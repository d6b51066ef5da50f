"""How the outcome of a search answers to its dials: a response surface that changes with the instance and the search.

The cost of the routes found, in per cent of what other settings find on the same instance, is taken for

    Σ_p  l_p · Σ_k  (a_kp · v_kp + b_kp · v_kp²),

a sum over the stages p of the run, which take shares l_p of it, and over the dials k, whose values v are counted from a
centre, in spreads. Factors a and b are linear in the instance features and, from the second stage on, in the search
features. So the best setting is known in closed form, and what each number contributed can be told.
Here it is decided by a surface; `response_fit` fits one.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from neuralns.selection.dials import FURTHEST, Dials

Floats = npt.NDArray[np.float64]

RARE = -2.5
"""Centre of the dial of an operator that the default leaves out: it is drawn, but seldom."""
SELDOM = 0.04
"""Share of the steps, likewise, of an improve operator that the default leaves out."""
MOST_SPREADS = 1.3
"""How far from the centre a setting is chosen at most, in spreads."""
MOST_SPREADS_FROM_PRIOR = 2.0
"""The same of a surface that begins from another one: its runs are drawn around what that one took for best."""
LEAST_CURVATURE = 0.025
"""Squares count as at least so much, in per cent: what looks straight bends further out."""
CLIP = 2.5
"""Features count as no further than so many standard deviations from their mean."""


def centre_of(dials: Dials, default: Floats | None) -> Floats:
    """Return the setting around which others are drawn: the default's operators, and those it leaves out seldom."""
    row = np.zeros(len(dials.names)) if default is None else default.copy()
    left_out = row < -FURTHEST
    destroys, repairs, *_ = dials.sizes
    row[left_out] = RARE
    for index, entry in enumerate(dials.portfolio.improves, destroys + repairs):
        if left_out[index] and entry.share > 0:
            row[index] = math.log(SELDOM / entry.share)
    return row


def spread_of(dials: Dials) -> Floats:
    """Return how far each dial is drawn from the centre."""
    destroys, repairs, improves, _ = dials.sizes
    operators = [1.0] * (destroys + repairs) + [1.5] * improves
    return np.array([*operators, *dials.spreads])


def standardised(values: npt.ArrayLike, mean: Floats, spread: Floats) -> Floats:
    """Return numbers in standard deviations from their mean, none of them far out."""
    return np.clip((np.asarray(values, np.float64) - mean) / spread, -CLIP, CLIP)


@dataclass(frozen=True)
class Response:
    """A fitted response surface.

    Attributes
    ----------
    dials
        Of the portfolio it is for.
    factors
        A row for each a_k, then for each b_k: at mean instance features, then for each of them.
    search_factors
        The same for each search feature, in a table for each stage after the first.
    instance_mean, instance_spread, search_mean, search_spread
        Of the features in the runs that it was fitted to; of search features a row for each stage after the first.
    most_spreads
        How far from the centre a setting is chosen at most, in spreads.
    """

    dials: Dials
    factors: Floats
    search_factors: Floats
    instance_mean: Floats
    instance_spread: Floats
    search_mean: Floats
    search_spread: Floats
    most_spreads: float = MOST_SPREADS

    def effects(
        self, instance_features: npt.ArrayLike, stage: int = 0, search_features: npt.ArrayLike | None = None
    ) -> Floats:
        """Return a and b of all dials."""
        found = self.factors @ np.concatenate(
            [[1.0], standardised(instance_features, self.instance_mean, self.instance_spread)]
        )
        if stage > 0 and search_features is not None:
            seen = standardised(search_features, self.search_mean[stage - 1], self.search_spread[stage - 1])
            found = found + self.search_factors[stage - 1] @ seen
        return np.asarray(found)

    def best_row(
        self,
        centre: Floats,
        instance_features: npt.ArrayLike,
        stage: int = 0,
        search_features: npt.ArrayLike | None = None,
    ) -> Floats:
        """Return the dials that are expected to be best in a stage."""
        straight, square = self.effects(instance_features, stage, search_features).reshape(2, -1)
        best = np.clip(-straight / (2.0 * np.maximum(square, LEAST_CURVATURE)), -self.most_spreads, self.most_spreads)
        return np.asarray(centre + spread_of(self.dials) * best)
