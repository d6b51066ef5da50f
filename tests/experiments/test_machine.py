"""What is said about the machine."""

from __future__ import annotations

import os

import pytest

from neuralns import __version__
from neuralns.experiments.machine import core_numbers, cores, machine


def test_a_machine_is_told_by_what_results_may_depend_on() -> None:
    assert list(machine()) == ["system", "processor", "cores", "python", "numpy", "numba", "torch", "neuralns"]
    assert machine()["neuralns"] == __version__
    assert machine()["cores"] == cores() >= 1


def test_where_the_system_does_not_say_which_cores_there_are_they_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: 7)
    assert (core_numbers(), cores()) == ([], 7)
