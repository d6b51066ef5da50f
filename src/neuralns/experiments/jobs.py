"""Independent pieces of work with names made from their content, run by an executor, each result written when done."""

from __future__ import annotations

import asyncio
import hashlib
import json
import logging
import multiprocessing
import os
import signal
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import (
    FIRST_COMPLETED,
    BrokenExecutor,
    Executor,
    Future,
    ProcessPoolExecutor,
    wait,
)
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from threading import Thread
from typing import Any

from neuralns import __version__
from neuralns.errors import InputError

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


class Journal:
    """A file with one line for each finished job, the first line saying under which conditions.

    A line that a killed run left half-written is cut off. Conditions other than the file's are refused.
    """

    def __init__(self, path: Path, conditions: Mapping[str, Any]) -> None:
        self.path = path
        self.done: dict[str, Done] = {}
        self.calls: list[dict[str, Any]] = []
        self._head = {"neuralns": __version__, "format": FORMAT, **conditions}
        try:
            content = path.read_bytes() if path.exists() else b""
        except OSError as error:
            raise InputError(f"{path}: cannot be read ({error.strerror or error}).") from None
        # Bytes of the file, and of its whole lines.
        self._size, self._whole = len(content), content.rfind(b"\n") + 1
        lines = content[: self._whole].split(b"\n")[:-1]
        if not lines and not _line(self._head).startswith(content):
            lines = [content]
        for number, line in enumerate(lines, 1):
            try:
                entry = json.loads(line)
                if number == 1:
                    self._compare(entry)
                elif "call" in entry:
                    self.calls.append(entry["call"])
                else:
                    self.done[entry["job"]] = Done(entry["result"], entry["seconds"], entry["processor"])
            except InputError:
                raise
            except (ValueError, KeyError, TypeError, RecursionError):
                raise InputError(f"{path}, line {number}: is not a result of neuralns.") from None

    def _compare(self, head: Any) -> None:
        if not isinstance(head, dict) or "neuralns" not in head:
            raise ValueError
        for name, value in self._head.items():
            if head.get(name) != value:
                raise InputError(
                    f"{self.path}: holds results with {name} {head.get(name)}, but now it is {value}; choose another "
                    "folder with --out."
                )

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
        before = self._whole
        try:
            self._write(entry)
        finally:
            # Ctrl-C may come when it is written already.
            if self._whole > before:
                self.done[job.name] = done

    def add_call(self, about: dict[str, Any]) -> None:
        """Write who did the jobs since the last such line."""
        self._write({"call": about})
        self.calls.append(about)

    def _write(self, entry: dict[str, Any]) -> None:
        content = b"".join(map(_line, [entry] if self._whole else [self._head, entry]))
        if self._size_now() != self._size:
            raise InputError(f"{self.path}: has been written to by another run; let that one end first.")
        grown = self._whole + len(content)
        try:
            with open(self.path, "ab") as file:
                file.truncate(self._whole)
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise InputError(f"{self.path}: cannot be written ({error.strerror or error}).") from None
        finally:
            # After a full disk or Ctrl-C too: a line that came out half is cut off by the next writing.
            self._size = self._size_now()
            if self._size == grown:
                self._whole = grown

    def _size_now(self) -> int:
        try:
            return self.path.stat().st_size
        except OSError:
            return 0


def _line(entry: Mapping[str, Any]) -> bytes:
    return json.dumps(entry).encode() + b"\n"


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
    journal: Journal,
    open_executor: Callable[[], Executor],
    window: int | None = None,
    notify: Callable[[Job, Done | Failure], object] = lambda job, outcome: None,
) -> list[Failure]:
    """Do the jobs that the journal lacks, in their order; return those that failed every time.

    At most ``window`` jobs are handed out at a time. Where a job takes its executor down with it, the jobs that were
    under way are tried again one by one, so that each is blamed only for itself.
    """
    waiting = deque({job.name: job for job in jobs if job.name not in journal.done}.values())
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
                    journal.add(job, done)
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


def process_pool(workers: int) -> Executor:
    """Return an executor of processes that leave Ctrl-C to their parent, and do not outlive it."""
    # Read by numeric libraries when they load, in the processes to come.
    for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ.setdefault(variable, "1")
    return ProcessPoolExecutor(workers, multiprocessing.get_context("spawn"), _begin_process)


def _begin_process() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _abandon(executor: Executor, running: Iterable[Future[Any]]) -> None:
    """Give up an executor together with the jobs under way."""
    processes = dict(getattr(executor, "_processes", None) or {})
    for future in running:
        future.cancel()
    executor.shutdown(wait=False)
    for process in processes.values():
        process.terminate()


@contextmanager
def cluster(address: str, patience: float = 10.0) -> Iterator[Callable[[], Executor]]:
    """Connect to a Dask scheduler; give a function that returns its executor."""
    try:
        from distributed import Client, Security
        from distributed.core import connect
    except ImportError:
        raise InputError("a cluster needs Dask; install it with: pip install 'neuralns[cluster]'.") from None

    # What it logs with tracebacks comes from here as sentences.
    for name in ("distributed", "distributed.client"):
        logging.getLogger(name).setLevel(logging.CRITICAL)

    async def knock() -> None:
        trying = connect(address, timeout=patience, **Security().get_connection_args("client"))
        # Its own limit leaves out a server that accepts and then says nothing.
        comm = await asyncio.wait_for(trying, 1.5 * patience)
        await comm.close()

    try:
        # A client that cannot connect makes noise when it is thrown away.
        asyncio.run(knock())
        client = Client(address, timeout=patience, set_as_default=False)
    except (OSError, ValueError, TypeError) as error:
        reason = " ".join(str(error).split()) or f"no answer in {1.5 * patience:g} s"
        raise InputError(f"cluster {address!r} cannot be reached ({reason.rstrip('.')}).") from None
    try:
        if not client.scheduler_info().get("workers"):
            raise InputError(
                f"cluster {address!r} has no worker; start some with 'dask worker {address} --nthreads 1'."
            )
        # Tasks that count as pure are not done again when they failed.
        yield partial(client.get_executor, pure=False)
    finally:
        client.close()
