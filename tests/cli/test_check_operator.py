"""The command that puts one's own operators to the test."""

from __future__ import annotations

from pathlib import Path

import pytest

from commands import invoke

HEAD = "from neuralns.operators.toolkit import *\nimport numpy as np\n"
FILE = (
    HEAD
    + """
@destroy("checked-fine")
def fine(state, quota):
    while state.n_removed < quota:
        remove(state, random_routed(state))

@destroy("checked-outside")
def outside(state, quota):
    while state.n_removed < quota:
        remove(state, random_routed(state))
    state.keys[10 ** 6] = 1.0

@destroy("checked-lazy")
def lazy(state, quota):
    for _ in range(quota - 1):
        remove(state, random_routed(state))

@repair("checked-endless")
def endless(state):
    while state.n_removed >= 0:
        state.status.gain += 1.0
"""
)


def test_faults_are_found_and_named(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(FILE)
    done = invoke("check-operator", tmp_path / "mine.py", "--seconds", 3)
    assert done.code == 1
    fine, outside, lazy, endless = done.stdout.splitlines()
    assert fine.startswith("checked-fine (destroy): fine, ")
    assert "µs a call" in fine
    line = FILE.splitlines().index("    state.keys[10 ** 6] = 1.0") + 1
    assert f"mine.py, line {line} (IndexError: index is out of bounds)." in outside
    assert "operator 'checked-lazy' removed 0 customers, but its quota was 1" in lazy
    assert "operator 'checked-endless' gave no answer in 3 s (an endless loop?)." in endless


def test_random_numbers_of_numpy_are_refused(tmp_path: Path) -> None:
    source = HEAD + '@destroy("checked-numpy")\ndef f(state, quota):\n    remove(state, np.random.randint(1, 3))\n'
    (tmp_path / "mine.py").write_text(source)
    done = invoke("check-operator", tmp_path / "mine.py")
    assert done.code == 1
    assert "mine.py, line 5: numpy.random makes runs that cannot be repeated" in done.stdout


@pytest.mark.parametrize("name", ["missing.py"])
def test_a_file_that_is_not_there_is_refused(name: str) -> None:
    assert invoke("check-operator", name).refusal() == "missing.py: cannot be read (no such file)."


def test_an_instance_of_ones_own_shows_what_small_ones_do_not(tmp_path: Path) -> None:
    """A write past the end of an array that only routes of more than 30 customers reach, and one with windows."""
    source = HEAD + (
        '@destroy("checked-long")\n'
        "def long(state, quota):\n"
        "    while state.n_removed < quota:\n"
        "        remove(state, random_routed(state))\n"
        "    if state.customers > 40:\n"
        "        state.visited[state.customers + 1] = 1\n"
    )
    (tmp_path / "mine.py").write_text(source)
    assert invoke("check-operator", tmp_path / "mine.py").code == 0
    done = invoke("check-operator", tmp_path / "mine.py", "--instance", "E-n51-k5")
    assert done.code == 1
    assert "mine.py, line 8 (IndexError: index is out of bounds)." in done.stdout
    fleet = tmp_path / "fleet.json"
    assert invoke("generate", fleet, "--variant", "hfvrp", "--customers", "30", "--seed", "3").code == 0
    assert invoke("check-operator", tmp_path / "mine.py", "--instance", fleet).code == 0
    assert "missing" in invoke("check-operator", tmp_path / "mine.py", "--instance", "missing.vrp").refusal()
