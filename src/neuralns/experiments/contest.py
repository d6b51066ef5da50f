"""Runs of several solvers on several instances with equal time: one at a time, each in a process on one core.

Every solution is checked and costed by our own code. Results go to a CSV file as they come; a second call does only
what is missing there.
"""

from __future__ import annotations

import multiprocessing
import os
import queue
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path

import numpy as np

from neuralns.errors import InputError
from neuralns.experiments.rows import append_rows, read_rows
from neuralns.problem.instance import Instance
from neuralns.problem.solution import Solution

Contestant = Callable[[Instance, float, int], list[list[int]]]
"""Takes an instance, seconds and a seed, and returns routes. It must be a function at the top of a module."""


@dataclass(frozen=True)
class Run:
    """One row of the results."""

    instance: str
    customers: int
    solver: str
    seconds: float
    seed: int
    cost: float
    best_known: float
    gap: float
    routes: int
    feasible: bool
    wall: float

    @property
    def key(self) -> tuple[str, str, float, int]:
        """What tells runs apart."""
        return self.instance, self.solver, self.seconds, self.seed


def compete(
    contestants: dict[str, Contestant],
    instances: Sequence[Instance],
    seconds: float,
    seeds: int,
    path: Path,
    cores: Sequence[int | None] = (None,),
    notify: Callable[[Run, int, int], None] = lambda run, done, total: None,
) -> list[Run]:
    """Run every solver on every instance with every seed, unless the file has that run; return all runs asked for.

    Solvers take turns within each instance and seed, so that slow phases of a machine hit all of them. Each of the
    ``cores`` has one run at a time (None: wherever the system puts it).
    """
    # Read by libraries when they load, in the processes to come.
    for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ.setdefault(variable, "1")
    known = {run.key: run for run in read_rows(path, Run)}
    wanted = [(instance, name, seed) for instance in instances for seed in range(1, seeds + 1) for name in contestants]
    missing = [
        (instance, name, seed)
        for instance, name, seed in wanted
        if (instance.name, name, float(seconds), seed) not in known
    ]
    free: queue.SimpleQueue[int | None] = queue.SimpleQueue()
    for core in cores:
        free.put(core)

    def run_one(job: tuple[Instance, str, int]) -> Run:
        instance, name, seed = job
        core = free.get()
        try:
            return _run_once(name, contestants[name], instance, seconds, seed, core)
        finally:
            free.put(core)

    with ThreadPoolExecutor(len(cores)) as pool:
        waiting = [pool.submit(run_one, job) for job in missing]
        try:
            for number, future in enumerate(as_completed(waiting), len(wanted) - len(missing) + 1):
                run = future.result()
                append_rows(path, [run])
                known[run.key] = run
                notify(run, number, len(wanted))
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise
    return [known[instance.name, name, float(seconds), seed] for instance, name, seed in wanted]


def mean_gaps(runs: Iterable[Run]) -> dict[str, dict[str, float]]:
    """Return for each instance the mean gap of each solver over seeds; infeasible runs count as infinite."""
    gathered: dict[str, dict[str, list[float]]] = {}
    for run in runs:
        gap = run.gap if run.feasible else float("inf")
        gathered.setdefault(run.instance, {}).setdefault(run.solver, []).append(gap)
    return {
        instance: {solver: float(np.mean(gaps)) for solver, gaps in by_solver.items()}
        for instance, by_solver in gathered.items()
    }


def _run_once(
    name: str, contestant: Contestant, instance: Instance, seconds: float, seed: int, core: int | None
) -> Run:
    """Run a solver in a fresh process, so that no run warms up, slows down or breaks another."""
    context = multiprocessing.get_context("spawn")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_child, args=(sender, contestant, instance, seconds, seed, core))
    process.start()
    sender.close()
    try:
        answer = receiver.recv()
    except EOFError:
        process.join()
        answer = f"it ended with exit code {process.exitcode}"
    process.join()
    if isinstance(answer, str):
        raise InputError(f"{name} failed on {instance.name}: {answer}.")
    routes, wall = answer
    solution = Solution(instance, routes)
    feasible = solution.feasible
    return Run(
        instance.name,
        instance.customers,
        name,
        float(seconds),
        seed,
        solution.cost if feasible else float("inf"),
        float("nan") if instance.best_known is None else instance.best_known,
        float("inf") if not feasible else float("nan") if solution.gap is None else solution.gap,
        len(solution.routes),
        feasible,
        wall,
    )


def _child(
    sender: Connection, contestant: Contestant, instance: Instance, seconds: float, seed: int, core: int | None
) -> None:
    # A library that prints, as HGS-CVRP does, must not disturb our own output.
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    try:
        if core is not None and hasattr(os, "sched_setaffinity"):
            os.sched_setaffinity(0, {core})
        begin = time.perf_counter()
        routes = contestant(instance, seconds, seed)
        sender.send((routes, time.perf_counter() - begin))
    except Exception as error:
        sender.send(f"{type(error).__name__}: {error}")
