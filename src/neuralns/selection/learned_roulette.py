"""The learned roulette wheel (LRW): weights trained on episodes beforehand."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from neuralns.compiled.structs import Struct, numbers, whole
from neuralns.errors import InputError
from neuralns.operators.portfolio import Portfolio
from neuralns.selection.policy_file import Policy
from neuralns.selection.roulette import spin
from neuralns.selection.selector import DESTROY, Selector


@dataclass(frozen=True)
class LearnedRoulette(Selector):
    """Operators drawn in proportion to weights that were learned on other solutions.

    Parameters
    ----------
    operators
        Names of the operators, all phases together.
    weights
        Weight of each.
    """

    operators: tuple[str, ...]
    weights: tuple[float, ...]
    name: str = "lrw"

    looks_at_routes: ClassVar[bool] = False
    fields: ClassVar = {"n_destroys": whole, "n_repairs": whole, "weights": numbers}

    @property
    def remembers(self) -> bool:
        return False

    def made_for(self) -> tuple[str, ...]:
        return self.operators

    def start(self, portfolio: Portfolio, customers: int = 1) -> Struct:
        known = dict(zip(self.operators, self.weights, strict=True))
        for name in portfolio.actions:
            if name not in known:
                raise InputError(
                    f"selector {self.name!r} was trained without operator {name!r} of portfolio {portfolio.name!r}."
                )
        return self.new_memory(
            n_destroys=len(portfolio.destroys),
            n_repairs=len(portfolio.repairs),
            weights=np.array([known[name] for name in portfolio.actions], dtype=np.float64),
        )

    @staticmethod
    def choose(memory, state, phase):
        if phase == DESTROY:
            return spin(memory.weights, 0, memory.n_destroys, state)
        return spin(memory.weights, memory.n_destroys, memory.n_repairs, state)

    def policy(self, portfolio: Portfolio, **card: Any) -> Policy:
        """Return the weights as a policy to be written to a file, with more entries for its card."""
        self.start(portfolio)
        known = dict(zip(self.operators, self.weights, strict=True))
        names = {
            "destroy": [entry.name for entry in portfolio.destroys],
            "repair": [entry.name for entry in portfolio.repairs],
        }
        values = np.array([known[name] for name in portfolio.actions])
        return Policy({"network": "lrw", "operators": names, **card}, {"weights": values})


def learned_roulette(policy: Policy, name: str = "lrw") -> LearnedRoulette:
    """Return the wheel that a policy holds."""
    operators = (*policy.destroys, *policy.repairs)
    weights = policy.tensors.get("weights", np.zeros(0))
    if (
        weights.shape != (len(operators),)
        or weights.dtype.kind != "f"
        or not (weights >= 0).all()
        or not all(0 < phase.sum() < np.inf for phase in np.split(weights, [len(policy.destroys)]))
    ):
        raise InputError(f"{name}: its weights do not fit its {len(operators)} operators.")
    return LearnedRoulette(operators, tuple(map(float, weights)), name)
