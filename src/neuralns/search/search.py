"""One search: a setup, a state, and the compiled loop run in segments."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from neuralns.compiled.calls import address_of
from neuralns.compiled.clock import HAS_COUNTER
from neuralns.compiled.failures import catching, is_own, said
from neuralns.compiled.structs import Struct
from neuralns.errors import GivenUpError, InputError, NeuralnsError
from neuralns.operators.contract import FINE, broken_contract
from neuralns.problem.instance import Instance
from neuralns.problem.limits import load_limit
from neuralns.problem.solution import Solution, gap_between
from neuralns.routes.edits import FAILED
from neuralns.routes.evaluate import count_missing
from neuralns.routes.transfer import do_without_route, load_solution, new_state, solution_of, unflatten
from neuralns.search import loop
from neuralns.search.overload import OVERLOAD_SHARE, first_price
from neuralns.search.setup import Setup
from neuralns.search.step import CHOOSING, UPDATING, called, chosen
from neuralns.search.stopping import Stop
from neuralns.selection.controller import (
    Controller,
    Setting,
    View,
    heat_of,
    scale_of,
    set_weights,
    weights_of,
)
from neuralns.selection.selector import MOST_REMOVED, new_memory_of

SEGMENT_SECONDS = 0.05
"""Between two segments of about this length Python looks at the clock, callbacks and signals."""
FIRST_SEGMENT = 64
FEWEST_SHARE = 0.5
"""Share of a run that goes into finding fewer vehicles where they come first."""
SERVING_SHARE = 0.2
"""Share of a run that may go into serving everybody where the start does not."""
FEWEST_HEAT = 0.3
"""Temperature meanwhile, as a share of the one at the start."""
NOMINAL_SECONDS = 2e-5
"""What an iteration counts as where a controller is told of seconds and iterations alone are limited."""
QUESTIONS = 200
"""How often a controller is asked in a run limited by iterations alone."""
OPEN_HORIZON = 1_000_000
"""Iterations over which the temperature falls when neither time nor iterations are limited."""


@dataclass(frozen=True, repr=False)
class Progress:
    """Where a search stands, as callbacks see it between two segments.

    Costs are those of the routes; ``unserved`` customers, of the best solution, could be served if there were room, and
    are not so far. ``search`` is the search itself, for those who look closer; None of several workers.
    """

    instance: Instance
    stop: Stop
    time: float
    iteration: int
    current: float
    best: float
    temperature: float
    uses: dict[str, int]
    workers: int = 1
    unserved: int = 0
    search: Search | None = field(default=None, compare=False)

    def __repr__(self) -> str:
        return (
            f"<Progress on {self.instance.name}: {self.time:.1f} s, iteration {self.iteration}, best {self.best:.10g}, "
            f"current {self.current:.10g}>"
        )

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
        return None if known is None or known <= 0 or self.unserved else gap_between(self.best, known)


def own_costs(instance: Instance) -> str | None:
    """Return the names of the costs of the user's own, as sentences name them; None if there are none."""
    return " or ".join(str(cost) for cost in instance.route_costs or () if cost.is_own) or None


