"""Response surfaces (see `response`) fitted to runs: ridge regression on the dials and features of searches."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from neuralns.selection.dials import Dials
from neuralns.selection.response import MOST_SPREADS, Response, standardised
from neuralns.selection.staged import LENGTHS

Floats = npt.NDArray[np.float64]

INSTANCE_SIZE, SEARCH_SIZE = 0.2, 0.1
"""Size of products of dials and features of instances, or of searches, before the fit: the smaller, the less it makes
of them."""
FROM_PRIOR = (1e4, 3e4, 1e5, 1e6)
"""Penalties, beyond the others, of departing from a prior: the last leaves it as it is, or nearly."""
FARTHEST = 2.0
"""Costs count as no further than so many per cent from the mean of the instance."""


@dataclass(frozen=True)
class Runs:
    """What a surface is fitted to, a row for each run; ``groups`` says which are of one instance, time and seed.

    ``values`` are dials in spreads from the centre, in each stage; ``search_features`` those of each stage after
    the first.
    ``instances`` says which groups are of one instance; where it is left out, each is of another.
    """

    values: Floats
    instance_features: Floats
    search_features: Floats
    costs: Floats
    groups: npt.NDArray[np.int64]
    instances: npt.NDArray[np.int64] | None = None

    @property
    def apart(self) -> npt.NDArray[np.int64]:
        """Numbers of what is left out together when a fit is judged: instances, or groups if all are of one."""
        return self.groups if self.instances is None or self.instances.max() == 0 else self.instances


def fit_response(
    dials: Dials,
    runs: Runs,
    penalties: tuple[float, ...] = (10.0, 30.0, 100.0, 300.0, 1000.0, 3000.0),
    folds: int = 5,
    prior: Response | None = None,
) -> tuple[Response, float]:
    """Fit a response surface to runs by ridge regression; return it and the share of the variance that it foretells.

    Only differences between runs of one group count. The penalty is the one of ``penalties`` that foretells best the
    instances left out in turn. It is on factors, or on how far they are from those of a ``prior``, of the same dials,
    whose ``most_spreads`` it keeps.
    """
    if prior is None:
        instance_mean, instance_spread = (
            runs.instance_features.mean(axis=0),
            np.maximum(runs.instance_features.std(axis=0), 0.05),
        )
        search_mean, search_spread = (
            runs.search_features.mean(axis=0),
            np.maximum(runs.search_features.std(axis=0), 0.05),
        )
    else:
        instance_mean, instance_spread = prior.instance_mean, prior.instance_spread
        search_mean, search_spread = prior.search_mean, prior.search_spread
    instance_features = standardised(runs.instance_features, instance_mean, instance_spread)
    search_features = standardised(runs.search_features, search_mean, search_spread)
    stages = np.concatenate([runs.values, runs.values**2], axis=2) * np.array(LENGTHS)[:, None]
    plain = stages.sum(axis=1)
    parts = [plain, *(INSTANCE_SIZE * plain * instance_features[:, [k]] for k in range(instance_features.shape[1]))]
    for stage in range(1, len(LENGTHS)):
        parts += [
            SEARCH_SIZE * stages[:, stage] * search_features[:, stage - 1, [k]] for k in range(search_features.shape[2])
        ]
    design = np.concatenate(parts, axis=1)
    counts = np.bincount(runs.groups)
    outcome = 100.0 * np.log(runs.costs)
    outcome -= (np.bincount(runs.groups, outcome) / counts)[runs.groups]
    outcome = np.clip(outcome, -FARTHEST, FARTHEST)
    sums = np.zeros((len(counts), design.shape[1]))
    np.add.at(sums, runs.groups, design)
    design -= (sums / counts[:, None])[runs.groups]
    width, many = plain.shape[1], instance_features.shape[1]
    sizes = np.ones((design.shape[1] // width, 1))
    sizes[1 : 1 + many], sizes[1 + many :] = INSTANCE_SIZE, SEARCH_SIZE
    known = np.zeros(design.shape[1])
    if prior is not None:
        known = (
            np.concatenate([prior.factors.T, prior.search_factors.transpose(0, 2, 1).reshape(-1, width)]) / sizes
        ).ravel()
        penalties = (*penalties, *FROM_PRIOR)
    factors, share = _ridge(design, outcome, known, runs.apart, penalties, folds)
    table = factors.reshape(-1, width) * sizes
    later = table[1 + many :].reshape(len(LENGTHS) - 1, search_features.shape[2], width).transpose(0, 2, 1)
    means = instance_mean, instance_spread, search_mean, search_spread
    most_spreads = MOST_SPREADS if prior is None else prior.most_spreads
    return Response(dials, table[: 1 + many].T.copy(), later.copy(), *means, most_spreads), share


def _ridge(
    design: Floats,
    outcome: Floats,
    known: Floats,
    apart: npt.NDArray[np.int64],
    penalties: tuple[float, ...],
    folds: int,
) -> tuple[Floats, float]:
    """Return the factors of ridge regression, and the share of the variance that they foretell of what is left out.

    Penalties are on how far factors are from known ones.
    """
    total = float((outcome**2).sum())
    outcome = outcome - design @ known
    fold = np.random.default_rng(0).permutation(int(apart.max()) + 1)[apart] % folds
    grams = [design[fold == part].T @ design[fold == part] for part in range(folds)]
    targets = [design[fold == part].T @ outcome[fold == part] for part in range(folds)]
    whole, target = sum(grams), sum(targets)
    best, least = penalties[-1], math.inf
    for penalty in penalties:
        ridge = penalty * np.eye(design.shape[1])
        error = 0.0
        for part in range(folds):
            found = np.linalg.solve(whole - grams[part] + ridge, target - targets[part])
            error += float(((outcome - design @ found)[fold == part] ** 2).sum())
        if error < least:
            best, least = penalty, error
    factors = np.linalg.solve(whole + best * np.eye(design.shape[1]), target)
    return known + factors, 1.0 - least / total if total > 0 else 0.0
