"""Selectors written as plain Python classes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from neuralns.errors import InputError
from neuralns.selection.controller import Controller, Setting, View


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


class Chooser(Protocol):
    """What `PythonSelector` takes: an object with these two methods."""

    def choose(self, situation: Situation) -> tuple[str, str]:
        """Return the names of a destroy and a repair operator."""

    def update(self, outcome: Outcome) -> None:
        """Take note of what came of them; ``change`` is the current cost after less before."""


@dataclass(frozen=True, eq=False)
class PythonSelector(Controller):
    """A selector of your own in plain Python, asked every so many iterations; in between the search runs compiled.

    Parameters
    ----------
    chooser
        An object with ``choose(situation)`` and ``update(outcome)``.
    every
        Iterations between two questions. At 1 it decides on every iteration, at the speed of Python.
    """

    chooser: Chooser
    every: int = 100
    name: str = "own"

    def __post_init__(self) -> None:
        for method in ("choose", "update"):
            if not callable(getattr(self.chooser, method, None)):
                raise InputError(f"selector {self.chooser!r:.60} has no method {method!r}.")
        if self.every < 1:
            raise InputError(f"a selector asked every {self.every} iterations cannot work; at least 1 is needed.")

    @property
    def looks_at_routes(self) -> bool:  # type: ignore[override]
        """As the chooser says; if it says nothing, it may go by the costs that it is told."""
        return bool(getattr(self.chooser, "looks_at_routes", True))

    def control(self, view: View) -> Setting:
        names = [tuple(entry.name for entry in part) for part in (view.portfolio.destroys, view.portfolio.repairs)]
        answer = self.chooser.choose(
            Situation(view.iteration, view.current, view.best, view.start, view.left, names[0], names[1])
        )
        if not (isinstance(answer, tuple) and len(answer) == 2):
            raise InputError(f"selector {self.name!r} chose {answer!r:.60}, not the names of two operators.")
        for name, known in zip(answer, names, strict=True):
            if name not in known:
                raise InputError(f"selector {self.name!r} chose {name!r:.60}, which is not among {', '.join(known)}.")
        weights = np.zeros(view.uses.shape)
        weights[names[0].index(answer[0]), names[1].index(answer[1])] = 1.0
        return Setting(weights)

    def observe(self, view: View) -> None:
        destroy, repair = np.unravel_index(int(view.uses.argmax()), view.uses.shape)
        counts = (each[destroy, repair] for each in (view.uses, view.accepted, view.improved, view.new_best))
        used, accepted, improved, new_best = map(int, counts)
        if used > 0:
            names = view.portfolio.destroys[destroy].name, view.portfolio.repairs[repair].name
            self.chooser.update(Outcome(*names, used, accepted, improved, new_best, view.change))
