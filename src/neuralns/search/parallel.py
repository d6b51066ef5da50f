"""Several searches of one setup in processes of their own, which exchange their best solution at intervals."""

from __future__ import annotations

import math
import multiprocessing
import os
import signal
import time
import warnings
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from typing import Any

import numpy as np
import numpy.typing as npt

from neuralns.errors import GivenUpError, InputError, InputWarning, NeuralnsError
from neuralns.problem.instance import Instance
from neuralns.problem.solution import Solution
from neuralns.search.search import Progress, Search
from neuralns.search.setup import Setup
from neuralns.search.supervision import Supervised

EXCHANGES = 20
"""Rounds of a run; after each one the search that is worst off goes on from the best solution of all."""
OPEN_ROUND = 100_000
"""Iterations of a round when neither time nor iterations are limited."""
MESSAGE_SECONDS = 0.1
MOST_WORKERS = 1000


@dataclass(frozen=True)
class Message:
    """What a search tells the coordinator: small, since it is sent many times."""

    time: float
    iteration: int
    current: float
    best: float
    rank: tuple[int, int, float]
    standing: tuple[int, float]
    temperature: float
    uses: dict[str, int]
    routes: tuple[tuple[int, ...], ...]
    vehicles: tuple[int, ...]
    reason: str | None
    counts: npt.NDArray[np.int64]
    decision_times: tuple[float, float] | None

    def best_of(self, instance: Instance) -> Solution:
        """Return the best solution of the search."""
        return Solution(instance, self.routes, self.vehicles)


def run_in_parallel(
    setup: Setup,
    seeds: list[np.random.SeedSequence],
    begin: float,
    watch: Callable[[Progress], str | None],
    tell_best: Callable[[Solution, Progress], object] = lambda best, progress: None,
    hurried: Callable[[], bool] = lambda: False,
) -> tuple[list[Message], str | GivenUpError]:
    """Run a search for each seed until a limit is reached or ``watch`` gives a reason to end; return last messages.

    ``watch`` is called several times a second with the progress of all: the sum of iterations, the least costs. Rounds
    end at fixed numbers of iterations if iterations are the limit, so that the result depends on the seeds alone.

    A worker that is killed is left out, with a warning; what it told last counts. If all are, that is the result. When
    ``hurried`` says so, the rest of the round is not waited for.
    """
    if "fork" not in multiprocessing.get_all_start_methods():
        raise InputError("several workers need an operating system that can fork processes.")
    if multiprocessing.current_process().daemon:
        raise InputError("several workers cannot be started by a daemonic process; search on one core there.")
    context = multiprocessing.get_context("fork")
    connections: list[Connection] = []
    processes = []
    try:
        for seed in seeds:
            own, other = context.Pipe()
            connections.append(own)
            given = (other, [*connections], setup, seed, begin, os.getpid())
            process = context.Process(target=_work, args=given, daemon=True)
            try:
                process.start()
            except OSError as error:
                raise InputError(f"a worker cannot be started ({error.strerror or error}).") from None
            processes.append(process)
            other.close()
        return _coordinate(setup, connections, watch, tell_best, hurried)
    finally:
        for connection in connections:
            connection.close()
        for process in processes:
            process.kill()
            process.join()


def _coordinate(
    setup: Setup,
    connections: list[Connection],
    watch: Callable[[Progress], str | None],
    tell_best: Callable[[Solution, Progress], object],
    hurried: Callable[[], bool],
) -> tuple[list[Message], str | GivenUpError]:
    present = set(range(len(connections)))
    latest: dict[int, Message] = {}
    waiting: set[int] = set()
    ended: str | None = None
    silent: list[GivenUpError] = []

    def leave_out(worker: int) -> None:
        present.discard(worker)
        waiting.discard(worker)

    def tell(answers: dict[int, Any]) -> None:
        for worker, answer in answers.items():
            try:
                connections[worker].send(answer)
            except OSError:
                leave_out(worker)

    while True:
        # One that waits has nothing to say; once told to stop it leaves.
        busy = [connections[worker] for worker in present - waiting]
        for ready in wait(busy, MESSAGE_SECONDS):
            worker = connections.index(ready)  # type: ignore[arg-type]
            try:
                kind, content = connections[worker].recv()
            except (EOFError, OSError):
                leave_out(worker)
                continue
            if kind == "error":
                raise content
            if kind == "given up":
                content, error = content
                silent.append(error)
                leave_out(worker)
            latest[worker] = content
            if kind == "round":
                waiting.add(worker)
        messages = [latest[worker] for worker in sorted(latest)]
        if not present:
            if not messages:
                raise InputError("all worker processes ended unexpectedly (killed, or out of memory).")
            _warn_of_lost(len(connections) - len(silent), len(connections))
            return messages, silent[0] if silent else ended or LOST
        if ended is not None and hurried():
            return messages, ended
        if not present <= latest.keys():
            continue
        if ended is None:
            together = _together(setup, messages)
            tell_best(min(messages, key=lambda message: message.rank).best_of(setup.instance), together)
            ended = watch(together)
            if (
                ended is None
                and math.isfinite(setup.stop.time)
                and any(message.reason == "target" for message in messages)
            ):
                # Runs limited by iterations go on to the end of the round, so that they can be repeated.
                ended = "target"
            if ended is not None:
                tell(dict.fromkeys(sorted(present), "stop"))
        if not present or not present <= waiting:
            continue
        reasons = [latest[worker].reason for worker in sorted(present)]
        reason = ended or ("target" if "target" in reasons else reasons[0] if all(reasons) else None)
        if reason is not None:
            _warn_of_lost(len(connections) - len(present) - len(silent), len(connections))
            return messages, silent[0] if silent else reason
        # What a worker found that was killed since is not lost: the others may go on from it.
        best = min(latest, key=lambda worker: (latest[worker].rank, worker))
        worst = max(present, key=lambda worker: (latest[worker].standing, worker))
        answers: dict[int, Any] = dict.fromkeys(sorted(present))
        if worst != best:
            answers[worst] = latest[best].routes, latest[best].vehicles
        waiting.clear()
        tell(answers)


