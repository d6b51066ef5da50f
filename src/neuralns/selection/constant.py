"""A controller that sets the same for a whole run: the result of tuning."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from typing import Any

import numpy as np

from neuralns.errors import InputError
from neuralns.operators.portfolio import Portfolio, make_portfolio
from neuralns.problem.formats.text import read_text
from neuralns.selection.controller import Controller, Setting, View
from neuralns.selection.dials import Dials

SUFFIX = ".setting"
"""How files of settings end."""


@dataclass(frozen=True)
class Constant(Controller):
    """Dials of a portfolio, turned once and for all (see `Dials`).

    Parameters
    ----------
    portfolio
        Whose dials they are.
    row
        A value for each of them.
    """

    portfolio: Portfolio
    row: tuple[float, ...]
    name: str = "constant"

    def made_for(self) -> tuple[str, ...]:
        return self.portfolio.names

    def begin(self) -> Controller:
        return _Running(self)

    def setting(self, view: View) -> Setting:
        """Return what it sets."""
        return Dials(view.portfolio).setting(self.row, view.scale)


class _Running(Controller):
    """The same in a search: it has nothing to say after the first question."""

    def __init__(self, constant: Constant) -> None:
        self.name = constant.name
        self._constant = constant
        self._asked = False

    def control(self, view: View) -> Setting | None:
        if self._asked:
            return None
        self._asked = True
        return self._constant.setting(view)


def read_setting(path: str | os.PathLike[str]) -> Constant:
    """Read a file of `neuralns tune`: operators and the dials that are turned, as JSON."""
    name = os.fspath(path)
    try:
        card: Any = json.loads(read_text(name))
        operators, values = card["operators"], card["dials"]
        portfolio = make_portfolio(str(card.get("portfolio", "own")), [str(entry) for entry in operators])
        row = Dials(portfolio).row({str(dial): float(value) for dial, value in values.items()})
    except InputError as error:
        raise InputError(f"{name}: {error}") from None
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
        raise InputError(f"{name}: is not a file of settings ({type(error).__name__}: {error}).") from None
    if not np.isfinite(row).all():
        raise InputError(f"{name}: a dial is turned to a number that is not finite.")
    return Constant(portfolio, tuple(row.tolist()), name)
