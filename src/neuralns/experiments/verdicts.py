"""What runs of selectors amount to: figures of each on each instance, and each against a reference."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from neuralns.errors import InputError
from neuralns.experiments.statistics import holm, mean_by_instance, rank_biserial, signed_rank_by_instance

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
    """A selector against the reference; runs with several seeds on an instance count by their mean.

    Attributes
    ----------
    excess
        Mean of the costs above the best that any selector found on the instance, in per cent.
    difference, ci
        Mean difference of the costs to the reference's, in per cent, and half of its 95 % interval over instances
        (`mean_by_instance`).
    p, adjusted
        Of the two-sided Wilcoxon signed-rank test over instances, and after Holm's correction for all selectors; NaN
        with two to five instances, which are too few (`signed_rank_by_instance`).
    effect
        Matched-pairs rank-biserial correlation over instances: −1 if always cheaper than the reference, 1 if always
        dearer.

    With one instance, intervals, tests and effects are over its seeds and hold for that instance alone.
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
    """Compare every selector with the reference: by pairs of instance and seed, then by instances."""
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
        differences: dict[str, list[float]] = {}
        for instance, seed in pairs:
            other = costs[reference][instance, seed]
            # Costs are subtracted first, so that differences of one size tie.
            differences.setdefault(instance, []).append(100 * (entries[instance, seed] - other) / other)
        groups = list(differences.values())
        mean, ci = mean_by_instance(groups)
        p = signed_rank_by_instance(groups)
        effect = rank_biserial(groups[0] if len(groups) == 1 else [float(np.mean(group)) for group in groups])
        found.append(Verdict(selector, excess, mean, ci, p, p, effect))
    others = [verdict for verdict in found if verdict.selector != reference and not math.isnan(verdict.p)]
    adjusted = dict(zip((v.selector for v in others), holm([v.p for v in others]), strict=True))
    return [replace(verdict, adjusted=adjusted.get(verdict.selector, verdict.p)) for verdict in found]
