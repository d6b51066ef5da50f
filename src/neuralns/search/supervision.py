"""Functions from outside the package are watched while they run: one that never returns does not hold all up.

Compiled functions cannot be interrupted; but they hold no lock of Python's, and the best routes lie outside of them.
They run in a thread of their own, which is left behind if it does not return, and ends with the program.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Sequence
from queue import Empty, Queue, SimpleQueue
from typing import Any, TypeVar

from neuralns.compiled.caching import CompilationCount
from neuralns.compiled.failures import is_own
from neuralns.errors import GivenUpError
from neuralns.problem.instance import Instance
from neuralns.search import interrupt
from neuralns.search.search import Search, own_costs
from neuralns.search.setup import Setup
from neuralns.selection.controller import Controller
from neuralns.selection.in_python import PythonSelector

PATIENCE = 2.0
"""Seconds without an iteration, past the limit of time or after a signal, until a search is given up."""
PATIENCE_SHARE = 0.1
"""The same as a share of the limit of time, if that is more; `MOST_PATIENCE` at most."""
MOST_PATIENCE = 30.0
HURRIED_PATIENCE = 0.2
"""The same after a second signal."""
STUCK = 60.0
"""The same at any time, for compiled functions."""
_LOOK = 0.1

Found = TypeVar("Found")


def functions_of(setup: Setup) -> list[Any]:
    """Return all functions that a search calls which may come from outside the package."""
    selector = type(setup.selector)
    functions: list[Any] = [entry.function for entry in setup.portfolio.operators]
    functions += [selector.choose, selector.update, setup.acceptance.function]
    functions += [rule.function for rule in setup.stop.rules]
    if issubclass(selector, Controller):
        functions += [selector.control, selector.observe, selector.begin]
    return functions + [cost.function for cost in setup.instance.route_costs or () if cost.is_own]


def has_own_functions(setup: Setup) -> bool:
    """Return whether any function of a search comes from outside the package."""
    return type(setup.selector) is PythonSelector or any(map(is_own, functions_of(setup)))


class Supervised:
    """A search to be run in segments, in a thread of its own if it has functions from outside the package.

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
        leaving: Callable[[], bool] = interrupt.leaving,
        hurried: Callable[[], bool] = interrupt.hurried,
    ) -> None:
        self.search = start(None if on_best is None else self._tell_best)
        self._on_best, self._leaving, self._hurried = on_best, leaving, hurried
        self._watched = has_own_functions(self.search.setup)
        self._orders: SimpleQueue[float | None] = SimpleQueue()
        # A wait with a limit at a SimpleQueue may last for ever after a signal, if its handler ends past the limit.
        self._events: Queue[str | BaseException] = Queue()
        self._told = threading.Semaphore(0)

    def __enter__(self) -> Supervised:
        if self._watched:
            threading.Thread(target=self._work, daemon=True).start()
        return self

    def __exit__(self, *exception: object) -> None:
        self._orders.put(None)

    def advance(self, iterations: float = math.inf) -> None:
        """Run a segment; a function that gives no answer ends it by `GivenUpError`."""
        if not self._watched:
            self.search.advance(iterations)
            return
        self._orders.put(iterations)
        iteration, moved = self.search.iteration, time.perf_counter()
        while True:
            try:
                event = self._events.get(timeout=_LOOK)
            except Empty:
                now = time.perf_counter()
                if self.search.iteration != iteration:
                    iteration, moved = self.search.iteration, now
                if now - moved >= self._patience():
                    raise GivenUpError(self.search.called()) from None
                continue
            if isinstance(event, BaseException):
                raise event
            if event == "done":
                return
            assert self._on_best is not None
            self._on_best(self.search)
            moved = time.perf_counter()
            self._told.release()

    def finish(self) -> Search:
        """Run the search to its end, or until it is asked to leave, and return it."""
        while self.search.reason_to_stop() is None and not self._leaving():
            self.advance()
        return self.search

    def _patience(self) -> float:
        """Return how many seconds without an iteration are borne as things stand."""
        limit = self.search.setup.stop.time
        if self._hurried():
            return HURRIED_PATIENCE
        if self._leaving():
            return PATIENCE
        if self.search.elapsed > limit:
            return max(PATIENCE, min(PATIENCE_SHARE * limit, MOST_PATIENCE))
        # What is written in Python may take its time.
        return math.inf if self.search.in_python else STUCK

    def _work(self) -> None:
        for iterations in iter(self._orders.get, None):
            try:
                self.search.advance(iterations)
            except BaseException as error:
                self._events.put(error)
            else:
                self._events.put("done")

    def _tell_best(self, search: Search) -> None:
        if self._watched:
            self._events.put("best")
            self._told.acquire()
        elif self._on_best is not None:
            self._on_best(search)


def watch_start(instance: Instance, work: Callable[[], Found]) -> Found:
    """Do what comes before a search, in a thread of its own if costs of the user's own are asked for in it."""
    costs = own_costs(instance)
    if costs is None:
        return work()
    with CompilationCount() as compilations:
        (found,) = watch([work], lambda: compilations.count, lambda: costs, max(STUCK, 0.01 * instance.customers))
    return found


def watch(
    works: Sequence[Callable[[], Found]], moves: Callable[[], object], called: Callable[[], str], stuck: float = STUCK
) -> list[Found]:
    """Do compiled works, each in a thread of its own, and return what they do; one that gets stuck is given up.

    ``moves`` returns something else whenever anything has moved, ``called`` which function was called last; nothing
    moves for so many seconds in one that is ``stuck``.
    """
    found: Queue[tuple[int, Found | BaseException]] = Queue()

    def run(number: int) -> None:
        try:
            found.put((number, works[number]()))
        except BaseException as error:
            found.put((number, error))

    for number in range(len(works)):
        threading.Thread(target=run, args=(number,), daemon=True).start()
    done: dict[int, Found] = {}
    last, moved = moves(), time.perf_counter()
    while len(done) < len(works):
        try:
            number, result = found.get(timeout=_LOOK)
        except Empty:
            now, at = time.perf_counter(), moves()
            if at != last:
                last, moved = at, now
            patience = HURRIED_PATIENCE if interrupt.hurried() else PATIENCE if interrupt.leaving() else stuck
            if now - moved >= patience:
                raise GivenUpError(called()) from None
        except KeyboardInterrupt:
            last = moves()
            time.sleep(HURRIED_PATIENCE)
            if moves() == last:
                raise GivenUpError(called()) from None
            raise
        else:
            if isinstance(result, BaseException):
                raise result
            done[number] = result
    return [done[number] for number in range(len(works))]
