"""Uniform random selection (RAN)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from neuralns.operators.registry import Portfolio
from neuralns.operators.state import randint
from neuralns.selection.selector import Memory, compile_selector, learn_nothing


@dataclass(frozen=True)
class Uniform:
    """Every operator of the phase with equal probability."""

    name: str = "random"

    def start(self, portfolio: Portfolio, customers: int = 1) -> Memory:
        return np.array([len(portfolio.destroys), len(portfolio.repairs)], dtype=np.float64)

    def functions(self) -> tuple[Any, Any]:
        return _functions()


def _choose(memory, state, phase):
    return randint(state, memory[phase])


@cache
def _functions() -> tuple[Any, Any]:
    return compile_selector(_choose, learn_nothing)
