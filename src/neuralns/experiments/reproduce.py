"""The paper's experiments from one call: jobs done by processes or a cluster, tables and a report in a folder."""

from __future__ import annotations

import os
import platform
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from neuralns import __version__
from neuralns.errors import InputError
from neuralns.experiments.jobs import Done, Failure, Job, Journal, cluster, process_pool, run_jobs
from neuralns.experiments.paper import (
    EXPERIMENTS,
    Plan,
    Tables,
    choose,
    judge_policies,
    main_jobs,
    make_tables,
    train_policies,
    tuning_jobs,
    work,
)
from neuralns.experiments.rows import rows_text
from neuralns.files import write_bytes
from neuralns.selection.policy_file import read_policy, write_policy

JOURNAL = "jobs.jsonl"
FILES = tuple(f"{entry.name}.csv" for entry in fields(Tables) if entry.name not in ("values", "pairs"))
REPORTS = ("report.html", "report.md")


@dataclass(frozen=True)
class Reproduced:
    """What there is after a call.

    Attributes
    ----------
    total, failures
        How many jobs the experiments have, and those that failed in this call.
    seconds
        Of this call.
    """

    tables: Tables
    journal: Journal
    total: int
    failures: tuple[Failure, ...]
    seconds: float


Notify = Callable[[Job, Done | Failure, int, int], object]


def experiments_named(name: str) -> tuple[str, ...]:
    """Return the experiments that a word stands for.

    >>> experiments_named("all")
    ('table1', 'table2', 'scaling', 'scale', 'temperature')
    """
    if name == "all":
        return EXPERIMENTS
    if name not in EXPERIMENTS:
        raise InputError(f"experiment {name!r} is not known; choose {', '.join(EXPERIMENTS)} or all.")
    return (name,)


