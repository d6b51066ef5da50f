"""Intervals of means and tests of differences, as comparisons and the reproduction of the paper use them."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from neuralns.mdp.evaluate import confidence

__all__ = ["confidence", "holm", "rank_biserial", "signed_rank", "welch"]


def holm(values: Sequence[float]) -> list[float]:
    """Return p-values corrected for several tests (Holm 1979).

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    order = np.argsort(values, kind="stable")
    corrected = [0.0] * len(values)
    largest = 0.0
    for place, index in enumerate(order):
        largest = max(largest, min(1.0, (len(values) - place) * values[index]))
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
