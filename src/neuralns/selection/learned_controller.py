"""A controller learned from many short runs: it sets what did best in searches like the one at hand."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from neuralns.compiled.structs import Struct
from neuralns.errors import InputError
from neuralns.operators.portfolio import Portfolio, make_portfolio, portfolio_named, strongest_for
from neuralns.problem.instance import Instance
from neuralns.selection.controller import Controller, View, check_operators
from neuralns.selection.dials import Dials
from neuralns.selection.instance_features import INSTANCE_FEATURES, instance_features_of, variant_of
from neuralns.selection.policy_file import Policy
from neuralns.selection.response import MOST_SPREADS, Response, centre_of
from neuralns.selection.search_features import SEARCH_FEATURES
from neuralns.selection.staged import STAGES, Staged

Floats = npt.NDArray[np.float64]

NETWORK = "controller"
"""What cards of its files say under ``network``."""
TENSORS = {
    "factors": "factors",
    "signs": "search_factors",
    "traits_mean": "instance_mean",
    "traits_spread": "instance_spread",
    "signs_mean": "search_mean",
    "signs_spread": "search_spread",
}
"""What its files hold, by the names there: fields of a `Response`."""
SPREADS_LIMIT = 3.0
"""Dials count as no further from the centre than so many spreads, and a card may name no larger ``reach``."""
LARGER = 2.5
"""How many times the customers that it was trained with, more or fewer, raise no doubt about a controller: what
was learned on up to 400 was tried on up to 1000 (benchmarks/choice.py)."""


@dataclass(frozen=True, eq=False)
class LearnedController(Controller):
    """Dials turned by a response surface (see `Response`), when a run begins and twice in it.

    Parameters
    ----------
    policy
        What its file holds: the factors of the surface, and the operators that it is for.
    """

    may_overload: ClassVar[bool] = True

    policy: Policy
    name: str = NETWORK

    def __post_init__(self) -> None:
        terms, later = 2 * len(self.dials.names), len(STAGES) - 1
        shapes = {
            "factors": (terms, 1 + len(INSTANCE_FEATURES)),
            "signs": (later, terms, len(SEARCH_FEATURES)),
            "traits_mean": (len(INSTANCE_FEATURES),),
            "traits_spread": (len(INSTANCE_FEATURES),),
            "signs_mean": (later, len(SEARCH_FEATURES)),
            "signs_spread": (later, len(SEARCH_FEATURES)),
        }
        for key, shape in shapes.items():
            values = self.policy.tensors.get(key)
            if values is None or values.shape != shape or not np.isfinite(values).all():
                raise InputError(f"{self.name}: the numbers {key!r} are not {' × '.join(map(str, shape))} finite ones.")
        expected = {
            "traits": ("instance features", INSTANCE_FEATURES),
            "signs": ("search features", SEARCH_FEATURES),
            "stages": ("stages", STAGES),
        }
        for key, (what, known) in expected.items():
            if self.policy.card.get(key) != list(known):
                raise InputError(f"{self.name}: was trained with other {what} than this version has.")
        spreads = self.policy.card.get("reach", MOST_SPREADS)
        if isinstance(spreads, bool) or not isinstance(spreads, int | float) or not 0 < spreads <= SPREADS_LIMIT:
            raise InputError(f"{self.name}: reach {spreads!r:.20} must be a number above 0, up to {SPREADS_LIMIT:g}.")

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
        given = {field: self.policy.tensors[name].astype(np.float64) for name, field in TENSORS.items()}
        for field in ("instance_spread", "search_spread"):
            given[field] = np.maximum(given[field], 1e-6)
        return Response(self.dials, **given, most_spreads=self.policy.card.get("reach", MOST_SPREADS))

    def __reduce__(self) -> tuple[Any, ...]:
        return LearnedController, (self.policy, self.name)

    def made_for(self) -> tuple[str, ...]:
        return self.portfolio.names

    def trained_on(self) -> tuple[str, ...]:
        return self.policy.instances

    def doubts(self, instance: Instance, quotas: tuple[int, int]) -> list[str]:
        meant = self.policy.card.get("for")
        if meant is None:
            return []
        variant, variants, (least, most) = variant_of(instance), meant["kinds"], meant["customers"]
        found = []
        if variant not in variants:
            found.append(
                f"it was trained on other kinds of instances ({', '.join(variants)}) than this one ({variant})"
            )
        if not least / LARGER <= instance.customers <= LARGER * most:
            sizes = f"{least}" if least == most else f"{least} to {most}"
            found.append(f"it was trained on {sizes} customers, this instance has {instance.customers}")
        return [f"{self.name}: {text}." for text in found]

    def start(self, portfolio: Portfolio, customers: int = 1) -> Struct:
        check_operators(self.name, portfolio, self.portfolio)
        return super().start(portfolio, customers)

    def begin(self) -> Controller:
        return Staged(self.dials, _Deciding(self.response), self.name).begin()


class _Deciding:
    """What a surface takes for best in the stages of one search."""

    def __init__(self, response: Response) -> None:
        self._response = response
        self._instance_features: Floats | None = None

    def __call__(self, stage: int, search_features: Floats, view: View) -> Floats:
        if self._instance_features is None:
            self._instance_features = instance_features_of(view.instance, view.solution(), view.horizon)
        default = self._response.dials.like(portfolio_named(strongest_for(view.instance)))
        return self._response.best_row(
            centre_of(self._response.dials, default), self._instance_features, stage, search_features
        )


def portfolio_in(policy: Policy, name: str) -> Portfolio:
    """Return the operators, improve operators included, that a controller's card names."""
    improves = policy.card["operators"].get("improve") or []
    if not (isinstance(improves, list) and all(isinstance(entry, str) for entry in improves)):
        raise InputError(f"{name}: names of improve operators in its card are not readable.")
    return make_portfolio("own", [*policy.destroys, *policy.repairs, *improves])