def open_folder(folder: Path, plan: Plan, quick: bool) -> Journal:
    """Return the journal of an output folder, which is made if it is not there; results of others are refused."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{folder}: cannot be made a folder ({error.strerror or error}).") from None
    if not os.access(folder, os.W_OK | os.X_OK):
        raise InputError(f"{folder}: cannot be written to.")
    journal = Journal(folder / JOURNAL, {"quick": quick, "seeds": plan.seeds})
    if not journal.done:
        for name in (*FILES, *REPORTS):
            if (folder / name).exists():
                raise InputError(
                    f"{folder / name}: is there, but not the results in {JOURNAL} that it would be made from; choose "
                    "another folder with --out."
                )
    return journal


def reproduce(
    experiments: Sequence[str],
    plan: Plan,
    journal: Journal,
    *,
    workers: int = 1,
    address: str | None = None,
    device: str = "cpu",
    command: str = "",
    notify: Notify = lambda job, outcome, done, total: None,
    say: Callable[[str], object] = lambda text: None,
) -> Reproduced:
    """Do what the journal lacks of some experiments; return their results, and those of others that are complete.

    Parameters
    ----------
    workers
        Processes, where no cluster is given.
    address
        Of a Dask scheduler.
    device
        With ``cuda`` the networks of all cells are trained in one stacked run on a GPU, by this process.
    notify, say
        Told of each job when it is done or has failed, with the jobs done and the jobs in all; told what goes on.
    """
    begin = time.perf_counter()
    failures: list[Failure] = []
    tuning = tuning_jobs(experiments, plan)
    total = len(tuning) + len(main_jobs(experiments, plan, None))
    asked: set[str] = {job.name for job in tuning}

    def tell(job: Job, outcome: Done | Failure) -> None:
        notify(job, outcome, len(asked & journal.done.keys()), total)

    def results() -> dict[str, Any]:
        return {name: done.result for name, done in journal.done.items()}

    before = len(journal.done)
    stacked: dict[str, Any] = {}
    executors: AbstractContextManager[Callable[[], Executor]] = (
        nullcontext(partial(process_pool, workers)) if address is None else cluster(address)
    )
    window = workers if address is None else None
    try:
        with executors as open_executor:
            failures += run_jobs(work, tuning, journal, open_executor, window, tell)
            if not failures:
                choices, _ = choose(experiments, plan, results())
                jobs = main_jobs(experiments, plan, choices)
                asked.update(job.name for job in jobs)
                if device == "cpu":
                    failures += run_jobs(work, jobs, journal, open_executor, window, tell)
                else:
                    with tempfile.TemporaryDirectory() as folder:
                        stacked = train_stacked(jobs, journal, Path(folder), device, say)
                        failures += run_jobs(
                            partial(work_with_policies, folder), jobs, journal, open_executor, window, tell
                        )
    finally:
        seconds = time.perf_counter() - begin
        if len(journal.done) > before:
            journal.add_call(
                {
                    "command": command, "workers": None if address else workers, "cluster": address is not None,
                    "device": device, "seconds": round(seconds, 1), "jobs": len(journal.done) - before,
                    "date": datetime.now(UTC).strftime("%Y-%m-%d"), "machine": machine(), **stacked,
                }
            )  # fmt: skip
    shown = [name for name in EXPERIMENTS if name in experiments or is_complete(name, plan, results())]
    return Reproduced(make_tables(shown, plan, results()), journal, total, tuple(failures), seconds)


def is_complete(experiment: str, plan: Plan, results: dict[str, Any]) -> bool:
    """Return whether there are results of all jobs of an experiment; others may have needed the same jobs."""
    if any(job.name not in results for job in tuning_jobs([experiment], plan)):
        return False
    choices, _ = choose([experiment], plan, results)
    return all(job.name in results for job in main_jobs([experiment], plan, choices))


def train_stacked(
    jobs: Sequence[Job], journal: Journal, folder: Path, device: str, say: Callable[[str], object]
) -> dict[str, Any]:
    """Train the networks of all missing DQN jobs of one configuration in one run; write the policies to a folder."""
    groups: dict[str, list[Job]] = {}
    for job in jobs:
        if job.kind == "dqn" and job.name not in journal.done:
            groups.setdefault(repr(job.settings["config"]), []).append(job)
    trainings, seconds = 0, 0.0
    for group in groups.values():
        begin, last = time.perf_counter(), [0.0]
        count = sum(len(job.settings["seeds"]) for job in group)

        def progress(report: Any, count: int = count, last: list[float] = last) -> None:
            if report.seconds - last[0] > 10:
                last[0] = report.seconds
                say(f"training {count} networks: step {report.step} of {report.steps}, {report.seconds:.0f} s")

        trained = train_policies(
            [job.settings for job in group], group[0].settings["config"], device=device, threads=cores(),
            progress=progress,
        )  # fmt: skip
        for job, policies in zip(group, trained, strict=True):
            for seed, policy in policies.items():
                write_policy(policy, policy_file(folder, job, seed))
        trainings, seconds = trainings + count, seconds + time.perf_counter() - begin
        say(f"trained {count} networks in {time.perf_counter() - begin:.0f} s")
    return {"trainings": trainings, "training_seconds": round(seconds, 1)}


def work_with_policies(folder: str, kind: str, settings: dict[str, Any]) -> Any:
    """Do a job; networks that a folder holds are not trained again."""
    if kind != "dqn":
        return work(kind, settings)
    job = Job(kind, settings)
    policies = {seed: read_policy(policy_file(Path(folder), job, seed)) for seed in settings["seeds"]}
    return judge_policies(settings, policies)


def policy_file(folder: Path, job: Job, seed: int) -> Path:
    return folder / f"{job.name}.seed-{seed}.policy"


def write_tables(tables: Tables, folder: Path) -> list[Path]:
    """Write each table that has rows; return the files."""
    written = []
    for name in FILES:
        rows = getattr(tables, name.removesuffix(".csv"))
        if rows:
            write_bytes(folder / name, rows_text(rows).encode())
            written.append(folder / name)
    return written


def cores() -> int:
    """Return the processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def machine() -> dict[str, Any]:
    """Return what results may depend on."""
    found: dict[str, Any] = {"system": platform.system(), "processor": _processor(), "cores": cores()}
    found["python"] = platform.python_version()
    for package in ("numpy", "numba", "torch"):
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = None
    return {**found, "neuralns": __version__}


def _processor() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()
