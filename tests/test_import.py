"""Importing is quick: what is heavy is loaded when first used."""

from __future__ import annotations

import subprocess
import sys

import pytest

import neuralns

HEAVY = {"torch", "matplotlib", "pandas", "numba", "scipy", "gymnasium"}


@pytest.mark.parametrize("module", ["neuralns", "neuralns.cli.app"])
def test_importing_loads_nothing_heavy(module: str) -> None:
    program = f"import sys, {module}; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert HEAVY & set(done.stdout.split()) == set()


@pytest.mark.parametrize("name", neuralns.__all__)
def test_every_public_name_is_there(name: str) -> None:
    assert getattr(neuralns, name) is not None
    assert name in dir(neuralns)


def test_any_other_name_is_not() -> None:
    with pytest.raises(AttributeError, match="module 'neuralns' has no attribute 'fly'"):
        _ = neuralns.fly
