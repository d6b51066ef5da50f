"""Selectors written as plain Python classes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np

from neuralns.errors import InputError
from neuralns.operators.registry import Portfolio
from neuralns.selection.fixed import pair_functions
from neuralns.selection.selector import Memory


@dataclass(frozen=True)
class Situation:
    """What a selector written in Python is told before it chooses.

    Attributes
    ----------
    iteration
        Iterations done.
    current, best, start
        Costs of the current, the best and the initial solution.
    left
        Share of the time or iterations that is left.
    destroys, repairs
        Names of the operators to choose from.
    """

    iteration: int
    current: float
    best: float
    start: float
    left: float
    destroys: tuple[str, ...]
    repairs: tuple[str, ...]


@dataclass(frozen=True)
class Outcome:
    """What came of a pair of operators, used for ``iterations`` iterations in a row."""

    destroy: str
    repair: str
    iterations: int
    accepted: int
    improved: int
    new_best: int
    change: float


class PythonSelector(Protocol):
    """What `Scripted` takes: an object with these two methods."""

    def choose(self, situation: Situation) -> tuple[str, str]:
        """Return the names of a destroy and a repair operator."""

    def update(self, outcome: Outcome) -> None:
        """Take note of what came of them; ``change`` is the current cost after less before."""


@dataclass(frozen=True, eq=False)
class Scripted:
    """A selector of your own, asked every so many iterations; in between the search runs compiled.

    Parameters
    ----------
    selector
        An object with ``choose(situation)`` and ``update(outcome)``.
    every
        Iterations between two questions. At 1 it decides on every iteration, at the speed of Python.
    """

    selector: PythonSelector
    every: int = 100
    name: str = "own"

    adapts: ClassVar[bool] = True

    def __post_init__(self) -> None:
        for method in ("choose", "update"):
            if not callable(getattr(self.selector, method, None)):
                raise InputError(f"selector {self.selector!r:.60} has no method {method!r}.")
        if self.every < 1:
            raise InputError(f"a selector asked every {self.every} iterations cannot work; at least 1 is needed.")

    def start(self, portfolio: Portfolio, customers: int = 1) -> Memory:
        return np.zeros(2)

    def functions(self) -> tuple[Any, Any]:
        return pair_functions()

    def ask(self, situation: Situation, memory: Memory) -> tuple[str, str]:
        """Ask for a pair and make it the one that the compiled loop uses."""
        answer = self.selector.choose(situation)
        if not (isinstance(answer, tuple) and len(answer) == 2):
            raise InputError(f"selector {self.name!r} chose {answer!r:.60}, not the names of two operators.")
        for place, (name, known) in enumerate(zip(answer, (situation.destroys, situation.repairs), strict=True)):
            if name not in known:
                raise InputError(f"selector {self.name!r} chose {name!r:.60}, which is not among {', '.join(known)}.")
            memory[place] = known.index(name)
        return answer
