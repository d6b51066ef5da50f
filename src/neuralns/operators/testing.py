"""Operators of your own put to the test: with bounds checked, on small instances of many kinds, each by itself."""

from __future__ import annotations

import ast
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numba.core.callconv import CPUCallConv
from numba.core.lowering import Lower

from neuralns.errors import InputError, NeuralnsError
from neuralns.operators.registry import Operator, load_operators, operator
from neuralns.problem.initial import random_tours
from neuralns.problem.instance import Instance
from neuralns.problem.solution import Solution
from neuralns.routes.edits import NOTHING_WRONG
from neuralns.routes.journal import checkpoint
from neuralns.routes.transfer import State, new_state, routes_of

SECONDS = 10.0
"""Seconds that the calls of an operator may take in all, compilation not counted."""
ROUNDS = 60


@dataclass(frozen=True)
class Report:
    """What the test of an operator found.

    Attributes
    ----------
    name, phase
        The operator.
    fault
        What is wrong, in a sentence, or None.
    microseconds
        Mean time of a call on these small instances, with bounds checked.
    """

    name: str
    phase: str
    fault: str | None
    microseconds: float | None = None


def check_operators(path: str | os.PathLike[str], seconds: float = SECONDS) -> tuple[Report, ...]:
    """Put every operator of a file to the test, each in a process of its own.

    Found are: an index out of bounds, a broken contract (quota, everybody served, limits kept, cost as recomputed),
    routes that differ for the same seed, calls that take ``seconds`` in all (an endless loop), and ``numpy.random``.
    """
    source = Path(path)
    if not source.is_file():
        raise InputError(f"{path}: cannot be read (no such file).")
    found = tuple(load_operators(source))
    with tempfile.TemporaryDirectory(prefix="neuralns-check-") as folder:
        return tuple(_in_a_process(source, entry, folder, seconds) for entry in found)


