"""What the five problems have in common: their parts by name; acceptance and stopping by processor time."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial, update_wrapper
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from alns import ALNS

Operator = Callable[[Any, np.random.Generator], Any]


class State(Protocol):
    """A solution of any of the problems; its objective is minimised."""

    def objective(self) -> float: ...

    def get_context(self) -> npt.NDArray[np.float64]: ...


@dataclass(frozen=True)
class Problem:
    """A problem as a user of alns has it: an initial solution by seed, operators, and how worse a candidate may be.

    Attributes
    ----------
    initial
        Returns the initial solution of the instance that a seed stands for.
    worse
        Candidates are accepted up to this share of the initial objective above the best, at the start of the run; the
        share falls to nothing at its end. With 0 no worse candidate is accepted.
    """

    name: str
    initial: Callable[[int], State]
    destroys: Mapping[str, Operator]
    repairs: Mapping[str, Operator]
    worse: float = 0.0

    def make_accept(self, initial: State, seconds: float) -> FallingThreshold:
        return FallingThreshold(self.worse * initial.objective(), seconds)

    def make_alns(self, rng: np.random.Generator) -> ALNS:
        alns = ALNS(rng)
        for name, operator in self.destroys.items():
            alns.add_destroy_operator(operator, name)
        for name, operator in self.repairs.items():
            alns.add_repair_operator(operator, name)
        return alns


def in_three_sizes(operators: Sequence[Callable[..., Any]], parts: int) -> dict[str, Operator]:
    """Return each destroy operator three times: one that removes few of so many parts (2 %), one some (10 %), one 40 %.

    For 200 parts that is the range from which Ropke and Pisinger (2006) draw how much to remove.
    """
    return {
        f"{operator.__name__} {label}": update_wrapper(partial(operator, size=size), operator)
        for operator in operators
        for label, size in (("few", max(2, parts // 50)), ("some", parts // 10), ("many", 4 * parts // 10))
    }


class FallingThreshold:
    """Record-to-record travel whose threshold falls linearly with processor time, not with iterations.

    Iterations differ in length from selector to selector; by iterations some would end hotter than others.
    """

    def __init__(self, start: float, seconds: float) -> None:
        self.start, self.seconds = start, seconds
        self.begin = time.process_time()

    def __call__(self, rng: np.random.Generator, best: State, current: State, candidate: State) -> bool:
        if self.start == 0.0:
            return candidate.objective() <= current.objective()
        left = max(0.0, 1.0 - (time.process_time() - self.begin) / self.seconds)
        return candidate.objective() - best.objective() <= self.start * left
