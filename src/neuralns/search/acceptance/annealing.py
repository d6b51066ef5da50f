"""Simulated annealing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from neuralns.compiled.random import random
from neuralns.search.acceptance.rule import Falling


@dataclass(frozen=True)
class SimulatedAnnealing(Falling):
    """Accept a candidate if F(candidate) ≤ F(current) − T ln u for u uniform in (0, 1].

    T falls geometrically from ``start`` to ``end`` while the time or the iterations of the run are used up. Left out,
    the start is twice the mean distance between consecutive customers on the initial solution's routes, the end 3 % of
    the start. Kirkpatrick, Gelatt & Vecchi 1983.
    """

    is_local: ClassVar[bool] = True
    may_overload: ClassVar[bool] = True

    @staticmethod
    def threshold(state):
        return state.status.current - state.status.temperature * np.log(1.0 - random(state))


@dataclass(frozen=True)
class DrawnAfterRepair(Falling):
    """Simulated annealing whose random number is drawn after the repair, and only for worse candidates.

    Accepts as `SimulatedAnnealing` does, with other random numbers: those that the results of the reproduction were
    obtained with.
    """

    is_local: ClassVar[bool] = True

    @staticmethod
    def accepts(state, candidate):
        current = state.status.current
        return candidate <= current or candidate < current - state.status.temperature * np.log(1.0 - random(state))
