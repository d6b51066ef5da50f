"""Selectors compared inside ALNS: the same starts and seeds for all, at equal time or equal iterations.

Each has the portfolio and the scale that it was made for, and plain `neuralns.solve` takes part.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Event
from typing import Any

import numpy as np

from neuralns.errors import InputError
from neuralns.experiments.runs import RunKey, do_missing
from neuralns.experiments.seeds import seeds_from
from neuralns.experiments.store import CsvRows, Store
from neuralns.experiments.verdicts import Summary, Verdict, judge, summarise
from neuralns.files import check_writable
from neuralns.operators.portfolio import Portfolio, portfolio_named
from neuralns.operators.registry import Operator
from neuralns.problem.bundled import read
from neuralns.problem.instance import Instance
from neuralns.search.setup import DEFAULTS, Scale, portfolio_of
from neuralns.search.solve import solve
from neuralns.search.stopping import MaxTime, Stop
from neuralns.search.trials import Trials
from neuralns.selection.default import AUTO, bundled_mark, default_selector
from neuralns.selection.names import selector_named, split_names
from neuralns.selection.selector import Selector, new_memory_of
from neuralns.selection.uniform import Uniform

CURVE_POINTS = 60
"""Points of an anytime curve that are kept."""
TRIAL_SHARE = 0.1
"""Share of the limit that each pair gets in the search for the best fixed pair."""
DEFAULT_SELECTORS = "random,roulette,ucb,thompson,best-fixed"
BEST_FIXED = "best-fixed"
"""The name that stands for the best fixed pair."""
SOLVE = "solve"
"""The contestant that is a search with all its defaults."""
SIGNIFICANT = 0.05


@dataclass(frozen=True)
class Contestant:
    """A selector (None if it is still to be found) with the operators and the scale that its searches have."""

    selector: Selector | None
    portfolio: Portfolio
    scale: Scale = None

    @property
    def is_plain(self) -> bool:
        """Whether its searches are those of `neuralns.solve` with all its defaults."""
        plain = {portfolio_named(name).names for name in DEFAULTS}
        return self.selector == Uniform() and self.portfolio.names in plain and self.scale is None


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
    portfolios
        The name of the portfolio of each selector; all of them, where they differ by instance.
    """

    runs: tuple[SelectorRun, ...]
    curves: tuple[Point, ...]
    summaries: tuple[Summary, ...]
    verdicts: tuple[Verdict, ...]
    portfolios: Mapping[str, str]

    @property
    def conclusion(self) -> str:
        """One sentence: which selector is best, by how much, and whether that is significant."""
        best, *others = sorted(self.verdicts, key=lambda verdict: verdict.excess)
        if not others:
            return f"{best.selector} is alone, so there is nothing to compare it with."
        second = others[0].selector
        (against,) = (verdict for verdict in judge(self.runs, best.selector) if verdict.selector == second)
        if against.difference <= 0:
            return f"{best.selector} and {second} are equally good, so none of them is best."
        sure = "significant" if against.adjusted < SIGNIFICANT else "not significant"
        return (
            f"{best.selector} is best, {against.difference:.3f} % ahead of {second}, the next; that is {sure} "
            f"(p = {against.adjusted:.2g} after Holm's correction)."
        )


