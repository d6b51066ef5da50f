"""Several searches of one plan in processes of their own, which exchange their best solution at intervals."""

from __future__ import annotations

import math
import multiprocessing
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection, wait
from typing import Any

import numpy as np
import numpy.typing as npt

from neuralns.errors import InputError, NeuralnsError, OperatorError
from neuralns.problem.solution import Solution
from neuralns.search.search import Plan, Progress, Search

EXCHANGES = 20
"""Rounds of a run; after each one the search that is worst off goes on from the best solution of all."""
OPEN_ROUND = 100_000
"""Iterations of a round when neither time nor iterations are limited."""
REPORT_SECONDS = 0.1


@dataclass(frozen=True)
class Report:
    """What a search tells the others."""

    progress: Progress
    routes: tuple[tuple[int, ...], ...]
    reason: str | None
    destroy_counts: npt.NDArray[np.int64]
    repair_counts: npt.NDArray[np.int64]


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
    workers = []
    for seed in seeds:
        own, other = context.Pipe()
        process = context.Process(target=_work, args=(other, plan, seed, begin), daemon=True)
        process.start()
        other.close()
        workers.append((own, process))
    try:
        return _coordinate([connection for connection, _ in workers], watch)
    finally:
        for connection, process in workers:
            connection.close()
            process.terminate()
            process.join()


def _coordinate(connections: list[Connection], watch: Callable[[Progress], str | None]) -> tuple[list[Report], str]:
    latest: dict[int, Report] = {}
    waiting: set[int] = set()
    ended: str | None = None
    while True:
        # One that waits has nothing to say; once told to stop it leaves.
        busy = [connection for worker, connection in enumerate(connections) if worker not in waiting]
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
        reports = [latest[worker] for worker in range(len(connections))]
        if ended is None:
            ended = watch(_together(reports))
            if ended is not None:
                _send(connections, dict.fromkeys(range(len(connections)), "stop"))
        if len(waiting) < len(connections):
            continue
        reasons = [report.reason for report in reports]
        reason = ended or ("target" if "target" in reasons else reasons[0] if all(reasons) else None)
        if reason is not None:
            return reports, reason
        best = min(range(len(reports)), key=lambda worker: (reports[worker].progress.best, worker))
        worst = max(range(len(reports)), key=lambda worker: (reports[worker].progress.current, worker))
        answers: dict[int, Any] = dict.fromkeys(range(len(reports)))
        if worst != best:
            answers[worst] = reports[best].routes
        waiting.clear()
        _send(connections, answers)


def _receive(connection: Connection) -> tuple[str, Any]:
    try:
        kind, content = connection.recv()
    except EOFError:
        return "error", InputError("a worker process ended unexpectedly (killed, or out of memory).")
    return kind, content


def _send(connections: list[Connection], answers: dict[int, Any]) -> None:
    for worker, answer in answers.items():
        connections[worker].send(answer)


def _together(reports: list[Report]) -> Progress:
    parts = [report.progress for report in reports]
    uses = {name: sum(part.uses[name] for part in parts) for name in parts[0].uses}
    return replace(
        parts[0],
        time=max(part.time for part in parts),
        iteration=sum(part.iteration for part in parts),
        current=min(part.current for part in parts),
        best=min(part.best for part in parts),
        uses=uses,
    )


def _work(connection: Connection, plan: Plan, seed: np.random.SeedSequence, begin: float) -> None:
    """Search in a process of its own; Ctrl-C is the coordinator's to handle."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    try:
        _search(connection, Search(plan, seed, begin))
    except (OperatorError, NeuralnsError) as error:
        connection.send(("error", error))
    except (BrokenPipeError, EOFError, ConnectionResetError):
        pass  # the coordinator has ended


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
    return Report(
        search.progress(),
        search.best().routes,
        search.reason_to_stop(),
        search.destroy_counts.copy(),
        search.repair_counts.copy(),
    )
