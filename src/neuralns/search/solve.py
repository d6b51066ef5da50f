"""The search as a function: an instance and a few choices in, a result out."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from neuralns.errors import InputError, OperatorError
from neuralns.operators.registry import (
    MOST_DESTROYS,
    MOST_REPAIRS,
    Operator,
    Portfolio,
    make_portfolio,
    portfolio_named,
)
from neuralns.operators.state import flatten, new_state, unflatten
from neuralns.problem.bundled import read
from neuralns.problem.files import read_solution
from neuralns.problem.initial import nearest_insertion, random_tours, savings
from neuralns.problem.instance import Instance
from neuralns.problem.solution import Solution
from neuralns.search import loop
from neuralns.search.acceptance import Acceptance, SimulatedAnnealing
from neuralns.search.interrupt import Interrupts
from neuralns.search.result import OperatorUse, Result, Trace
from neuralns.search.stopping import MaxTime, Stop
from neuralns.selection.fixed import Fixed
from neuralns.selection.named import selector_named
from neuralns.selection.selector import Selector

SEGMENT_SECONDS = 0.05
"""Between two segments of about this length Python looks at the clock, callbacks and signals."""
FIRST_SEGMENT = 64
OPEN_HORIZON = 1_000_000
"""Iterations over which the temperature falls when neither time nor iterations are limited."""
DEFAULT_SCALE = (1, 20)
"""Fewest and most customers to remove in an iteration, drawn uniformly."""


@dataclass(frozen=True)
class Progress:
    """Where a search stands, as callbacks see it between two segments."""

    instance: Instance
    stop: Stop
    time: float
    iteration: int
    current: float
    best: float
    temperature: float
    uses: dict[str, int]

    @property
    def rate(self) -> float:
        """Iterations a second so far."""
        return self.iteration / self.time if self.time > 0 else 0.0

    @property
    def gap(self) -> float | None:
        """Gap of the best cost to the best known one in per cent."""
        known = self.instance.best_known
        return None if known is None or known <= 0 else 100.0 * (self.best / known - 1.0)


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
    callbacks
        Called with a `Progress` about 20 times a second; one that returns True ends the search.

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
    if stop == Stop():
        raise InputError("a search without any limit never ends; give a time or a number of iterations.")
    if not isinstance(seed, int | np.integer) or seed < 0:
        raise InputError(f"seed {seed!r} must be a whole number of at least 0.")
    low, high = _quotas(scale, instance.customers)
    memory = selector.start(portfolio)

    # Compile or load everything first: its time is not the search's.
    segment = loop.compiled_loop()
    destroys, repairs = portfolio.tables
    choose, update = selector.functions()
    warm_up = Instance("warm-up", [0, 1], 1, [[0, 0], [0, 1]])
    new_state(warm_up, 0, solution=Solution(warm_up, [[1]]))

    with Interrupts() as interrupts:
        begin = time.perf_counter()
        start_seed, search_seed = np.random.SeedSequence(int(seed)).spawn(2)
        first = initial_solution(instance, initial, start_seed)
        state = new_state(instance, search_seed, history=portfolio.uses_history, solution=first)
        criterion = SimulatedAnnealing() if acceptance is None else acceptance
        # Random tours say nothing about the distances in good routes.
        hot, cold = criterion.temperatures(savings(instance) if initial == "random" else first)

        run, counts = np.zeros(6), np.zeros(14, np.int64)
        run[loop.CURRENT] = run[loop.BEST] = first.cost
        run[loop.TARGET], run[loop.TEMPERATURE] = stop.target, -1.0
        counts[loop.RULE], counts[loop.LOW], counts[loop.HIGH] = criterion.rule, low, high
        counts[loop.DESTROYS], counts[loop.REPAIRS] = len(portfolio.destroys), len(portfolio.repairs)
        counts[loop.PATIENCE] = np.iinfo(np.int64).max if math.isinf(stop.no_improvement) else int(stop.no_improvement)
        customers, starts = np.zeros(instance.customers, np.int32), np.zeros(instance.customers + 1, np.int32)
        flat, ends = flatten(first)
        customers[:], starts[: len(ends)] = flat, ends
        counts[loop.BEST_ROUTES] = len(first.routes)
        destroy_counts = np.zeros((MOST_DESTROYS, 4), np.int64)
        repair_counts = np.zeros((MOST_REPAIRS, 4), np.int64)

        trace = Trace(portfolio.names)
        callbacks = tuple(callbacks)
        size = FIRST_SEGMENT
        reason = None
        while reason is None:
            done, elapsed = int(counts[loop.ITERATION]), time.perf_counter() - begin
            reason = _reason_to_stop(stop, run, counts, elapsed, interrupts)
            uses = [int(used) for used in destroy_counts[: len(portfolio.destroys), loop.USED]]
            uses += [int(used) for used in repair_counts[: len(portfolio.repairs), loop.USED]]
            _record(trace, elapsed, done, run, uses)
            progress = Progress(
                instance,
                stop,
                elapsed,
                done,
                float(run[loop.CURRENT]),
                float(run[loop.BEST]),
                float(run[loop.TEMPERATURE]),
                dict(zip(portfolio.names, uses, strict=True)),
            )
            stopped = [callback(progress) is True for callback in callbacks]
            if reason is not None:
                break
            if any(stopped):
                reason = "callback"
                break
            size = int(min(size, stop.iterations - done))
            _set_temperature(run, counts, stop, elapsed, hot, cold, size)
            status = segment(
                state, destroys, repairs, choose, update, memory, run, counts, destroy_counts, repair_counts,
                customers, starts, size,
            )  # fmt: skip
            if status != loop.FINE:
                raise _broken_contract(status, counts, portfolio, selector)
            size = _next_size(size, time.perf_counter() - begin - elapsed, stop.time - (time.perf_counter() - begin))

    return Result(
        Solution(instance, unflatten(customers, starts, int(counts[loop.BEST_ROUTES]))),
        first,
        int(counts[loop.ITERATION]),
        elapsed,
        int(seed),
        reason,
        selector.name,
        portfolio.name,
        _uses_of(portfolio, destroy_counts, repair_counts),
        trace,
    )


def default_portfolio(selector: Selector) -> Portfolio:
    """Return the portfolio of a selector that comes without one."""
    if isinstance(selector, Fixed):
        return make_portfolio(f"{selector.destroy},{selector.repair}", (selector.destroy, selector.repair))
    return portfolio_named("modern")


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
    counts = [max(1, round(value * customers)) if value < 1 else int(value) for value in (low, high)]
    return min(counts[0], customers), min(counts[1], customers)


def _reason_to_stop(
    stop: Stop, run: npt.NDArray[np.float64], counts: npt.NDArray[np.int64], elapsed: float, interrupts: Interrupts
) -> str | None:
    done = int(counts[loop.ITERATION])
    if interrupts.caught is not None:
        return interrupts.caught
    if run[loop.BEST] <= stop.target:
        return "target"
    if done >= stop.iterations:
        return "iterations"
    if done - int(counts[loop.LAST_BEST]) >= stop.no_improvement:
        return "no improvement"
    return "time" if elapsed >= stop.time else None


def _set_temperature(
    run: npt.NDArray[np.float64],
    counts: npt.NDArray[np.int64],
    stop: Stop,
    elapsed: float,
    hot: float,
    cold: float,
    size: int,
) -> None:
    """Set the course of the temperature for the next segment.

    Limited by iterations alone, it is one function of the iteration for the whole run, whatever the segments: that
    keeps runs repeatable. Limited by time, it starts each segment where the clock stands.
    """
    done = int(counts[loop.ITERATION])
    fall = math.log(cold / hot)
    if math.isinf(stop.time):
        horizon = stop.iterations if math.isfinite(stop.iterations) else OPEN_HORIZON
        run[loop.START_TEMPERATURE], run[loop.LOG_RATE] = hot, fall / max(1.0, horizon)
        if math.isinf(stop.iterations) and done >= OPEN_HORIZON:
            run[loop.START_TEMPERATURE], run[loop.LOG_RATE] = cold, 0.0
        return
    progress = stop.progress(elapsed, done)
    step = min(1.0 - progress, SEGMENT_SECONDS / stop.time if stop.time > 0 else 0.0)
    counts[loop.ORIGIN] = done
    run[loop.START_TEMPERATURE] = hot * math.exp(fall * progress)
    run[loop.LOG_RATE] = fall * step / max(1, size)
    run[loop.TEMPERATURE] = -1.0


def _next_size(size: int, took: float, left: float) -> int:
    """Return how many iterations fit into the next segment, growing slowly since rates are measured roughly."""
    wanted = min(SEGMENT_SECONDS, max(left, 0.0))
    return int(max(1, min(size * wanted / max(took, 1e-9), 4 * size, 1 << 24)))


def _record(trace: Trace, elapsed: float, done: int, run: npt.NDArray[np.float64], uses: list[int]) -> None:
    trace.time.append(elapsed)
    trace.iteration.append(done)
    trace.current.append(float(run[loop.CURRENT]))
    trace.best.append(float(run[loop.BEST]))
    trace.temperature.append(max(0.0, float(run[loop.TEMPERATURE])))
    trace.uses.append(uses)


def _uses_of(
    portfolio: Portfolio, destroy_counts: npt.NDArray[np.int64], repair_counts: npt.NDArray[np.int64]
) -> tuple[OperatorUse, ...]:
    rows = [*zip(portfolio.destroys, destroy_counts.tolist(), strict=False)]
    rows += [*zip(portfolio.repairs, repair_counts.tolist(), strict=False)]
    return tuple(OperatorUse(entry.name, entry.phase, *row) for entry, row in rows)


def _broken_contract(
    status: int, counts: npt.NDArray[np.int64], portfolio: Portfolio, selector: Selector
) -> OperatorError:
    index, node = int(counts[loop.OPERATOR]), int(counts[loop.NODE])
    if status == loop.BAD_DESTROY_CHOICE or status == loop.BAD_REPAIR_CHOICE:
        phase = "destroy" if status == loop.BAD_DESTROY_CHOICE else "repair"
        return OperatorError(f"selector {selector.name!r} chose {phase} operator {index}, which does not exist.")
    if status == loop.WRONG_QUOTA:
        name = portfolio.destroys[index].name
        return OperatorError(
            f"operator {name!r} removed {counts[loop.GOT]} customers, but its quota was {counts[loop.QUOTA]}."
        )
    if status == loop.WRONG_DESTROY:
        name = portfolio.destroys[index].name
        return OperatorError(f"operator {name!r} removed customer {node}, which is not on a route (removed twice?).")
    name = portfolio.repairs[index].name
    if status == loop.WRONG_REPAIR:
        return OperatorError(f"operator {name!r} inserted customer {node} twice, or at a place off the route.")
    if status == loop.LEFT_OUT:
        return OperatorError(f"operator {name!r} left {counts[loop.GOT]} customers on the removal list.")
    return OperatorError(f"operator {name!r} overloaded a route.")
