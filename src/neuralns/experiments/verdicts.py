"""What runs of selectors amount to: figures of each on each instance, and each against a reference."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from neuralns.errors import InputError
from neuralns.experiments.statistics import confidence, holm, rank_biserial, signed_rank

if TYPE_CHECKING:
    from neuralns.experiments.comparison import SelectorRun


@dataclass(frozen=True)
class Summary:
    """A selector on an instance, over all seeds: mean, best and worst cost, and means of what it did."""

    instance: str
    selector: str
    mean: float
    best: float
    worst: float
    iterations: float
    decision_time_share: float


@dataclass(frozen=True)
class Verdict:
    """A selector against the reference over all instances and seeds.

    Attributes
    ----------
    excess
        Mean of the costs above the best that any selector found on the instance, in per cent.
    difference, ci
        Mean difference of the costs to the reference's, in per cent, and half of its 95 % interval over the pairs.
    p, adjusted
        Of the two-sided Wilcoxon signed-rank test, and after Holm's correction for all selectors.
    effect
        Matched-pairs rank-biserial correlation: −1 if always cheaper than the reference, 1 if always dearer.
    """

    selector: str
    excess: float
    difference: float
    ci: float
    p: float
    adjusted: float
    effect: float


def summarise(runs: Iterable[SelectorRun]) -> list[Summary]:
    """Return the figures of each selector on each instance; both in the order in which they come first."""
    runs = list(runs)
    gathered: dict[str, dict[str, list[SelectorRun]]] = {}
    for run in runs:
        gathered.setdefault(run.instance, {}).setdefault(run.selector, []).append(run)
    return [
        Summary(
            instance,
            selector,
            float(np.mean([run.cost for run in own])),
            min(run.cost for run in own),
            max(run.cost for run in own),
            float(np.mean([run.iterations for run in own])),
            float(np.mean([run.decision_time_share for run in own])),
        )
        for instance, by_selector in gathered.items()
        for selector, own in by_selector.items()
    ]


def judge(runs: Iterable[SelectorRun], reference: str) -> list[Verdict]:
    """Compare every selector with the reference, pair by pair of instance and seed."""
    costs: dict[str, dict[tuple[str, int], float]] = {}
    best: dict[str, float] = {}
    for run in runs:
        costs.setdefault(run.selector, {})[run.instance, run.seed] = run.cost
        best[run.instance] = min(run.cost, best.get(run.instance, math.inf))
    if reference not in costs:
        raise InputError(f"selector {reference!r} is not among {', '.join(costs)}.")
    found = []
    for selector, entries in costs.items():
        pairs = sorted(entries)
        excess = float(np.mean([100 * (entries[instance, seed] / best[instance] - 1) for instance, seed in pairs]))
        own, other = (np.array([each[pair] for pair in pairs]) for each in (entries, costs[reference]))
        # Costs are subtracted first, so that differences of one size tie.
        differences = 100 * (own - other) / other
        p, effect = signed_rank(differences), rank_biserial(differences)
        found.append(Verdict(selector, excess, float(differences.mean()), confidence(differences), p, p, effect))
    others = [verdict for verdict in found if verdict.selector != reference]
    adjusted = dict(zip((v.selector for v in others), holm([v.p for v in others]), strict=True))
    return [replace(verdict, adjusted=adjusted.get(verdict.selector, 1.0)) for verdict in found]
