"""Runs of a user's search with any selector, in this process or others, by seconds or by iterations."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from neuralns.bridges.alns.selector import CLOCKS, LearnedSelector
from neuralns.errors import InputError
from neuralns.experiments.executors import ProcessPool, check_hands

MakeAlns = Callable[[np.random.Generator], Any]
"""Returns the user's ALNS, operators and all, with the given generator."""
MakeAccept = Callable[[Any], Any]
"""Returns a fresh acceptance criterion for a run from an initial solution."""


@dataclass(frozen=True)
class Search:
    """A user's search: how its ALNS is made, when candidates are accepted, and how long it runs.

    With ``clock="iterations"`` the budget are iterations.
    """

    make_alns: MakeAlns
    make_accept: MakeAccept
    seconds: float | None = None
    iterations: int | None = None
    clock: str = "time"

    def __post_init__(self) -> None:
        if (self.seconds is None) == (self.iterations is None):
            raise InputError("a budget is needed: either seconds or iterations.")
        # A selector refuses what it cannot be told.
        LearnedSelector(1, 1, **self.budget)

    @property
    def budget(self) -> dict[str, Any]:
        """What a selector is told about the run."""
        return {"seconds": self.seconds, "iterations": self.iterations, "clock": self.clock}

    def operators(self) -> tuple[list[str], list[str]]:
        """Return the names of the destroy and of the repair operators."""
        alns = self.make_alns(np.random.default_rng(0))
        names = [name for name, _ in alns.destroy_operators], [name for name, _ in alns.repair_operators]
        if not all(names):
            raise InputError("the ALNS has no destroy or no repair operators.")
        return names

    def run(self, initial: Any, selector: Any, seed: int) -> tuple[float, int]:
        """Return the objective of the best solution found, and the iterations made."""
        read, begin, made = CLOCKS.get(self.clock, time.perf_counter), math.nan, 0

        def over(rng: np.random.Generator, best: Any, current: Any) -> bool:
            nonlocal begin, made
            # What a selector calls uncounted is no time of the run; nan is neither less nor more than anything.
            spent = read() - begin - getattr(selector, "uncounted", 0.0)
            if made == 0:
                begin = read()
            ended = made >= (self.iterations or math.inf) or spent >= (self.seconds or math.inf)
            made += not ended
            return ended

        alns = self.make_alns(np.random.default_rng(seed))
        result = alns.iterate(initial, selector, self.make_accept(initial), over)
        return float(result.best_state.objective()), made


def coupling_of(op_coupling: npt.ArrayLike | None, shape: tuple[int, int]) -> npt.NDArray[np.bool_]:
    """Return which pairs may be used; a table of another shape, or without a pair for an operator, is refused."""
    if op_coupling is None:
        return np.ones(shape, bool)
    coupling = np.asarray(op_coupling, dtype=bool)
    if coupling.shape != shape:
        raise InputError(
            f"op_coupling has shape {coupling.shape}, but there are {shape[0]} destroy and {shape[1]} repair operators."
        )
    if not coupling.any(axis=1).all():
        raise InputError("a destroy operator is coupled with no repair operator.")
    return coupling


def hill_climbing(initial: Any) -> Any:
    """Return the acceptance criterion that takes no worse candidate."""
    from alns.accept import HillClimbing

    return HillClimbing()


@contextmanager
def hands(workers: int | None, executor: Executor | None) -> Iterator[Callable[..., list[Any]]]:
    """Give a function that calls another one with each of several tuples of arguments, in order.

    In this process by default; else in ``workers`` processes, or where an executor has it done, such as that of a
    Dask cluster (``client.get_executor(pure=False)``).
    """
    check_hands(workers, None)
    if workers is not None and executor is not None:
        raise InputError("work goes to processes (workers) or to an executor, not to both.")
    own = ProcessPool(workers) if workers is not None and workers > 1 else None
    pool = executor if own is None else own

    def call(function: Callable[..., Any], tasks: Sequence[tuple[Any, ...]]) -> list[Any]:
        if pool is None:
            return [function(*task) for task in tasks]
        futures = [pool.submit(function, *task) for task in tasks]
        return [future.result() for future in futures]

    try:
        yield call
    finally:
        if own is not None:
            own.shutdown(wait=False)
