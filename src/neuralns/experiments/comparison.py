"""Selectors compared inside ALNS: the same starts and seeds for all, at equal time or equal iterations."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from neuralns.errors import InputError
from neuralns.experiments.runs import RunKey, do_missing
from neuralns.experiments.seeds import seeds_from
from neuralns.experiments.store import CsvRows, Store
from neuralns.experiments.verdicts import Summary, Verdict, judge, summarise
from neuralns.files import check_writable
from neuralns.operators.registry import Portfolio
from neuralns.problem.instance import Instance
from neuralns.search.solve import solve
from neuralns.search.stopping import MaxIterations, MaxTime, Stop
from neuralns.selection.fixed import Fixed, fixed_pairs
from neuralns.selection.named import selector_named
from neuralns.selection.policy_file import Policy
from neuralns.selection.selector import Selector

CURVE_POINTS = 60
"""Points of an anytime curve that are kept."""
TRIAL_SHARE = 0.1
"""Share of the limit that each pair gets in the search for the best fixed pair."""
TRIAL_SEED = 1_000_000
"""Seed of these trials, far from those of the comparison."""
BEST_FIXED = "best-fixed"
"""The name that stands for the best fixed pair."""


@dataclass(frozen=True)
class SelectorRun:
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
    def key(self) -> RunKey:
        """What tells runs apart."""
        return RunKey(self.instance, self.selector, self.conditions, self.seed)


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

    @property
    def key(self) -> RunKey:
        """The run that it is of."""
        return RunKey(self.instance, self.selector, self.conditions, self.seed)


@dataclass(frozen=True)
class Comparison:
    """All runs that were asked for, their anytime curves, and what they amount to; the first selector is the reference.

    Attributes
    ----------
    summaries, verdicts
        Of each selector on each instance, and of each selector over all of them.
    """

    runs: tuple[SelectorRun, ...]
    curves: tuple[Point, ...]
    summaries: tuple[Summary, ...]
    verdicts: tuple[Verdict, ...]


def compare(
    instances: Sequence[Instance],
    selectors: str | Mapping[str, Selector],
    stop: Stop,
    seeds: int | Sequence[int],
    portfolio: Portfolio,
    path: Path | None = None,
    *,
    workers: int = 1,
    scale: float | tuple[float, float] | None = None,
    initial: str = "savings",
    temperature: float | None = None,
    decide_every: int = 1,
    training_instances: bool = False,
    remark: str = "",
    notify: Callable[[SelectorRun, int, int], object] = lambda run, done, total: None,
    say: Callable[[str], object] = lambda text: None,
) -> Comparison:
    """Run every selector on every instance with every seed; selectors take turns within an instance and a seed.

    With ``path`` every run is written there as it ends, its anytime curve beside it (``NAME.curves.csv``), and a second
    call does only what is missing.

    Parameters
    ----------
    selectors
        By any names, or at least two names that the command line knows, separated by commas; ``best-fixed`` is the pair
        of operators that does best in short trials. The first one is what the others are compared with.
    seeds
        Which, or how many from 1 on.
    temperature, decide_every
        Of policies that are given by name, and every how many iterations they decide.
    training_instances
        Whether to compare even where a policy was trained.
    remark
        Joins what tells runs from those of other comparisons in a file.
    notify, say
        Told of each run when it has ended, with the runs that are there and the runs in all; told what goes on.
    """
    numbers = seeds_from(seeds, first=1)
    _expect_different(instances)
    if workers < 1:
        raise InputError(f"number of workers {workers} must be at least 1.")
    chosen: dict[str, Selector | None] = (
        _selectors_named(selectors, temperature, decide_every) if isinstance(selectors, str) else {**selectors}
    )
    for name, selector in chosen.items():
        if selector is not None:
            _expect_usable(name, selector, instances, portfolio, training_instances)
    if path is not None:
        check_writable(path)
    words = (
        f"temperature {temperature}" if temperature is not None else "",
        f"deciding every {decide_every}" if decide_every > 1 else "",
        remark,
    )
    conditions = describe(stop, portfolio, scale, initial, "; ".join(word for word in words if word))
    by_name = {instance.name: instance for instance in instances}
    wanted = [
        RunKey(instance.name, name, conditions, seed) for seed in numbers for instance in instances for name in chosen
    ]
    rows, points = Store(path, CsvRows(SelectorRun)), Store(_curves_path(path), CsvRows(Point))
    with rows, points:
        if chosen.get(BEST_FIXED, ...) is None:
            pair = best_fixed(instances, portfolio, stop, workers=workers, scale=scale, initial=initial)
            say(f"best fixed pair in short trials: {pair.destroy}, {pair.repair}")
            chosen[BEST_FIXED] = pair
        known = {row.key: row for row in rows.rows}

        def run(key: RunKey) -> tuple[SelectorRun, list[Point]]:
            selector = chosen[key.contender]
            assert selector is not None
            return _run_once(key, by_name[key.instance], selector, stop, portfolio, scale=scale, initial=initial)

        def keep(result: tuple[SelectorRun, list[Point]], done: int) -> None:
            row, curve = result
            # A run that is written has its curve.
            points.add(*curve)
            rows.add(row)
            known[row.key] = row
            notify(row, done, len(wanted))

        do_missing(wanted, known, run, keep, workers)
    runs = [known[key] for key in wanted]
    return Comparison(
        tuple(runs),
        tuple(_curves(points.rows, wanted)),
        tuple(summarise(runs)),
        tuple(judge(runs, next(iter(chosen)))),
    )


def _expect_different(instances: Sequence[Instance]) -> None:
    names = [instance.name for instance in instances]
    for name in names:
        if names.count(name) > 1:
            raise InputError(f"instance {name!r} is named twice.")


def _selectors_named(text: str, temperature: float | None, decide_every: int) -> dict[str, Selector | None]:
    """Return the selectors of names; the best fixed pair, which is still to be found, is None."""
    names = [name.strip() for name in text.split(",") if name.strip()]
    if len(names) < 2:
        raise InputError(f"selectors {text!r}: at least two are needed for a comparison.")
    if len(set(names)) < len(names):
        raise InputError(f"selectors {text!r}: one is named twice.")
    return {
        name: None
        if name == BEST_FIXED
        # Commas separate the names here.
        else selector_named(name.replace("/", ",") if name.startswith("fixed:") else name, temperature, decide_every)
        for name in names
    }


def _expect_usable(
    name: str, selector: Selector, instances: Sequence[Instance], portfolio: Portfolio, training_instances: bool
) -> None:
    """Refuse a selector that does not know the operators or the size, or whose training an instance was part of."""
    for instance in instances:
        selector.start(portfolio, instance.customers)
        if instance.name in trained_on(selector) and not training_instances:
            raise InputError(
                f"{name}: was trained on {instance.name!r}, so a comparison there is no test; leave it out, or say "
                "--training-instances."
            )


def trained_on(selector: Selector) -> tuple[str, ...]:
    """Return the names of the instances that a selector was trained on; none if it is not a policy."""
    policy = getattr(selector, "policy", None)
    return tuple(policy.card.get("instances", ())) if isinstance(policy, Policy) else ()


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


def _run_once(
    key: RunKey, instance: Instance, selector: Selector, stop: Stop, portfolio: Portfolio, **options: Any
) -> tuple[SelectorRun, list[Point]]:
    result = solve(instance, stop, selector=selector, portfolio=portfolio, seed=key.seed, **options)
    run = SelectorRun(
        key.instance,
        instance.customers,
        key.contender,
        key.conditions,
        key.seed,
        result.initial.cost,
        result.cost,
        result.iterations,
        round(result.runtime, 4),
        round(result.decision_time_share, 5),
    )
    trace = result.trace
    places = np.unique(np.linspace(0, len(trace.time) - 1, CURVE_POINTS).round().astype(int))
    return run, [
        Point(
            key.instance,
            key.contender,
            key.conditions,
            key.seed,
            round(trace.time[place], 4),
            trace.iteration[place],
            trace.best[place],
        )
        for place in places
    ]


def _curves(points: Iterable[Point], asked: Iterable[RunKey]) -> list[Point]:
    """Return the points of the runs asked for; a curve that begins anew replaces what a killed run left of it."""
    curves: dict[RunKey, list[Point]] = {}
    for point in points:
        if point.iteration == 0:
            curves[point.key] = []
        curves.setdefault(point.key, []).append(point)
    wanted = set(asked)
    return [point for key, curve in curves.items() if key in wanted for point in curve]


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


def _curves_path(path: Path | None) -> Path | None:
    return None if path is None else path.with_name(f"{path.stem}.curves{path.suffix}")
