"""What an acceptance rule is: a compiled function that says which candidates become the current solution."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numba import types

from neuralns.compiled.caching import inlined
from neuralns.compiled.calls import address_of, caller
from neuralns.compiled.own import compile_own
from neuralns.errors import InputError, OperatorError
from neuralns.problem.initial import nearest_neighbours
from neuralns.problem.solution import Solution
from neuralns.problem.values import LARGEST_NUMBER
from neuralns.routes.layout import state_type

DEFAULT_START = 2.0
"""Start temperature in units of the initial solution's mean distance between consecutive customers."""
DEFAULT_END_SHARE = 0.03
"""End temperature as a share of the start temperature."""
LONG_FROM, MOST_HEAT = 25.0, 4.0
"""Routes of more customers than this start hotter, in proportion to their length, up to so many times."""
TIMED_START, TIMED_END = 3.0, 0.1
"""With windows or fleets: temperatures in units of the mean distance of customers from their five nearest."""
PRIZED_START, PRIZED_END = 1.5, 0.03
"""Where customers are optional, in the same units: at higher ones more and more of them are left out."""

_threshold = types.float64(state_type)
_accepts = types.boolean(state_type, types.float64)
_call_threshold, _call_accepts = caller(_threshold), caller(_accepts)


@inlined
def draw_threshold(state, rule):
    """Return the most that the next candidate may cost, by the rule at an address (see `Acceptance.address`)."""
    return _call_threshold(rule, (state,)) if rule > 0 else np.inf


@inlined
def is_accepted(state, rule, candidate):
    """Return whether a candidate of a cost becomes the current solution."""
    return candidate <= state.status.threshold if rule > 0 else _call_accepts(-rule, (state, candidate))


class Acceptance:
    """Decides which candidates become the current solution; the base of all rules, yours included.

    A rule of your own gives one static method, which runs compiled: `threshold`, asked before a repair, so that
    candidates that cost too much already can be given up half-way; or `accepts`, asked after it. It may read
    ``state.status`` (costs of the current and the best solution, temperature, share of the budget left and so on) and
    draw random numbers.

    Attributes
    ----------
    is_local
        Whether it looks at differences of costs alone, so that it decides on a part of the routes as on the whole. If
        so, several workers may divide a large solution among them.
    may_overload
        Whether it was tried where vehicles may carry too much for a while.
    """

    is_local: ClassVar[bool] = False
    may_overload: ClassVar[bool] = False

    def temperatures(self, initial: Solution) -> tuple[float, float]:
        """Return the temperatures at start and end of a run from this solution; in between it falls geometrically."""
        return 1.0, 1.0

    @staticmethod
    def threshold(state: Any) -> Any:
        """Return the most that a candidate may cost to become the current solution."""
        raise NotImplementedError

    @staticmethod
    def accepts(state: Any, candidate: Any) -> Any:
        """Return whether a candidate of a cost becomes the current solution."""
        raise NotImplementedError

    @property
    def function(self) -> Any:
        """The method that the rule has."""
        own = type(self)
        if own.threshold is not Acceptance.threshold and own.accepts is not Acceptance.accepts:
            raise OperatorError(f"acceptance rule {own.__name__!r} has both 'threshold' and 'accepts'; one is enough.")
        if own.threshold is Acceptance.threshold and own.accepts is Acceptance.accepts:
            raise OperatorError(f"acceptance rule {own.__name__!r} has no method 'threshold' or 'accepts'.")
        return own.accepts if own.threshold is Acceptance.threshold else own.threshold

    def compiled(self) -> Any:
        """Return the compiled function."""
        signature = _accepts if self.function is type(self).accepts else _threshold
        return compile_own(f"acceptance rule {type(self).__name__!r}", signature, self.function)

    def address(self) -> int:
        """Return the address of the compiled function, negative if it is that of `accepts`."""
        where = address_of(self.compiled())
        return -where if self.function is type(self).accepts else where


@dataclass(frozen=True)
class Falling(Acceptance):
    """A rule with a temperature that falls geometrically while the time or the iterations of the run are used up.

    Left out, the start is twice the mean distance between consecutive customers on the initial solution's routes, the
    end 3 % of that; routes of more than 25 customers start hotter in proportion, up to four times. With windows or
    fleets they are 3 and 0.1 times the mean distance of customers from their five nearest, with optional customers 1.5
    and 0.03 times.
    """

    start: float | None = None
    end: float | None = None

    what: ClassVar[str] = "temperature"
    """What sentences call it."""

    def __post_init__(self) -> None:
        for name, value in (("start", self.start), ("end", self.end)):
            if value is None:
                continue
            if not isinstance(value, int | float | np.integer | np.floating):
                raise InputError(f"{name} {self.what} {value!r:.60} is not a number.")
            if not (np.isfinite(value) and value > 0):
                raise InputError(f"{name} {self.what} {value} must be above 0.")
            if not 1 / LARGEST_NUMBER <= value <= LARGEST_NUMBER:
                raise InputError(
                    f"{name} {self.what} {value:g} is out of range, {1 / LARGEST_NUMBER:g} to {LARGEST_NUMBER:g}."
                )
        if self.start is not None and self.end is not None and self.end > self.start:
            raise InputError(f"end {self.what} {self.end} must not be above the start {self.what} {self.start}.")

    def temperatures(self, initial: Solution) -> tuple[float, float]:
        start, share = self.start, DEFAULT_END_SHARE
        if start is None:
            typical = DEFAULT_START * _mean_step(initial) * (_rates(initial)[0] or 1.0)
            if initial.instance.timed or initial.instance.general or initial.instance.prizes is not None:
                # Routes with windows go back and forth: their steps say little.
                hot, cold = (TIMED_START, TIMED_END) if initial.instance.prizes is None else (PRIZED_START, PRIZED_END)
                typical, share = hot * _mean_nearest(initial), cold / hot
            else:
                heat = min(max(1.0, initial.instance.customers / max(1, len(initial.routes)) / LONG_FROM), MOST_HEAT)
                typical, share = heat * typical, share / heat
            start = max(typical, self.end or 0.0, 1e-9)
        return start, start * share if self.end is None else self.end


def _rates(solution: Solution) -> tuple[float, float]:
    """Return what a unit of distance and of duration costs, on average over the routes."""
    vehicle_types = solution.instance.types
    used = [vehicle_types[vehicle] for vehicle in solution.vehicles] or vehicle_types
    distance, duration = ([getattr(each, field) for each in used] for field in ("distance_cost", "duration_cost"))
    return sum(distance) / len(used), sum(duration) / len(used)


def _mean_nearest(solution: Solution) -> float:
    """Return the mean distance of customers from their five nearest, in the units of the objective."""
    instance, (distance_cost, duration_cost) = solution.instance, _rates(solution)
    nearest = nearest_neighbours(instance, 5)[1:]
    if nearest.shape[1] == 0:
        return 0.0
    tails = np.repeat(np.arange(1, instance.customers + 1), nearest.shape[1])
    heads = nearest.ravel()
    steps = distance_cost * instance.legs(tails, heads).mean()
    return float(steps + duration_cost * instance.times(tails, heads).mean())


def _mean_step(solution: Solution) -> float:
    """Return the mean distance between consecutive customers; that of all legs if no route has two customers."""
    instance = solution.instance
    tails = [tail for route in solution.routes for tail in route[:-1]]
    steps = instance.legs(tails, [head for route in solution.routes for head in route[1:]]).tolist()
    return sum(steps) / len(steps) if steps else solution.length / (2 * instance.customers)
