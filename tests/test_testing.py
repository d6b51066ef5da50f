"""Operators and selectors of one's own put to the test: each kind of fault is found, and what is fine is not blamed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from commands import COMMAND
from neuralns import InputError
from neuralns.testing import check, check_operators, check_selectors

HEAD = """
import numpy as np
from neuralns import PythonSelector, Selector
from neuralns.compiled.structs import whole, wholes
from neuralns.operators.toolkit import *
"""

SELECTORS = (
    HEAD
    + """
class Base(Selector):
    fields = {"turns": wholes}

    def start(self, portfolio, customers=1):
        return self.new_memory(turns=np.zeros(2, np.int64))

    @staticmethod
    def choose(memory, state, phase):
        memory.turns[phase] += 1
        return memory.turns[phase] % 2

class Outside(Base):
    @staticmethod
    def update(memory, destroy, repair, outcome, change):
        memory.turns[outcome + 2] += 1  # outside

class Astray(Base):
    @staticmethod
    def choose(memory, state, phase):
        return 2

class Endless(Base):
    @staticmethod
    def choose(memory, state, phase):
        while memory.turns[0] >= 0:
            memory.turns[0] += 1
        return 0

class Sharing(Base):
    memory = None

    def start(self, portfolio, customers=1):
        Sharing.memory = Sharing.memory or super().start(portfolio, customers)
        Sharing.memory.turns[0] += 1
        return Sharing.memory

class Wrong(Base):
    def start(self, portfolio):
        return None
"""
)


def line_of(source: str, text: str) -> int:
    return next(number for number, line in enumerate(source.splitlines(), 1) if text in line)


def test_faults_of_selectors_are_found_and_named(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text(SELECTORS)
    found = {report.name: report.fault for report in check_selectors(path, 3.0)}
    assert found.pop("Base") is None
    assert found == {
        "Outside": f"selector 'Outside': {path}, line {line_of(SELECTORS, '# outside')} (IndexError: index is out of "
        "bounds).",
        "Astray": "selector 'Astray' chose destroy operator 2, but there are 0 to 1, 1 customers, seed 0.",
        "Endless": "selector 'Endless' gave no answer in 3 s (an endless loop?).",
        "Sharing": "selector 'Sharing' makes other choices when it is called again with the same seed.",
        "Wrong": "selector 'own': 'start' takes (self, portfolio), but has to take (self, portfolio, customers).",
    }


IN_PYTHON = (
    HEAD
    + """
class Turns:
    def __init__(self, names=None):
        self.turn, self.rng, self.names = 0, np.random.default_rng(3), names

    def choose(self, situation):
        self.turn += 1
        return self.names or (situation.destroys[self.turn % 2], situation.repairs[self.rng.integers(2)])

    def update(self, outcome):
        assert outcome.iterations == 1

class Unsteady(Turns):
    def choose(self, situation):
        return situation.destroys[np.random.randint(2)], situation.repairs[0]

fine = PythonSelector(Turns(), name="fine")
wrong = PythonSelector(Turns(("nowhere", "greedy")), name="wrong")
unsteady = PythonSelector(Unsteady(), name="unsteady")
"""
)


def test_selectors_in_plain_python_are_asked_too(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text(IN_PYTHON)
    fine, wrong, unsteady = check(path)
    assert (fine.name, fine.phase, fine.fault) == ("fine", "selector", None)
    assert wrong.fault == "selector 'wrong' chose 'nowhere', which is not among random-node, zone."
    assert unsteady.fault == "selector 'unsteady' makes other choices when it is called again with the same seed."


OPERATORS = (
    HEAD
    + """
from numba import njit

@njit
def half(number):
    print("halving")
    return number // 2

@destroy("plain-fine")
def fine(state, quota, tries=2.0):
    while state.n_removed < quota:
        customer = random_routed(state)
        if state.predecessor[customer] - 1 > -2 and state.route[customer] >= 0:
            remove(state, customer)
    state.items[0] = half(quota)

