"""What a process of a server does for one request: read it, solve it, and tell of the search as it goes on."""

from __future__ import annotations

import json
import os
import resource
import select
import socket
import time
import warnings
from typing import Any

from neuralns.errors import NeuralnsError
from neuralns.problem.solution import Solution
from neuralns.search.result import Result
from neuralns.search.search import Progress
from neuralns.search.solve import solve
from neuralns.search.stopping import MaxIterations, MaxTime
from neuralns.studio.describe import describe_instance, describe_solution, number
from neuralns.studio.limits import Limits
from neuralns.studio.request import Request, read_request

TELL_SECONDS = 0.15
"""Time between two reports of a search."""


class Line:
    """Talks to the server: a line of JSON for each message, either way."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._waiting = b""

    def send(self, kind: str, **content: Any) -> None:
        """Tell the server."""
        self._connection.sendall(json.dumps({"kind": kind, **content}).encode() + b"\n")

    def read(self, count: int) -> bytes:
        """Return so many bytes that the server sends."""
        while len(self._waiting) < count:
            self._receive()
        found, self._waiting = self._waiting[:count], self._waiting[count:]
        return found

    def order(self) -> dict[str, Any]:
        """Return the next line that the server sends."""
        while b"\n" not in self._waiting:
            self._receive()
        line, _, self._waiting = self._waiting.partition(b"\n")
        found: dict[str, Any] = json.loads(line)
        return found

    def orders(self) -> list[dict[str, Any]]:
        """Return the lines that have come, if any."""
        found = []
        while b"\n" in self._waiting or select.select([self._connection], [], [], 0)[0]:
            found.append(self.order())
        return found

    def _receive(self) -> None:
        found = self._connection.recv(1 << 16)
        if not found:
            # The server is gone, or wants no more of this.
            os._exit(0)
        self._waiting += found


def work(connection: socket.socket) -> None:
    """Do what the server asks for by a first line and, where that says so, a body."""
    line = Line(connection)
    order = line.order()
    body = line.read(order["bytes"])
    limits = Limits(**order["limits"])
    os.chdir("/")
    resource.setrlimit(resource.RLIMIT_DATA, (limits.memory, limits.memory))
    try:
        with warnings.catch_warnings(record=True) as notes:
            warnings.simplefilter("always")
            _solve(line, order, body, limits, notes)
    except NeuralnsError as error:
        line.send("refused", error=" ".join(str(error).split()))
    except MemoryError:
        line.send("refused", error="the memory that this server allows is not enough for that.")


def _solve(line: Line, order: dict[str, Any], body: bytes, limits: Limits, notes: list[Any]) -> None:
    request = read_request(body, limits)
    options = request.options
    line.send(
        "accepted",
        name=request.instance.name,
        options=vars(options),
        instance=describe_instance(request),
        notes=[str(note.message) for note in notes],
    )
    while line.order()["do"] != "go":
        pass
    teller = Teller(line, request)
    stop = MaxTime(options.time) if options.iterations is None else MaxTime(options.time) | MaxIterations(options.iterations)
    result = solve(
        request.instance,
        stop,
        selector=options.selector,
        portfolio=options.portfolio,
        seed=options.seed,
        workers=options.workers,
        objective=options.objective,
        callbacks=[teller],
        on_best=teller.note_best,
    )
    teller.tell_best(result.best, result.iterations, result.runtime)
    line.send("done", result=_described(result))


class Teller:
    """Tells of a search several times a second, and does what the server orders meanwhile."""

    def __init__(self, line: Line, request: Request) -> None:
        self._line = line
        self._request = request
        self._told = 0.0
        self._index = 0
        self._best: tuple[Solution, Progress] | None = None

    def note_best(self, solution: Solution, progress: Progress) -> None:
        self._best = solution, progress

    def __call__(self, progress: Progress) -> bool:
        orders = [order["do"] for order in self._line.orders()]
        if "stop" in orders:
            return True
        if time.perf_counter() - self._told < TELL_SECONDS:
            return False
        self._told = time.perf_counter()
        if self._best is not None:
            solution, at = self._best
            self._best = None
            self.tell_best(solution, at.iteration, at.time)
        self._line.send(
            "progress",
            time=number(progress.time),
            iteration=progress.iteration,
            current=number(progress.current),
            best=number(progress.best),
            temperature=number(progress.temperature),
            acceptance=None,
            uses=progress.uses,
            gains={},
            unserved=progress.unserved,
            share=number(progress.share),
        )
        return False

    def tell_best(self, solution: Solution, iteration: int, at: float) -> None:
        self._line.send(
            "best", index=self._index, time=number(at), iteration=iteration, **describe_solution(solution)
        )
        self._index += 1


def _described(result: Result) -> dict[str, Any]:
    return {
        **describe_solution(result.best),
        "runtime": number(result.runtime),
        "iterations": result.iterations,
        "stopped_by": result.stopped_by,
        "selector": result.selector,
        "portfolio": result.portfolio,
        "decision_time_share": result.decision_time_share,
        "gap": result.gap,
        "operators": [vars(each) for each in result.operators],
    }
