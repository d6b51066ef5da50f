"""Rules without a temperature: hill climbing, and accepting everything."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from neuralns.search.acceptance.rule import Acceptance


@dataclass(frozen=True)
class HillClimbing(Acceptance):
    """Accept a candidate that is not worse than the current solution."""

    is_local: ClassVar[bool] = True

    @staticmethod
    def threshold(state):
        return state.status.current


@dataclass(frozen=True)
class Always(Acceptance):
    """Accept every candidate."""

    is_local: ClassVar[bool] = True

    @staticmethod
    def threshold(state):
        return np.inf
