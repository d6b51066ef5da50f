"""One search: a setup, a state, and the compiled loop run in segments."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from neuralns.compiled.calls import address_of
from neuralns.compiled.clock import HAS_COUNTER
from neuralns.compiled.failures import catching, is_own
from neuralns.compiled.structs import Struct
from neuralns.errors import GivenUpError
from neuralns.operators.contract import FINE, broken_contract
from neuralns.problem.instance import Instance
from neuralns.problem.solution import Solution
from neuralns.routes.edits import FAILED
from neuralns.routes.evaluate import count_missing, recompute, total_charges
from neuralns.routes.transfer import give_prices, load_solution, new_state, solution_of, take_prices, unflatten
from neuralns.search import loop, segments
from neuralns.search.cooling import Cooling
from neuralns.search.fewest import FEWEST_SHARE, LAST_SERVING_SHARE, SERVING_SHARE, left_of_phase, seek_fewer
from neuralns.search.penalties import Prices, first_prices
from neuralns.search.progress import Progress as Progress
from neuralns.search.segments import Segments
from neuralns.search.setup import Setup
from neuralns.search.step import called, chosen
from neuralns.search.talk import Levers, Talk
from neuralns.selection.controller import Controller, Setting, View
from neuralns.selection.selector import MOST_REMOVED, new_memory_of


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
        controller = selector.begin() if isinstance(selector, Controller) else None
        if selector.sets_scale:
            most = max(most, min(MOST_REMOVED, instance.customers))
        self._tables = portfolio.tables if controller is None else portfolio.own_tables()
        self._state = new_state(instance, seed, history=history, solution=first, quota=most)
        self._status = self._state.status
        # As the solution itself says, which may differ in the last digits from the sum of many edits.
        self._status.start = self._status.current = self._status.best = first.cost + self._penalties
        self._memory = new_memory_of(selector, portfolio, instance.customers, instance)
        self._functions = selector.functions()
        self._segment = loop.compiled_loop()
        self._prices = prices = first_prices(setup)
        self._run = self._new_run(prices)
        self._cooling = Cooling(self._run, setup.stop, setup.temperatures)
        self._keep()
        self._apart, self._vehicles = False, 0
        # Those who must be served and are not come first as well.
        self._first_phase = setup.fewest_vehicles or (self._missing > 0 and not any(prices.first))
        self._phase_share = FEWEST_SHARE if setup.fewest_vehicles else SERVING_SHARE
        if self._first_phase:
            self._seek_fewer()
        else:
            self._soften()
        self._failure: tuple[int, str] | None = None
        self._talk: Talk | None = None
        if controller is not None:
            levers = Levers(self._run, self._memory, self._tables, self._cooling, portfolio, instance.customers)
            self._talk = Talk(controller, self, levers)
        self._segments = Segments(0 if self._talk is None else self._talk.every)

    def _new_run(self, prices: Prices) -> Struct:
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
            left_rate=0.0, cooling=1 if stop.iterations <= loop.SHORT_RUN else loop.COOLING_STEP, renew=1,
            prices=np.array(prices.first), price_step=prices.step, price_change=prices.change,
            price_last_change=prices.last_change, most_broken=prices.most_broken,
            swing=prices.swing, wide_swing=prices.wide_swing, hard_from=prices.hard_from,
            cycle=prices.cycle, levels=np.array(prices.first), step=0, kept=np.zeros(len(prices.first), np.int64),
            total=0.0, times=np.zeros(2), pair_counts=np.zeros((pairs, 4), np.int64), pair_gains=np.zeros(pairs),
            pair_times=np.zeros((pairs, 2)), improve_counts=np.zeros((len(setup.portfolio.improves), 4), np.int64),
            routes=0, left_out=0, broken=0, found=0,
            stopped=0, operator=0, n_changed=loop.ALL_CHANGED, is_changed=np.zeros(customers + 1, np.uint8),
            **{name: np.zeros(customers + 1, np.int32) for name in loop.KEPT},
        )  # fmt: skip

    @property
    def memory(self) -> Struct:
        """What the selector remembers."""
        return self._memory

    @property
    def status(self) -> Any:
        """Where the search stands, as compiled functions see it."""
        return self._status

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
        if self._talk is not None:
            return self._talk.spent, self.elapsed
        return (float(self._run.times[0]), float(self._run.times[1])) if HAS_COUNTER else None

    def advance(self, iterations: float = math.inf) -> None:
        """Run a segment, of so many iterations at most."""
        setup, begin, talk = self.setup, self.elapsed, self._talk
        if talk is not None:
            iterations = min(iterations, talk.until_question(self.iteration))
        size = self._segments.length(setup.stop, self.iteration, begin, iterations, self.until)
        if self._first_phase:
            left = left_of_phase(setup, self.elapsed, self.iteration, self._status.since_best, self._phase_share)
            if left > 0:
                size = int(min(size, left))
            else:
                self._seek_cheaper()
        self._set_course(begin, size)
        if talk is not None and talk.is_due(self.iteration):
            talk.ask()
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
            if self._run.found == loop.NOTHING:
                break
            if self._run.found == loop.NO_WAY_BACK:
                self._go_back()
                continue
            if self._run.found == loop.LEFT_OUT:
                self._serve_by_hard_rules()
                self._set_course(self.elapsed, max(1, end - self.iteration))
                continue
            if self._first_phase:
                self._keep_cost()
                self._status.since_best = 0
                if self._run.left_out == 0:
                    self._seek_fewer()
                    self._set_course(self.elapsed, max(1, end - self.iteration))
            if self._on_best is not None:
                self._on_best(self)
        if talk is not None:
            if talk.every == 0 or talk.is_due(self.iteration) or self.reason_to_stop() is not None:
                talk.tell()
            if talk.every > 0:
                # The clock is looked at after each question.
                return
        now = self.elapsed
        self._segments.measure(size, now - begin, setup.stop.time - now)

    def _set_course(self, elapsed: float, size: int) -> None:
        self._cooling.set_course(elapsed, self.iteration, size, segments.SEGMENT_SECONDS)

    def view(self) -> View:
        """Return what the controller of a search would see now."""
        assert self._talk is not None, "there is a controller"
        return self._talk.view()

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
            self.best_cost,
            self._status.temperature,
            dict(zip(self.setup.portfolio.names, uses, strict=True)),
            unserved=int(self._run.left_out),
            search=self,
        )

    @property
    def rank(self) -> tuple[int, int, float]:
        """What makes one search better than another: customers served, then vehicles if they come first, then cost."""
        return int(self._run.left_out), int(self._run.routes) * self.setup.fewest_vehicles, self.best_cost

    @property
    def standing(self) -> tuple[int, float]:
        """How well off the current solution is: customers left out, then cost, overloads included."""
        overloads = self._state.soft != 0
        return self._missing, float(self._status.current) - (0.0 if overloads else self._penalties)

    @property
    def _penalties(self) -> float:
        """What those in the bank who must be served, and overloads, add to the cost of the current solution."""
        state = self._state
        charges = float(total_charges(state)) if state.soft != 0 else 0.0  # type: ignore[no-untyped-call]
        waiting = state.bank[: state.n_bank]
        waiting = waiting[state.prize[waiting] >= state.unserved_cost]
        weight = float(state.absence[waiting].sum()) + int(state.groups_missing)
        return charges + (float(state.unserved_cost * weight) if weight else 0.0)

    @property
    def _missing(self) -> int:
        """How many the current solution leaves out who must be served."""
        return int(count_missing(self._state))  # type: ignore[no-untyped-call]

    @property
    def best_cost(self) -> float:
        """Cost of the best routes, without penalties."""
        if self._run.fewest:
            return self._kept_cost
        left_out = int(self._run.left_out)
        return float(self._status.best - left_out * self._state.unserved_cost if left_out else self._status.best)

    def best(self) -> Solution:
        """Return the best solution found."""
        count, customers = int(self._run.routes), self.setup.instance.customers
        row, starts, vehicle_types = (np.zeros(customers + more, np.int32) for more in (1, 2, 1))
        loop.export_best(self._run, row, starts, vehicle_types)  # type: ignore[no-untyped-call]
        return Solution(self.setup.instance, unflatten(row, starts, count), vehicle_types[:count].tolist())

    def current(self) -> Solution:
        """Return the current solution."""
        return solution_of(self._state, self.setup.instance)

    def continue_from(self, solution: Solution) -> None:
        """Make a solution the current one; the history of arcs starts anew."""
        status, was_apart = self._status, self._apart
        if was_apart:
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
        better = rank < kept_rank or (rank == kept_rank and cost < kept_cost)
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
        if was_apart and self._talk is not None:
            self._talk.see_other_routes()

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
        if self._talk is not None:
            self._talk.see_other_routes()

    def _go_back(self) -> None:
        """Go on from the best routes, which stay the best: recomputed, they may cost less by rounding."""
        best, since = self._status.best, self._status.since_best
        self.continue_from(self.best())
        self._status.best, self._status.since_best = best, since
        if self._talk is not None:
            self._talk.see_other_routes()

    def _serve_by_hard_rules(self) -> None:
        """Make all rules hard and look for room for those who find none then: better a few left out than many."""
        take_prices(self._state, self._prices.overload)
        self.continue_from(self.current())
        self._first_phase, self._phase_share = True, LAST_SERVING_SHARE
        self._seek_fewer()
        if self._talk is not None:
            self._talk.see_other_routes()

    def _keep(self) -> None:
        """Keep the current routes as the best."""
        loop.keep_best(self._state, self._run)  # type: ignore[no-untyped-call]
        self._keep_cost()

    def _keep_cost(self) -> None:
        self._kept_cost = self.best().cost

    def _seek_fewer(self) -> None:
        """Go on with one vehicle less, or else for lower cost."""
        if not seek_fewer(self.setup, self._state, self._run):
            self._seek_cheaper()

    def _seek_cheaper(self) -> None:
        """Go on from the best routes with as many vehicles as they have, for lower cost."""
        self._end_first_phase()
        best = self.best()
        if self._run.left_out == 0 and self.setup.fewest_vehicles:
            self._state.vehicles = max(1, len(best.routes))
        self._status.best = math.inf
        self.continue_from(best)
        self._status.start = self._status.current

    def _soften(self) -> None:
        """Let rules be broken from now on, at prices."""
        if self._state.soft == 0 and any(self._prices.first):
            give_prices(self._state, self._prices.first, self._prices.overload)
            recompute(self._state)  # type: ignore[no-untyped-call]

    def _end_first_phase(self) -> None:
        self._first_phase = False
        if self._run.left_out == 0:
            self._soften()
        self._run.fewest, self._run.pauses = 0, self._on_best is not None
        self._cooling.restart(self.elapsed, self.iteration)
