"""When a search ends."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numba import types

from neuralns.compiled.calls import caller
from neuralns.compiled.own import compile_own
from neuralns.errors import InputError
from neuralns.routes.layout import state_type

LARGEST_LIMIT = 1e15
"""Largest limit of time and iterations: whole numbers up to it are exact as floats, too."""

_signature = types.boolean(state_type)
call_stops = caller(_signature)


@dataclass(frozen=True)
class StopRule:
    """A criterion of a user's own: a function of the state that says whether to stop, compiled."""

    function: Callable[[Any], bool]

    @property
    def name(self) -> str:
        return getattr(self.function, "__name__", "own")

    @property
    def compiled(self) -> Any:
        return compile_own(f"stopping rule {self.name!r}", _signature, self.function)


@dataclass(frozen=True)
class Stop:
    """Limits of a run; it ends at the first one reached. Limits combine with ``|``.

    Examples
    --------
    >>> stop = MaxTime(10) | NoImprovement(5000)
    >>> stop.time, stop.no_improvement, stop.iterations
    (10, 5000, inf)
    """

    time: float = math.inf
    iterations: float = math.inf
    no_improvement: float = math.inf
    target: float = -math.inf
    rules: tuple[StopRule, ...] = ()

    def __post_init__(self) -> None:
        for what, value in (
            ("time limit", self.time),
            ("number of iterations", self.iterations),
            ("number of iterations without improvement", self.no_improvement),
            ("target cost", self.target),
        ):
            if not isinstance(value, int | float | np.integer | np.floating):
                raise InputError(f"{what} {value!r:.60} is not a number.")
            if what == "target cost":
                if math.isnan(value):
                    raise InputError("target cost nan is not a number.")
                continue
            if value > LARGEST_LIMIT and value != math.inf:
                raise InputError(f"{what} {value!s:.20} is too large; at most {LARGEST_LIMIT:g} is possible.")
            if not value >= 0:
                raise InputError(f"{what} {value} must be a number of at least 0.")
            if what != "time limit" and math.isfinite(value) and value != int(value):
                raise InputError(f"{what} {value} must be whole.")

    @property
    def is_local(self) -> bool:
        """Whether the limits mean the same where each of several searches has a part of the routes."""
        return math.isinf(self.no_improvement) and not self.rules

    def __or__(self, other: Stop) -> Stop:
        return Stop(
            min(self.time, other.time),
            min(self.iterations, other.iterations),
            min(self.no_improvement, other.no_improvement),
            max(self.target, other.target),
            (*self.rules, *(rule for rule in other.rules if rule not in self.rules)),
        )

    def scaled(self, share: float) -> Stop:
        """Return the same limits with a share of the time and of the iterations, at least one."""
        iterations = self.iterations if math.isinf(self.iterations) else max(1, int(self.iterations * share))
        return replace(self, time=self.time * share, iterations=iterations)

    def progress(self, time: float, iteration: float) -> float:
        """Return the share of the time or iterations used, from 0 to 1; 0 if neither is limited."""
        return min(1.0, max(_share(time, self.time), _share(iteration, self.iterations)))


def _share(used: float, limit: float) -> float:
    return used / limit if limit > 0 else 1.0


def MaxTime(seconds: float) -> Stop:  # noqa: N802 (reads as the constructor of a criterion)
    """Stop after so many seconds."""
    return Stop(time=_finite("time limit", seconds))


def MaxIterations(iterations: int) -> Stop:  # noqa: N802
    """Stop after so many iterations."""
    return Stop(iterations=_finite("number of iterations", iterations))


def NoImprovement(iterations: int) -> Stop:  # noqa: N802
    """Stop after so many iterations without a new best solution."""
    return Stop(no_improvement=_finite("number of iterations without improvement", iterations))


def TargetCost(cost: float) -> Stop:  # noqa: N802
    """Stop at a solution of this cost or less."""
    return Stop(target=cost)


def StopWhen(function: Callable[[Any], bool]) -> Stop:  # noqa: N802
    """Stop when a function of your own says so; it is given the state before each iteration, and runs compiled.

    >>> def hardly_accepts(state):
    ...     return state.status.acceptance < 0.001
    >>> (MaxTime(10) | StopWhen(hardly_accepts)).rules[0].name
    'hardly_accepts'
    """
    return Stop(rules=(StopRule(function),))


def _finite(what: str, value: float) -> float:
    if value in (math.inf, -math.inf):
        raise InputError(f"{what} {value} must be a finite number.")
    return value
