"""The search as a function: an instance and a few choices in, a result out."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Iterable, Sequence

import numpy as np
import numpy.typing as npt

from neuralns.errors import InputError
from neuralns.operators.registry import Operator, Portfolio, make_portfolio, portfolio_named
from neuralns.problem.bundled import read
from neuralns.problem.formats.detect import read_solution
from neuralns.problem.initial import nearest_insertion, random_tours, savings
from neuralns.problem.instance import Instance
from neuralns.problem.solution import Solution
from neuralns.search.acceptance import Acceptance, SimulatedAnnealing
from neuralns.search.interrupt import Interrupts
from neuralns.search.parallel import run_in_parallel
from neuralns.search.result import OperatorUse, Result, Trace
from neuralns.search.search import Plan, Progress, Search, prepare
from neuralns.search.stopping import MaxTime, Stop
from neuralns.selection.fixed import Fixed
from neuralns.selection.learned_roulette import LearnedRoulette
from neuralns.selection.named import selector_named
from neuralns.selection.policy import PolicySelector
from neuralns.selection.roulette import Roulette
from neuralns.selection.selector import Selector

DEFAULT_SCALE = (1, 20)
"""Fewest and most customers to remove in an iteration, drawn uniformly."""

Callback = Callable[[Progress], object]


def solve(
    instance: Instance | str | os.PathLike[str],
    stop: Stop | None = None,
    *,
    selector: Selector | str = "random",
    portfolio: Portfolio | str | Sequence[str | Operator] | None = None,
    seed: int = 0,
    scale: int | float | tuple[float, float] | None = None,
    acceptance: Acceptance | None = None,
    initial: Solution | str | os.PathLike[str] = "savings",
    workers: int = 1,
    callbacks: Iterable[Callback] = (),
) -> Result:
    """Search for short routes by adaptive large neighbourhood search.

    Parameters
    ----------
    instance
        An instance, or the file or bundled name to read it from.
    stop
        When to end: `MaxTime`, `MaxIterations`, `NoImprovement`, `TargetCost`, combined with ``|``; 10 s by default.
        Ctrl-C and SIGTERM end the search as well; the best solution so far is returned.
    selector
        How operators are chosen: a selector or a name (``random``, ``roulette``, ``fixed:DESTROY,REPAIR``).
    portfolio
        Which operators: a portfolio, a name, or a list of operators; ``modern`` by default, and for a fixed pair that
        pair.
    seed
        Same seed and same number of iterations: same routes.
    scale
        Customers to remove in each iteration: a number, a share below 1, or a pair to draw from uniformly.
    acceptance
        Which candidates to keep; simulated annealing that cools over the run by default.
    initial
        Where to start: ``savings``, ``insertion``, ``random``, a solution, or a solution file.
    workers
        Searches on so many cores at once, from different seeds, which exchange their best solution about 20 times.
        Limits of iterations count for each of them.
    callbacks
        Called with a `Progress` several times a second; one that returns True ends the search.

    Examples
    --------
    >>> from neuralns import MaxIterations, solve
    >>> result = solve("E-n22-k4", MaxIterations(2000), seed=1)
    >>> result.cost, result.feasible
    (375.0, True)
    """
    if not isinstance(instance, Instance):
        instance = read(instance)
    if isinstance(selector, str):
        selector = selector_named(selector)
    if portfolio is None:
        portfolio = default_portfolio(selector)
    elif isinstance(portfolio, str):
        portfolio = portfolio_named(portfolio)
    elif not isinstance(portfolio, Portfolio):
        portfolio = make_portfolio("own", portfolio)
    stop = MaxTime(10) if stop is None else stop
    if not isinstance(stop, Stop):
        raise InputError(f"stop {stop!r:.60} is not a limit such as MaxTime(10) or MaxIterations(1000).")
    if stop == Stop():
        raise InputError("a search without any limit never ends; give a time or a number of iterations.")
    if not isinstance(seed, int | np.integer) or seed < 0:
        raise InputError(f"seed {seed!r} must be a whole number of at least 0.")
    if not isinstance(workers, int | np.integer) or workers < 1:
        raise InputError(f"number of workers {workers!r} must be a whole number of at least 1.")
    quotas = _quotas(scale, instance.customers)
    criterion = SimulatedAnnealing() if acceptance is None else acceptance
    selector.start(portfolio, instance.customers)

    start_seed, *search_seeds = np.random.SeedSequence(int(seed)).spawn(1 + workers)
    prepare(portfolio, selector)
    with Interrupts() as interrupts:
        begin = time.perf_counter()
        first = initial_solution(instance, initial, start_seed)
        # Random tours say nothing about the distances in good routes.
        temperatures = criterion.temperatures(savings(instance) if initial == "random" else first)
        plan = Plan(instance, stop, selector, portfolio, quotas, criterion, temperatures, first)
        trace = Trace(portfolio.names)
        listeners = tuple(callbacks)

        def watch(progress: Progress) -> str | None:
            trace.add(progress)
            wishes = [listener(progress) is True for listener in listeners]
            return interrupts.caught or ("callback" if any(wishes) else None)

        if workers == 1:
            search = Search(plan, search_seeds[0], begin)
            reason = watch(search.progress()) or search.reason_to_stop()
            while reason is None:
                search.advance()
                reason = search.reason_to_stop()
                reason = watch(search.progress()) or reason
            best, iterations = search.best(), search.iteration
            destroy_counts, repair_counts = search.destroy_counts, search.repair_counts
            times = [search.decision_times]
        else:
            reports, reason = run_in_parallel(plan, search_seeds, begin, watch)
            best = Solution(instance, min(reports, key=lambda report: report.best).routes)
            iterations = sum(report.iteration for report in reports)
            times = [report.decision_times for report in reports]
            destroy_counts = sum(report.destroy_counts for report in reports)  # type: ignore[assignment]
            repair_counts = sum(report.repair_counts for report in reports)  # type: ignore[assignment]
        runtime = time.perf_counter() - begin
        deciding, total = (sum(part) for part in zip(*times, strict=True))

    return Result(
        best,
        first,
        iterations,
        runtime,
        int(seed),
        reason,
        selector.name,
        portfolio.name,
        _uses_of(portfolio, destroy_counts, repair_counts),
        trace,
        deciding / total if total > 0 else 0.0,
    )


def default_portfolio(selector: Selector) -> Portfolio:
    """Return the portfolio of a selector that comes without one: what it was made for, else the strongest."""
    if isinstance(selector, Fixed):
        return make_portfolio(f"{selector.destroy},{selector.repair}", (selector.destroy, selector.repair))
    known: tuple[str, ...] = ()
    if isinstance(selector, PolicySelector):
        known = (*selector.policy.destroys, *selector.policy.repairs)
    elif isinstance(selector, LearnedRoulette):
        known = selector.operators
    elif isinstance(selector, Roulette) and selector.learned is not None:
        known = tuple(selector.learned)
    for portfolio in map(portfolio_named, ("modern", "paper")):
        if not known or set(known) == set(portfolio.names):
            return portfolio
    return make_portfolio("own", known)


def initial_solution(
    instance: Instance, source: Solution | str | os.PathLike[str], seed: int | np.random.SeedSequence = 0
) -> Solution:
    """Return a start for a search: built by a named method, read from a file, or as given; always checked."""
    if isinstance(source, Solution):
        return Solution(instance, source.routes).checked("the initial solution")
    if source == "savings":
        return savings(instance)
    if source == "insertion":
        return nearest_insertion(instance)
    if source == "random":
        return random_tours(instance, seed)
    return read_solution(instance, source).checked(os.fspath(source))


def _quotas(scale: int | float | tuple[float, float] | None, customers: int) -> tuple[int, int]:
    """Return the least and most customers to remove in an iteration."""
    low, high = DEFAULT_SCALE if scale is None else scale if isinstance(scale, tuple) else (scale, scale)
    if not 0 < low <= high or math.isinf(high):
        raise InputError(f"scale {scale!r} must be a number above 0, or a pair of them with the smaller first.")
    if any(value >= 1 and value != int(value) for value in (low, high)):
        raise InputError(f"scale {scale!r} must be a whole number of customers, or a share below 1.")
    least, most = (max(1, round(value * customers)) if value < 1 else int(value) for value in (low, high))
    if least > most:
        raise InputError(f"scale {scale!r} means {least} to {most} customers; the smaller must be first.")
    return min(least, customers), min(most, customers)


def _uses_of(
    portfolio: Portfolio, destroy_counts: npt.NDArray[np.int64], repair_counts: npt.NDArray[np.int64]
) -> tuple[OperatorUse, ...]:
    rows = [*zip(portfolio.destroys, destroy_counts.tolist(), strict=False)]
    rows += [*zip(portfolio.repairs, repair_counts.tolist(), strict=False)]
    return tuple(OperatorUse(entry.name, entry.phase, *row) for entry, row in rows)
