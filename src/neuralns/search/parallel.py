"""Several searches of one plan in processes of their own, which exchange their best solution at intervals."""

from __future__ import annotations

import math
import multiprocessing
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from typing import Any

import numpy as np
import numpy.typing as npt

from neuralns.errors import InputError, NeuralnsError
from neuralns.problem.solution import Solution
from neuralns.search.search import Plan, Progress, Search

EXCHANGES = 20
"""Rounds of a run; after each one the search that is worst off goes on from the best solution of all."""
OPEN_ROUND = 100_000
"""Iterations of a round when neither time nor iterations are limited."""
REPORT_SECONDS = 0.1


@dataclass(frozen=True)
class Report:
    """What a search tells the coordinator: small, since it is sent many times."""

    time: float
    iteration: int
    current: float
    best: float
    temperature: float
    uses: dict[str, int]
    routes: tuple[tuple[int, ...], ...]
    reason: str | None
    destroy_counts: npt.NDArray[np.int64]
    repair_counts: npt.NDArray[np.int64]
    decision_times: tuple[float, float]


def run_in_parallel(
    plan: Plan,
    seeds: list[np.random.SeedSequence],
    begin: float,
    watch: Callable[[Progress], str | None],
) -> tuple[list[Report], str]:
    """Run a search for each seed until a limit is reached or ``watch`` gives a reason to end; return last reports.

    ``watch`` is called several times a second with the progress of all: the sum of iterations, the least costs. Rounds
    end at fixed numbers of iterations if iterations are the limit, so that the result depends on the seeds alone.
    """
    if "fork" not in multiprocessing.get_all_start_methods():
        raise InputError("several workers need an operating system that can fork processes.")
    context = multiprocessing.get_context("fork")
    connections: list[Connection] = []
    processes = []
    try:
        for seed in seeds:
            own, other = context.Pipe()
            connections.append(own)
            process = context.Process(target=_work, args=(other, plan, seed, begin), daemon=True)
            process.start()
            processes.append(process)
            other.close()
        return _coordinate(plan, connections, watch)
    finally:
        for connection in connections:
            connection.close()
        for process in processes:
            process.kill()
            process.join()


def _coordinate(
    plan: Plan, connections: list[Connection], watch: Callable[[Progress], str | None]
) -> tuple[list[Report], str]:
    everyone = range(len(connections))
    latest: dict[int, Report] = {}
    waiting: set[int] = set()
    ended: str | None = None
    while True:
        # One that waits has nothing to say; once told to stop it leaves.
        busy = [connections[worker] for worker in everyone if worker not in waiting]
        for ready in wait(busy, REPORT_SECONDS):
            worker = connections.index(ready)  # type: ignore[arg-type]
            kind, content = _receive(connections[worker])
            if kind == "error":
                raise content
            latest[worker] = content
            if kind == "round":
                waiting.add(worker)
        if len(latest) < len(connections):
            continue
        reports = [latest[worker] for worker in everyone]
        reasons = [report.reason for report in reports]
        if ended is None:
            ended = watch(_together(plan, reports))
            if ended is None and "target" in reasons and math.isfinite(plan.stop.time):
                # Runs limited by iterations go on to the end of the round, so that they can be repeated.
                ended = "target"
            if ended is not None:
                _send(connections, dict.fromkeys(everyone, "stop"))
        if len(waiting) < len(connections):
            continue
        reason = ended or ("target" if "target" in reasons else reasons[0] if all(reasons) else None)
        if reason is not None:
            return reports, reason
        best = min(everyone, key=lambda worker: (reports[worker].best, worker))
        worst = max(everyone, key=lambda worker: (reports[worker].current, worker))
        answers: dict[int, Any] = dict.fromkeys(everyone)
        if worst != best:
            answers[worst] = reports[best].routes
        waiting.clear()
        _send(connections, answers)


_LOST = "a worker process ended unexpectedly (killed, or out of memory)."


def _receive(connection: Connection) -> tuple[str, Any]:
    try:
        kind, content = connection.recv()
    except (EOFError, OSError):
        return "error", InputError(_LOST)
    return kind, content


def _send(connections: list[Connection], answers: dict[int, Any]) -> None:
    for worker, answer in answers.items():
        try:
            connections[worker].send(answer)
        except OSError:
            raise InputError(_LOST) from None


def _together(plan: Plan, reports: list[Report]) -> Progress:
    return Progress(
        plan.instance,
        plan.stop,
        max(report.time for report in reports),
        sum(report.iteration for report in reports),
        min(report.current for report in reports),
        min(report.best for report in reports),
        reports[0].temperature,
        {name: sum(report.uses[name] for report in reports) for name in reports[0].uses},
        len(reports),
    )


def _work(connection: Connection, plan: Plan, seed: np.random.SeedSequence, begin: float) -> None:
    """Search in a process of its own; signals, which reach the whole group, are the coordinator's to handle."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    # Where the coordinator has ended there is nobody to tell.
    with suppress(OSError, EOFError):
        try:
            _search(connection, Search(plan, seed, begin))
        except NeuralnsError as error:
            connection.send(("error", error))


def _search(connection: Connection, search: Search) -> None:
    stop = search.plan.stop
    number = 0
    while True:
        number += 1
        last_time = stop.time * number / EXCHANGES
        if math.isfinite(stop.time):
            last_iteration = math.inf
        elif math.isfinite(stop.iterations):
            last_iteration = math.ceil(stop.iterations * number / EXCHANGES)
        else:
            last_iteration = OPEN_ROUND * number
        reported = time.perf_counter()
        while search.reason_to_stop() is None and search.elapsed < last_time and search.iteration < last_iteration:
            if connection.poll():
                break
            search.advance(last_iteration - search.iteration)
            if time.perf_counter() - reported > REPORT_SECONDS:
                reported = time.perf_counter()
                connection.send(("progress", _report(search)))
        connection.send(("round", _report(search)))
        answer = connection.recv()
        if answer == "stop":
            return
        if answer is not None:
            search.continue_from(Solution(search.plan.instance, answer))


def _report(search: Search) -> Report:
    progress = search.progress()
    return Report(
        progress.time,
        progress.iteration,
        progress.current,
        progress.best,
        progress.temperature,
        progress.uses,
        search.best().routes,
        search.reason_to_stop(),
        search.destroy_counts.copy(),
        search.repair_counts.copy(),
        search.decision_times,
    )
