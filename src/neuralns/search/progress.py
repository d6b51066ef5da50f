"""Where a search stands, as callbacks see it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from neuralns.problem.instance import Instance
from neuralns.problem.solution import gap_between
from neuralns.search.stopping import Stop

if TYPE_CHECKING:
    from neuralns.search.search import Search


@dataclass(frozen=True, repr=False)
class Progress:
    """Where a search stands, as callbacks see it between two segments.

    Costs are those of the routes; ``unserved`` customers, of the best solution, could be served if there were room, and
    are not so far. ``search`` is the search itself, for those who look closer; None of several workers.
    """

    instance: Instance
    stop: Stop
    time: float
    iteration: int
    current: float
    best: float
    temperature: float
    uses: dict[str, int]
    workers: int = 1
    unserved: int = 0
    search: Search | None = field(default=None, compare=False)

    def __repr__(self) -> str:
        return (
            f"<Progress on {self.instance.name}: {self.time:.1f} s, iteration {self.iteration}, best {self.best:.10g}, "
            f"current {self.current:.10g}>"
        )

    @property
    def share(self) -> float:
        """Share of the time or iterations used, from 0 to 1; several workers share their iterations."""
        return self.stop.progress(self.time, self.iteration / self.workers)

    @property
    def rate(self) -> float:
        """Iterations a second so far."""
        return self.iteration / self.time if self.time > 0 else 0.0

    @property
    def gap(self) -> float | None:
        """Gap of the best cost to the best known one in per cent."""
        known = self.instance.best_known
        return None if known is None or known <= 0 or self.unserved else gap_between(self.best, known)
