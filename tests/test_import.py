"""Importing is quick: what is heavy is loaded when first used."""

from __future__ import annotations

import json
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


WITHOUT_POSIX = """
import os, signal, sys
# Modules and functions that Windows has not, but for what Python's own way to end processes takes here, and what is
# asked for only where os.name is posix.
import asyncio, multiprocessing.pool, multiprocessing.spawn, platform, subprocess, tempfile, uvicorn
for name in ("fcntl", "resource", "termios"):
    sys.modules[name] = None
multiprocessing.get_all_start_methods = lambda: ["spawn"]
for module, names in (
    (os, ("fork", "killpg", "setpgid", "setsid", "sched_getaffinity")),
    (signal, ("SIGCHLD", "SIGALRM", "SIGHUP", "setitimer", "pthread_sigmask")),
):
    for name in names:
        vars(module).pop(name, None)
from neuralns.cli import main
import neuralns.studio.running, neuralns.studio.server, neuralns.studio.task_runner, neuralns.testing
import neuralns.experiments.batch, neuralns.experiments.solver_runs
sys.argv[1:] = ["solve", "E-n22-k4", "--iterations", "300", "--workers", sys.argv[1], "--json"]
main()
"""


@pytest.mark.parametrize("workers", ["1", "2"])
def test_nothing_of_posix_is_needed_to_load_and_to_solve(workers: str) -> None:
    command = [sys.executable, "-c", WITHOUT_POSIX, workers]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert (found["iterations"], found["feasible"]) == (300 * int(workers), True)


@pytest.mark.parametrize("name", neuralns.__all__)
def test_every_public_name_is_there(name: str) -> None:
    assert getattr(neuralns, name) is not None
    assert name in dir(neuralns)


def test_any_other_name_is_not() -> None:
    with pytest.raises(AttributeError, match="module 'neuralns' has no attribute 'fly'"):
        _ = neuralns.fly


# --- Gymnasium knows the environment, whichever of the two packages is loaded first. ---------------------------------


@pytest.mark.parametrize("imports", ["neuralns, gymnasium", "gymnasium, neuralns", "neuralns, gymnasium.spaces"])
def test_the_environment_can_be_made(imports: str) -> None:
    program = f"import {imports}; print(type(gymnasium.make({neuralns.ENVIRONMENT_ID!r}).unwrapped).__name__)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "OperatorSelection\n"


def test_a_program_without_gymnasium_never_loads_it() -> None:
    program = "import sys, neuralns; neuralns.solve('E-n22-k4', neuralns.MaxIterations(10)); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert "gymnasium" not in done.stdout.split()
