"""Ctrl-C and SIGTERM during a search."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading

import pytest

from neuralns import MaxIterations, solve
from neuralns.search.interrupt import Interrupts

INTERRUPTED = """
import neuralns, os, signal, sys
calls = []
def interrupt(progress):
    calls.append(progress)
    if len(calls) == 3:
        os.kill(os.getpid(), getattr(signal, sys.argv[1]))
r = neuralns.solve("X-n101-k25", neuralns.MaxTime(60), callbacks=[interrupt])
print(r.stopped_by, r.feasible, r.runtime < 10)
"""


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
def test_a_signal_returns_the_best_solution_so_far(name: str) -> None:
    done = subprocess.run([sys.executable, "-c", INTERRUPTED, name], capture_output=True, check=True, text=True)
    assert done.stdout.split() == [name, "True", "True"]


def test_handlers_of_signals_are_given_back() -> None:
    before = signal.getsignal(signal.SIGINT)
    solve("E-n22-k4", MaxIterations(1))
    assert signal.getsignal(signal.SIGINT) is before


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_first_signal_is_noted_and_a_second_one_acts_as_usual(number: signal.Signals) -> None:
    seen: list[int] = []
    before = signal.signal(number, lambda caught, frame: seen.append(caught))
    try:
        with Interrupts() as interrupts:
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