def compare(
    instances: Sequence[Instance | str | os.PathLike[str]],
    selectors: str | Mapping[str, Selector] = DEFAULT_SELECTORS,
    stop: Stop | None = None,
    seeds: int | Sequence[int] = 10,
    portfolio: Portfolio | str | Sequence[str | Operator] | None = None,
    path: str | os.PathLike[str] | None = None,
    *,
    workers: int = 1,
    scale: Scale = None,
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
    instances
        Instances, files or bundled names.
    selectors
        By any names, or names as `neuralns.selection.names` has them, separated by commas; the latter are joined by
        ``solve``, a search with all its defaults, unless one of them is just that. The first one is what the others
        are compared with.
    stop
        Limit of each run; 10 s by default.
    seeds
        Which, or how many from 1 on.
    portfolio, scale
        Of all but ``solve``; by default each selector has what it was made for, as in `neuralns.solve`.
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
    problems = [each if isinstance(each, Instance) else read(each) for each in instances]
    limit = MaxTime(10) if stop is None else stop
    target = None if path is None else Path(path)
    if workers < 1:
        raise InputError(f"number of workers {workers} must be at least 1.")
    given: Mapping[str, Selector | None] = (
        _selectors_named(selectors, temperature, decide_every) if isinstance(selectors, str) else selectors
    )
    # What `solve` would take; one portfolio for all, as the instances of a comparison are of one kind.
    typical = next((problem for problem in problems if problem.timed), problems[0] if problems else None)
    plain = Contestant(Uniform(), portfolio_of(None, None, typical))
    defaults = {problem.name: _by_default(problem, limit, initial) for problem in problems}
    steered = any(each.selector != Uniform() for each in defaults.values())
    chosen = {
        name: plain if name in (SOLVE, AUTO) and isinstance(selectors, str)
        else Contestant(selector, portfolio_of(portfolio, selector, typical), scale)
        for name, selector in given.items()
    }  # fmt: skip
    if isinstance(selectors, str):
        if not any(each is plain or (each.is_plain and not steered) for each in chosen.values()):
            chosen[SOLVE] = plain
        if len(chosen) < 2:
            raise InputError(f"selectors {selectors!r}: at least two are needed for a comparison.")
    _expect_different(problems)
    for name, contestant in chosen.items():
        if contestant.selector is not None:
            _expect_usable(name, contestant.selector, problems, contestant.portfolio, training_instances)
    if target is not None:
        check_writable(target)
    words = (
        f"temperature {temperature}" if temperature is not None else "",
        f"deciding every {decide_every}" if decide_every > 1 else "",
        remark,
    )
    remarks = "; ".join(word for word in words if word)
    conditions = {
        name: f"each as by default (controller {bundled_mark()}), {remarks}, {initial}, {limit}"
        if steered and contestant is plain
        else describe(limit, contestant.portfolio, contestant.scale, initial, remarks)
        for name, contestant in chosen.items()
    }
    by_name = {instance.name: instance for instance in problems}
    wanted = [
        RunKey(instance.name, name, conditions[name], seed)
        for seed in numbers
        for instance in problems
        for name in chosen
    ]
    rows, points = Store(target, CsvRows(SelectorRun)), Store(_curves_path(target), CsvRows(Point))
    with rows, points:
        tried = chosen.get(BEST_FIXED)
        if tried is not None and tried.selector is None:
            trials = Trials(problems, tried.portfolio, limit, TRIAL_SHARE, scale, initial, workers=workers)
            say(f"looking for the best fixed pair in trials of {100 * TRIAL_SHARE:g} % of a run each ...")
            pair = trials.best_fixed()
            say(f"best fixed pair in short trials: {pair.destroy}, {pair.repair}")
            chosen[BEST_FIXED] = Contestant(pair, tried.portfolio, scale)
        known = {row.key: row for row in rows.rows}
        # Searches under way when Ctrl-C comes are told to end, and their results dropped.
        given_up = Event()

        def run(key: RunKey) -> tuple[SelectorRun, list[Point]]:
            contestant, instance = chosen[key.contender], by_name[key.instance]
            if steered and contestant is plain:
                contestant = defaults[instance.name]
            assert contestant.selector is not None
            return _run_once(
                key, instance, contestant.selector, limit, contestant.portfolio, scale=contestant.scale,
                initial=initial, callbacks=[lambda progress: given_up.is_set()],
            )  # fmt: skip

        def keep(result: tuple[SelectorRun, list[Point]], done: int) -> None:
            row, curve = result
            # A run that is written has its curve.
            points.add(*curve)
            rows.add(row)
            known[row.key] = row
            notify(row, done, len(wanted))

        do_missing(wanted, known, run, keep, workers, given_up.set)
    runs = [known[key] for key in wanted]
    return Comparison(
        tuple(runs),
        tuple(_curves(points.rows, wanted)),
        tuple(summarise(runs)),
        tuple(judge(runs, next(iter(chosen)))),
        {
            name: ", ".join(dict.fromkeys(each.portfolio.name for each in defaults.values()))
            if steered and contestant is plain
            else contestant.portfolio.name
            for name, contestant in chosen.items()
        },
    )


def _by_default(instance: Instance, stop: Stop, initial: str) -> Contestant:
    """Return what `neuralns.solve` takes for an instance if nothing but the limit and the start is chosen."""
    selector = default_selector(instance, stop.time) if initial == "savings" else Uniform()
    return Contestant(selector, portfolio_of(None, selector, instance))


def _expect_different(instances: Sequence[Instance]) -> None:
    names = [instance.name for instance in instances]
    for name in names:
        if names.count(name) > 1:
            raise InputError(f"instance {name!r} is named twice.")


def _selectors_named(text: str, temperature: float | None, decide_every: int) -> dict[str, Selector | None]:
    """Return the selectors of names; the best fixed pair, which is still to be found, is None."""
    names = split_names(text)
    if len(set(names)) < len(names):
        raise InputError(f"selectors {text!r}: one is named twice.")
    known = {BEST_FIXED: None, SOLVE: Uniform(), AUTO: Uniform()}
    return {name: known[name] if name in known else selector_named(name, temperature, decide_every) for name in names}


def _expect_usable(
    name: str, selector: Selector, instances: Sequence[Instance], portfolio: Portfolio, training_instances: bool
) -> None:
    """Refuse a selector that does not know the operators or the size, or whose training an instance was part of."""
    for instance in instances:
        new_memory_of(selector, portfolio, instance.customers, instance)
        if instance.name in selector.trained_on() and not training_instances:
            raise InputError(
                f"{name}: was trained on {instance.name!r}, so a comparison there is no test; leave it out, or say "
                "--training-instances."
            )


def describe(stop: Stop, portfolio: Portfolio, scale: Scale, initial: str, remark: str = "") -> str:
    """Return in a few words what is the same for all runs of a selector in a comparison.

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
        math.nan if result.decision_time_share is None else round(result.decision_time_share, 5),
    )
    trace = result.trace
    indices = np.unique(np.linspace(0, len(trace.time) - 1, CURVE_POINTS).round().astype(int))
    return run, [
        Point(
            key.instance,
            key.contender,
            key.conditions,
            key.seed,
            round(trace.time[index], 4),
            trace.iteration[index],
            trace.best[index],
        )
        for index in indices
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


def _curves_path(path: Path | None) -> Path | None:
    return None if path is None else path.with_name(f"{path.stem}.curves{path.suffix}")
