"""How the outcome of a search answers to its dials: a response surface that changes with the traits of the instance.

The cost of the routes found, in per cent of what other settings find on the same instance, is taken for a sum of terms
of the setting, each with a factor that is linear in the traits x of the instance:

    Σ_j  q_j(setting) · (b_j + Σ_k B_jk x_k).

Terms of operators are their shares of the iterations; of improve operators the root of the share of the steps and the
share itself; of all other dials the value v and v². So the best setting for given traits is known in closed form, and
what each trait contributed to it can be told.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from neuralns.selection.dials import FURTHEST, Dials, weights_by

Floats = npt.NDArray[np.float64]

SHARPNESS = 0.5
"""An operator has e times the weight of another one if its effect is by so many per cent better."""
MODESTY = 0.5
"""How much of the way to what looks best dials other than those of operators are turned: in part it is chance."""
DOUBT = 1.5
"""How far the dial of an operator that the default leaves out is turned down at first."""
RANGE = 1.2
"""How far the best value of dials other than those of operators is looked for, either way."""
MINOR = 0.2
"""Size of the products of terms and traits before the fit: the smaller, the less it makes of them."""
FARTHEST = 1.5
"""Costs count as no further than so many per cent from the mean of the instance."""
CLIP = 2.5
"""Traits count as no further than so many standard deviations from their mean."""
_GRID = np.linspace(-RANGE, RANGE, 49)
_SHARES = np.array([0.0, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.4, 0.7, 1.0])


@dataclass(frozen=True)
class Response:
    """A fitted response surface.

    Attributes
    ----------
    dials
        Of the portfolio it is for.
    factors
        A row for each term: b_j, then B_jk for each trait.
    mean, spread
        Of the traits of the instances that it was fitted to.
    """

    dials: Dials
    factors: Floats
    mean: Floats
    spread: Floats

    def effects(self, traits: Floats) -> Floats:
        """Return the factor of each term for an instance."""
        return self.factors @ np.concatenate([[1.0], standardised(traits, self.mean, self.spread)])

    def value(self, traits: Floats, row: npt.ArrayLike) -> float:
        """Return what a setting is expected to cost, in per cent, up to what all settings have in common."""
        return float(terms(self.dials, np.asarray(row, np.float64)[None])[0] @ self.effects(traits))

    def best_row(self, traits: Floats, default: Floats | None = None, sharpness: float = SHARPNESS) -> Floats:
        """Return the dials that are expected to be best for an instance.

        Operators that a ``default`` leaves out begin with less weight, so that what is not known to be better stays
        rare.
        """
        effects = self.effects(traits)
        destroys, repairs, improves, rest = self.dials.sizes
        row = np.zeros(len(self.dials.names))
        operators = destroys + repairs
        if default is not None:
            row[:operators] = np.maximum(default[:operators], -DOUBT)
        for first, last in ((0, destroys), (destroys, operators)):
            row[first:last] -= (effects[first:last] - effects[first:last].min()) / sharpness
        for place, entry in enumerate(self.dials.portfolio.improves):
            linear, square = effects[operators + place], effects[operators + improves + place]
            share = _SHARES[int(np.argmin(linear * np.sqrt(_SHARES) + square * _SHARES))]
            row[operators + place] = math.log(share / entry.share) if share > 0 and entry.share > 0 else -2 * FURTHEST
        for place in range(rest):
            begin = operators + 2 * improves
            linear, square = effects[begin + place], effects[begin + rest + place]
            row[operators + improves + place] = MODESTY * _GRID[int(np.argmin(linear * _GRID + square * _GRID**2))]
        return row


def terms(dials: Dials, rows: Floats) -> Floats:
    """Return the terms of settings, a row for each."""
    destroys, repairs, improves, _ = dials.sizes
    operators = destroys + repairs
    found = []
    for first, last in ((0, destroys), (destroys, operators)):
        weights = weights_by(rows[:, first:last])
        found.append(weights / weights.sum(axis=1, keepdims=True))
    own = np.array([entry.share for entry in dials.portfolio.improves])
    shares = np.minimum(1.0, own * np.exp(np.clip(rows[:, operators : operators + improves], -2 * FURTHEST, FURTHEST)))
    rest = rows[:, operators + improves :]
    return np.concatenate([*found, np.sqrt(shares), shares, rest, rest**2], axis=1)


def standardised(traits: Floats, mean: Floats, spread: Floats) -> Floats:
    """Return traits in standard deviations from their mean, none of them far out."""
    return np.clip((traits - mean) / spread, -CLIP, CLIP)


def fit_response(
    dials: Dials,
    traits: Floats,
    rows: Floats,
    costs: Floats,
    groups: npt.NDArray[np.int64],
    penalties: tuple[float, ...] = (3.0, 10.0, 30.0, 100.0, 300.0, 1000.0),
    folds: int = 8,
) -> tuple[Response, float]:
    """Fit a response surface to runs by ridge regression; return it and the share of the variance that it foretells.

    ``traits``, ``rows`` and ``costs`` have a row for each run, ``groups`` says which runs are of one instance, time and
    seed: only differences between them count. The penalty is the one of ``penalties`` that foretells best the
    instances left out in turn.
    """
    mean, spread = traits.mean(axis=0), np.maximum(traits.std(axis=0), 0.05)
    seen = standardised(traits, mean, spread)
    plain = terms(dials, rows)
    design = np.concatenate([plain, *(MINOR * plain * seen[:, [trait]] for trait in range(seen.shape[1]))], axis=1)
    counts = np.bincount(groups)
    outcome = 100.0 * np.log(costs)
    outcome -= (np.bincount(groups, outcome) / counts)[groups]
    outcome = np.clip(outcome, -FARTHEST, FARTHEST)
    sums = np.zeros((len(counts), design.shape[1]))
    np.add.at(sums, groups, design)
    design -= (sums / counts[:, None])[groups]
    fold = np.random.default_rng(0).permutation(len(counts))[groups] % folds
    grams = [design[fold == part].T @ design[fold == part] for part in range(folds)]
    targets = [design[fold == part].T @ outcome[fold == part] for part in range(folds)]
    whole, target = sum(grams), sum(targets)
    best, least, total = penalties[-1], math.inf, float((outcome**2).sum())
    for penalty in penalties:
        ridge = penalty * np.eye(design.shape[1])
        error = 0.0
        for part in range(folds):
            found = np.linalg.solve(whole - grams[part] + ridge, target - targets[part])
            error += float(((outcome - design @ found)[fold == part] ** 2).sum())
        if error < least:
            best, least = penalty, error
    factors = np.linalg.solve(whole + best * np.eye(design.shape[1]), target)
    count = plain.shape[1]
    table = np.stack(
        [factors[:count], *(MINOR * factors[count * (1 + k) : count * (2 + k)] for k in range(seen.shape[1]))]
    )
    return Response(dials, table.T, mean, spread), 1.0 - least / total if total > 0 else 0.0
