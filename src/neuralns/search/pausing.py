"""A clock that can be stopped: while it stands still, no time of a search goes by."""

from __future__ import annotations

import mmap
import time
from multiprocessing.context import BaseContext
from typing import Any

import numpy as np


class Clock:
    """Seconds that go on, unless it is paused; processes forked from this one share it (others: see `memory_for`).

    >>> clock = Clock()
    >>> clock.pause()
    >>> clock.paused, clock() == clock()
    (True, True)
    """

    def __init__(self, memory: Any = None) -> None:
        # When it was paused, 0 if it is not, and the seconds that it has stood still before.
        self._shared = np.frombuffer(mmap.mmap(-1, 16) if memory is None else memory, np.float64)

    def memory_for(self, context: BaseContext) -> Any:
        """Return memory for processes that are started anew to make the same clock of."""
        memory = context.RawArray("d", self._shared.tolist())
        self._shared = np.frombuffer(memory, np.float64)
        return memory

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
