"""What holds for all tests."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
# How a program starts another one that it has ignore signals, or for which it blocks them.
STARTED = {
    "ignored": "signal.signal(number, signal.SIG_IGN)",
    "blocked": "signal.pthread_sigmask(signal.SIG_BLOCK, {number})",
}
PROGRAM = """
import signal, subprocess, sys
for number in (signal.SIGINT, signal.SIGTERM):
    HOW
sys.exit(subprocess.run([sys.executable, "-m", "pytest", *sys.argv[1:]]).returncode)
"""


@pytest.mark.skipif(not hasattr(signal, "pthread_sigmask"), reason="signals cannot be blocked there.")
@pytest.mark.parametrize("how", STARTED)
def test_tests_of_signals_pass_whatever_has_started_them(how: str) -> None:
    tests = f"{TESTS / 'search' / 'test_interrupt.py'}::test_a_first_signal_is_noted_and_a_second_one_acts_as_usual"
    command = [sys.executable, "-c", PROGRAM.replace("HOW", STARTED[how]), tests, "-p", "no:cacheprovider"]
    done = subprocess.run(command, cwd=TESTS.parent, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout
