"""One pair of operators, always."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from neuralns.compiled.structs import Struct, wholes
from neuralns.errors import InputError
from neuralns.operators.portfolio import Portfolio
from neuralns.selection.selector import Selector


@dataclass(frozen=True)
class Fixed(Selector):
    """The same destroy and repair operator in every iteration."""

    destroy: str
    repair: str

    looks_at_routes: ClassVar[bool] = False
    fields: ClassVar = {"pair": wholes}

    @property
    def name(self) -> str:  # type: ignore[override]
        return f"fixed:{self.destroy},{self.repair}"

    @property
    def remembers(self) -> bool:
        return False

    def made_for(self) -> tuple[str, ...]:
        return self.destroy, self.repair

    def start(self, portfolio: Portfolio, customers: int = 1) -> Struct:
        indices = []
        for name, entries in ((self.destroy, portfolio.destroys), (self.repair, portfolio.repairs)):
            names = [entry.name for entry in entries]
            if name not in names:
                raise InputError(
                    f"selector {self.name!r}: operator {name!r} is not among {', '.join(names)} of portfolio "
                    f"{portfolio.name!r}."
                )
            indices.append(names.index(name))
        return self.new_memory(pair=np.array(indices))

    @staticmethod
    def choose(memory, state, phase):
        return memory.pair[phase]


def fixed_pairs(portfolio: Portfolio) -> list[Fixed]:
    """Return every pair of a portfolio."""
    return [Fixed(one.name, other.name) for one in portfolio.destroys for other in portfolio.repairs]
