"""Compiling in several processes at once, where nothing is on disk yet."""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Sequence
from contextlib import suppress

from neuralns.compiled.caching import CompilationCount
from neuralns.compiled.kept import keeps_code

MOST_PROCESSES = 4
"""More of them compile the same helpers again and again."""

_PR_SET_PDEATHSIG = 1  # of Linux
_WIDTH = 2
"""Bytes of the number of a job."""

Job = Callable[[], object]


def compile_together(jobs: Sequence[Job]) -> None:
    """Do jobs that compile functions; once one of them had to, the rest is shared among processes.

    Each process takes the next job from a pipe. What the others compile is on disk then, from where it is loaded.
    """
    with CompilationCount() as compilations:
        for number, job in enumerate(jobs, 1):
            job()
            if compilations.count > 0 and number < len(jobs) and _may_fork():
                break
        else:
            return
    _share(jobs[number:])
    for job in jobs[number:]:
        job()


def _may_fork() -> bool:
    """Return whether processes may be forked: other threads might hold locks for ever in them."""
    return sys.platform == "linux" and threading.active_count() == 1 and keeps_code() and _cores() > 1


def _cores() -> int:
    return min(MOST_PROCESSES, len(os.sched_getaffinity(0)))


def _share(jobs: Sequence[Job]) -> None:
    """Do jobs in several processes, this one among them; alone where the system gives none."""
    others: list[int] = []
    try:
        reader, writer = os.pipe()
    except OSError:
        return
    try:
        os.write(writer, b"".join(number.to_bytes(_WIDTH) for number in range(len(jobs))))
        os.close(writer)
        with suppress(OSError):
            for _ in range(_cores() - 1):
                _fork_helper(jobs, reader, others)
        _work_off(jobs, reader)
    except BaseException:
        for other in others:
            with suppress(ProcessLookupError):
                os.kill(other, signal.SIGKILL)
        raise
    finally:
        os.close(reader)
        for other in others:
            # Where nobody wants to hear of children that end, they are gone by themselves.
            with suppress(ChildProcessError):
                os.waitpid(other, 0)


def _fork_helper(jobs: Sequence[Job], reader: int, others: list[int]) -> None:
    """Fork a process that does jobs and says nothing: what goes wrong goes wrong again in the one that asked."""
    parent = os.getpid()
    # A signal in between would be answered by two processes.
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM})
    try:
        with warnings.catch_warnings():
            # Of threads that are not Python's: what they do is not asked for here.
            warnings.simplefilter("ignore", DeprecationWarning)
            other = os.fork()
        if other != 0:
            others.append(other)
            return
        try:
            signal.signal(signal.SIGINT, signal.SIG_DFL)
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
            end_with_parent(parent)
            warnings.simplefilter("ignore")
            _work_off(jobs, reader)
        finally:
            os._exit(0)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _work_off(jobs: Sequence[Job], reader: int) -> None:
    while taken := os.read(reader, _WIDTH):
        jobs[int.from_bytes(taken)]()


def end_with_parent(parent: int) -> None:
    """Have this process be killed when its parent ends, where the system can do that."""
    if sys.platform != "linux":
        return
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)
