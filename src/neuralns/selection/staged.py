"""Controllers that decide a few times in a run: when it begins, and again once they have seen how it goes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from neuralns.compiled.structs import Struct
from neuralns.operators.portfolio import Portfolio
from neuralns.selection.controller import Controller, Setting, View, check_operators
from neuralns.selection.dials import Dials
from neuralns.selection.search_features import SearchFeatures

Floats = npt.NDArray[np.float64]

STAGES = (0.0, 0.1, 0.5)
"""Shares of a run after which a stage of it begins, each with a decision."""
LENGTHS = tuple(np.diff([*STAGES, 1.0]).tolist())
"""Shares of a run that the stages take."""

Decide = Callable[[int, Floats, View], npt.ArrayLike]


@dataclass(frozen=True, eq=False)
class Staged(Controller):
    """Turns the dials as a function says, which is given the stage, search features, and all there is to see.

    Parameters
    ----------
    dials
        Of the operators that it is for.
    decide
        Returns a row of dials for a stage.
    """

    dials: Dials
    decide: Decide
    name: str = "staged"

    def made_for(self) -> tuple[str, ...]:
        return self.dials.portfolio.names

    def start(self, portfolio: Portfolio, customers: int = 1) -> Struct:
        check_operators(self.name, portfolio, self.dials.portfolio)
        return super().start(portfolio, customers)

    def begin(self) -> Controller:
        return _Deciding(self)


class _Deciding(Controller):
    """The same in a search."""

    def __init__(self, rule: Staged) -> None:
        self.name = rule.name
        self._rule = rule
        self._stage = 0
        self._features = SearchFeatures()

    def observe(self, view: View) -> None:
        self._features.observe(view)

    def control(self, view: View) -> Setting | None:
        if self._stage == len(STAGES) or 1.0 - view.left < STAGES[self._stage]:
            return None
        dials = self._rule.dials
        # Where a stretch was long, stages may have been passed over.
        while self._stage + 1 < len(STAGES) and 1.0 - view.left >= STAGES[self._stage + 1]:
            self._stage += 1
        row = self._rule.decide(self._stage, self._features.read(view), view)
        self._stage += 1
        return dials.setting_of(view, row)
