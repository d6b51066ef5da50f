"""One search: a plan, a state, and the compiled loop run in segments."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from neuralns.operators.contract import FINE, broken_contract, circumstances
from neuralns.operators.registry import MOST_DESTROYS, MOST_REPAIRS, Portfolio
from neuralns.operators.state import flatten, load_solution, new_state, routes_of, unflatten
from neuralns.problem.instance import Instance
from neuralns.problem.solution import Solution
from neuralns.search import loop
from neuralns.search.acceptance import Acceptance
from neuralns.search.stopping import Stop
from neuralns.selection.scripted import Outcome, Scripted, Situation
from neuralns.selection.selector import Selector

SEGMENT_SECONDS = 0.05
"""Between two segments of about this length Python looks at the clock, callbacks and signals."""
FIRST_SEGMENT = 64
OPEN_HORIZON = 1_000_000
"""Iterations over which the temperature falls when neither time nor iterations are limited."""


@dataclass(frozen=True)
class Plan:
    """What a search is to do; several searches may follow one plan with different seeds."""

    instance: Instance
    stop: Stop
    selector: Selector
    portfolio: Portfolio
    quotas: tuple[int, int]
    acceptance: Acceptance
    temperatures: tuple[float, float]
    initial: Solution


def prepare(portfolio: Portfolio, selector: Selector) -> None:
    """Compile or load all that a search needs, so that its clock does not count it."""
    loop.compiled_loop()
    _ = portfolio.tables
    selector.functions()
    tiny = Instance("tiny", [0, 1], 1, [[0, 0], [0, 1]])
    load_solution(new_state(tiny, 0), Solution(tiny, [[1]]))


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
    workers: int = 1

    @property
    def share(self) -> float:
        """Share of the time or iterations used, from 0 to 1; several workers share their iterations."""
        return self.stop.progress(self.time, self.iteration / self.workers)

    @property
    def rate(self) -> float:
        """Iterations a second so far."""
        return self.iteration / self.time if self.time > 0 else 0.0

    @property
    def gap(self) -> float | None:
        """Gap of the best cost to the best known one in per cent."""
        known = self.instance.best_known
        return None if known is None or known <= 0 else 100.0 * (self.best / known - 1.0)


class Search:
    """A search in progress; `advance` runs a segment of it, its clock started at ``begin``."""

    def __init__(self, plan: Plan, seed: np.random.SeedSequence, begin: float) -> None:
        self.plan = plan
        self._begin = begin
        instance, portfolio, first = plan.instance, plan.portfolio, plan.initial
        history = portfolio.uses_history or getattr(plan.selector, "uses_history", False)
        self._state = new_state(instance, seed, history=history, solution=first)
        self._memory = plan.selector.start(portfolio, instance.customers)
        self._segment = loop.compiled_loop()
        self._functions = (portfolio.tables, *plan.selector.functions())

        self._run, self._counts = np.zeros(12), np.zeros(11, np.int64)
        run, counts = self._run, self._counts
        run[loop.CURRENT] = run[loop.BEST] = run[loop.REFERENCE] = first.cost
        run[loop.TARGET], run[loop.TEMPERATURE] = plan.stop.target, -1.0
        counts[loop.RULE], (counts[loop.LOW], counts[loop.HIGH]) = plan.acceptance.rule, plan.quotas
        counts[loop.COOLING] = 1 if plan.stop.iterations <= loop.SHORT_RUN else loop.COOLING_STEP
        patience = plan.stop.no_improvement
        counts[loop.PATIENCE] = np.iinfo(np.int64).max if math.isinf(patience) else int(patience)
        self._customers = np.zeros(instance.customers, np.int32)
        self._starts = np.zeros(instance.customers + 1, np.int32)
        self._keep(first)
        self.destroy_counts = np.zeros((MOST_DESTROYS, 4), np.int64)
        self.repair_counts = np.zeros((MOST_REPAIRS, 4), np.int64)
        self._size = plan.selector.every if isinstance(plan.selector, Scripted) else FIRST_SEGMENT
        self._asking = 0.0
        self._pair: tuple[str, str] = ("", "")
        self._asked: tuple[Situation, npt.NDArray[np.int64]]

    @property
    def iteration(self) -> int:
        """Iterations done."""
        return int(self._counts[loop.ITERATION])

    @property
    def mean_cost(self) -> float:
        """Mean cost of the current solution over the iterations done."""
        return float(self._run[loop.CURRENT_SUM]) / max(1, self.iteration)

    @property
    def elapsed(self) -> float:
        """Seconds since the clock was started."""
        return time.perf_counter() - self._begin

    @property
    def decision_times(self) -> tuple[float, float]:
        """Time that the sampled iterations spent on deciding, and in all (in units of the processor)."""
        if self._asking > 0.0:
            return self._asking, self.elapsed
        return float(self._run[loop.DECIDING]), float(self._run[loop.ITERATING])

    def advance(self, iterations: float = math.inf) -> None:
        """Run a segment, of so many iterations at most."""
        plan, begin = self.plan, self.elapsed
        size = int(min(self._size, plan.stop.iterations - self.iteration, iterations))
        if self.iteration < OPEN_HORIZON:
            # A segment does not cross the point where an open run has cooled down.
            size = min(size, OPEN_HORIZON - self.iteration)
        scripted = plan.selector if isinstance(plan.selector, Scripted) else None
        if scripted is not None:
            size = min(size, scripted.every)
        self._set_temperature(begin, size)
        if scripted is not None:
            self._ask(scripted)
        tables, choose, update = self._functions
        status = self._segment(
            self._state, tables, choose, update, self._memory, self._run, self._counts,
            self.destroy_counts, self.repair_counts, self._customers, self._starts, size,
        )  # fmt: skip
        if status != FINE:
            node, removed = circumstances(self._state)  # type: ignore[no-untyped-call]
            choice, quota = int(self._counts[loop.OPERATOR]), int(self._counts[loop.QUOTA])
            raise broken_contract(status, plan.portfolio, plan.selector.name, choice, quota, node, removed)
        if scripted is not None:
            self._tell(scripted)
            # The clock is looked at after each question.
            return
        now = self.elapsed
        self._size = _next_size(size, now - begin, plan.stop.time - now)

    def _ask(self, scripted: Scripted) -> None:
        portfolio = self.plan.portfolio
        since = self.iteration - int(self._counts[loop.ORIGIN])
        situation = Situation(
            self.iteration,
            float(self._run[loop.CURRENT]),
            float(self._run[loop.BEST]),
            float(self._run[loop.REFERENCE]),
            max(0.0, float(self._run[loop.LEFT] - self._run[loop.LEFT_RATE] * since)),
            tuple(entry.name for entry in portfolio.destroys),
            tuple(entry.name for entry in portfolio.repairs),
        )
        begin = time.perf_counter()
        self._pair = scripted.ask(situation, self._memory)
        self._asking += time.perf_counter() - begin
        place = situation.destroys.index(self._pair[0])
        self._asked = (situation, self.destroy_counts[place].copy())

    def _tell(self, scripted: Scripted) -> None:
        situation, before = self._asked
        counts = self.destroy_counts[situation.destroys.index(self._pair[0])] - before
        change = float(self._run[loop.CURRENT]) - situation.current
        begin = time.perf_counter()
        used, accepted, improved, new_best = map(int, counts)
        scripted.selector.update(Outcome(*self._pair, used, accepted, improved, new_best, change))
        self._asking += time.perf_counter() - begin

    def reason_to_stop(self) -> str | None:
        """Return which limit is reached, or None."""
        stop = self.plan.stop
        if self._run[loop.BEST] <= stop.target:
            return "target"
        if self.iteration >= stop.iterations:
            return "iterations"
        if self.iteration - int(self._counts[loop.LAST_BEST]) >= stop.no_improvement:
            return "no improvement"
        return "time" if self.elapsed >= stop.time else None

    def progress(self) -> Progress:
        """Return where the search stands."""
        return Progress(
            self.plan.instance,
            self.plan.stop,
            self.elapsed,
            self.iteration,
            float(self._run[loop.CURRENT]),
            float(self._run[loop.BEST]),
            max(0.0, float(self._run[loop.TEMPERATURE])),
            dict(zip(self.plan.portfolio.names, self._uses(), strict=True)),
        )

    def best(self) -> Solution:
        """Return the best solution found."""
        routes = unflatten(self._customers, self._starts, int(self._counts[loop.BEST_ROUTES]))
        return Solution(self.plan.instance, routes)

    def current(self) -> Solution:
        """Return the current solution."""
        return Solution(self.plan.instance, routes_of(self._state, self.plan.instance.customers))

    def continue_from(self, solution: Solution) -> None:
        """Make a solution the current one; its memory of arcs starts anew."""
        load_solution(self._state, solution)
        cost = solution.cost
        self._run[loop.CURRENT] = cost
        if cost < self._run[loop.BEST]:
            self._run[loop.BEST] = cost
            self._counts[loop.LAST_BEST] = self.iteration
            self._keep(solution)

    def _keep(self, solution: Solution) -> None:
        flat, ends = flatten(solution)
        self._customers[:], self._starts[: len(ends)] = flat, ends
        self._counts[loop.BEST_ROUTES] = len(solution.routes)

    def _uses(self) -> list[int]:
        destroys = self.destroy_counts[: len(self.plan.portfolio.destroys), loop.USED]
        repairs = self.repair_counts[: len(self.plan.portfolio.repairs), loop.USED]
        return [*map(int, destroys), *map(int, repairs)]

    def _set_temperature(self, elapsed: float, size: int) -> None:
        """Set the course of the temperature for the next segment.

        Limited by iterations alone, it is one function of the iteration for the whole run, whatever the segments: that
        keeps runs repeatable. Limited by time, it starts each segment where the clock stands.
        """
        run, counts, stop = self._run, self._counts, self.plan.stop
        hot, cold = self.plan.temperatures
        fall = math.log(cold / hot)
        if math.isinf(stop.time):
            horizon = stop.iterations if math.isfinite(stop.iterations) else OPEN_HORIZON
            run[loop.START_TEMPERATURE], run[loop.LOG_RATE] = hot, fall / max(1.0, horizon)
            run[loop.LEFT], run[loop.LEFT_RATE] = 1.0, 1.0 / max(1.0, horizon)
            if math.isinf(stop.iterations) and self.iteration >= OPEN_HORIZON:
                run[loop.START_TEMPERATURE], run[loop.LOG_RATE] = cold, 0.0
            return
        progress = stop.progress(elapsed, self.iteration)
        step = min(1.0 - progress, SEGMENT_SECONDS / stop.time if stop.time > 0 else 0.0)
        counts[loop.ORIGIN] = self.iteration
        run[loop.START_TEMPERATURE] = hot * math.exp(fall * progress)
        run[loop.LOG_RATE] = fall * step / max(1, size)
        run[loop.LEFT], run[loop.LEFT_RATE] = 1.0 - progress, step / max(1, size)
        run[loop.TEMPERATURE] = -1.0


def _next_size(size: int, took: float, left: float) -> int:
    """Return how many iterations fit into the next segment, growing slowly since rates are measured roughly."""
    wanted = min(SEGMENT_SECONDS, max(left, 0.0))
    return int(max(1, min(size * wanted / max(took, 1e-9), 4 * size, 1 << 24)))
