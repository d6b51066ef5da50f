"""Runs of several solvers on several instances with equal time, each in a process of its own on one core.

Every solution is checked and costed by our own code. Results go to a CSV file as they come; a second call does only
what is missing there.
"""

from __future__ import annotations

import multiprocessing
import os
import queue
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import NamedTuple

import numpy as np

from neuralns.errors import InputError
from neuralns.experiments.runs import RunKey, do_missing
from neuralns.experiments.seeds import seeds_from
from neuralns.experiments.store import CsvRows, Store
from neuralns.files import check_writable
from neuralns.problem.instance import Instance
from neuralns.problem.solution import Solution
from neuralns.search.interrupt import interrupts_blocked


class Plan(NamedTuple):
    """What a solver returns: routes, and the type of vehicle that drives each; the cheapest one if left out."""

    routes: list[list[int]]
    vehicles: list[int] | None = None


Solver = Callable[[Instance, float, int], Plan | list[list[int]]]
"""Takes an instance, seconds and a seed, and returns a plan or routes. It must be a function at the top of a module."""


@dataclass(frozen=True)
class SolverRun:
    """One row of the results.

    Attributes
    ----------
    cost, gap
        By our own code, infinite where the routes break a rule. With the objective ``vehicles`` there is no gap: best
        known costs are for the least distance.
    fault
        The first rule that the routes break, in a sentence; empty if they keep all.
    """

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
    rounding: str = "none"
    objective: str = "distance"
    fault: str = ""

    @property
    def key(self) -> RunKey:
        """What tells runs apart."""
        return solver_run_key(self.instance, self.solver, self.seconds, self.seed, self.rounding, self.objective)


def as_plan(found: Plan | list[list[int]]) -> Plan:
    """Return what a solver has found as a plan."""
    return found if isinstance(found, Plan) else Plan(found)


Notify = Callable[[SolverRun, int, int], object]
"""Told of each run when it has ended, with the runs that are there and the runs in all."""


def solver_run_key(
    instance: str, solver: str, seconds: float, seed: int, rounding: str = "none", objective: str = "distance"
) -> RunKey:
    """Return what tells the runs of solvers apart."""
    return RunKey(instance, solver, f"{float(seconds)} s, rounding {rounding}, {objective}", seed)


def run_solvers(
    solvers: Mapping[str, Solver],
    instances: Sequence[Instance],
    seconds: float,
    seeds: int | Sequence[int],
    path: Path,
    cores: Sequence[int | None] = (None,),
    notify: Notify = lambda run, done, total: None,
    objective: str = "distance",
) -> list[SolverRun]:
    """Run every solver on every instance with every seed, unless the file has that run; return all runs asked for.

    Solvers take turns within each instance and seed, so that slow phases of a machine hit all of them. Each of the
    ``cores`` has one run at a time (None: wherever the system puts it). So many seeds are those from 1 on. What the
    solvers were asked for, the ``objective``, tells runs in the file apart.
    """
    # Read by libraries when they load, in the processes to come.
    for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ.setdefault(variable, "1")
    numbers = seeds_from(seeds, first=1)
    by_name = _by_name(instances)
    wanted = [
        solver_run_key(instance.name, name, seconds, seed, instance.rounding, objective)
        for instance in instances
        for seed in numbers
        for name in solvers
    ]
    free: queue.SimpleQueue[int | None] = queue.SimpleQueue()
    for core in cores:
        free.put(core)
    under_way: set[BaseProcess] = set()

    def run(key: RunKey) -> SolverRun:
        core = free.get()
        try:
            return _run_once(key, solvers[key.contender], by_name[key.instance], seconds, objective, core, under_way)
        finally:
            free.put(core)

    def end() -> None:
        for process in set(under_way):
            process.terminate()

    check_writable(path)
    with Store(path, CsvRows(SolverRun)) as store:
        known = {row.key: row for row in store.rows}
        for key in wanted:
            if key in known:
                _expect_same(path, known[key], by_name[key.instance])

        def keep(row: SolverRun, done: int) -> None:
            store.add(row)
            known[row.key] = row
            notify(row, done, len(wanted))

        do_missing(wanted, known, run, keep, len(cores), end)
    return [known[key] for key in wanted]


