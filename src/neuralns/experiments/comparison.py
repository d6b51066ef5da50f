"""Selectors compared inside ALNS: the same starts and seeds for all, at equal time or equal iterations."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from neuralns.errors import InputError
from neuralns.experiments.rows import append_rows, read_rows
from neuralns.mdp.evaluate import confidence
from neuralns.operators.registry import Portfolio
from neuralns.problem.instance import Instance
from neuralns.search.solve import solve
from neuralns.search.stopping import MaxIterations, MaxTime, Stop
from neuralns.selection.fixed import Fixed, fixed_pairs
from neuralns.selection.policy_file import Policy
from neuralns.selection.selector import Selector

CURVE_POINTS = 60
"""Points of an anytime curve that are kept."""
TRIAL_SHARE = 0.1
"""Share of the limit that each pair gets in the search for the best fixed pair."""
TRIAL_SEED = 1_000_000
"""Seed of these trials, far from those of the comparison."""


@dataclass(frozen=True)
class Outcome:
    """One run."""

    instance: str
    customers: int
    selector: str
    conditions: str
    seed: int
    start: float
    cost: float
    iterations: int
    seconds: float
    decision_time_share: float

    @property
    def key(self) -> tuple[str, str, str, int]:
        """What tells runs apart."""
        return self.instance, self.selector, self.conditions, self.seed


@dataclass(frozen=True)
class Point:
    """The best cost of a run at one moment."""

    instance: str
    selector: str
    conditions: str
    seed: int
    seconds: float
    iteration: int
    best: float


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


def describe(
    stop: Stop, portfolio: Portfolio, scale: float | tuple[float, float] | None, initial: str, remark: str = ""
) -> str:
    """Return in a few words what is the same for all runs of a comparison.

    >>> from neuralns import MaxTime, portfolio_named
    >>> describe(MaxTime(10), portfolio_named("modern"), (5, 20), "savings")
    '10 s; modern; scale 5-20; from savings'
    """
    limit = f"{int(stop.iterations)} iterations" if math.isfinite(stop.iterations) else f"{stop.time:g} s"
    low, high = scale if isinstance(scale, tuple) else (scale, scale)
    removed = "default scale" if low is None else f"scale {low:g}" if low == high else f"scale {low:g}-{high:g}"
    return "; ".join(part for part in (limit, portfolio.name, removed, f"from {initial}", remark) if part)


def check(instances: Sequence[Instance], seeds: int, path: Path | None) -> None:
    """Refuse what cannot be compared, before any run."""
    if seeds < 1:
        raise InputError(f"{seeds} seeds asked for; at least 1 is needed.")
    names = [instance.name for instance in instances]
    for name in names:
        if names.count(name) > 1:
            raise InputError(f"instance {name!r} is named twice.")
    if path is not None:
        read_rows(path, Outcome)
        read_rows(_curves_path(path), Point)


def trained_on(selector: Selector) -> tuple[str, ...]:
    """Return the names of the instances that a selector was trained on; none if it is not a policy."""
    policy = getattr(selector, "policy", None)
    return tuple(policy.card.get("instances", ())) if isinstance(policy, Policy) else ()


def compare(
    instances: Sequence[Instance],
    selectors: Mapping[str, Selector],
    stop: Stop,
    seeds: int,
    portfolio: Portfolio,
    path: Path | None = None,
    *,
    workers: int = 1,
    scale: float | tuple[float, float] | None = None,
    initial: str = "savings",
    remark: str = "",
    notify: Callable[[Outcome, int, int], object] = lambda outcome, done, total: None,
) -> tuple[list[Outcome], list[Point]]:
    """Run every selector on every instance with every seed; selectors take turns within an instance and a seed.

    ``remark`` joins what tells runs from those of other comparisons in a file.

    With ``path`` every run is written there as it ends, its anytime curve beside it (``NAME.curves.csv``), and a second
    call does only what is missing.
    """
    check(instances, seeds, None)
    conditions = describe(stop, portfolio, scale, initial, remark)
    known: dict[tuple[str, str, str, int], Outcome] = {}
    curves: list[Point] = []
    if path is not None:
        known = {row.key: row for row in read_rows(path, Outcome)}
        curves = read_rows(_curves_path(path), Point)
    wanted = [
        (instance, name, seed) for seed in range(1, seeds + 1) for instance in instances for name in selectors
    ]  # fmt: skip
    missing = [job for job in wanted if (job[0].name, job[1], conditions, job[2]) not in known]

    def run(job: tuple[Instance, str, int]) -> tuple[Outcome, list[Point]]:
        instance, name, seed = job
        result = solve(
            instance,
            stop,
            selector=selectors[name],
            portfolio=portfolio,
            seed=seed,
            scale=scale,
            initial=initial,
        )
        outcome = Outcome(
            instance.name,
            instance.customers,
            name,
            conditions,
            seed,
            result.initial.cost,
            result.cost,
            result.iterations,
            round(result.runtime, 4),
            round(result.decision_time_share, 5),
        )
        trace = result.trace
        places = np.unique(np.linspace(0, len(trace.time) - 1, CURVE_POINTS).round().astype(int))
        points = [
            Point(instance.name, name, conditions, seed, round(trace.time[k], 4), trace.iteration[k], trace.best[k])
            for k in places
        ]
        return outcome, points

    with ThreadPoolExecutor(workers) as pool:
        waiting = [pool.submit(run, job) for job in missing]
        try:
            for number, future in enumerate(as_completed(waiting), len(wanted) - len(missing) + 1):
                outcome, points = future.result()
                known[outcome.key] = outcome
                curves += points
                if path is not None:
                    append_rows(_curves_path(path), points)
                    append_rows(path, [outcome])
                notify(outcome, number, len(wanted))
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise
    outcomes = [known[instance.name, name, conditions, seed] for instance, name, seed in wanted]
    asked = {outcome.key for outcome in outcomes}
    return outcomes, [
        point for point in curves if (point.instance, point.selector, point.conditions, point.seed) in asked
    ]


def best_fixed(
    instances: Sequence[Instance], portfolio: Portfolio, stop: Stop, *, workers: int = 1, **options: Any
) -> Fixed:
    """Return the pair with the lowest mean cost in short trials on the instances, each from a seed of its own."""
    if math.isfinite(stop.iterations):
        short: Stop = MaxIterations(max(1, int(stop.iterations * TRIAL_SHARE)))
    else:
        short = MaxTime(stop.time * TRIAL_SHARE)
    pairs = fixed_pairs(portfolio)
    trials = [(pair, instance) for pair in pairs for instance in instances]

    def run(trial: tuple[Fixed, Instance]) -> float:
        pair, instance = trial
        return solve(instance, short, selector=pair, portfolio=portfolio, seed=TRIAL_SEED, **options).cost

    with ThreadPoolExecutor(workers) as pool:
        costs = np.array(list(pool.map(run, trials))).reshape(len(pairs), len(instances))
    return pairs[int((costs / costs.min(axis=0)).mean(axis=1).argmin())]


def judge(outcomes: Iterable[Outcome], reference: str) -> list[Verdict]:
    """Compare every selector with the reference, pair by pair of instance and seed."""
    from scipy.stats import rankdata, wilcoxon

    costs: dict[str, dict[tuple[str, int], float]] = {}
    for outcome in outcomes:
        costs.setdefault(outcome.selector, {})[outcome.instance, outcome.seed] = outcome.cost
    if reference not in costs:
        raise InputError(f"selector {reference!r} is not among {', '.join(costs)}.")
    best: dict[str, float] = {}
    for entries in costs.values():
        for (instance, _), cost in entries.items():
            best[instance] = min(cost, best.get(instance, math.inf))
    found = []
    for selector, entries in costs.items():
        keys = sorted(entries)
        excess = float(np.mean([100 * (entries[key] / best[key[0]] - 1) for key in keys]))
        own, other = (np.array([each[key] for key in keys]) for each in (entries, costs[reference]))
        # Costs are subtracted first, so that differences of one size tie.
        differences = 100 * (own - other) / other
        p, effect = 1.0, 0.0
        if np.any(differences != 0):
            p = float(wilcoxon(differences, zero_method="wilcox").pvalue)
            moved = differences[differences != 0]
            ranks = rankdata(np.abs(moved))
            effect = float((ranks[moved > 0].sum() - ranks[moved < 0].sum()) / ranks.sum())
        found.append(Verdict(selector, excess, float(differences.mean()), confidence(differences), p, p, effect))
    others = [verdict for verdict in found if verdict.selector != reference]
    adjusted = dict(zip((v.selector for v in others), holm([v.p for v in others]), strict=True))
    return [Verdict(**{**asdict(verdict), "adjusted": adjusted.get(verdict.selector, 1.0)}) for verdict in found]


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


def _curves_path(path: Path) -> Path:
    return path.with_name(f"{path.stem}.curves{path.suffix}")
