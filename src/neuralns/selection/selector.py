"""What a selector is: a row of numbers, and two compiled functions that choose by it and learn from outcomes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
from numba import types

from neuralns.compiling import compile_for
from neuralns.operators.registry import Portfolio
from neuralns.operators.state import state_type

Memory = npt.NDArray[np.float64]

DESTROY, REPAIR = 0, 1
"""Phases, as ``choose`` is told them."""
REJECTED, ACCEPTED, BETTER, BEST = range(4)
"""Outcomes, as ``update`` is told them: better than the current solution, or the best so far."""

memory_type = types.Array(types.float64, 1, "C")
choose_signature = types.int64(memory_type, state_type, types.int64)
update_signature = types.void(memory_type, types.int64, types.int64, types.int64, types.float64)
choose_type = types.FunctionType(choose_signature)
update_type = types.FunctionType(update_signature)


class Selector(Protocol):
    """Chooses the operators of each iteration.

    The search asks ``choose(memory, state, phase)`` twice: for the index of a destroy operator on the complete
    solution, then for the index of a repair operator on the destroyed one. After the acceptance decision it calls
    ``update(memory, destroy, repair, outcome, change)``, where ``change`` is the candidate's cost less the current one.
    """

    @property
    def name(self) -> str:
        """What output calls it."""

    def start(self, portfolio: Portfolio, customers: int = 1) -> Memory:
        """Return the numbers to begin a search with, for instances of up to so many customers.

        The compiled functions read and change them.
        """

    def functions(self) -> tuple[Any, Any]:
        """Return the compiled ``choose`` and ``update`` (see `compile_selector`)."""


def compile_selector(choose: Callable[..., Any], update: Callable[..., Any]) -> tuple[Any, Any]:
    """Compile the two functions of a selector for the search loop."""
    return compile_for(choose_signature, choose), compile_for(update_signature, update)


def learn_nothing(memory, destroy, repair, outcome, change):
    """Update of selectors that do not adapt."""