def _in_a_process(source: Path, entry: Operator, folder: str, seconds: float) -> Report:
    line = _line_of_numpy_random(source)
    if line is not None:
        sentence = f"{source}, line {line}: numpy.random makes runs that cannot be repeated; use random(state)."
        return Report(entry.name, entry.phase, sentence)
    # Compiled anew with checks of bounds, in a folder of its own.
    environment = os.environ | {"NUMBA_CACHE_DIR": folder, "NUMBA_BOUNDSCHECK": "1"}
    program = "from neuralns.operators.testing import main; main()"
    command = [sys.executable, "-c", program, str(source), entry.name, str(seconds)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    if done.returncode == 0:
        return Report(entry.name, entry.phase, *json.loads(done.stdout.splitlines()[-1]))
    if done.returncode == -signal.SIGALRM:
        what = f"gave no answer in {seconds:g} s (an endless loop?)"
    else:
        what = f"ended the process (exit code {done.returncode})"
    return Report(entry.name, entry.phase, f"operator {entry.name!r} {what}.")


def _line_of_numpy_random(source: Path) -> int | None:
    for node in ast.walk(ast.parse(source.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Attribute) and ast.unparse(node) in ("np.random", "numpy.random"):
            return node.lineno
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("numpy.random"):
            return node.lineno
    return None


def main() -> None:
    """Test one operator in this process, and print its fault and its speed as JSON."""
    _name_lines()
    path, name, seconds = sys.argv[1], sys.argv[2], float(sys.argv[3])
    load_operators(path)
    entry = operator(name)
    partner = operator("greedy" if entry.phase == "destroy" else "random-node")
    print(json.dumps(_try(entry, partner, path, seconds)), flush=True)


def _name_lines() -> None:
    """Let exceptions of numba's own checks carry the line that is being compiled, which numba leaves out."""
    lines: list[Any] = []
    lower, give = Lower.lower_inst, CPUCallConv.return_user_exc

    def lower_noting(self: Any, instruction: Any) -> Any:
        lines.append(instruction.loc)
        try:
            return lower(self, instruction)
        finally:
            lines.pop()

    def give_with_line(
        self: Any, builder: Any, exc: Any, exc_args: Any = None, loc: Any = None, func_name: Any = None
    ) -> Any:
        return give(self, builder, exc, exc_args, loc or (lines[-1] if lines else None), func_name)

    Lower.lower_inst, CPUCallConv.return_user_exc = lower_noting, give_with_line


def _try(entry: Operator, partner: Operator, path: str, seconds: float) -> tuple[str | None, float | None]:
    try:
        _ = entry.compiled, partner.compiled
    except NeuralnsError as error:
        return str(error), None
    _prepare()
    # Compiled code cannot be interrupted, but its process ends at the signal.
    signal.setitimer(signal.ITIMER_REAL, seconds)
    spent, calls = 0.0, 0
    for number in range(ROUNDS):
        instance = _instance(number)
        quota = 1 + number % instance.customers
        routes = []
        for _ in range(2):
            state = new_state(instance, number, history=True, solution=random_tours(instance, number))
            checkpoint(state)
            try:
                if entry.phase == "repair":
                    partner.apply(state, quota)
                begin = time.perf_counter()
                entry.apply(*(state, quota)[: 2 if entry.phase == "destroy" else 1])
                spent += time.perf_counter() - begin
                calls += 1
                fault = _fault(entry, state, quota)
                if fault is None and entry.phase == "destroy":
                    partner.apply(state)
            except Exception as error:
                return f"operator {entry.name!r}: {_place(error, path)} ({type(error).__name__}: {error}).", None
            if fault is None:
                fault = _fault_of_routes(state, instance)
            if fault is not None:
                return f"operator {entry.name!r} {fault}, {instance.customers} customers, seed {number}.", None
            routes.append(routes_of(state))
        if routes[0] != routes[1]:
            return f"operator {entry.name!r} finds other routes when it is called again with the same seed.", None
    signal.setitimer(signal.ITIMER_REAL, 0.0)
    return None, 1e6 * spent / calls


def _prepare() -> None:
    instance = _instance(0)
    state = new_state(instance, 0, history=True, solution=random_tours(instance, 0))
    checkpoint(state)
    routes_of(state)


def _place(error: Exception, path: str) -> str:
    """Return the last line of the user's file that an exception came through."""
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if Path(frame.filename) == Path(path)]
    return f"{path}, line {lines[-1]}" if lines else path


def _fault(entry: Operator, state: State, quota: int) -> str | None:
    if state.fault != NOTHING_WRONG:
        what = "removed" if entry.phase == "destroy" else "inserted"
        return f"{what} customer {state.fault_node}, which cannot be {what} (twice, or at a place off the route?)"
    if entry.phase == "destroy" and state.n_removed != quota:
        return f"removed {state.n_removed} customers, but its quota was {quota}"
    if entry.phase == "repair" and state.n_removed > 0:
        return f"left {state.n_removed} customers on the removal list"
    return None


def _fault_of_routes(state: State, instance: Instance) -> str | None:
    solution = Solution(instance, routes_of(state))
    faults = solution.faults()
    if faults:
        return f"left routes that break a rule ({faults[0].rstrip('.')})"
    if not np.isclose(solution.cost, state.cost):
        return f"left a state of cost {state.cost:g}, but its routes cost {solution.cost:g}"
    return None


def _instance(number: int) -> Instance:
    """Return a small instance: one customer and more, tight and loose, with points alone or an asymmetric matrix."""
    rng = np.random.default_rng(number)
    customers = 1 + number % 30
    demands = np.r_[0.0, rng.integers(0, 11, customers)]
    capacity = max(1.0, demands.max()) * (1.0 + 6.0 * rng.random())
    points = rng.integers(0, 3 if number % 5 == 0 else 100, (customers + 1, 2)).astype(float)
    matrix = rng.integers(1, 50, (customers + 1, customers + 1)).astype(float) if number % 4 == 0 else None
    return Instance("small", demands, capacity, points, matrix)
