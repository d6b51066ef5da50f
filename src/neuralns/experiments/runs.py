"""Runs of several contenders on several instances with several seeds: what tells them apart, and doing the missing."""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from typing import TypeVar

Result = TypeVar("Result")


@dataclass(frozen=True, order=True)
class RunKey:
    """What tells runs apart: the instance, who ran (a solver or a selector), what was the same for all, the seed."""

    instance: str
    contender: str
    conditions: str
    seed: int


def do_missing(
    wanted: Sequence[RunKey],
    known: Container[RunKey],
    run: Callable[[RunKey], Result],
    keep: Callable[[Result, int], object],
    workers: int = 1,
    give_up: Callable[[], object] = lambda: None,
) -> None:
    """Do the wanted runs that are not known, so many at a time, and hand each over when it ends.

    ``keep`` is called in this thread, with the number of runs that are there by then. After an error or Ctrl-C no run
    is begun any more, and ``give_up`` may end those under way, which are waited for.
    """
    missing = [key for key in dict.fromkeys(wanted) if key not in known]
    with ThreadPoolExecutor(workers) as pool:
        waiting = [pool.submit(run, key) for key in missing]
        try:
            for number, future in enumerate(as_completed(waiting), len(wanted) - len(missing) + 1):
                keep(future.result(), number)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            give_up()
            raise
