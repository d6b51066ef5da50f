"""Gymnasium knows the environment, whichever of the two packages is loaded first."""

from __future__ import annotations

import subprocess
import sys

import pytest

from neuralns.registration import ENVIRONMENT_ID


@pytest.mark.parametrize("imports", ["neuralns, gymnasium", "gymnasium, neuralns", "neuralns, gymnasium.spaces"])
def test_the_environment_can_be_made(imports: str) -> None:
    program = f"import {imports}; print(type(gymnasium.make({ENVIRONMENT_ID!r}).unwrapped).__name__)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "OperatorSelection\n"


def test_a_program_without_gymnasium_never_loads_it() -> None:
    program = "import sys, neuralns; neuralns.solve('E-n22-k4', neuralns.MaxIterations(10)); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert "gymnasium" not in done.stdout.split()
