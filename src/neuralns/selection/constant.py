"""A controller that sets the same for a whole run: the result of tuning."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from types import UnionType
from typing import Any, ClassVar

import numpy as np

from neuralns.compiled.structs import Struct
from neuralns.errors import InputError
from neuralns.files import write_text
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
    instances
        Names of the instances that they were tuned on.
    """

    portfolio: Portfolio
    row: tuple[float, ...]
    name: str = "constant"
    instances: tuple[str, ...] = ()

    looks_at_routes: ClassVar[bool] = False

    def made_for(self) -> tuple[str, ...]:
        return self.portfolio.names

    def trained_on(self) -> tuple[str, ...]:
        return self.instances

    def start(self, portfolio: Portfolio, customers: int = 1) -> Struct:
        if set(portfolio.names) != set(self.portfolio.names):
            raise InputError(
                f"selector {self.name!r} sets dials of {', '.join(self.portfolio.names)}; portfolio {portfolio.name!r} "
                f"has {', '.join(portfolio.names)}."
            )
        return super().start(portfolio, customers)

    def begin(self) -> Controller:
        return _Deciding(self)


class _Deciding(Controller):
    """The same in a search: it sets all when that begins, and has nothing to say after that."""

    def __init__(self, rule: Constant) -> None:
        self.name = rule.name
        self._rule = rule
        self._decided = False

    def control(self, view: View) -> Setting | None:
        if self._decided:
            return None
        self._decided = True
        return Dials(self._rule.portfolio).setting_of(view, self._rule.row)


def read_setting(path: str | os.PathLike[str]) -> Constant:
    """Read a file of `neuralns tune`: operators and the dials that are turned, as JSON; see `write_setting`."""
    name = os.fspath(path)
    text = read_text(name)
    try:
        content: Any = json.loads(text)
        operators = _expect(content["operators"], list)
        values = _expect(content["dials"], dict)
        card = _expect(content.get("card", {}), dict)
        instances = tuple(_expect(each, str) for each in _expect(card.get("instances", []), list))
        portfolio = make_portfolio(
            _expect(content.get("portfolio", "own"), str), [_expect(each, str) for each in operators]
        )
        row = Dials(portfolio).row({dial: float(_expect(value, int | float)) for dial, value in values.items()})
    except InputError as error:
        raise InputError(f"{name}: {error}") from None
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError, RecursionError) as error:
        raise InputError(f"{name}: is not a file of settings ({type(error).__name__}: {error}).") from None
    if not np.isfinite(row).all():
        raise InputError(f"{name}: a dial is turned to a number that is not finite.")
    return Constant(portfolio, tuple(row.tolist()), name, instances)


def _expect(value: Any, expected: type | UnionType) -> Any:
    """Return a value of a type; any other value is an error."""
    if not isinstance(value, expected) or isinstance(value, bool):
        raise TypeError(f"{value!r:.40} is of the wrong kind")
    return value


def write_setting(constant: Constant, path: str | os.PathLike[str], card: Mapping[str, Any]) -> None:
    """Write a setting at once or not at all: its operators, the dials that are not at 0, and how it came about."""
    dials = zip(Dials(constant.portfolio).names, constant.row, strict=True)
    content = {
        "portfolio": constant.portfolio.name,
        "operators": list(constant.portfolio.names),
        "dials": {dial: value for dial, value in dials if value},
        "card": dict(card),
    }
    write_text(path, json.dumps(content, indent=2, allow_nan=False) + "\n")