LOST = "lost workers"
"""Why a search ended whose workers were all killed."""


def _warn_of_lost(lost: int, workers: int) -> None:
    if lost > 0:
        what = "this is the best they had told of" if lost == workers else "the search went on with the others"
        sentence = f"{lost} of {workers} worker processes ended unexpectedly (killed, or out of memory); {what}."
        warnings.warn(sentence, InputWarning, stacklevel=4)


def _together(setup: Setup, messages: list[Message]) -> Progress:
    return Progress(
        setup.instance,
        setup.stop,
        max(message.time for message in messages),
        sum(message.iteration for message in messages),
        min(message.current for message in messages),
        min(messages, key=lambda message: message.rank).best,
        messages[0].temperature,
        {name: sum(message.uses[name] for message in messages) for name in messages[0].uses},
        len(messages),
        min(messages, key=lambda message: message.rank).rank[0],
    )


def _work(
    connection: Connection,
    others: list[Connection],
    setup: Setup,
    seed: np.random.SeedSequence,
    begin: float,
    coordinator: int,
) -> None:
    """Search in a process of its own; signals, which reach the whole group, are the coordinator's to handle."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    # Its copies of the coordinator's ends would keep the pipes open when the coordinator is gone.
    for other in others:
        other.close()
    # Where the coordinator has ended there is nobody to tell.
    with suppress(OSError, EOFError):
        try:
            _search(connection, setup, seed, begin, coordinator)
        except NeuralnsError as error:
            connection.send(("error", error))


def _search(connection: Connection, setup: Setup, seed: np.random.SeedSequence, begin: float, coordinator: int) -> None:
    supervised = Supervised(
        lambda hook: Search(setup, seed, begin, hook),
        leaving=lambda: connection.poll() or os.getppid() != coordinator,
        hurried=lambda: False,
    )
    with supervised:
        _search_in_rounds(connection, supervised, coordinator)


def _search_in_rounds(connection: Connection, supervised: Supervised, coordinator: int) -> None:
    search = supervised.search
    setup, stop = search.setup, search.setup.stop
    number = 0
    # Whatever becomes of this worker, the coordinator has routes of it.
    connection.send(("progress", _message_of(search)))
    while True:
        number += 1
        last_time = stop.time * number / EXCHANGES
        if math.isfinite(stop.time):
            last_iteration = math.inf
        elif math.isfinite(stop.iterations):
            last_iteration = math.ceil(stop.iterations * number / EXCHANGES)
        else:
            last_iteration = OPEN_ROUND * number
        told = time.perf_counter()
        while search.reason_to_stop() is None and search.elapsed < last_time and search.iteration < last_iteration:
            if connection.poll():
                break
            many = last_iteration - search.iteration
            try:
                supervised.advance(many)
            except GivenUpError as error:
                connection.send(("given up", (_message_of(search), error)))
                return
            if time.perf_counter() - told > MESSAGE_SECONDS:
                told = time.perf_counter()
                _expect(coordinator)
                connection.send(("progress", _message_of(search)))
        connection.send(("round", _message_of(search)))
        while not connection.poll(1.0):
            _expect(coordinator)
        answer = connection.recv()
        if answer == "stop":
            return
        if answer is not None:
            search.continue_from(Solution(setup.instance, *answer))


def _expect(coordinator: int) -> None:
    """End where the coordinator is gone, also if some other process still holds its end of the pipe."""
    if os.getppid() != coordinator:
        raise EOFError


def _message_of(search: Search) -> Message:
    progress, best = search.progress(), search.best()
    return Message(
        progress.time,
        progress.iteration,
        progress.current,
        progress.best,
        search.rank,
        search.standing,
        progress.temperature,
        progress.uses,
        best.routes,
        best.vehicles,
        search.reason_to_stop(),
        search.counts,
        search.decision_times,
    )
