"""Acceptance criteria: which candidates become the current solution.

Each criterion compares a candidate with a threshold that moves from a start to an end value over the run.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Protocol

import numpy as np

from neuralns.compiling import compiled
from neuralns.errors import InputError
from neuralns.operators.state import random
from neuralns.problem.solution import Solution

ANNEALING, RECORD, HILL, ALWAYS = range(4)
"""Codes of the rules in the compiled loop."""

DEFAULT_START = 2.0
"""Start temperature in units of the initial solution's mean distance between consecutive customers."""
DEFAULT_END_SHARE = 0.03
"""End temperature as a share of the start temperature."""


class Acceptance(Protocol):
    """Decides by a rule and a temperature, which may follow the progress of the run."""

    @property
    def rule(self) -> int:
        """Code of the rule."""

    def temperatures(self, initial: Solution) -> tuple[float, float]:
        """Return the temperatures at start and end of a run from this solution."""


@dataclass(frozen=True)
class SimulatedAnnealing:
    """Accept a candidate if F(candidate) < F(current) − T ln u for u uniform in (0, 1].

    T falls geometrically from ``start`` to ``end`` while the time or the iterations of the run are used up. Left out,
    the start is twice the mean distance between consecutive customers on the initial solution's routes, the end 3 % of
    the start.
    """

    start: float | None = None
    end: float | None = None
    rule: int = ANNEALING

    def __post_init__(self) -> None:
        _check_falling("temperature", self.start, self.end)

    def temperatures(self, initial: Solution) -> tuple[float, float]:
        return _defaults(self.start, self.end, initial)


@dataclass(frozen=True)
class RecordToRecord:
    """Accept a candidate if F(candidate) < F(best) + T (Dueck 1993), T falling as in `SimulatedAnnealing`."""

    start: float | None = None
    end: float | None = None
    rule: int = RECORD

    def __post_init__(self) -> None:
        _check_falling("threshold", self.start, self.end)

    def temperatures(self, initial: Solution) -> tuple[float, float]:
        return _defaults(self.start, self.end, initial)


@dataclass(frozen=True)
class HillClimbing:
    """Accept a candidate that is not worse than the current solution."""

    rule: int = HILL

    def temperatures(self, initial: Solution) -> tuple[float, float]:
        return 1.0, 1.0


@dataclass(frozen=True)
class Always:
    """Accept every candidate."""

    rule: int = ALWAYS

    def temperatures(self, initial: Solution) -> tuple[float, float]:
        return 1.0, 1.0


def _check_falling(what: str, start: float | None, end: float | None) -> None:
    for name, value in (("start", start), ("end", end)):
        if value is not None and not (np.isfinite(value) and value > 0):
            raise InputError(f"{name} {what} {value} must be above 0.")
    if start is not None and end is not None and end > start:
        raise InputError(f"end {what} {end} must not be above the start {what} {start}.")


def _defaults(start: float | None, end: float | None, initial: Solution) -> tuple[float, float]:
    if start is None:
        start = max(DEFAULT_START * _mean_step(initial), end or 0.0, 1e-9)
    return start, start * DEFAULT_END_SHARE if end is None else end


def _mean_step(solution: Solution) -> float:
    """Return the mean distance between consecutive customers; that of all legs if no route has two customers."""
    instance = solution.instance
    steps = [instance.distance(*pair) for route in solution.routes for pair in pairwise(route)]
    return sum(steps) / len(steps) if steps else solution.length / (2 * instance.customers)


@compiled
def accepts(state, rule, temperature, candidate, current, best):
    """Return whether a candidate becomes the current solution."""
    if rule == 0:
        return candidate <= current or candidate < current - temperature * np.log(1.0 - random(state))
    if rule == 1:
        return candidate < best + temperature
    if rule == 2:
        return candidate <= current
    return True
