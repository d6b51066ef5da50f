"""Permutation flow shop: jobs in one order through all machines, so that the last one ends as early as possible."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from benchmarks.alns.problem import Problem, in_three_sizes

JOBS, MACHINES = 50, 20


class Order:
    """An order of jobs; destroyed, it lacks those in ``missing``. Times are uniform in 1 to 99, by the seed."""

    def __init__(self, times: npt.NDArray[np.int64], order: list[int], missing: list[int]) -> None:
        self.times, self.order, self.missing = times, order, missing
        self._makespan: float | None = None

    def objective(self) -> float:
        if self._makespan is None:
            self._makespan = float(heads(self.times, self.order)[-1, -1])
        return self._makespan

    def get_context(self) -> npt.NDArray[np.float64]:
        work = self.times.sum(axis=1)[self.order]
        third = len(work) // 3
        busy = self.times.sum(axis=0)
        return np.array([
            work[:third].mean(), work[third:-third].mean(), work[-third:].mean(),
            self.objective() / busy.max(), busy.std() / busy.mean(),
        ])  # fmt: skip


def heads(times: npt.NDArray[np.int64], order: list[int]) -> npt.NDArray[np.int64]:
    """When each machine ends each job: e(j, m) = max(e(j − 1, m), e(j, m − 1)) + t(j, m)."""
    ends = np.zeros((len(order) + 1, times.shape[1] + 1), dtype=np.int64)
    table = times[order].tolist()
    above = [0] * times.shape[1]
    for place, row in enumerate(table, 1):
        last = 0
        for machine, time in enumerate(row):
            end = above[machine]
            last = (last if last > end else end) + time
            above[machine] = last
        ends[place, 1:] = above
    return ends


def best_place(times: npt.NDArray[np.int64], order: list[int], job: int) -> tuple[int, int]:
    """Return the least makespan with a job inserted, and where; all places at once (Taillard 1990)."""
    ends = heads(times, order)[:, 1:]
    tails = heads(times[:, ::-1], order[::-1])[::-1, :0:-1]
    last = np.zeros(len(order) + 1, dtype=np.int64)
    spans = np.zeros(len(order) + 1, dtype=np.int64)
    for machine in range(times.shape[1]):
        last = np.maximum(last, ends[:, machine]) + times[job, machine]
        spans = np.maximum(spans, last + tails[:, machine])
    place = int(spans.argmin())
    return int(spans[place]), place


def initial(seed: int) -> Order:
    """Jobs by falling total time."""
    times = np.random.default_rng([14, seed]).integers(1, 100, (JOBS, MACHINES))
    return Order(times, np.argsort(-times.sum(axis=1)).tolist(), [])


def without(state: Order, gone: list[int]) -> Order:
    chosen = set(gone)
    return Order(state.times, [job for job in state.order if job not in chosen], gone)


def random_removal(state: Order, rng: np.random.Generator, size: int) -> Order:
    return without(state, rng.choice(JOBS, size, replace=False).tolist())


def adjacent_removal(state: Order, rng: np.random.Generator, size: int) -> Order:
    begin = int(rng.integers(JOBS - size + 1))
    gone = state.order[begin : begin + size]
    rng.shuffle(gone)
    return without(state, gone)


def long_removal(state: Order, rng: np.random.Generator, size: int) -> Order:
    """Remove jobs that take long in all, with some chance in the order."""
    return without(state, np.argsort(-state.times.sum(axis=1) * rng.random(JOBS))[:size].tolist())


def greedy_insertion(state: Order, rng: np.random.Generator) -> Order:
    """Insert each missing job where the makespan grows least."""
    for job in state.missing:
        _, place = best_place(state.times, state.order, job)
        state.order.insert(place, job)
    state.missing = []
    return state


def random_insertion(state: Order, rng: np.random.Generator) -> Order:
    for job in state.missing:
        state.order.insert(int(rng.integers(len(state.order) + 1)), job)
    state.missing = []
    return state


def insertion_with_local_search(state: Order, rng: np.random.Generator) -> Order:
    """Insert greedily, then take out and insert each job of a random third once more."""
    greedy_insertion(state, rng)
    for job in rng.choice(JOBS, JOBS // 3, replace=False).tolist():
        place = state.order.index(job)
        state.order.pop(place)
        state.order.insert(best_place(state.times, state.order, job)[1], job)
    return state


PROBLEM = Problem(
    "flow shop",
    initial,
    in_three_sizes([random_removal, adjacent_removal, long_removal], JOBS),
    {
        "greedy": greedy_insertion,
        "random": random_insertion,
        "greedy and local search": insertion_with_local_search,
    },
    worse=0.01,
)