def _by_name(instances: Sequence[Instance]) -> dict[str, Instance]:
    """Return instances by name, which tells their runs apart."""
    found: dict[str, Instance] = {}
    for instance in instances:
        if instance.name in found:
            raise InputError(f"two instances are called {instance.name}; compare them one after the other.")
        found[instance.name] = instance
    return found


def _expect_same(path: Path, row: SolverRun, instance: Instance) -> None:
    """Refuse a run of another instance of the same name."""
    known = float("nan") if instance.best_known is None else instance.best_known
    if row.customers != instance.customers or (
        row.objective == "distance" and not np.isclose(row.best_known, known, rtol=1e-9, equal_nan=True)
    ):
        raise InputError(
            f"{path}: holds runs of another {instance.name} ({row.customers} customers, best known cost "
            f"{row.best_known:.10g}); give another file to write to."
        )


def mean_gaps(runs: Iterable[SolverRun]) -> dict[str, dict[str, float]]:
    """Return for each instance the mean gap of each solver over seeds; infeasible runs count as infinite."""
    return means_of(runs, lambda run: run.gap)


def means_of(runs: Iterable[SolverRun], figure: Callable[[SolverRun], float]) -> dict[str, dict[str, float]]:
    """Return for each instance the mean of a figure of each solver over seeds; infeasible runs count as infinite."""
    gathered: dict[str, dict[str, list[float]]] = {}
    for run in runs:
        value = figure(run) if run.feasible else float("inf")
        gathered.setdefault(run.instance, {}).setdefault(run.solver, []).append(value)
    return {
        instance: {solver: float(np.mean(values)) for solver, values in by_solver.items()}
        for instance, by_solver in gathered.items()
    }


def _run_once(
    key: RunKey,
    solver: Solver,
    instance: Instance,
    seconds: float,
    objective: str,
    core: int | None,
    under_way: set[BaseProcess],
) -> SolverRun:
    """Run a solver in a fresh process, so that no run warms up, slows down or breaks another."""
    context = multiprocessing.get_context("spawn")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_child, args=(sender, solver, instance, seconds, key.seed, core))
    with interrupts_blocked():
        process.start()
    under_way.add(process)
    sender.close()
    try:
        answer = receiver.recv()
    except EOFError:
        process.join()
        answer = f"it ended with exit code {process.exitcode}"
    process.join()
    under_way.discard(process)
    if isinstance(answer, str):
        raise InputError(f"{key.contender} failed on {instance.name}: {answer}.")
    plan, wall = answer
    return _checked(key, Solution(instance, plan.routes, plan.vehicles), seconds, objective, wall)


def _checked(key: RunKey, solution: Solution, seconds: float, objective: str, wall: float) -> SolverRun:
    """Return the row of a run: what its routes cost, and the first rule that they break."""
    instance = solution.instance
    nothing = not solution.routes and solution.unserved
    faults = ["no routes were found."] if nothing else solution.faults()
    gap = None if objective == "vehicles" else solution.gap
    return SolverRun(
        instance.name,
        instance.customers,
        key.contender,
        float(seconds),
        key.seed,
        float("inf") if faults else solution.cost,
        float("nan") if instance.best_known is None else instance.best_known,
        float("inf") if faults else float("nan") if gap is None else gap,
        len(solution.routes),
        not faults,
        wall,
        instance.rounding,
        objective,
        faults[0] if faults else "",
    )


def _child(sender: Connection, solver: Solver, instance: Instance, seconds: float, seed: int, core: int | None) -> None:
    # A library that prints, as HGS-CVRP does, must not disturb our own output.
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    try:
        if core is not None and hasattr(os, "sched_setaffinity"):
            os.sched_setaffinity(0, {core})
        begin = time.perf_counter()
        found = solver(instance, seconds, seed)
        wall = time.perf_counter() - begin
        sender.send((as_plan(found), wall))
    except Exception as error:
        sender.send(f"{type(error).__name__}: {error}")
