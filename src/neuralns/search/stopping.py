"""When a search ends."""

from __future__ import annotations

import math
from dataclasses import dataclass

from neuralns.errors import InputError


@dataclass(frozen=True)
class Stop:
    """Limits of a run; it ends at the first one reached. Limits combine with ``|``.

    Examples
    --------
    >>> stop = MaxTime(10) | NoImprovement(5000)
    >>> stop.time, stop.no_improvement, stop.iterations
    (10, 5000, inf)
    """

    time: float = math.inf
    iterations: float = math.inf
    no_improvement: float = math.inf
    target: float = -math.inf

    def __post_init__(self) -> None:
        for what, value in (
            ("time limit", self.time),
            ("number of iterations", self.iterations),
            ("number of iterations without improvement", self.no_improvement),
        ):
            if not value >= 0:
                raise InputError(f"{what} {value} must be a number of at least 0.")
            if what != "time limit" and math.isfinite(value) and value != int(value):
                raise InputError(f"{what} {value} must be whole.")
        if math.isnan(self.target):
            raise InputError("target cost nan is not a number.")

    def __or__(self, other: Stop) -> Stop:
        return Stop(
            min(self.time, other.time),
            min(self.iterations, other.iterations),
            min(self.no_improvement, other.no_improvement),
            max(self.target, other.target),
        )

    def progress(self, time: float, iteration: float) -> float:
        """Return the share of the time or iterations used, from 0 to 1; 0 if neither is limited."""
        return min(1.0, max(_share(time, self.time), _share(iteration, self.iterations)))


def _share(used: float, limit: float) -> float:
    return used / limit if limit > 0 else 1.0


def MaxTime(seconds: float) -> Stop:  # noqa: N802 (reads as the constructor of a criterion)
    """Stop after so many seconds."""
    return Stop(time=_finite("time limit", seconds))


def MaxIterations(iterations: int) -> Stop:  # noqa: N802
    """Stop after so many iterations."""
    return Stop(iterations=_finite("number of iterations", iterations))


def NoImprovement(iterations: int) -> Stop:  # noqa: N802
    """Stop after so many iterations without a new best solution."""
    return Stop(no_improvement=_finite("number of iterations without improvement", iterations))


def TargetCost(cost: float) -> Stop:  # noqa: N802
    """Stop at a solution of this cost or less."""
    return Stop(target=cost)


def _finite(what: str, value: float) -> float:
    if math.isinf(value):
        raise InputError(f"{what} {value} must be a finite number.")
    return value
