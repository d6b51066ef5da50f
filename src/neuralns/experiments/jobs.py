"""Independent pieces of work with names made from their content, run by an executor, each result written when done."""

from __future__ import annotations

import hashlib
import json
import time
from collections import Counter, deque
from collections.abc import Callable, Container, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol

from neuralns import __version__
from neuralns.errors import InputError, NeuralnsError
from neuralns.experiments.store import JsonRows, Store

FORMAT = 1
ATTEMPTS = 3
"""How often a job is tried before it counts as failed."""


@dataclass(frozen=True)
class Job:
    """What to do: a kind of work and its settings, all plain values of JSON."""

    kind: str
    settings: Mapping[str, Any]

    @property
    def name(self) -> str:
        """The same for the same content, whoever asks and when.

        >>> Job("dqn", {"instance": "C", "seeds": [0, 1]}).name == Job("dqn", {"seeds": [0, 1], "instance": "C"}).name
        True
        """
        content = json.dumps([self.kind, self.settings], sort_keys=True, separators=(",", ":"))
        return f"{self.kind}-{hashlib.sha256(content.encode()).hexdigest()[:16]}"


@dataclass(frozen=True)
class Done:
    """What a job gave, and the seconds that it took: on the clock, and of a processor."""

    result: Any
    seconds: float
    processor: float


class JobStore:
    """What jobs gave, as lines of a file, the first line saying under which conditions.

    Attributes
    ----------
    done, calls
        What jobs gave, by their names, and who did them.
    """

    def __init__(self, path: Path, conditions: Mapping[str, Any]) -> None:
        head = {"neuralns": __version__, "format": FORMAT, **conditions}
        self.path = path
        self._rows = Store(path, JsonRows(head, _expect_entry))
        self._take_in()

    def _take_in(self) -> None:
        self.done: dict[str, Done] = {}
        self.calls: list[Mapping[str, Any]] = []
        for entry in self._rows.rows:
            if "call" in entry:
                self.calls.append(entry["call"])
            else:
                self.done[entry["job"]] = Done(entry["result"], entry["seconds"], entry["processor"])

    def __enter__(self) -> JobStore:
        self._rows.__enter__()
        self._take_in()
        return self

    def __exit__(
        self, error_type: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._rows.__exit__(error_type, error, traceback)

    @property
    def results(self) -> dict[str, Any]:
        """What jobs gave, by their names, without their times."""
        return {name: done.result for name, done in self.done.items()}

    def add(self, job: Job, done: Done) -> None:
        """Write what a job gave."""
        done = replace(done, seconds=round(done.seconds, 3), processor=round(done.processor, 3))
        entry = {
            "job": job.name,
            "settings": job.settings,
            "seconds": done.seconds,
            "processor": done.processor,
            "result": done.result,
        }
        try:
            self._rows.add(entry)
        finally:
            # Ctrl-C may come when it is written already.
            if self._rows.rows and self._rows.rows[-1] is entry:
                self.done[job.name] = done

    def add_call(self, about: Mapping[str, Any]) -> None:
        """Write who did the jobs since the last such line."""
        self._rows.add({"call": about})
        self.calls.append(about)


def _expect_entry(entry: Any) -> object:
    """Return what a line holds; one that is neither of a job nor of a call is an error."""
    if "call" in entry:
        return entry["call"]
    for name, types in (("job", (str,)), ("seconds", (int, float)), ("processor", (int, float))):
        if type(entry[name]) not in types:
            raise ValueError(name)
    return entry["result"]


Work = Callable[..., Any]
"""A function at the top of a module that takes a job's kind and settings, and returns plain values."""


@dataclass(frozen=True)
class Failure:
    """A job that failed every time, and how the last time."""

    job: Job
    reason: str


class Stopped(KeyboardInterrupt):
    """Ctrl-C while jobs were done; its text says what is kept."""


class Kept(Protocol):
    """Where results go: a `JobStore`, or what else knows the names of the jobs that are done."""

    @property
    def done(self) -> Container[str]: ...

    def add(self, job: Job, done: Done) -> None: ...


def run_jobs(
    work: Work,
    jobs: Sequence[Job],
    store: Kept,
    open_executor: Callable[[], Executor],
    window: int | None = None,
    notify: Callable[[Job, Done | Failure], object] = lambda job, end: None,
    pack: Callable[[Job], Mapping[str, Any]] = lambda job: dict(job.settings),
) -> list[Failure]:
    """Do the jobs that the store lacks, in their order; return those that failed every time.

    At most ``window`` jobs are handed out at a time. What the work is given of a job is what ``pack`` returns when its
    turn comes: its settings by default. An error that ``pack`` raises fails the job at once.
    """
    waiting = deque({job.name: job for job in jobs if job.name not in store.done}.values())
    if not waiting:
        return []
    running: dict[Future[Any], Job] = {}
    attempts: Counter[str] = Counter()
    failures: list[Failure] = []

    def fail(job: Job, error: BaseException) -> None:
        failures.append(Failure(job, _reason(error)))
        notify(job, failures[-1])

    executor = open_executor()
    try:
        while waiting or running:
            while waiting and (window is None or len(running) < window):
                job = waiting.popleft()
                try:
                    given = pack(job)
                except Exception as error:
                    fail(job, error)
                else:
                    running[executor.submit(timed, work, job.kind, given)] = job
            finished, _ = wait(running, return_when=FIRST_COMPLETED)
            for future in [each for each in running if each in finished]:
                job = running.pop(future)
                if future.cancelled():
                    raise InputError(
                        "the cluster has been lost; results so far are kept, and the same command goes on from there."
                    )
                failed = future.exception()
                if failed is None:
                    done = Done(*future.result())
                    store.add(job, done)
                    notify(job, done)
                    continue
                attempts[job.name] += 1
                if attempts[job.name] < ATTEMPTS:
                    waiting.append(job)
                else:
                    fail(job, failed)
    except BaseException:
        for future in running:
            future.cancel()
        executor.shutdown(wait=False)
        raise
    executor.shutdown()
    return failures


def _reason(error: BaseException) -> str:
    """Return an error on one line; a sentence needs no name of its kind."""
    prefix = "" if isinstance(error, NeuralnsError) else f"{type(error).__name__}: "
    return " ".join(f"{prefix}{error}".split()).rstrip(": ")


def timed(work: Work, kind: str, settings: Mapping[str, Any]) -> tuple[Any, float, float]:
    """Do a job; return what it gave with its seconds on the clock and of the processor."""
    begin, processor = time.perf_counter(), time.process_time()
    result = work(kind, settings)
    return result, time.perf_counter() - begin, time.process_time() - processor
