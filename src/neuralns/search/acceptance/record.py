"""Record-to-record travel."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from neuralns.search.acceptance.rule import Falling


@dataclass(frozen=True)
class RecordToRecord(Falling):
    """Accept a candidate if F(candidate) ≤ F(best) + T (Dueck 1993), T falling as in `SimulatedAnnealing`."""

    what: ClassVar[str] = "threshold"

    @staticmethod
    def threshold(state):
        return state.status.best + state.status.temperature
