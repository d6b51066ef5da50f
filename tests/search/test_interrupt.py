"""Ctrl-C and SIGTERM during a search."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time

import pytest

from helpers import is_running
from neuralns import InputError, MaxIterations, solve
from neuralns.search.interrupt import Interrupts

INTERRUPTED = """
import neuralns, os, signal, sys
calls = []
def interrupt(progress):
    calls.append(progress)
    if len(calls) == 3:
        os.kill(os.getpid(), getattr(signal, sys.argv[1]))
r = neuralns.solve("X-n101-k25", neuralns.MaxTime(60), callbacks=[interrupt], on_sigterm="return")
print(r.stopped_by, r.feasible, r.runtime < 10)
"""


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
def test_a_signal_returns_the_best_solution_so_far(name: str) -> None:
    done = subprocess.run([sys.executable, "-c", INTERRUPTED, name], capture_output=True, check=True, text=True)
    assert done.stdout.split() == [name, "True", "True"]


TERMINATED = """
import multiprocessing, neuralns, os, signal, sys
def interrupt(progress):
    if progress.iteration > 0:
        print(*(process.pid for process in multiprocessing.active_children()), flush=True)
        os.kill(os.getpid(), signal.SIGTERM)
for seed in range(3):
    choices = {"selector": "best-fixed", "portfolio": "zone,random-node,greedy"} if sys.argv[2] == "trials" else {}
    if choices:
        import threading
        threading.Timer(1.0, os.kill, (os.getpid(), signal.SIGTERM)).start()
    stop, workers = neuralns.MaxTime(20), int(sys.argv[1])
    neuralns.solve("X-n101-k25", stop, seed=seed, workers=workers, callbacks=[interrupt], **choices)
    print("went on", flush=True)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="it has no SIGTERM to send.")
@pytest.mark.parametrize("how", [("1", "search"), ("2", "search"), ("1", "trials")])
def test_sigterm_ends_a_program_of_several_searches_and_its_workers(how: tuple[str, str]) -> None:
    done = subprocess.run([sys.executable, "-c", TERMINATED, *how], capture_output=True, text=True, timeout=600)
    assert done.returncode == -signal.SIGTERM
    assert "went on" not in done.stdout
    workers = list(map(int, done.stdout.split()))
    assert len(workers) == (2 if how[0] == "2" else 0)
    end = time.monotonic() + 10
    while any(map(is_running, workers)):
        assert time.monotonic() < end
        time.sleep(0.1)


def test_what_sigterm_cannot_do_is_refused() -> None:
    with pytest.raises(InputError, match=r"^on_sigterm 'stay' is not known; choose end or return\.$"):
        solve("E-n22-k4", MaxIterations(1), on_sigterm="stay")


def test_a_signal_that_was_ignored_stays_ignored() -> None:
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with Interrupts() as interrupts:
            signal.raise_signal(signal.SIGINT)
            assert interrupts.caught is None
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)


def test_sigterm_is_left_alone_unless_it_is_asked_for() -> None:
    before = signal.getsignal(signal.SIGTERM)
    with Interrupts():
        assert signal.getsignal(signal.SIGTERM) is before
    with Interrupts(sigterm=True):
        assert signal.getsignal(signal.SIGTERM) is not before
    assert signal.getsignal(signal.SIGTERM) is before


def test_handlers_of_signals_are_given_back() -> None:
    before = signal.getsignal(signal.SIGINT)
    solve("E-n22-k4", MaxIterations(1))
    assert signal.getsignal(signal.SIGINT) is before


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_first_signal_is_noted_and_a_second_one_acts_as_usual(number: signal.Signals) -> None:
    seen: list[int] = []
    before = signal.signal(number, lambda caught, frame: seen.append(caught))
    try:
        with Interrupts(sigterm=True) as interrupts:
            assert interrupts.caught is None
            os.kill(os.getpid(), number)
            assert interrupts.caught == number.name
            assert seen == []
            os.kill(os.getpid(), number)
            assert seen == [number]
    finally:
        signal.signal(number, before)


def test_in_another_thread_signals_are_left_alone() -> None:
    before, found = signal.getsignal(signal.SIGINT), []

    def work() -> None:
        with Interrupts() as interrupts:
            found.append((signal.getsignal(signal.SIGINT), interrupts.caught))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert found == [(before, None)]
