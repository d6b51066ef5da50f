"""The paper's experiments from one call: jobs done by processes or a cluster, tables and a report in a folder."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from neuralns.errors import InputError, how_to_install
from neuralns.experiments.executors import ProcessPool, check_hands
from neuralns.experiments.executors import cluster as open_cluster
from neuralns.experiments.jobs import Done, Failure, Job, JobStore, Stopped, run_jobs
from neuralns.experiments.machine import cores, machine
from neuralns.reproduction.folder import open_folder, write_tables
from neuralns.reproduction.plan import EXPERIMENTS, FULL, QUICK, Plan, experiments_named
from neuralns.reproduction.report import write_report
from neuralns.reproduction.rounds import Results, choose, main_jobs, tuning_jobs
from neuralns.reproduction.stacked import train_stacked, work_with_policies
from neuralns.reproduction.tables import Tables, make_tables
from neuralns.reproduction.work import work


@dataclass(frozen=True)
class Reproduced:
    """What there is after a call.

    Attributes
    ----------
    store
        What jobs gave, and who did them.
    total, failures
        How many jobs the experiments have, and those that failed in this call.
    seconds
        Of this call.
    written
        The files with tables, the report and its figures.
    """

    tables: Tables
    store: JobStore
    total: int
    failures: tuple[Failure, ...]
    seconds: float
    written: tuple[Path, ...] = ()


Notify = Callable[[Job, Done | Failure, int, int], object]
"""Told of each job when it is done or has failed, with the jobs done and the jobs in all."""


def reproduce(
    experiment: str = "all",
    quick: bool = False,
    seeds: int | Sequence[int] | None = None,
    workers: int | None = None,
    cluster: str | None = None,
    device: str = "cpu",
    out: str | Path | None = None,
    notify: Notify = lambda job, end, done, total: None,
    say: Callable[[str], object] = lambda text: None,
) -> Reproduced:
    """Do the paper's experiments again: what a folder lacks of them, and then their tables and the report.

    A call that was stopped goes on where it was when it is made again.

    Parameters
    ----------
    experiment
        ``table1``, ``table2``, ``scaling``, ``large``, ``scale``, ``temperature`` or ``all``.
    quick
        A minute's run that tries everything and shows nothing about the paper.
    seeds
        Trainings of each agent: which, or how many from 0 on; 10 by default, 2 of a quick run.
    workers, cluster
        Processes, as many as cores by default; or the address of a Dask scheduler instead.
    device
        With ``cuda`` the networks of all cells are trained in one stacked run on a GPU, by this process.
    out
        Where results go: ``results``, or ``results-quick``, by default.
    notify, say
        Told of each job, see ``Notify``; told what goes on.
    """
    experiments = experiments_named(experiment)
    check_hands(workers, cluster)
    if cluster is not None and device != "cpu":
        raise InputError("a GPU trains in this process; work goes to a cluster (--cluster) without --device.")
    _check_extras(device)
    plan = QUICK if quick else FULL
    if seeds is not None:
        plan = replace(plan, seeds=seeds if isinstance(seeds, int) else tuple(seeds))
    # Without what is true of this machine only: folders, addresses, the number of its cores.
    parts = [f"neuralns reproduce {experiment}", "--quick" if quick else ""]
    parts += [_seeds_option(plan) if seeds is not None else "", "" if device == "cpu" else f"--device {device}"]
    folder = Path(out if out is not None else "results-quick" if quick else "results")
    with open_folder(folder, plan, quick) as store:
        try:
            found = run_experiments(
                experiments, plan, store, workers=workers or cores(), address=cluster, device=device,
                command=" ".join(part for part in parts if part), notify=notify, say=say,
            )  # fmt: skip
        except KeyboardInterrupt:
            raise Stopped(
                f"stopped; {len(store.done)} jobs are kept in {store.path}. The same command goes on from there."
            ) from None
        written = [*write_tables(found.tables, folder), *write_report(found.tables, plan, store, quick, folder)]
    return replace(found, written=tuple(written))


def _check_extras(device: str) -> None:
    """Refuse before any work what would fail after it."""
    for package, what in (("torch", "the experiments train networks"), ("matplotlib", "the report has pictures")):
        if find_spec(package) is None:
            raise InputError(f"{what}; install with: {how_to_install('train', 'plot')}.")
    if device != "cpu":
        from neuralns.learning.training import check_device

        check_device(device)


def _seeds_option(plan: Plan) -> str:
    seeds = plan.conditions["seeds"]
    return f"--seeds {seeds}" if isinstance(seeds, int) else f"with seeds {', '.join(map(str, seeds))}"


def run_experiments(
    experiments: Sequence[str],
    plan: Plan,
    store: JobStore,
    *,
    workers: int = 1,
    address: str | None = None,
    device: str = "cpu",
    command: str = "",
    notify: Notify = lambda job, end, done, total: None,
    say: Callable[[str], object] = lambda text: None,
) -> Reproduced:
    """Do what the store lacks of some experiments; return their results, and those of others that are complete.

    Parameters
    ----------
    store
        Open for writing.
    workers, address
        Processes; or of a Dask scheduler, which does the jobs instead.
    device
        See ``reproduce``.
    command
        What the store is to say that did the jobs.
    """
    begin = time.perf_counter()
    failures: list[Failure] = []
    tuning = tuning_jobs(experiments, plan)
    total = len(tuning) + len(main_jobs(experiments, plan, None))
    asked: set[str] = {job.name for job in tuning}

    def tell(job: Job, end: Done | Failure) -> None:
        notify(job, end, len(asked & store.done.keys()), total)

    before = len(store.done)
    stacked: dict[str, Any] = {}
    executors: AbstractContextManager[Callable[[], Executor]] = (
        nullcontext(partial(ProcessPool, workers)) if address is None else open_cluster(address)
    )
    window = workers if address is None else None
    try:
        with executors as open_executor:
            failures += run_jobs(work, tuning, store, open_executor, window, tell)
            if not failures:
                choices, _ = choose(experiments, plan, store.results)
                jobs = main_jobs(experiments, plan, choices)
                asked.update(job.name for job in jobs)
                if device == "cpu":
                    failures += run_jobs(work, jobs, store, open_executor, window, tell)
                else:
                    with tempfile.TemporaryDirectory() as folder:
                        stacked = train_stacked(jobs, store, Path(folder), device, say)
                        failures += run_jobs(
                            partial(work_with_policies, folder), jobs, store, open_executor, window, tell
                        )
    finally:
        seconds = time.perf_counter() - begin
        if len(store.done) > before:
            store.add_call(
                {
                    "command": command, "workers": None if address else workers, "cluster": address is not None,
                    "device": device, "seconds": round(seconds, 1), "jobs": len(store.done) - before,
                    "date": datetime.now(UTC).strftime("%Y-%m-%d"), "machine": machine(), **stacked,
                }
            )  # fmt: skip
    shown = [name for name in EXPERIMENTS if name in experiments or is_complete(name, plan, store.results)]
    return Reproduced(make_tables(shown, plan, store.results), store, total, tuple(failures), seconds)


def is_complete(experiment: str, plan: Plan, results: Results) -> bool:
    """Return whether there are results of all jobs of an experiment; others may have needed the same jobs."""
    if any(job.name not in results for job in tuning_jobs([experiment], plan)):
        return False
    choices, _ = choose([experiment], plan, results)
    return all(job.name in results for job in main_jobs([experiment], plan, choices))
