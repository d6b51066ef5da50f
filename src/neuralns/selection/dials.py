"""All that a controller may set, as a row of numbers: what is tuned and learned."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from neuralns.errors import OperatorError
from neuralns.operators.portfolio import Portfolio
from neuralns.operators.registry import Operator
from neuralns.selection.controller import Setting, View
from neuralns.selection.selector import MOST_REMOVED

Floats = npt.NDArray[np.float64]

SCALE, START, END = "scale", "start heat", "end heat"
SPREADS = {SCALE: 0.4, START: 0.7, END: 0.6}
"""How far settings are drawn from the centre, in standard deviations; dials of parameters say so themselves."""
LEAST_SHARE = 0.005
"""An improve operator that would be applied in a smaller share of the steps is left out."""
FURTHEST = math.log(30.0)
"""How far apart weights may lie, and how far temperatures may be turned either way."""


@dataclass(frozen=True)
class Dials:
    """The dials of a portfolio. All at 0 is uniform selection with the portfolio's own parameters.

    ====================  =============================================================================================
    an operator's name    x: its weight is e^x, none if that is below 1/30 of another one's; of an improve operator, e^x
                          times its share of the steps
    ``scale``             the most customers to remove, e^x times the default
    a declared dial       e^x times the parameters of all operators that declare it (see `operators.dial`), such as
                          ``length of strings`` and ``rate of blinks``; these dials are sorted by name
    ``start heat``        e^x times the temperature at the start
    ``end heat``          e^x times that at the end
    ====================  =============================================================================================
    """

    portfolio: Portfolio

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Names of the dials, in order."""
        return *self.portfolio.names, *self._others

    @cached_property
    def spreads(self) -> Floats:
        """How far each dial that is not of an operator is drawn from the centre, in standard deviations."""
        return np.array(list(self._others.values()))

    @cached_property
    def _others(self) -> Mapping[str, float]:
        """Names and spreads of the dials that are not of operators."""
        declared = {dial for entry in self.portfolio.operators for _, dial in entry.dials}
        factors = {dial.name: dial.spread for dial in declared}
        taken = [*self.portfolio.names, *SPREADS]
        for name in sorted(dial.name for dial in declared):
            taken.append(name)
            if taken.count(name) > 1:
                raise OperatorError(f"dial {name!r} is declared with several spreads, or is the name of another dial.")
        ordered = [SCALE, *sorted(factors), START, END]
        return {name: {**SPREADS, **factors}[name] for name in ordered}

    def row(self, values: Mapping[str, float]) -> Floats:
        """Return the row in which the dials named are turned so, all others at 0."""
        found = np.zeros(len(self.names))
        for name, value in values.items():
            found[self.names.index(name)] = value
        return found

    @cached_property
    def sizes(self) -> tuple[int, int, int, int]:
        """How many dials are of destroy, of repair, of improve operators, and of all else, in this order."""
        portfolio = self.portfolio
        operators = len(portfolio.destroys), len(portfolio.repairs), len(portfolio.improves)
        return *operators, len(self.names) - sum(operators)

    def like(self, other: Portfolio) -> Floats | None:
        """Return the row by which a search is as with another portfolio; None if this one lacks operators of it.

        Shares of improve operators may differ, since there are dials for them.
        """
        known = {_but_share(entry) for entry in other.operators}
        if not known <= {_but_share(entry) for entry in self.portfolio.operators}:
            return None
        row = np.zeros(len(self.names))
        for index, entry in enumerate(self.portfolio.operators):
            if _but_share(entry) not in known:
                row[index] = -2 * FURTHEST
            elif entry.phase == "improve" and entry.share > 0:
                row[index] = -math.log(entry.share)
        return row

    def setting(self, row: npt.ArrayLike, scale: tuple[int, int]) -> Setting:
        """Return what a row of values sets, given the default scale."""
        turned = np.clip(np.asarray(row, np.float64), -2 * FURTHEST, 2 * FURTHEST)
        value = dict(zip(self.names, turned.tolist(), strict=True))
        portfolio = self.portfolio
        destroys, repairs, *_ = self.sizes
        weights = weights_by(turned[:destroys]), weights_by(turned[destroys : destroys + repairs])
        parameters = {}
        for entry in portfolio.operators:
            defaults = dict(entry.parameters)
            for name, dial in entry.dials:
                parameters[entry.name, name] = defaults[name] * math.exp(value[dial.name])
        for entry in portfolio.improves:
            share = min(1.0, entry.share * math.exp(value[entry.name]))
            parameters[entry.name, "share"] = share if share >= LEAST_SHARE else 0.0
        low, high = (min(value, MOST_REMOVED) for value in scale)
        heat = [math.exp(min(max(value[dial], -FURTHEST), FURTHEST)) for dial in (START, END)]
        most = int(np.clip(round(high * math.exp(value[SCALE])), low, MOST_REMOVED))
        return Setting(np.outer(*weights), (low, most), parameters, (heat[0], heat[1]))

    def setting_of(self, view: View, row: npt.ArrayLike) -> Setting:
        """Return what a row of values sets in a search that has the same operators, in whatever order."""
        there = Dials(view.portfolio)
        values = np.asarray(row, np.float64).tolist()
        return there.setting(there.row(dict(zip(self.names, values, strict=True))), view.scale)


def _but_share(entry: Operator) -> str:
    return entry.name.partition(":")[0] if entry.phase == "improve" else entry.name


def weights_by(turned: Floats) -> Floats:
    """Return the weights of operators, the largest 1, in each row of dials; those far behind have none."""
    behind = turned - turned.max(axis=-1, keepdims=True)
    return np.where(behind > -FURTHEST, np.exp(behind), 0.0)
