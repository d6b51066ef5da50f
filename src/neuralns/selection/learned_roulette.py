"""The learned roulette wheel (LRW): weights trained on episodes beforehand."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from neuralns.errors import InputError
from neuralns.operators.registry import Portfolio
from neuralns.selection.policy_file import Policy
from neuralns.selection.roulette import spin
from neuralns.selection.selector import Memory, compile_selector, learn_nothing


@dataclass(frozen=True)
class LearnedRoulette:
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

    def start(self, portfolio: Portfolio, customers: int = 1) -> Memory:
        known = dict(zip(self.operators, self.weights, strict=True))
        for name in portfolio.names:
            if name not in known:
                raise InputError(
                    f"selector {self.name!r} was trained without operator {name!r} of portfolio {portfolio.name!r}."
                )
        counts = len(portfolio.destroys), len(portfolio.repairs)
        return np.array([*counts, *(known[name] for name in portfolio.names)])

    def functions(self) -> tuple[Any, Any]:
        return _functions()

    def policy(self, portfolio: Portfolio, **card: Any) -> Policy:
        """Return the weights as a policy to be written to a file, with more entries for its card."""
        self.start(portfolio)
        known = dict(zip(self.operators, self.weights, strict=True))
        names = {
            "destroy": [entry.name for entry in portfolio.destroys],
            "repair": [entry.name for entry in portfolio.repairs],
        }
        values = np.array([known[name] for name in portfolio.names])
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


def _choose(memory, state, phase):
    destroys, repairs = np.int64(memory[0]), np.int64(memory[1])
    return spin(memory, 2, destroys, state) if phase == 0 else spin(memory, 2 + destroys, repairs, state)


@cache
def _functions() -> tuple[Any, Any]:
    return compile_selector(_choose, learn_nothing)
