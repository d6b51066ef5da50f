"""Intervals of means and tests of differences, as comparisons and the reproduction of the paper use them."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from neuralns.mdp.evaluate import confidence

__all__ = ["confidence", "holm", "mean_by_instance", "rank_biserial", "signed_rank", "signed_rank_by_instance", "welch"]

ENOUGH_INSTANCES = 6
"""Instances from which on there are a bootstrap and a test: the least p of a signed-rank test of 5 is above 0.05."""
RESAMPLES = 10_000
"""Resamples of the bootstrap."""


def holm(values: Sequence[float]) -> list[float]:
    """Return p-values corrected for several tests (Holm 1979).

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    order = np.argsort(values, kind="stable")
    corrected = [0.0] * len(values)
    largest = 0.0
    for rank, index in enumerate(order):
        largest = max(largest, min(1.0, (len(values) - rank) * values[index]))
        corrected[int(index)] = float(round(largest, 12))
    return corrected


def welch(first: Sequence[float], second: Sequence[float]) -> float:
    """Return p of Welch's t-test, two-sided; NaN if there is nothing to estimate a variance from.

    Values that are all the same, as those of agents without chance are, count as known exactly.
    """
    from scipy.stats import ttest_ind_from_stats

    if min(len(first), len(second)) < 2:
        return math.nan
    if np.ptp(first) == np.ptp(second) == 0:
        return 1.0 if first[0] == second[0] else 0.0
    parts = [(np.mean(each), np.std(each, ddof=1) if np.ptp(each) > 0 else 0.0, len(each)) for each in (first, second)]
    return float(ttest_ind_from_stats(*parts[0], *parts[1], equal_var=False).pvalue)


def mean_by_instance(groups: Sequence[Sequence[float]]) -> tuple[float, float]:
    """Return the mean over instances, and half of its 95 % interval; a group has the values of one instance.

    Runs with several seeds on an instance are not independent, so what counts are the means of the instances, each
    as much as the others. From six instances on, the interval is by bootstrap: instances are drawn with replacement,
    and the 95 % quantile of |t| = |mean − drawn mean| / drawn standard error takes the place of Student's. It is drawn
    from a fixed seed, so that the same values have the same interval. With two to five instances it is Student's t over
    their means, which is wide: with two the factor is 12.7. With one instance it is Student's t over its seeds, and
    holds for that instance alone; one value has none (NaN).

    >>> mean_by_instance([[1.0, 3.0], [4.0, 4.0], [6.0, 6.0]])  # doctest: +ELLIPSIS
    (4.0, 4.96...)
    """
    means = np.array([np.mean(group) for group in groups])
    mean = float(means.mean())
    if len(means) < ENOUGH_INSTANCES:
        return mean, confidence(means if len(means) > 1 else np.asarray(groups[0], dtype=np.float64))
    root = math.sqrt(len(means))
    drawn = means[np.random.default_rng(0).integers(0, len(means), (RESAMPLES, len(means)))]
    distances, errors = np.abs(drawn.mean(axis=1) - mean), drawn.std(axis=1, ddof=1) / root
    # A resample of one value only lies at no number of standard errors.
    ratios = np.divide(
        distances, errors, out=np.where(distances > 0, np.inf, 0.0), where=errors > 1e-12 * np.ptp(means)
    )
    return mean, float(np.sort(ratios)[math.ceil(0.95 * RESAMPLES) - 1] * means.std(ddof=1) / root)


def signed_rank_by_instance(groups: Sequence[Sequence[float]]) -> float:
    """Return p of the signed-rank test of the instances' mean differences; a group has those of one instance.

    NaN with two to five instances, which are too few for a test. With one instance the test is over its seeds, and
    speaks of that instance alone.
    """
    if 1 < len(groups) < ENOUGH_INSTANCES:
        return math.nan
    return signed_rank(groups[0] if len(groups) == 1 else [float(np.mean(group)) for group in groups])


def signed_rank(differences: npt.ArrayLike) -> float:
    """Return p of Wilcoxon's signed-rank test, two-sided; differences of zero are left out, and 1 if all are.

    >>> signed_rank([1.0, 2.0, 0.0, 3.0, 4.0, 5.0])
    0.0625
    """
    from scipy.stats import wilcoxon

    values = np.asarray(differences, dtype=np.float64)
    return float(wilcoxon(values, zero_method="wilcox").pvalue) if np.any(values != 0) else 1.0


def rank_biserial(differences: npt.ArrayLike) -> float:
    """Return the matched-pairs rank-biserial correlation: 1 if all differences are positive, −1 if all are negative.

    >>> rank_biserial([3.0, -1.0, 2.0])
    0.6666666666666666
    """
    from scipy.stats import rankdata

    values = np.asarray(differences, dtype=np.float64)
    moved = values[values != 0]
    if not len(moved):
        return 0.0
    ranks = rankdata(np.abs(moved))
    return float((ranks[moved > 0].sum() - ranks[moved < 0].sum()) / ranks.sum())
