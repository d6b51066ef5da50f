"""One pair of operators, always."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from neuralns.errors import InputError
from neuralns.operators.registry import Portfolio
from neuralns.selection.selector import Memory, compile_selector, learn_nothing


@dataclass(frozen=True)
class Fixed:
    """The same destroy and repair operator in every iteration."""

    destroy: str
    repair: str

    @property
    def name(self) -> str:
        return f"fixed:{self.destroy},{self.repair}"

    def start(self, portfolio: Portfolio, customers: int = 1) -> Memory:
        places = []
        for name, entries in ((self.destroy, portfolio.destroys), (self.repair, portfolio.repairs)):
            names = [entry.name for entry in entries]
            if name not in names:
                raise InputError(
                    f"selector {self.name!r}: operator {name!r} is not among {', '.join(names)} of portfolio "
                    f"{portfolio.name!r}."
                )
            places.append(names.index(name))
        return np.array(places, dtype=np.float64)

    def functions(self) -> tuple[Any, Any]:
        return pair_functions()


def fixed_pairs(portfolio: Portfolio) -> list[Fixed]:
    """Return every pair of a portfolio."""
    return [Fixed(one.name, other.name) for one in portfolio.destroys for other in portfolio.repairs]


def _choose(memory, state, phase):
    return np.int64(memory[phase])


@cache
def pair_functions() -> tuple[Any, Any]:
    """Return the compiled functions of a selector whose memory is the pair to use."""
    return compile_selector(_choose, learn_nothing)
