"""What a controller is: a selector asked between segments of a search, which then runs by what it has set.

A segment takes about 50 ms and holds thousands of iterations, so that a decision may take long: a network, a model, or
a look at the whole solution. What it may set is all that steers a search: the weights of the pairs of operators, how
many customers are removed, the parameters of operators, and the temperature.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import numpy.typing as npt

from neuralns.compiled.random import random
from neuralns.compiled.structs import Struct, numbers, whole
from neuralns.errors import InputError
from neuralns.operators.portfolio import Portfolio
from neuralns.selection.selector import DESTROY, MOST_REMOVED, Selector

if TYPE_CHECKING:
    from neuralns.problem.instance import Instance
    from neuralns.problem.solution import Solution

Floats = npt.NDArray[np.float64]

MOST_HEAT = 1e3
"""Most that a controller may multiply or divide a temperature by."""


@dataclass(frozen=True)
class Setting:
    """What a controller sets; what it leaves out stays as it is.

    Attributes
    ----------
    weights
        Of the pairs: a row for each destroy operator, a column for each repair operator. A pair is drawn in proportion.
    scale
        Fewest and most customers to remove in an iteration, drawn uniformly.
    parameters
        Of operators, by the operator's name in the portfolio and the parameter's: ``{("string", "longest"): 20}``. The
        ``share`` of the steps that an improve operator is applied in is one of them.
    heat
        Factors of the temperatures at the start and at the end of the run; in between it falls geometrically.
    """

    weights: npt.ArrayLike | None = None
    scale: tuple[int, int] | None = None
    parameters: Mapping[tuple[str, str], float] = field(default_factory=dict)
    heat: tuple[float, float] | None = None


@dataclass(frozen=True)
class View:
    """What a controller sees: where the search stands, and what came of the pairs since it was asked last.

    Attributes
    ----------
    instance, portfolio
        What is solved, and by which operators.
    iteration
        Iterations done.
    scale
        Fewest and most customers to remove, as the search was set up.
    left
        Share of the time or iterations that is left.
    horizon
        Seconds of the whole run; where iterations alone are limited, 20 µs for each of them.
    start, current, best
        Costs of the initial, the current and the best solution.
    change
        The current cost less that at the last question; 0 if other customers are left out now.
    temperature, acceptance, since_best
        Temperature, share of the candidates accepted of late, iterations since the best solution was found.
    uses, accepted, improved, new_best
        How often each pair was used, and led to a solution accepted, better than the current one, best so far; a row
        for each destroy operator.
    gains
        By how much each pair has lowered the current cost; steps upwards are left out, as are those that serve one
        customer more.
    seconds
        Time that each pair took, estimated from some of its iterations; where iterations alone are limited, how many it
        had, so that the same seed gives the same choices.
    solution
        Makes the current solution, for those who look at it.
    """

    instance: Instance
    portfolio: Portfolio
    iteration: int
    scale: tuple[int, int]
    left: float
    horizon: float
    start: float
    current: float
    best: float
    change: float
    temperature: float
    acceptance: float
    since_best: int
    uses: npt.NDArray[np.int64]
    accepted: npt.NDArray[np.int64]
    improved: npt.NDArray[np.int64]
    new_best: npt.NDArray[np.int64]
    gains: Floats
    seconds: Floats
    solution: Callable[[], Solution]


class Controller(Selector):
    """Steers a search between its segments; the base of all controllers, yours included.

    One of your own gives the method `control`, in plain Python. ``every`` is the number of iterations between two
    questions; at 0 it is asked before every segment, which is some twenty times a second, and 200 times in a run
    limited by iterations alone.
    """

    every: int = 0

    adapts: ClassVar[bool] = True
    sets_scale: ClassVar[bool] = True
    fields: ClassVar = {
        "n_repairs": whole,
        "count": whole,  # how many pairs have a weight
        "pair": whole,  # of this iteration
        "sums": numbers,  # of the weights up to each pair, as shares of all
    }

    def control(self, view: View) -> Setting | None:
        """Return what to change before the next stretch of iterations."""
        raise NotImplementedError

    def observe(self, view: View) -> None:
        """Take note of what came of a stretch; called at its end."""

    def begin(self) -> Controller:
        """Return the controller to use in a search: a new one, if it remembers what it sees."""
        return self

    def start(self, portfolio: Portfolio, customers: int = 1) -> Struct:
        pairs = len(portfolio.destroys) * len(portfolio.repairs)
        memory = self.new_memory(n_repairs=len(portfolio.repairs), count=pairs, pair=0, sums=np.zeros(pairs))
        set_weights(memory, np.ones(pairs))
        return memory

    @staticmethod
    def choose(memory, state, phase):
        if phase != DESTROY:
            return memory.pair % memory.n_repairs
        if memory.count > 1:
            point, low, high = random(state), 0, len(memory.sums) - 1
            while low < high:
                middle = (low + high) // 2
                if memory.sums[middle] > point:
                    high = middle
                else:
                    low = middle + 1
            memory.pair = low
        return memory.pair // memory.n_repairs


def set_weights(memory: Struct, weights: Floats) -> None:
    """Have pairs drawn in proportion to weights; no random number is drawn where only one has any."""
    sums = np.cumsum(weights, dtype=np.float64)
    memory.sums[:] = sums / sums[-1]
    # Rounding must leave nothing above the last pair that has a weight.
    memory.sums[int(np.flatnonzero(weights)[-1]) :] = 1.0
    memory.count, memory.pair = int(np.count_nonzero(weights)), int(np.argmax(weights))


def weights_of(controller: str, portfolio: Portfolio, given: npt.ArrayLike) -> Floats:
    """Return weights of the pairs of a portfolio as numbers in a row; what cannot be drawn by is refused."""
    shape = len(portfolio.destroys), len(portfolio.repairs)
    try:
        weights = np.asarray(given, np.float64)
    except (TypeError, ValueError):
        raise InputError(f"controller {controller!r} set weights {given!r:.60}, which are not numbers.") from None
    if weights.shape != shape:
        raise InputError(
            f"controller {controller!r} set weights of shape {weights.shape}; there are {shape[0]} destroy and "
            f"{shape[1]} repair operators."
        )
    wrong = weights[~(np.isfinite(weights) & (weights >= 0))]
    if wrong.size:
        raise InputError(f"controller {controller!r} set a weight to {wrong[0]:g}; it must be at least 0.")
    if not weights.any():
        raise InputError(f"controller {controller!r} set all weights to 0; one must be above.")
    return np.ravel(weights / weights.max())


def scale_of(controller: str, customers: int, given: tuple[int, int]) -> tuple[int, int]:
    """Return the fewest and most customers to remove, no more than there are."""
    try:
        low, high = (int(value) for value in given)
        right = (low, high) == tuple(given) and 1 <= low <= high <= MOST_REMOVED
    except (TypeError, ValueError):
        right = False
    if not right:
        raise InputError(
            f"controller {controller!r} set the scale to {given!r:.60}; it must be two whole numbers from 1 to "
            f"{MOST_REMOVED}, the smaller first."
        )
    return min(low, customers), min(high, customers)


def heat_of(controller: str, given: tuple[float, float]) -> tuple[float, float]:
    """Return the factors of the temperatures at start and end."""
    try:
        hot, cold = (float(value) for value in given)
        right = all(1 / MOST_HEAT <= value <= MOST_HEAT for value in (hot, cold))
    except (TypeError, ValueError):
        right = False
    if not right:
        raise InputError(
            f"controller {controller!r} set the heat to {given!r:.60}; it must be two numbers from {1 / MOST_HEAT:g} "
            f"to {MOST_HEAT:g}."
        )
    return hot, cold


def check_operators(name: str, portfolio: Portfolio, known: Portfolio) -> None:
    """Refuse a portfolio with other operators than a controller was trained for, in whatever order."""
    if set(portfolio.names) != set(known.names):
        raise InputError(f"selector {name!r} was trained for operators {', '.join(known.names)}.")
