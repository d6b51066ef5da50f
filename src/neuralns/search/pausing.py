"""A clock that can be stopped: while it stands still, no time of a search goes by."""

from __future__ import annotations

import mmap
import time

import numpy as np


class Clock:
    """Seconds that go on, unless it is paused; processes forked from this one share it.

    >>> clock = Clock()
    >>> clock.pause()
    >>> clock.paused, clock() == clock()
    (True, True)
    """

    def __init__(self) -> None:
        # When it was paused, 0 if it is not, and the seconds that it has stood still before.
        self._shared = np.frombuffer(mmap.mmap(-1, 16), np.float64)

    def __call__(self) -> float:
        """Return what it shows."""
        since, lost = map(float, self._shared)
        return (since or time.perf_counter()) - lost

    @property
    def paused(self) -> bool:
        """Whether it stands still."""
        return bool(self._shared[0])

    def pause(self) -> None:
        """Stop it."""
        if not self.paused:
            self._shared[0] = time.perf_counter()

    def resume(self) -> None:
        """Let it go on from where it stands."""
        if self.paused:
            self._shared[1] += time.perf_counter() - self._shared[0]
            self._shared[0] = 0.0
