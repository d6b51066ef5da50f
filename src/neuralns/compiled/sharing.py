"""Compiling in several processes at once, where nothing is on disk yet."""

from __future__ import annotations

import os
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Sequence

from neuralns.compiled.caching import CompilationCount
from neuralns.compiled.kept import keeps_code

MOST_PROCESSES = 4
"""More of them compile the same helpers again and again."""

_WIDTH = 2
"""Bytes of the number of a job."""

Job = Callable[[], object]


def compile_together(jobs: Sequence[Job]) -> None:
    """Do jobs that compile functions; once one of them had to, the rest is shared among processes.

    Each process takes the next job from a pipe. What the others compile is on disk then, from where it is loaded.
    """
    with CompilationCount() as compilations:
        for number, job in enumerate(jobs):
            job()
            if compilations.count > 0 and _may_fork():
                _share(jobs[number + 1 :])
                break
    for job in jobs:
        job()


def _may_fork() -> bool:
    """Return whether processes may be forked: other threads might hold locks for ever in them."""
    return sys.platform == "linux" and threading.active_count() == 1 and keeps_code() and _cores() > 1


def _cores() -> int:
    return min(MOST_PROCESSES, len(os.sched_getaffinity(0)))


def _share(jobs: Sequence[Job]) -> None:
    """Do jobs in several processes, this one among them."""
    reader, writer = os.pipe()
    os.write(writer, b"".join(number.to_bytes(_WIDTH) for number in range(len(jobs))))
    os.close(writer)
    others = []
    try:
        for _ in range(_cores() - 1):
            other = os.fork()
            if other == 0:
                _help(jobs, reader)
            others.append(other)
        _work_off(jobs, reader)
    except BaseException:
        for other in others:
            os.kill(other, signal.SIGKILL)
        raise
    finally:
        os.close(reader)
        for other in others:
            os.waitpid(other, 0)


def _work_off(jobs: Sequence[Job], reader: int) -> None:
    while taken := os.read(reader, _WIDTH):
        jobs[int.from_bytes(taken)]()


def _help(jobs: Sequence[Job], reader: int) -> None:
    """Do jobs in a forked process, which says nothing: what goes wrong goes wrong again in the process that asked."""
    try:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        warnings.simplefilter("ignore")
        _work_off(jobs, reader)
    finally:
        os._exit(0)
