"""Searches with functions from outside the package: watched, so that one that never returns does not hold all up."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable
from queue import Empty, SimpleQueue
from typing import Any

from neuralns.search.search import Search
from neuralns.search.setup import Setup
from neuralns.search.step import ACCEPTING, DESTROYING, KINDS, REPAIRING, STOPPING

PATIENCE = 2.0
"""Seconds without an iteration, past the limit of time or after a signal, until a search is given up."""
PATIENCE_SHARE = 0.1
"""The same as a share of the limit of time, if that is more; `MOST_PATIENCE` at most."""
MOST_PATIENCE = 30.0
HURRIED_PATIENCE = 0.2
"""The same after a second signal."""
NO_ANSWER = "(no answer)"
"""How the reason ends that is given for a search that was given up."""
_LOOK = 0.1


def has_own_functions(setup: Setup) -> bool:
    """Return whether any compiled function of a search comes from outside the package."""
    if setup.selector.asked_every > 0:
        # Python code, which signals end as usual, and whose objects belong to the caller's thread.
        return False
    selector = type(setup.selector)
    functions: list[Any] = [entry.function for entry in (*setup.portfolio.destroys, *setup.portfolio.repairs)]
    functions += [
        selector.choose,
        selector.update,
        setup.acceptance.function,
        *(rule.function for rule in setup.stop.rules),
    ]
    return any(not str(getattr(each, "__module__", "")).startswith("neuralns.") for each in functions)


class Supervised:
    """A search whose segments run in a thread of their own, which is left behind if it never returns.

    Compiled functions cannot be interrupted; but they hold no lock of Python's, and the best routes lie outside of
    them. A thread that was left behind ends with the program.

    Parameters
    ----------
    start
        Makes the search, given the function for it to call at every new best solution.
    on_best
        Called with the search at every new best solution, in the caller's thread; None if there is none.
    leaving, hurried
        Say whether the search was asked to end, and whether it was asked again.
    """

    def __init__(
        self,
        start: Callable[[Callable[[Search], object] | None], Search],
        on_best: Callable[[Search], object] | None = None,
        leaving: Callable[[], bool] = lambda: False,
        hurried: Callable[[], bool] = lambda: False,
    ) -> None:
        self.search = start(None if on_best is None else self._relay)
        self._on_best, self._leaving, self._hurried = on_best, leaving, hurried
        self._events: SimpleQueue[str | BaseException] = SimpleQueue()
        self._told = threading.Semaphore(0)

    def advance(self, iterations: float = math.inf) -> str | None:
        """Run a segment; return who gives no answer, if the search had to be given up, or None."""
        threading.Thread(target=self._advance, args=(iterations,), daemon=True).start()
        iteration, moved = self.search.iteration, time.perf_counter()
        while True:
            try:
                event = self._events.get(timeout=_LOOK)
            except Empty:
                now = time.perf_counter()
                if self.search.iteration != iteration:
                    iteration, moved = self.search.iteration, now
                if now - moved >= self._patience():
                    return f"{running(self.search)} {NO_ANSWER}"
                continue
            if isinstance(event, BaseException):
                raise event
            if event == "done":
                return None
            assert self._on_best is not None
            self._on_best(self.search)
            moved = time.perf_counter()
            self._told.release()

    def _patience(self) -> float:
        """Return how many seconds without an iteration are borne as things stand."""
        limit = self.search.setup.stop.time
        if self._hurried():
            return HURRIED_PATIENCE
        if self._leaving():
            return PATIENCE
        if self.search.elapsed > limit:
            return max(PATIENCE, min(PATIENCE_SHARE * limit, MOST_PATIENCE))
        return math.inf

    def _advance(self, iterations: float) -> None:
        try:
            self.search.advance(iterations)
        except BaseException as error:
            self._events.put(error)
        else:
            self._events.put("done")

    def _relay(self, search: Search) -> None:
        self._events.put("best")
        self._told.acquire()


def running(search: Search) -> str:
    """Return what a search called last, as sentences name it: ``operator 'mine'``."""
    setup = search.setup
    index, kind = divmod(search.running, KINDS)
    if kind == DESTROYING:
        return f"operator {setup.portfolio.destroys[index].name!r}"
    if kind == REPAIRING:
        return f"operator {setup.portfolio.repairs[index].name!r}"
    if kind == ACCEPTING:
        return f"acceptance rule {type(setup.acceptance).__name__!r}"
    if kind == STOPPING:
        return f"stopping rule {setup.stop.rules[index].name!r}"
    return f"selector {setup.selector.name!r}"
