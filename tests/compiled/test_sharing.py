"""Compiling in several processes: what one has compiled, the others load."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from compiled.test_kept import process

PROGRAM = """
import os, sys, threading
from functools import partial
sys.path.insert(0, sys.argv[1])
from numba import types
from neuralns.compiled import caching, sharing
import mine
sharing._cores = lambda: int(sys.argv[2])
{before}
jobs = [partial(mine.job, number) for number in range(6)]
with caching.CompilationCount() as compilations:
    sharing.compile_together(jobs)
    here = compilations.count // 2
everywhere = open(sys.argv[1] + "/done").read().split() if os.path.exists(sys.argv[1] + "/done") else []
print(here, len(everywhere), len(set(everywhere)))
"""
SOURCE = """
import os
from numba import types
from neuralns.compiled import caching

def function(number):
    content = {"__name__": "mine"}
    exec(compile(f"def f(x): return x + {number}", __file__, "exec"), content)
    return content["f"]

def job(number):
    with caching.CompilationCount() as compilations:
        caching.compile_for(types.float64(types.float64), function(number))
    if compilations.count:
        with open(os.path.join(os.path.dirname(__file__), "done"), "a") as file:
            file.write(f"{os.getpid()} " if FAILS is None else "")
    if number == FAILS and os.getpid() != PARENT:
        raise RuntimeError("in a helping process")

FAILS = None
PARENT = os.getpid()
"""


def run(folder: Path, cores: int, before: str = "") -> tuple[int, ...]:
    """Return what was compiled in the process that asked, in all, and by how many processes."""
    (folder / "mine.py").write_text(SOURCE)
    words, _ = process(folder, str(cores), program=PROGRAM.format(before=before))
    return tuple(map(int, words))


@pytest.mark.skipif(sys.platform != "linux", reason="processes are forked on Linux alone")
def test_jobs_are_shared_once_one_had_to_compile_and_none_is_done_twice(tmp_path: Path) -> None:
    here, everywhere, processes = run(tmp_path, 2)
    assert everywhere == 6
    assert 1 <= processes <= 2
    assert here <= 6
    # The second time all is on disk: nobody is asked to help.
    (tmp_path / "done").unlink()
    assert run(tmp_path, 2) == (0, 0, 0)


def test_one_core_or_a_second_thread_means_one_process(tmp_path: Path) -> None:
    assert run(tmp_path, 1) == (6, 6, 1)
    for path in tmp_path.rglob("*.nbc"):
        path.unlink()
    (tmp_path / "done").unlink()
    thread = "threading.Thread(target=threading.Event().wait, daemon=True).start()"
    assert run(tmp_path, 2, thread) == (6, 6, 1)


@pytest.mark.skipif(sys.platform != "linux", reason="processes are forked on Linux alone")
def test_where_no_process_can_be_forked_one_does_all(tmp_path: Path) -> None:
    before = """
def refuse():
    raise BlockingIOError(11, "Resource temporarily unavailable")
os.fork = refuse
"""
    assert run(tmp_path, 2, before) == (6, 6, 1)


@pytest.mark.skipif(sys.platform != "linux", reason="processes are forked on Linux alone")
def test_it_does_not_matter_that_nobody_hears_of_processes_that_end(tmp_path: Path) -> None:
    before = "import signal; signal.signal(signal.SIGCHLD, signal.SIG_IGN)"
    assert run(tmp_path, 2, before)[1] == 6


def test_what_fails_in_a_helping_process_is_done_by_the_one_that_asked(tmp_path: Path) -> None:
    here, *_ = run(tmp_path, 2, "mine.FAILS = 3")
    assert 1 <= here <= 6
