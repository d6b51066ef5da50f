"""How the outcome of a search answers to its dials: a response surface that changes with the instance and the search.

The cost of the routes found, in per cent of what other settings find on the same instance, is taken for

    Σ_p  l_p · Σ_k  (a_kp · v_kp + b_kp · v_kp²),

a sum over the stages p of the run, which take shares l_p of it, and over the dials k, whose values v are counted from a
centre, in spreads. Factors a and b are linear in the traits of the instance and, from the second stage on, in the signs
that the search has shown. So the best setting is known in closed form, and what each number contributed can be told.
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
REACH = 1.3
"""How far from the centre a setting is chosen at most, in spreads."""
FURTHER = 2.0
"""The same of a surface that begins from another one: its runs are drawn around what that one took for best."""
LEAST_CURVATURE = 0.025
"""Squares count as at least so much, in per cent: what looks straight bends further out."""
CLIP = 2.5
"""Traits and signs count as no further than so many standard deviations from their mean."""


def centre_of(dials: Dials, default: Floats | None) -> Floats:
    """Return the setting around which others are drawn: the default's operators, and those it leaves out seldom."""
    row = np.zeros(len(dials.names)) if default is None else default.copy()
    left_out = row < -FURTHEST
    destroys, repairs, *_ = dials.sizes
    row[left_out] = RARE
    for place, entry in enumerate(dials.portfolio.improves, destroys + repairs):
        if left_out[place] and entry.share > 0:
            row[place] = math.log(SELDOM / entry.share)
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
        A row for each a_k, then for each b_k: at mean traits, then for each trait.
    signs
        The same for each sign, in a table for each stage after the first.
    traits_mean, traits_spread, signs_mean, signs_spread
        Of the runs that it was fitted to; of signs a row for each stage after the first.
    reach
        How far from the centre a setting is chosen at most, in spreads.
    """

    dials: Dials
    factors: Floats
    signs: Floats
    traits_mean: Floats
    traits_spread: Floats
    signs_mean: Floats
    signs_spread: Floats
    reach: float = REACH

    def effects(self, traits: npt.ArrayLike, stage: int = 0, signs: npt.ArrayLike | None = None) -> Floats:
        """Return a and b of all dials."""
        found = self.factors @ np.concatenate([[1.0], standardised(traits, self.traits_mean, self.traits_spread)])
        if stage > 0 and signs is not None:
            seen = standardised(signs, self.signs_mean[stage - 1], self.signs_spread[stage - 1])
            found = found + self.signs[stage - 1] @ seen
        return np.asarray(found)

    def best_row(
        self,
        centre: Floats,
        traits: npt.ArrayLike,
        stage: int = 0,
        signs: npt.ArrayLike | None = None,
    ) -> Floats:
        """Return the dials that are expected to be best in a stage."""
        straight, square = self.effects(traits, stage, signs).reshape(2, -1)
        best = np.clip(-straight / (2.0 * np.maximum(square, LEAST_CURVATURE)), -self.reach, self.reach)
        return np.asarray(centre + spread_of(self.dials) * best)
