"""The course of a search, told to a logger in a few lines."""

from __future__ import annotations

import logging

from neuralns.search.division import parts_of
from neuralns.search.progress import Progress
from neuralns.search.setup import Setup

LINES = 10
"""Lines about the progress of a run that is limited."""
OPEN_SECONDS = 60.0
"""Time between two of them where nothing says how long the run is."""

_LOG = logging.getLogger("neuralns")


class CourseLog:
    """A callback that tells the logger ``neuralns`` how a search begins, and from time to time where it stands."""

    def __init__(self, setup: Setup, workers: int) -> None:
        first, instance = setup.initial, setup.instance
        self._name = instance.name
        self._told_share, self._told_time = 0.0, 0.0
        parts = parts_of(setup, workers)
        how = f"{workers} worker(s)" if parts == 1 else f"{workers} worker(s) that divide solutions in {parts}"
        _LOG.info(
            "%s: %d customers, selector %s, portfolio %s, %s, start of cost %.10g, %d routes",
            instance.name, instance.customers, setup.selector.name, setup.portfolio.name, how, first.cost,
            len(first.routes),
        )  # fmt: skip

    def __call__(self, progress: Progress) -> None:
        """Tell where the search stands, if it is time to."""
        share = progress.share
        if share - self._told_share < 1 / LINES and (share > 0 or progress.time - self._told_time < OPEN_SECONDS):
            return
        self._told_share, self._told_time = share, progress.time
        left_out = f", {progress.unserved} not served" if progress.unserved else ""
        _LOG.info(
            "%s: %.1f s, %d iterations, best %.10g, current %.10g%s",
            self._name, progress.time, progress.iteration, progress.best, progress.current, left_out,
        )  # fmt: skip
