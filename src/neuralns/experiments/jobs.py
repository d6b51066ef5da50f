"""Independent pieces of work with names made from their content, run by an executor, each result written when done."""

from __future__ import annotations

import hashlib
import json
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, Future, wait
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import Any

from neuralns import __version__
from neuralns.errors import InputError
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
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._rows.__exit__(kind, error, traceback)

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
    return {entry["job"]: Done(entry["result"], entry["seconds"], entry["processor"])}


Work = Callable[..., Any]
"""A function at the top of a module that takes a job's kind and settings, and returns plain values."""


@dataclass(frozen=True)
class Failure:
    """A job that failed every time, and how the last time."""

    job: Job
    reason: str


def run_jobs(
    work: Work,
    jobs: Sequence[Job],
    store: JobStore,
    open_executor: Callable[[], Executor],
    window: int | None = None,
    notify: Callable[[Job, Done | Failure], object] = lambda job, end: None,
) -> list[Failure]:
    """Do the jobs that the store lacks, in their order; return those that failed every time.

    At most ``window`` jobs are handed out at a time. Where a job takes its executor down with it, the jobs that were
    under way are tried again one by one, so that each is blamed only for itself.
    """
    waiting = deque({job.name: job for job in jobs if job.name not in store.done}.values())
    if not waiting:
        return []
    suspects: deque[Job] = deque()
    running: dict[Future[Any], Job] = {}
    attempts: Counter[str] = Counter()
    failures: list[Failure] = []
    executor = open_executor()
    on_trial = False
    try:
        while waiting or suspects or running:
            on_trial = on_trial and bool(running)
            broken = False
            try:
                if suspects and not running:
                    _submit(executor, work, suspects, running)
                    on_trial = True
                while waiting and not suspects and not on_trial and (window is None or len(running) < window):
                    _submit(executor, work, waiting, running)
            except BrokenExecutor:
                # Its jobs under way, if any, fail at once, and the one to hand out is still where it was.
                broken = True
            finished, _ = wait(running, return_when=FIRST_COMPLETED)
            alone = len(running) == 1
            for future in finished:
                job = running.pop(future)
                if future.cancelled():
                    raise InputError(
                        "the cluster has been lost; results so far are kept, and the same command goes on from there."
                    )
                error = future.exception()
                if error is None:
                    done = Done(*future.result())
                    store.add(job, done)
                    notify(job, done)
                    continue
                took_down = isinstance(error, BrokenExecutor)
                broken |= took_down
                attempts[job.name] += alone or not took_down
                if attempts[job.name] < ATTEMPTS:
                    (suspects if took_down else waiting).append(job)
                else:
                    failures.append(Failure(job, " ".join(f"{type(error).__name__}: {error}".split()).rstrip(": ")))
                    notify(job, failures[-1])
            if broken:
                suspects.extend(running.values())
                running.clear()
                _abandon(executor, ())
                executor = open_executor()
    except BaseException:
        _abandon(executor, running)
        raise
    executor.shutdown()
    return failures


def _submit(executor: Executor, work: Work, queue: deque[Job], running: dict[Future[Any], Job]) -> None:
    running[executor.submit(timed, work, queue[0].kind, dict(queue[0].settings))] = queue[0]
    queue.popleft()


def timed(work: Work, kind: str, settings: Mapping[str, Any]) -> tuple[Any, float, float]:
    """Do a job; return what it gave with its seconds on the clock and of the processor."""
    begin, processor = time.perf_counter(), time.process_time()
    result = work(kind, settings)
    return result, time.perf_counter() - begin, time.process_time() - processor


def _abandon(executor: Executor, running: Iterable[Future[Any]]) -> None:
    """Give up an executor together with the jobs under way."""
    processes = dict(getattr(executor, "_processes", None) or {})
    for future in running:
        future.cancel()
    executor.shutdown(wait=False)
    for process in processes.values():
        process.terminate()