@destroy("plain-outside")
def outside(state, quota):
    while state.n_removed < quota:
        remove(state, random_routed(state))
    state.keys[10 ** 6] = 1.0  # outside

@destroy("plain-lazy")
def lazy(state, quota):
    pass
"""
)


def test_operators_run_uncompiled_where_they_can_print_and_be_debugged(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "mine.py"
    path.write_text(OPERATORS)
    fine, outside, lazy = check_operators(path, python=True)
    assert capfd.readouterr().out.count("halving") == 120
    assert fine.fault is None
    place = f"{path}, line {line_of(OPERATORS, '# outside')}"
    assert outside.fault is not None
    assert outside.fault.startswith(f"operator 'plain-outside': {place} (IndexError: index 1000000 is out of bounds")
    assert lazy.fault == "operator 'plain-lazy' removed 0 customers, but its quota was 1, 1 customers, seed 0."


def test_selectors_run_uncompiled(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text(SELECTORS[: SELECTORS.index("class Astray")])
    fine, outside = check(path, python=True)
    assert fine.fault is None
    assert f"{path}, line {line_of(SELECTORS, '# outside')} (IndexError" in str(outside.fault)


IMPROVES = (
    HEAD
    + """
@improve("plain-turn")
def turn(state, near=3.0):
    for index in range(state.n_touched):
        i = state.touched[index]
        for rank in range(min(int(near), state.neighbours.shape[1])):
            j = state.neighbours[i, rank]
            slot = state.route[i]
            if state.route[j] == slot and leg(state, slot, i, j) < leaving(state, i):
                try_turn(state, slot, i, slot, j)

@improve("plain-forget")
def forget(state):
    remove(state, 1)

@improve("plain-spoil")
def spoil(state):
    for customer in range(1, state.customers + 1):
        remove(state, customer)
        insert(state, customer, open_route(state), 0)
"""
)


@pytest.mark.parametrize("python", [False, True])
def test_faults_of_improve_operators_are_found(tmp_path: Path, python: bool) -> None:
    path = tmp_path / "mine.py"
    # Names of their own: what one file registers, another one cannot.
    path.write_text(IMPROVES.replace("plain-", "python-" if python else "compiled-"))
    fine, forgets, spoils = check_operators(path, python=python)
    assert (fine.phase, fine.fault) == ("improve", None)
    assert f"{forgets.name!r} left 1 customers on the removal list, 1 customers, seed 0." in str(forgets.fault)
    assert f"operator {spoils.name!r} made routes of cost" in str(spoils.fault)


def test_a_debugger_stops_in_an_operator(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text(OPERATORS.replace("    pass\n", "    breakpoint()\n    pass\n"))
    done = subprocess.run(
        [*COMMAND, "check-operator", str(path), "--python"],
        input="p 'seen', state.customers, quota\nq\n", capture_output=True, text=True, timeout=600, check=False,
    )  # fmt: skip
    assert "('seen', 1, 1)" in done.stdout


def test_the_same_operator_finds_the_same_routes_compiled_or_not(tmp_path: Path) -> None:
    source = OPERATORS[: OPERATORS.index('@destroy("plain-outside")')].replace("plain-fine", "plain-same")
    (tmp_path / "mine.py").write_text(source)
    assert [report.fault for report in check(tmp_path / "mine.py")] == [None]


def test_a_relative_path_names_the_line_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    source = HEAD + OPERATORS[OPERATORS.index('@destroy("plain-outside")') : OPERATORS.index('@destroy("plain-lazy")')]
    source = source.replace("plain-outside", "plain-relative")
    Path("mine.py").write_text(source)
    (report,) = check("mine.py")
    assert f"mine.py, line {line_of(source, '# outside')} (IndexError" in str(report.fault)


def test_a_file_without_either_is_refused(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("x = 1\n")
    with pytest.raises(InputError, match=r"holds neither an operator .* nor a selector"):
        check(tmp_path / "mine.py")


def test_the_module_is_there_to_import() -> None:
    program = "from neuralns.testing import Report, check, check_operators, check_selectors"
    subprocess.run([sys.executable, "-c", program], check=True)
