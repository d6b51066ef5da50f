"""What a process of the server does for one request: read it, solve it, or make something of what was found."""

from __future__ import annotations

import json
import os
import socket
import sys
import time
import warnings
from contextlib import suppress
from dataclasses import asdict, replace
from typing import Any

from neuralns.compiled.sharing import end_with_parent
from neuralns.errors import AdvisedError, NeuralnsError
from neuralns.problem.formats.vroom_output import vroom_answer
from neuralns.problem.solution import Solution
from neuralns.search.pausing import Clock
from neuralns.search.result import Result
from neuralns.search.setup import initial_solution
from neuralns.search.solve import solve
from neuralns.search.stopping import MaxIterations, MaxTime, Stop
from neuralns.studio.channel import SECRET_BYTES, Channel, packed
from neuralns.studio.describe import describe_instance, describe_solution, number
from neuralns.studio.downloads import make_download
from neuralns.studio.episodes import play_episode
from neuralns.studio.limits import Limits
from neuralns.studio.reporter import Reporter
from neuralns.studio.request import Options, Request, TooLargeError, UnreadableError, change_options, read_request
from neuralns.studio.vroom import read_vroom_request, with_geometry


def run_task(connection: socket.socket) -> None:
    """Do what the server asks for by a first line and a body."""
    channel = Channel(connection)
    task = channel.next_command()
    body = channel.read(task["bytes"])
    limits = Limits(**task["limits"])
    # No name that a client gives is a file here.
    os.chdir("/")
    _limit_memory(limits.memory)
    try:
        with warnings.catch_warnings(record=True) as notes:
            warnings.simplefilter("always")
            _TASKS[task["task"]](channel, task, body, limits, notes)
    except NeuralnsError as error:
        status = 413 if isinstance(error, TooLargeError) else 400 if isinstance(error, UnreadableError) else 422
        channel.send("refused", error=_sentence(error, task["task"]), status=status)
    except MemoryError:
        channel.send("refused", error="the memory that this server allows is not enough for that.", status=413)


def _limit_memory(most: int) -> None:
    """Allow this process so many bytes, where the system can do that."""
    with suppress(ImportError, OSError, ValueError):
        import resource

        resource.setrlimit(resource.RLIMIT_DATA, (most, most))


def _solve(channel: Channel, task: dict[str, Any], body: bytes, limits: Limits, notes: list[Any]) -> None:
    begun = time.perf_counter()
    request = _request(task, body, limits)
    seconds = {"loading": time.perf_counter() - begun}
    options, instance = request.options, request.instance
    start = None if request.vroom is None else request.vroom.start
    if task.get("start") is not None:
        # What cannot be started from is refused at once.
        given = _solution(request, task["start"])
        start = initial_solution(given.instance, given)
    channel.send(
        "accepted",
        name=instance.name,
        options=asdict(options),
        instance=packed(json.dumps(describe_instance(request), allow_nan=False)),
        notes=[*(request.vroom.notes if request.vroom else ()), *(str(note.message) for note in notes)],
    )
    while channel.next_command()["do"] != "go":
        pass
    clock = Clock()
    reporter = Reporter(channel, instance, options, clock)
    result = solve(
        instance,
        _stop(options),
        selector=options.selector,
        portfolio=options.portfolio,
        seed=options.seed,
        workers=options.workers,
        objective=options.objective,
        initial="savings" if start is None else start,
        callbacks=[reporter],
        on_best=reporter.note_best if options.workers > 1 else None,
        clock=clock,
    )
    reporter.finish(result)
    answer = ""
    if request.vroom is not None and task["task"] == "vroom":
        found = Solution(instance, result.best.routes, result.best.vehicles)
        content = vroom_answer(request.vroom, found, seconds | {"solving": result.runtime})
        if request.geometry:
            begun = time.perf_counter()
            with_geometry(content)
            content["summary"]["computing_times"]["routing"] = round(1000 * (time.perf_counter() - begun))
        answer = packed(json.dumps(content, separators=(",", ":"), allow_nan=False))
    stopped_by = "time" if reporter.out_of_time else result.stopped_by
    described = _described(result) | {"stopped_by": stopped_by}
    channel.send("done", result=described, trace=packed(result.trace.text()), answer=answer)


def _stop(options: Options) -> Stop:
    """Return when a search is to end: with a number of iterations, time has no part in it, so that it can be repeated.

    The reporter sees to the time then; but it is not asked while pairs of operators are tried out.
    """
    if options.iterations is None:
        return MaxTime(options.time)
    stop = MaxIterations(options.iterations)
    return stop | MaxTime(options.time) if options.selector == "best-fixed" else stop


def _sentence(error: NeuralnsError, task: str) -> str:
    """Return what an error says on one line, of letters that can be sent, with options that the call takes."""
    text = str(error)
    if isinstance(error, AdvisedError):
        option = (
            "'lenient' of the options" if task == "vroom" else f"'ignore' of the instance ({', '.join(error.keys)})"
        )
        text = f"{error.fault}; {option} goes on without." if error.keys else f"{error.fault}."
    return " ".join(text.split()).encode("utf-8", "replace").decode()


def _request(task: dict[str, Any], body: bytes, limits: Limits) -> Request:
    request = read_vroom_request(body, limits) if task["task"] == "vroom" else read_request(body, limits)
    return change_options(request, task.get("changes") or {}, limits)


def _solution(request: Request, found: dict[str, Any]) -> Solution:
    instance, objective = request.instance, request.options.objective
    if objective is not None:
        instance = instance.with_objective(objective)
    return Solution(instance, found["routes"], found["vehicles"])


def _described(result: Result) -> dict[str, Any]:
    return {
        **describe_solution(result.best),
        "initial_cost": number(result.initial.cost),
        "runtime": number(result.runtime),
        "iterations": result.iterations,
        "selector": result.selector,
        "portfolio": result.portfolio,
        "decision_time_share": number(result.decision_time_share),
        "gap": number(result.gap),
        "operators": [asdict(each) for each in result.operators],
    }


def _make(channel: Channel, task: dict[str, Any], body: bytes, limits: Limits, notes: list[Any]) -> None:
    begun = time.perf_counter()
    request = _request(task, body, limits)
    request = replace(request, seconds={"loading": time.perf_counter() - begun, "solving": task["seconds"]})
    content, media_type = make_download(request, _solution(request, task["solution"]), task["format"])
    channel.send("made", content=content, type=media_type)


def _episode(channel: Channel, task: dict[str, Any], body: bytes, limits: Limits, notes: list[Any]) -> None:
    channel.send("made", content=play_episode(**task["episode"]), type="application/json")


_TASKS = {"solve": _solve, "vroom": _solve, "make": _make, "episode": _episode}


def main(port: int, server: int) -> None:
    """Do the work of a server that listens on a port of this machine; what it sent to stdin says that it is ours."""
    end_with_parent(server)
    secret = sys.stdin.buffer.read(SECRET_BYTES)
    connection = socket.create_connection(("127.0.0.1", port))
    connection.sendall(secret)
    run_task(connection)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
