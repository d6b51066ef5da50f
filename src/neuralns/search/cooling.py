"""The course of the temperature, and of the share of a run that is left, from one segment to the next."""

from __future__ import annotations

import math
from typing import Any

from neuralns.search.stopping import Stop

OPEN_HORIZON = 1_000_000
"""Iterations over which the temperature falls when neither time nor iterations are limited."""
FEWEST_HEAT = 0.3
"""Temperature while vehicles or customers come first, as a share of the one at the start."""


def horizon_of(stop: Stop) -> float:
    """Return how many iterations a run has that time does not limit."""
    return stop.iterations if math.isfinite(stop.iterations) else OPEN_HORIZON


class Cooling:
    """Sets the course in a ``run``, as the compiled loop follows it.

    Attributes
    ----------
    heat
        Factors of the temperatures at the start and at the end.
    """

    heat = 1.0, 1.0

    def __init__(self, run: Any, stop: Stop, temperatures: tuple[float, float]) -> None:
        self._run, self._stop, self._temperatures = run, stop, temperatures
        self._begun = 0.0

    def restart(self, elapsed: float, iteration: int) -> None:
        """Let the temperature fall from here on: vehicles or customers no longer come first."""
        self._begun = self._stop.progress(elapsed, iteration)
        self._run.origin, self._run.renew = iteration, 1

    def set_course(self, elapsed: float, iteration: int, size: int, seconds: float) -> None:
        """Set the course for the next segment, of so many iterations in about so many seconds.

        Limited by iterations alone, it is one function of the iteration for the whole run, whatever the segments: that
        keeps runs repeatable. Limited by time, it starts each segment where the clock stands.
        """
        run, stop = self._run, self._stop
        hot, cold = (each * heat for each, heat in zip(self._temperatures, self.heat, strict=True))
        fall = math.log(cold / hot)
        if math.isinf(stop.time):
            horizon = horizon_of(stop)
            run.hot, run.log_rate = hot, fall / max(1.0, horizon - run.origin)
            run.left, run.left_rate = 1.0 - run.origin / max(1.0, horizon), 1.0 / max(1.0, horizon)
            if run.fewest:
                run.hot, run.log_rate, run.renew = FEWEST_HEAT * hot, 0.0, 1
            if math.isinf(stop.iterations) and iteration >= OPEN_HORIZON:
                run.hot, run.log_rate = cold, 0.0
            return
        rest = max(1e-9, 1.0 - self._begun)
        # A segment may have begun just before the clock was looked at for the last time.
        progress = min(1.0, max(0.0, (stop.progress(elapsed, iteration) - self._begun) / rest))
        step = min(1.0 - progress, seconds / stop.time / rest if stop.time > 0 else 0.0)
        run.origin = iteration
        run.hot = hot * math.exp(fall * progress)
        run.log_rate = fall * step / max(1, size)
        run.left, run.left_rate = rest * (1.0 - progress), rest * step / max(1, size)
        run.renew = 1
        if run.fewest:
            run.hot, run.log_rate = FEWEST_HEAT * hot, 0.0
