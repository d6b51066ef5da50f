"""The talk of a search with its controller: what that is asked and told between segments, and what it sets."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from neuralns.compiled.failures import said
from neuralns.compiled.structs import Struct
from neuralns.errors import GivenUpError, InputError, NeuralnsError
from neuralns.operators.portfolio import Portfolio
from neuralns.search import loop
from neuralns.search.cooling import Cooling, horizon_of
from neuralns.search.step import CHOOSING, UPDATING
from neuralns.search.stopping import Stop
from neuralns.selection.controller import Controller, Setting, View, heat_of, scale_of, set_weights, weights_of

if TYPE_CHECKING:
    from neuralns.search.search import Search

Floats = npt.NDArray[np.float64]

NOMINAL_SECONDS = 2e-5
"""What an iteration counts as where a controller is told of seconds and iterations alone are limited."""
QUESTIONS = 200
"""How often a controller is asked in a run limited by iterations alone."""


def iterations_between_questions(controller: Controller, stop: Stop) -> int:
    """Return how many iterations lie between two questions to a controller; 0 if time says when it is asked."""
    if controller.every > 0 or math.isfinite(stop.time):
        return controller.every
    return max(1, math.ceil(horizon_of(stop) / QUESTIONS))


class Talk:
    """A controller in a search.

    Attributes
    ----------
    every
        Iterations between two questions; 0 if it is asked before every segment.
    spent
        Seconds that it took so far.
    """

    def __init__(self, controller: Controller, search: Search, levers: Levers) -> None:
        self._controller, self._search, self._levers = controller, search, levers
        self.every = iterations_between_questions(controller, search.setup.stop)
        self.spent = 0.0
        self._next_question = 0
        self._seen = self._seen_so_far()

    def until_question(self, iteration: int) -> float:
        """Return how many iterations a segment may have, so that it ends at a question."""
        return max(self._next_question - iteration, 0) or self.every if self.every > 0 else math.inf

    def is_due(self, iteration: int) -> bool:
        """Return whether the controller is to be asked before the next iteration."""
        return iteration >= self._next_question

    def ask(self) -> None:
        """Ask the controller, and go on as it says."""
        begin, search = time.perf_counter(), self._search
        self._next_question = search.iteration + self.every
        search.status.running, search.in_python = CHOOSING, True
        view = self.view()
        setting = self._called(self._controller.control, view)
        self._seen = self._seen_so_far()
        search.in_python = False
        if setting is not None:
            self._levers.set(search.setup.selector.name, setting)
            search.control = view, setting
        self.spent += time.perf_counter() - begin

    def tell(self) -> None:
        """Tell the controller what came of a stretch, if it listens."""
        if type(self._controller).observe is Controller.observe:
            return
        begin, search = time.perf_counter(), self._search
        search.status.running, search.in_python = UPDATING, True
        self._called(self._controller.observe, self.view())
        search.in_python = False
        self.spent += time.perf_counter() - begin

    def see_other_routes(self) -> None:
        """Count changes of the current cost from here on, since other routes cost something else."""
        since, _, *counted = self._seen
        self._seen = since, self._search.standing, *counted

    def _called(self, method: Callable[[View], Any], view: View) -> Any:
        """Call a method of the controller; if it fails, the search is over."""
        try:
            return method(view)
        except NeuralnsError:
            raise
        except Exception as error:
            raise GivenUpError(self._search.called(), said(error, type(error), error.__traceback__)) from error

    def _seen_so_far(self) -> tuple[Any, ...]:
        """Return what the counters show, to tell later what has come since."""
        search, run = self._search, self._levers.run
        return search.elapsed, search.standing, search.pair_counts.copy(), run.pair_gains.copy(), run.pair_times.copy()

    def view(self) -> View:
        """Return what a controller sees, and what came of the pairs since it was asked last."""
        search, run = self._search, self._levers.run
        setup, status = search.setup, search.status
        now, (missing, current), counts, gains, times = self._seen_so_far()
        since, (waiting, before), known, won, timed = self._seen
        counts, gains = counts - known, gains - won
        uses = counts[:, :, loop.USED]
        limited = math.isfinite(setup.stop.time)
        seconds = uses.astype(np.float64)
        if limited:
            seconds *= _ticks_of_pairs(times, times - timed).reshape(uses.shape)
            seconds *= (now - since) / (seconds.sum() or 1.0)
        horizon = setup.stop.time if limited else NOMINAL_SECONDS * horizon_of(setup.stop)
        return View(
            setup.instance,
            setup.portfolio,
            search.iteration,
            setup.quotas,
            max(0.0, run.left - run.left_rate * (search.iteration - run.origin)),
            horizon,
            status.start,
            current,
            search.best_cost,
            # Costs of routes that serve more or fewer customers say nothing.
            current - before if missing == waiting else 0.0,
            # Before the first iteration the loop has not set it.
            status.temperature if search.iteration > 0 else run.hot,
            status.acceptance,
            int(status.since_best),
            uses,
            counts[:, :, loop.ACCEPTED],
            counts[:, :, loop.IMPROVED],
            counts[:, :, loop.NEW_BEST],
            gains.reshape(uses.shape),
            seconds,
            search.current,
        )


def _ticks_of_pairs(times: Floats, fresh: Floats) -> Floats:
    """Return the mean ticks of an iteration of each pair, among those timed of late, or else so far, or else of all."""
    all_ticks = float(times[:, 1].sum() / max(1.0, times[:, 0].sum())) or 1.0
    ticks = np.where(fresh[:, 0] > 0, fresh[:, 1] / np.maximum(fresh[:, 0], 1.0), 0.0)
    before = np.where(times[:, 0] > 0, times[:, 1] / np.maximum(times[:, 0], 1.0), all_ticks)
    return np.where(ticks > 0, ticks, before)


class Levers:
    """All that a controller sets in a search: weights, the scale, parameters of operators, and the temperature."""

    def __init__(
        self, run: Struct, memory: Struct, tables: Struct, cooling: Cooling, portfolio: Portfolio, customers: int
    ) -> None:
        self.run = run
        self._memory, self._tables, self._cooling = memory, tables, cooling
        self._portfolio, self._customers = portfolio, customers

    def set(self, name: str, setting: Setting) -> None:
        """Go on as a controller of a name says; what cannot be is refused."""
        if not isinstance(setting, Setting):
            raise InputError(f"controller {name!r} answered {setting!r:.60}, which is no Setting.")
        if setting.weights is not None:
            set_weights(self._memory, weights_of(name, self._portfolio, setting.weights))
        if setting.scale is not None:
            self.run.low, self.run.high = scale_of(name, self._customers, setting.scale)
        if setting.heat is not None:
            self._cooling.heat = heat_of(name, setting.heat)
        for which, value in setting.parameters.items():
            if not (isinstance(which, tuple) and len(which) == 2):
                raise InputError(f"controller {name!r} set {which!r:.60}, which is not an operator and a parameter.")
            self._set_parameter(name, *which, value)

    def _set_parameter(self, name: str, operator: str, parameter: str, value: float) -> None:
        phase, row, column = self._portfolio.place_of(operator, parameter)
        number = isinstance(value, int | float | np.integer | np.floating) and math.isfinite(value)
        if not number or (column < 0 and not 0 <= value <= 1):
            raise InputError(f"controller {name!r} set {parameter!r} of operator {operator!r} to {value!r:.60}.")
        if column < 0:
            self._tables.improve_shares[row] = value
        else:
            getattr(self._tables, f"{phase}_parameters")[row, column] = value