class Search:
    """A search in progress; `advance` runs a segment of it, its clock started at ``begin``.

    ``on_best`` is called at every new best solution, in the middle of a segment if need be. ``in_python`` says whether
    a controller is being asked or told. Segments end about when the clock shows ``until``. ``control`` is what a
    controller has set last, and what it saw.
    """

    in_python = False
    until = math.inf
    control: tuple[View, Setting] | None = None

    def __init__(
        self,
        setup: Setup,
        seed: np.random.SeedSequence,
        begin: float,
        on_best: Callable[[Search], object] | None = None,
        clock: Callable[[], float] | None = None,
    ) -> None:
        self.setup = setup
        self._begin, self._clock = begin, time.perf_counter if clock is None else clock
        self._on_best = on_best
        instance, portfolio, selector, first = setup.instance, setup.portfolio, setup.selector, setup.initial
        history = portfolio.uses_history or selector.uses_history
        most = setup.quotas[1]
        self._controller = selector.begin() if isinstance(selector, Controller) else None
        if selector.sets_scale:
            most = max(most, min(MOST_REMOVED, instance.customers))
        self._tables = portfolio.tables if self._controller is None else portfolio.own_tables()
        self._heat = 1.0, 1.0
        self._state = new_state(instance, seed, history=history, solution=first, quota=most)
        self._status = self._state.status
        # As the solution itself says, which may differ in the last digits from the sum of many edits.
        self._status.start = self._status.current = self._status.best = first.cost + self._penalties
        self._memory = new_memory_of(selector, portfolio, instance.customers, instance)
        self._functions = selector.functions()
        self._segment = loop.compiled_loop()
        price = first_price(setup)
        if price > 0:
            self._state.most_load, self._state.overload_cost = (1 + OVERLOAD_SHARE) * self._state.limit, price
        self._run = self._new_run(price)
        self._keep()
        self._phase_end = 0.0
        self._apart, self._vehicles = False, 0
        # Those who must be served and are not come first as well.
        self._first_phase = setup.fewest_vehicles or self._missing > 0
        if self._first_phase:
            self._seek_fewer()
        self._every = self._iterations_between_questions()
        self._size = self._every or FIRST_SEGMENT
        self._asking = 0.0
        self._next_question = 0
        self._seen = self._seen_so_far()
        self._failure: tuple[int, str] | None = None

    def _iterations_between_questions(self) -> int:
        """Return how many iterations lie between two questions to the controller; 0 if time says when it is asked."""
        stop = self.setup.stop
        if self._controller is None:
            return 0
        if self._controller.every > 0 or math.isfinite(stop.time):
            return self._controller.every
        horizon = stop.iterations if math.isfinite(stop.iterations) else OPEN_HORIZON
        return max(1, math.ceil(horizon / QUESTIONS))

    def _new_run(self, price: float) -> Struct:
        setup, customers = self.setup, self.setup.instance.customers
        stop, (low, high) = setup.stop, setup.quotas
        choose, update = map(address_of, self._functions)
        pairs = len(setup.portfolio.destroys) * len(setup.portfolio.repairs)
        return Struct(
            loop.run_type, memory=self._memory.address, choose=choose, update=update,
            accepts=setup.acceptance.address(), target=stop.target,
            stops=np.array([address_of(rule.compiled) for rule in stop.rules], np.int64),
            patience=np.iinfo(np.int64).max if math.isinf(stop.no_improvement) else int(stop.no_improvement),
            low=low, high=high, pauses=self._on_best is not None, fewest=0, origin=0, hot=1.0, log_rate=0.0, left=1.0,
            left_rate=0.0, cooling=1 if stop.iterations <= loop.SHORT_RUN else loop.COOLING_STEP, renew=1, price=price,
            total=0.0, times=np.zeros(2), pair_counts=np.zeros((pairs, 4), np.int64), pair_gains=np.zeros(pairs),
            pair_times=np.zeros((pairs, 2)), improve_counts=np.zeros((len(setup.portfolio.improves), 4), np.int64),
            routes=0, left_out=0, found=0,
            stopped=0, operator=0, n_changed=loop.ALL_CHANGED, is_changed=np.zeros(customers + 1, np.uint8),
            **{name: np.zeros(customers + 1, np.int32) for name in loop.KEPT},
        )  # fmt: skip

    @property
    def memory(self) -> Struct:
        """What the selector remembers."""
        return self._memory

    @property
    def iteration(self) -> int:
        """Iterations done."""
        return int(self._status.iteration)

    def called(self, running: int | None = None) -> str:
        """Return which function was called last, or is meant, as sentences name it."""
        setup = self.setup
        number = int(self._status.running) if running is None else running
        who = called(number, setup.portfolio, setup.selector.name, setup.acceptance, setup.stop.rules)
        costs = own_costs(setup.instance)
        if costs is None:
            return who
        # Operators ask for the costs of routes all the time.
        operators = {f"operator {entry.name!r}" for entry in setup.portfolio.operators if is_own(entry.function)}
        return f"{who} or {costs}" if who in operators else costs

    def _note_failure(self, said: str) -> None:
        """Take note of an exception in a compiled function; the fault ends the segment."""
        if self._failure is None:
            self._failure = (int(self._status.running), said)
        self._state.fault = FAILED

    @property
    def mean_cost(self) -> float:
        """Mean cost of the current solution over the iterations done."""
        return float(self._run.total) / max(1, self.iteration)

    @property
    def elapsed(self) -> float:
        """Seconds since the clock was started."""
        return self._clock() - self._begin

    @property
    def pair_counts(self) -> npt.NDArray[np.int64]:
        """How often each pair was used, accepted, better, best: a row of pairs for each destroy operator."""
        portfolio = self.setup.portfolio
        return np.asarray(self._run.pair_counts).reshape(len(portfolio.destroys), len(portfolio.repairs), 4)

    @property
    def pair_gains(self) -> npt.NDArray[np.float64]:
        """By how much each pair has lowered the current cost, likewise."""
        return np.asarray(self._run.pair_gains).reshape(self.pair_counts.shape[:2])

    @property
    def pair_seconds(self) -> npt.NDArray[np.float64]:
        """Time that each pair took, likewise, estimated from some of its iterations."""
        uses, times = self.pair_counts[:, :, loop.USED], np.asarray(self._run.pair_times)
        mean = times[:, 1].sum() / max(1.0, times[:, 0].sum()) or 1.0
        ticks = np.where(times[:, 0] > 0, times[:, 1] / np.maximum(times[:, 0], 1.0), mean).reshape(uses.shape) * uses
        return np.asarray(ticks * (self.elapsed / (ticks.sum() or 1.0)))

    @property
    def acceptance(self) -> float:
        """Share of the candidates accepted of late."""
        return float(self._status.acceptance)

    @property
    def removed(self) -> list[int]:
        """The customers that the last iteration removed."""
        found: list[int] = self._state.removed[: self._status.quota].tolist()
        return found

    @property
    def destroy_counts(self) -> npt.NDArray[np.int64]:
        """The same of each destroy operator."""
        return np.asarray(self.pair_counts.sum(axis=1))

    @property
    def repair_counts(self) -> npt.NDArray[np.int64]:
        """The same of each repair operator."""
        return np.asarray(self.pair_counts.sum(axis=0))

    @property
    def improve_counts(self) -> npt.NDArray[np.int64]:
        """How often each improve operator was used, and lowered the cost of candidates accepted, better, best."""
        return np.asarray(self._run.improve_counts)

    @property
    def counts(self) -> npt.NDArray[np.int64]:
        """The counts of all operators, in the order of the portfolio."""
        return np.concatenate([self.destroy_counts, self.repair_counts, self.improve_counts])

    @property
    def decision_times(self) -> tuple[float, float] | None:
        """Time spent on deciding, and in all, in units of its own; None where it cannot be measured.

        That of a controller is all but the drawing of pairs.
        """
        if self._controller is not None:
            return self._asking, self.elapsed
        return (float(self._run.times[0]), float(self._run.times[1])) if HAS_COUNTER else None

    def advance(self, iterations: float = math.inf) -> None:
        """Run a segment, of so many iterations at most."""
        setup, begin = self.setup, self.elapsed
        size = int(min(self._size, setup.stop.iterations - self.iteration, iterations))
        if self.iteration < OPEN_HORIZON:
            # A segment does not cross the point where an open run has cooled down.
            size = min(size, OPEN_HORIZON - self.iteration)
        if self._every > 0:
            size = min(size, max(self._next_question - self.iteration, 0) or self._every)
        if self.until < math.inf:
            size = max(1, int(min(size, self._size * (self.until - begin) / SEGMENT_SECONDS)))
        if self._first_phase:
            size = self._size_of_first_phase(size)
        self._set_course(begin, size)
        if self._controller is not None and self.iteration >= self._next_question:
            self._ask(self._controller)
            # What it set may be another temperature.
            self._set_course(begin, size)
        end = self.iteration + size
        while True:
            with catching(self._note_failure):
                code = self._segment(self._state, self._tables, self._run, max(0, end - self.iteration))
            if self._failure is not None:
                running, said = self._failure
                raise GivenUpError(self.called(running), said)
            if code != FINE:
                choice = chosen(code, self._run.operator, self._status)
                raise broken_contract(
                    code, setup.portfolio, setup.selector.name, choice, self._status.quota, self._state
                )
            if not self._run.found:
                break
            if self._first_phase:
                self._keep_cost()
                self._status.since_best = 0
                if self._run.left_out == 0:
                    self._seek_fewer()
                    self._set_course(self.elapsed, max(1, end - self.iteration))
            if self._on_best is not None:
                self._on_best(self)
        if self._controller is not None and (
            self._every == 0 or self.iteration >= self._next_question or self.reason_to_stop() is not None
        ):
            self._tell(self._controller)
        if self._every > 0:
            # The clock is looked at after each question.
            return
        now = self.elapsed
        self._size = _next_size(size, now - begin, setup.stop.time - now)

    def _seen_so_far(self) -> tuple[Any, ...]:
        """Return what the counters show, to tell later what has come since."""
        run = self._run
        return self.elapsed, self.standing, self.pair_counts.copy(), run.pair_gains.copy(), run.pair_times.copy()

    def _view(self, seen: tuple[Any, ...]) -> View:
        """Return what a controller sees, and what came of the pairs since the counters were ``seen``."""
        setup, run, status = self.setup, self._run, self._status
        now, (missing, current), counts, gains, times = self._seen_so_far()
        since, (waiting, before), known, won, timed = seen
        counts, gains = counts - known, gains - won
        uses = counts[:, :, loop.USED]
        limited = math.isfinite(setup.stop.time)
        seconds = uses.astype(np.float64)
        if limited:
            # Mean ticks of the iterations timed, here or else so far, or else of all pairs.
            all_ticks = float(times[:, 1].sum() / max(1.0, times[:, 0].sum())) or 1.0
            fresh = times - timed
            ticks = np.where(fresh[:, 0] > 0, fresh[:, 1] / np.maximum(fresh[:, 0], 1.0), 0.0)
            ticks = np.where(
                ticks > 0, ticks, np.where(times[:, 0] > 0, times[:, 1] / np.maximum(times[:, 0], 1.0), all_ticks)
            )
            seconds *= ticks.reshape(uses.shape)
            seconds *= (now - since) / (seconds.sum() or 1.0)
        stop = setup.stop
        iterations = stop.iterations if math.isfinite(stop.iterations) else OPEN_HORIZON
        horizon = stop.time if limited else NOMINAL_SECONDS * iterations
        return View(
            setup.instance,
            setup.portfolio,
            self.iteration,
            setup.quotas,
            max(0.0, run.left - run.left_rate * (self.iteration - run.origin)),
            horizon,
            status.start,
            current,
            self._best_cost,
            # Costs of routes that serve more or fewer customers say nothing.
            current - before if missing == waiting else 0.0,
            # Before the first iteration the loop has not set it.
            status.temperature if self.iteration > 0 else run.hot,
            status.acceptance,
            int(status.since_best),
            uses,
            counts[:, :, loop.ACCEPTED],
            counts[:, :, loop.IMPROVED],
            counts[:, :, loop.NEW_BEST],
            gains.reshape(uses.shape),
            seconds,
            self.current,
        )

    def _ask(self, controller: Controller) -> None:
        begin = time.perf_counter()
        self._next_question = self.iteration + self._every
        self._status.running, self.in_python = CHOOSING, True
        view = self._view(self._seen)
        setting = self._called(controller.control, view)
        self._seen = self._seen_so_far()
        self.in_python = False
        if setting is not None:
            self._set(setting)
            self.control = view, setting
        self._asking += time.perf_counter() - begin

    def _tell(self, controller: Controller) -> None:
        if type(controller).observe is Controller.observe:
            return
        begin = time.perf_counter()
        self._status.running, self.in_python = UPDATING, True
        self._called(controller.observe, self._view(self._seen))
        self.in_python = False
        self._asking += time.perf_counter() - begin

    def _called(self, method: Callable[[View], Any], view: View) -> Any:
        """Call a method of a controller; if it fails, the search is over."""
        try:
            return method(view)
        except NeuralnsError:
            raise
        except Exception as error:
            raise GivenUpError(self.called(), said(error, type(error), error.__traceback__)) from error

    def _set(self, setting: Setting) -> None:
        """Go on as a controller says; what cannot be is refused."""
        name, portfolio = self.setup.selector.name, self.setup.portfolio
        if not isinstance(setting, Setting):
            raise InputError(f"controller {name!r} answered {setting!r:.60}, which is no Setting.")
        if setting.weights is not None:
            set_weights(self._memory, weights_of(name, portfolio, setting.weights))
        if setting.scale is not None:
            self._run.low, self._run.high = scale_of(name, self.setup.instance.customers, setting.scale)
        if setting.heat is not None:
            self._heat = heat_of(name, setting.heat)
        for which, value in setting.parameters.items():
            if not (isinstance(which, tuple) and len(which) == 2):
                raise InputError(f"controller {name!r} set {which!r:.60}, which is not an operator and a parameter.")
            operator, parameter = which
            phase, row, column = portfolio.place_of(operator, parameter)
            number = isinstance(value, int | float | np.integer | np.floating) and math.isfinite(value)
            if not number or (column < 0 and not 0 <= value <= 1):
                raise InputError(f"controller {name!r} set {parameter!r} of operator {operator!r} to {value!r:.60}.")
            if column < 0:
                self._tables.improve_shares[row] = value
            else:
                getattr(self._tables, f"{phase}_parameters")[row, column] = value

    def reason_to_stop(self) -> str | None:
        """Return which limit is reached, or None."""
        stop = self.setup.stop
        if self._status.best <= self._run.target:
            return "target"
        if self.iteration >= stop.iterations:
            return "iterations"
        if self._status.since_best >= stop.no_improvement and not self._first_phase:
            return "no improvement"
        if self._run.stopped > 0:
            return str(stop.rules[self._run.stopped - 1].name)
        return "time" if self.elapsed >= stop.time else None

    def progress(self) -> Progress:
        """Return where the search stands."""
        uses = self.counts[:, loop.USED].tolist()
        return Progress(
            self.setup.instance,
            self.setup.stop,
            self.elapsed,
            self.iteration,
            self._status.current - self._penalties,
            self._best_cost,
            self._status.temperature,
            dict(zip(self.setup.portfolio.names, uses, strict=True)),
            unserved=int(self._run.left_out),
            search=self,
        )

    @property
    def rank(self) -> tuple[int, int, float]:
        """What makes one search better than another: customers served, then vehicles if they come first, then cost."""
        return int(self._run.left_out), int(self._run.routes) * self.setup.fewest_vehicles, self._best_cost

    @property
    def standing(self) -> tuple[int, float]:
        """How well off the current solution is: customers left out, then cost, overloads included."""
        overloads = self._state.most_load > self._state.limit
        return self._missing, float(self._status.current) - (0.0 if overloads else self._penalties)

    @property
    def _penalties(self) -> float:
        """What those in the bank who must be served, and overloads, add to the cost of the current solution."""
        state = self._state
        if state.most_load > state.limit:
            loads = state.load[state.active[: state.n_active]]
            return float(state.overload_cost * np.maximum(0.0, loads - state.limit).sum())
        waiting = state.bank[: state.n_bank]
        waiting = waiting[state.prize[waiting] >= state.unserved_cost]
        weight = float(state.absence[waiting].sum()) + int(state.groups_missing)
        return float(state.unserved_cost * weight) if weight else 0.0

    @property
    def _missing(self) -> int:
        """How many the current solution leaves out who must be served."""
        return int(count_missing(self._state))  # type: ignore[no-untyped-call]

    @property
    def _best_cost(self) -> float:
        """Cost of the best routes, without penalties."""
        if self._run.fewest:
            return self._kept_cost
        left_out = int(self._run.left_out)
        return float(self._status.best - left_out * self._state.unserved_cost if left_out else self._status.best)

    def best(self) -> Solution:
        """Return the best solution found."""
        count, customers = int(self._run.routes), self.setup.instance.customers
        row, starts, kinds = (np.zeros(customers + more, np.int32) for more in (1, 2, 1))
        loop.export_best(self._run, row, starts, kinds)  # type: ignore[no-untyped-call]
        return Solution(self.setup.instance, unflatten(row, starts, count), kinds[:count].tolist())

    def current(self) -> Solution:
        """Return the current solution."""
        return solution_of(self._state, self.setup.instance)

    def continue_from(self, solution: Solution) -> None:
        """Make a solution the current one; the history of arcs starts anew."""
        status = self._status
        if self._apart:
            self._apart, self._state.vehicles, self._run.target = False, self._vehicles, self.setup.stop.target
            status.start = solution.cost
            status.best = self._kept_cost = math.inf
        kept = {
            name: getattr(status, name) for name in ("start", "best", "left", "acceptance", "iteration", "since_best")
        }
        load_solution(self._state, solution)
        self._run.n_changed = loop.ALL_CHANGED
        for name, value in kept.items():
            setattr(status, name, value)
        cost = solution.cost + self._penalties
        status.current = cost
        rank, kept_rank = (
            (self._missing, len(solution.routes) * self.setup.fewest_vehicles),
            (int(self._run.left_out), int(self._run.routes) * self.setup.fewest_vehicles),
        )
        # While vehicles or customers come first, the status does not know what the best routes cost.
        kept_cost = self._kept_cost + self._penalties if self._run.fewest else status.best
        better = rank < kept_rank or cost < kept_cost
        if self._run.fewest and rank > kept_rank:
            self.continue_from(self.best())
        elif self._run.fewest or better:
            if better:
                self._keep()
            status.best, status.since_best = cost, 0
            if self._first_phase:
                self._seek_fewer()
            elif self.setup.fewest_vehicles and rank[0] == 0:
                self._state.vehicles = max(1, len(solution.routes))

    def continue_with_part(self, routes: Solution, vehicles: int | None = None) -> None:
        """Go on with some of the routes of a solution alone, as if there were no others, nor their customers.

        There are so many vehicles for them. Until `continue_from` brings back the whole, costs are those of the part,
        and no target is reached.
        """
        if self._first_phase:
            self._end_first_phase()
        if not self._apart:
            self._apart, self._vehicles = True, int(self._state.vehicles)
        status = self._status
        kept = {name: getattr(status, name) for name in ("left", "acceptance", "iteration")}
        load_solution(self._state, routes, alone=True)
        self._run.n_changed = loop.ALL_CHANGED
        for name, value in kept.items():
            setattr(status, name, value)
        if vehicles is not None:
            self._state.vehicles = vehicles
        self._run.target = -math.inf
        self._keep()
        status.start = status.current = status.best = self._kept_cost

    def _keep(self) -> None:
        """Keep the current routes as the best."""
        loop.keep_best(self._state, self._run)  # type: ignore[no-untyped-call]
        self._keep_cost()

    def _keep_cost(self) -> None:
        self._kept_cost = self.best().cost

    def _seek_fewer(self) -> None:
        """Go on with one vehicle less, the customers of a route being left out, unless the loads forbid it.

        While customers are left out anyhow, they are to be served first, by all vehicles.
        """
        instance, state, run = self.setup.instance, self._state, self._run
        if run.left_out > 0:
            run.fewest = 1
            self._status.current = self._status.best = state.cost
            return
        fewest = 1
        if instance.shipments is None and instance.pickups is None and load_limit(instance) > 0:
            served = instance.demands[: instance.customers + 1][state.route >= 0]
            fewest = math.ceil(float(served.sum()) / load_limit(instance))
        if not self.setup.fewest_vehicles or run.routes <= max(1, fewest):
            self._seek_cheaper()
            return
        run.fewest = 1
        do_without_route(state, int(run.routes) - 1)
        run.n_changed = loop.ALL_CHANGED
        self._status.current = self._status.best = state.cost

    def _seek_cheaper(self) -> None:
        """Go on from the best routes with as many vehicles as they have, for lower cost."""
        self._end_first_phase()
        best = self.best()
        if self._run.left_out == 0 and self.setup.fewest_vehicles:
            self._state.vehicles = max(1, len(best.routes))
        self._status.best = math.inf
        self.continue_from(best)
        self._status.start = self._status.current

    def _end_first_phase(self) -> None:
        self._first_phase = False
        self._run.fewest, self._run.pauses = 0, self._on_best is not None
        self._phase_end = self.setup.stop.progress(self.elapsed, self.iteration)
        self._run.origin, self._run.renew = self.iteration, 1

    def _size_of_first_phase(self, size: int) -> int:
        """Return how much of a segment belongs to the search for fewer vehicles, ending that when it is over."""
        stop = self.setup.stop
        horizon = stop.iterations if math.isfinite(stop.iterations) or math.isfinite(stop.time) else OPEN_HORIZON
        share = FEWEST_SHARE if self.setup.fewest_vehicles else SERVING_SHARE
        end = math.ceil(share * horizon) if math.isfinite(horizon) else math.inf
        tired = self._status.since_best >= stop.no_improvement
        if tired or self.elapsed >= share * stop.time or self.iteration >= end:
            self._seek_cheaper()
            return size
        return int(min(size, end - self.iteration))

    def _set_course(self, elapsed: float, size: int) -> None:
        """Set the course of the temperature for the next segment.

        Limited by iterations alone, it is one function of the iteration for the whole run, whatever the segments: that
        keeps runs repeatable. Limited by time, it starts each segment where the clock stands.
        """
        run, stop = self._run, self.setup.stop
        hot, cold = (each * heat for each, heat in zip(self.setup.temperatures, self._heat, strict=True))
        fall = math.log(cold / hot)
        if math.isinf(stop.time):
            horizon = stop.iterations if math.isfinite(stop.iterations) else OPEN_HORIZON
            run.hot, run.log_rate = hot, fall / max(1.0, horizon - run.origin)
            run.left, run.left_rate = 1.0 - run.origin / max(1.0, horizon), 1.0 / max(1.0, horizon)
            if run.fewest:
                run.hot, run.log_rate, run.renew = FEWEST_HEAT * hot, 0.0, 1
            if math.isinf(stop.iterations) and self.iteration >= OPEN_HORIZON:
                run.hot, run.log_rate = cold, 0.0
            return
        rest = max(1e-9, 1.0 - self._phase_end)
        progress = min(1.0, (stop.progress(elapsed, self.iteration) - self._phase_end) / rest)
        step = min(1.0 - progress, SEGMENT_SECONDS / stop.time / rest if stop.time > 0 else 0.0)
        run.origin = self.iteration
        run.hot = hot * math.exp(fall * progress)
        run.log_rate = fall * step / max(1, size)
        run.left, run.left_rate = rest * (1.0 - progress), rest * step / max(1, size)
        run.renew = 1
        if run.fewest:
            run.hot, run.log_rate = FEWEST_HEAT * hot, 0.0


def _next_size(size: int, took: float, left: float) -> int:
    """Return how many iterations fit into the next segment, growing slowly since rates are measured roughly."""
    wanted = min(SEGMENT_SECONDS, max(left, 0.0))
    return int(max(1, min(size * wanted / max(took, 1e-9), 4 * size, 1 << 24)))
