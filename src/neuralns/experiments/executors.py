"""Who does jobs: processes of this machine, or the workers of a Dask cluster."""

from __future__ import annotations

import asyncio
import logging
import multiprocessing
import os
import pickle
import signal
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future
from contextlib import contextmanager
from functools import partial
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from queue import SimpleQueue
from threading import Lock, Thread
from typing import Any

from neuralns.errors import InputError, NeuralnsError, how_to_install
from neuralns.search.interrupt import interrupts_blocked


def check_hands(workers: int | None, address: str | None) -> None:
    """Refuse a number of processes below 1, and processes beside a cluster."""
    if workers is not None and workers < 1:
        raise InputError(f"number of workers {workers} must be at least 1.")
    if workers is not None and address is not None:
        raise InputError("work goes to processes here (--workers) or to a cluster (--cluster), not to both.")


class LostProcessError(NeuralnsError):
    """A process ended while it did a job."""


def refuse_cut_short(stopped_by: str) -> None:
    """Count a search that a signal to its process has ended before its time as lost."""
    if stopped_by.startswith("SIG"):
        raise LostProcessError(f"the process that did it was stopped by {stopped_by}.")


class ProcessPool(Executor):
    """Processes with one job each at a time, which leave Ctrl-C to their parent, and do not outlive it.

    Where one is killed, its own job alone fails, with a `LostProcessError`, and another process takes its place; all
    others go on. (That of ``concurrent.futures`` gives up every job under way.) ``shutdown(wait=False)`` ends the jobs
    under way.
    """

    def __init__(self, workers: int) -> None:
        self._workers = workers
        self._calls: SimpleQueue[tuple[Future[Any], Any] | None] = SimpleQueue()
        self._threads: list[Thread] = []
        self._processes: dict[int | None, BaseProcess] = {}
        self._starting = Lock()
        self._closed = self._given_up = False
        # Read by numeric libraries when they load, in the processes to come.
        for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
            os.environ.setdefault(variable, "1")

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        if self._closed:
            raise RuntimeError("cannot schedule new futures after shutdown")
        future: Future[Any] = Future()
        self._calls.put((future, (fn, args, kwargs)))
        if len(self._threads) < self._workers:
            self._threads.append(Thread(target=self._serve, daemon=True))
            self._threads[-1].start()
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        self._closed = True
        if not wait:
            with self._starting:
                self._given_up = True
            for process in self._processes.values():
                process.kill()
        for _ in self._threads:
            self._calls.put(None)
        for thread in self._threads:
            thread.join()

    def _serve(self) -> None:
        """Hand calls to a process, which is started when it is needed first, and again whenever it has ended."""
        process: BaseProcess | None = None
        pipe: Connection | None = None
        for future, call in iter(self._calls.get, None):
            if self._given_up or not future.set_running_or_notify_cancel():
                future.cancel()
                continue
            try:
                if process is None or pipe is None or not process.is_alive():
                    process, pipe = self._start()
                went_well, result = _ask(process, pipe, call)
            except Exception as error:
                went_well, result = False, error
            if went_well:
                future.set_result(result)
            else:
                future.set_exception(result)
        if process is not None and pipe is not None:
            pipe.close()
            process.join()

    def _start(self) -> tuple[BaseProcess, Connection]:
        context = multiprocessing.get_context("spawn")
        own, other = context.Pipe()
        process = context.Process(target=_do_calls, args=(other,), daemon=True)
        with self._starting:
            if self._given_up:
                raise LostProcessError("the work was given up.")
            with interrupts_blocked():
                process.start()
            self._processes[process.pid] = process
        other.close()
        return process, own


def _ask(process: BaseProcess, pipe: Connection, call: Any) -> tuple[bool, Any]:
    """Return whether a call went well in a process, and what came of it."""
    data = pickle.dumps(call)
    try:
        pipe.send_bytes(data)
        wait([pipe, process.sentinel])
        if pipe.poll():
            went_well, result = pickle.loads(pipe.recv_bytes())
            return bool(went_well), result
    except (EOFError, OSError):
        pass
    process.join()
    code = process.exitcode or 0
    how = f"was killed by signal {-code} (perhaps for want of memory)" if code < 0 else f"ended with exit code {code}"
    raise LostProcessError(f"the process that did it {how}.")


def _do_calls(pipe: Connection) -> None:
    """Do the calls that come through a pipe, until it is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    Thread(target=_end_with_parent, daemon=True).start()
    while True:
        try:
            data = pipe.recv_bytes()
        except (EOFError, OSError):
            return
        try:
            function, args, kwargs = pickle.loads(data)
            answer = pickle.dumps((True, function(*args, **kwargs)))
        except BaseException as error:
            answer = _refusal(error)
        pipe.send_bytes(answer)


def _refusal(error: BaseException) -> bytes:
    try:
        answer = pickle.dumps((False, error))
        pickle.loads(answer)
        return answer
    except Exception:
        return pickle.dumps((False, RuntimeError(f"{type(error).__name__}: {error}")))


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


@contextmanager
def cluster(address: str, patience: float = 10.0) -> Iterator[Callable[[], Executor]]:
    """Connect to a Dask scheduler; give a function that returns its executor."""
    try:
        from distributed import Client, Security
        from distributed.core import connect
    except ImportError:
        raise InputError(f"a cluster needs Dask; install it with: {how_to_install('cluster')}.") from None

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
