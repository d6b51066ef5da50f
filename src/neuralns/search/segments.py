"""Segments of a search: iterations that run compiled in a row, until Python looks around."""

from __future__ import annotations

import math

from neuralns.search.cooling import OPEN_HORIZON
from neuralns.search.stopping import Stop

SEGMENT_SECONDS = 0.05
"""Between two segments of about this length Python looks at the clock, callbacks and signals."""
FIRST_SEGMENT = 64


class Segments:
    """How many iterations the segments of a search have; ``size`` is that of a whole one, at first as given."""

    def __init__(self, size: int = 0) -> None:
        self.size = size or FIRST_SEGMENT

    def length(
        self, stop: Stop, iteration: int, elapsed: float, most: float = math.inf, until: float = math.inf
    ) -> int:
        """Return how many iterations the next one has, ``most`` of them, so that it ends about when ``until`` says."""
        found = int(min(self.size, stop.iterations - iteration, most))
        if iteration < OPEN_HORIZON:
            # A segment does not cross the point where an open run has cooled down.
            found = min(found, OPEN_HORIZON - iteration)
        if until < math.inf:
            found = max(1, int(min(found, self.size * (until - elapsed) / SEGMENT_SECONDS)))
        return found

    def measure(self, length: int, took: float, left: float) -> None:
        """Take note of how many seconds a segment took, so many being left."""
        self.size = next_size(length, took, left)


def next_size(size: int, took: float, left: float) -> int:
    """Return how many iterations fit into the next segment, growing slowly since rates are measured roughly."""
    wanted = min(SEGMENT_SECONDS, max(left, 0.0))
    return int(max(1, min(size * wanted / max(took, 1e-9), 4 * size, 1 << 24)))
