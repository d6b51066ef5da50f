"""Uniform random selection (RAN)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from neuralns.compiled.random import randint
from neuralns.compiled.structs import Struct, wholes
from neuralns.operators.portfolio import Portfolio
from neuralns.selection.selector import Selector


@dataclass(frozen=True)
class Uniform(Selector):
    """Every operator of the phase with equal probability."""

    name: str = "random"

    looks_at_routes: ClassVar[bool] = False
    may_overload: ClassVar[bool] = True
    fields: ClassVar = {"counts": wholes}

    @property
    def remembers(self) -> bool:
        return False

    def start(self, portfolio: Portfolio, customers: int = 1) -> Struct:
        return self.new_memory(counts=np.array([len(portfolio.destroys), len(portfolio.repairs)]))

    @staticmethod
    def choose(memory, state, phase):
        return randint(state, memory.counts[phase])
