"""A controller learned from many short runs: it sets what did best on instances like the one at hand."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from neuralns.errors import InputError
from neuralns.operators.portfolio import Portfolio, make_portfolio, portfolio_named, strongest_for
from neuralns.selection.controller import DecidesOnce, Setting, View
from neuralns.selection.dials import Dials
from neuralns.selection.policy_file import Policy
from neuralns.selection.response import Response
from neuralns.selection.traits import NAMES, traits_of

NETWORK = "controller"
"""What cards of its files say under ``network``."""


@dataclass(frozen=True, eq=False)
class LearnedController(DecidesOnce):
    """Dials turned by a response surface (see `Response`) of the traits of the instance and its start.

    Parameters
    ----------
    policy
        What its file holds: the factors of the surface, and the operators that it is for.
    """

    policy: Policy
    name: str = NETWORK

    def __post_init__(self) -> None:
        terms = 2 * len(self.dials.names) - len(self.portfolio.actions)
        shapes = {"factors": (terms, 1 + len(NAMES)), "mean": (len(NAMES),), "spread": (len(NAMES),)}
        for key, shape in shapes.items():
            values = self.policy.tensors.get(key)
            if values is None or values.shape != shape or not np.isfinite(values).all():
                raise InputError(f"{self.name}: the numbers {key!r} are not {' × '.join(map(str, shape))} finite ones.")
        if self.policy.card.get("traits") != list(NAMES):
            raise InputError(f"{self.name}: was trained with other traits of instances than this version has.")

    @cached_property
    def portfolio(self) -> Portfolio:
        """The operators that it weighs."""
        return portfolio_in(self.policy, self.name)

    @cached_property
    def dials(self) -> Dials:
        """What it turns."""
        return Dials(self.portfolio)

    @cached_property
    def response(self) -> Response:
        """The surface by which it decides."""
        factors, mean, spread = (self.policy.tensors[key].astype(np.float64) for key in ("factors", "mean", "spread"))
        return Response(self.dials, factors, mean, np.maximum(spread, 1e-6))

    def made_for(self) -> tuple[str, ...]:
        return self.portfolio.names

    def setting(self, view: View) -> Setting:
        """Return what it sets for a search that begins."""
        check_operators(self.name, view, self.portfolio)
        traits = traits_of(view.instance, view.solution(), view.horizon)
        default = self.dials.like(portfolio_named(strongest_for(view.instance)))
        return self.dials.setting_of(view, self.response.best_row(traits, default))


def portfolio_in(policy: Policy, name: str) -> Portfolio:
    """Return the operators, improve operators included, that a controller's card names."""
    improves = policy.card["operators"].get("improve") or []
    if not (isinstance(improves, list) and all(isinstance(entry, str) for entry in improves)):
        raise InputError(f"{name}: names of improve operators in its card are not readable.")
    return make_portfolio("own", [*policy.destroys, *policy.repairs, *improves])


def check_operators(name: str, view: View, portfolio: Portfolio) -> None:
    """Refuse a search with other operators than a controller was trained for, in whatever order."""
    if set(view.portfolio.names) != set(portfolio.names):
        raise InputError(f"selector {name!r} was trained for operators {', '.join(portfolio.names)}.")
