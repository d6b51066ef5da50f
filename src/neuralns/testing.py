"""Operators and selectors of your own put to the test: with bounds checked, on small instances of many kinds."""

from __future__ import annotations

import ast
import json
import os
import signal
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numba.core.dispatcher import Dispatcher

from neuralns.compiled.structs import Struct
from neuralns.errors import InputError, NeuralnsError
from neuralns.operators.construction import build
from neuralns.operators.own_file import run_python_file
from neuralns.operators.portfolio import Portfolio, make_portfolio
from neuralns.operators.registry import Operator, operator, operators
from neuralns.problem.bundled import read
from neuralns.problem.initial import random_tours
from neuralns.problem.instance import Instance
from neuralns.problem.solution import Solution
from neuralns.routes.edits import NOTHING_WRONG, close_empty_routes
from neuralns.routes.journal import checkpoint
from neuralns.routes.moves import touch
from neuralns.routes.transfer import State, new_state, routes_of, solution_of
from neuralns.selection.controller import Controller, View, set_weights, weights_of
from neuralns.selection.names import selectors_in
from neuralns.selection.selector import ACCEPTED, BEST, BETTER, DESTROY, REPAIR, Selector, new_memory_of

SECONDS = 10.0
"""Seconds that the calls of an operator or selector may take in all, compilation not counted."""
NO_ANSWER = 75
"""Exit code of a process that ends itself since an operator gave no answer, where no signal can do that."""
ROUNDS, OWN_ROUNDS = 60, 20
"""Tries on small instances, and on each instance of the user's own."""
PAIRS = 10
"""Pairs that a selector chooses in each round."""
CHOICES = ("random-node", "zone", "greedy", "regret-2")
"""Operators that a selector chooses among, if it was not made for certain ones."""


@dataclass(frozen=True)
class Report:
    """What a test found.

    Attributes
    ----------
    name, phase
        The operator, of phase ``destroy``, ``repair`` or ``improve``, or the selector, of phase ``selector``.
    fault
        What is wrong, in a sentence, or None.
    microseconds
        Mean time of a call (of a decision and its update) on these small instances, with bounds checked.
    """

    name: str
    phase: str
    fault: str | None
    microseconds: float | None = None


Source = str | os.PathLike[str]


def check(
    path: Source, seconds: float = SECONDS, *, python: bool = False, instances: Sequence[Source] = ()
) -> tuple[Report, ...]:
    """Put every operator and every selector of a file to the test, each in a process of its own.

    The test is on small instances of many kinds, and on ``instances`` of your own (files or bundled names).

    Found are: an index out of bounds, a broken contract (quota, everybody served, limits kept, cost as recomputed; an
    operator chosen that there is), routes or choices that differ for the same seed, calls that take ``seconds`` in all
    (an endless loop), and ``numpy.random``.

    With ``python`` nothing of the file is compiled, and all runs in this process without a limit: the functions can
    print, and stop at ``breakpoint()``.
    """
    source = Path(path)
    if not source.is_file():
        raise InputError(f"{path}: cannot be read (no such file).")
    own = [os.fspath(instance) for instance in instances]
    for instance in own:
        read(instance)  # refused at once if it cannot be read
    before = {entry.name: entry for entry in operators()}
    module = run_python_file(source)
    found: list[tuple[str, str]] = [
        (entry.name, entry.phase) for entry in operators() if before.get(entry.name) is not entry
    ]
    # Where there are instances, the classes that they are made of are not asked for.
    ready, classes = selectors_in(module)
    found += [(name, "selector") for name in ready or classes]
    if not found:
        raise InputError(
            f"{path}: holds neither an operator (neuralns.destroy, neuralns.repair, neuralns.improve) nor a selector."
        )
    if python:
        return tuple(_in_python(source, *each, own) for each in found)
    return tuple(_in_a_process(source, *each, seconds, own) for each in found)


def check_operators(
    path: Source, seconds: float = SECONDS, *, python: bool = False, instances: Sequence[Source] = ()
) -> tuple[Report, ...]:
    """Put every operator of a file to the test (see `check`)."""
    return tuple(
        report for report in check(path, seconds, python=python, instances=instances) if report.phase != "selector"
    )


def check_selectors(
    path: Source, seconds: float = SECONDS, *, python: bool = False, instances: Sequence[Source] = ()
) -> tuple[Report, ...]:
    """Put every selector of a file to the test (see `check`)."""
    return tuple(
        report for report in check(path, seconds, python=python, instances=instances) if report.phase == "selector"
    )


def _in_a_process(source: Path, name: str, phase: str, seconds: float, own: list[str]) -> Report:
    environment = os.environ | {"NUMBA_BOUNDSCHECK": "1"}
    program = "from neuralns.testing import main; main()"
    command = [sys.executable, "-c", program, str(source), name, phase, str(seconds), *own]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    if done.returncode == 0:
        return Report(name, phase, *json.loads(done.stdout.splitlines()[-1]))
    if done.returncode in (NO_ANSWER, -getattr(signal, "SIGALRM", NO_ANSWER)):
        what = f"gave no answer in {seconds:g} s (an endless loop?)"
    else:
        last = "".join(done.stderr.splitlines()[-1:])
        what = f"ended the process (exit code {done.returncode}{last and ': '}{last})"
    return Report(name, phase, f"{_called(name, phase)} {what}.")


def _called(name: str, phase: str) -> str:
    return f"{'selector' if phase == 'selector' else 'operator'} {name!r}"


def main() -> None:
    """Test one operator or selector in this process, and print its fault and its speed as JSON."""
    path, name, phase, seconds, *own = sys.argv[1:]
    module = run_python_file(path)
    print(json.dumps(_put_to_the_test(Path(path), module, name, phase, float(seconds), own)), flush=True)


def _in_python(source: Path, name: str, phase: str, own: list[str]) -> Report:
    """Test one operator or selector uncompiled."""
    module = run_python_file(source)
    for key, value in [*vars(module).items()]:
        if isinstance(value, Dispatcher) and value.py_func.__module__ == module.__name__:
            setattr(module, key, value.py_func)
    return Report(name, phase, *_put_to_the_test(source, module, name, phase, None, own))


class _Fault(Exception):  # noqa: N818 (what is wrong, as the end of a sentence)
    pass


def _put_to_the_test(
    source: Path, module: Any, name: str, phase: str, seconds: float | None, own: list[str]
) -> tuple[str | None, float | None]:
    """Return the fault of an operator or selector, and the microseconds of a call.

    If no ``seconds`` are given, it runs uncompiled.
    """
    who, python = _called(name, phase), seconds is None
    line = _line_of_numpy_random(source)
    try:
        if phase == "selector":
            trial: _OperatorTrial | _SelectorTrial = _SelectorTrial(source, module, name, python)
        else:
            trial = _OperatorTrial(operator(name), python)
    except NeuralnsError as error:
        return str(error), None
    if line is not None and trial.runs_compiled:
        return f"{source}, line {line}: numpy.random makes runs that cannot be repeated; use random(state).", None
    rounds = [*_rounds(own)]
    _prepare(rounds)
    if seconds is not None:
        # Compiled code cannot be interrupted, but its process can be ended.
        _end_in(seconds)
    spent, calls = 0.0, 0
    for number, instance, start in rounds:
        found = []
        for _ in range(2):
            state = new_state(instance, number, history=True, solution=start)
            checkpoint(state)
            try:
                took, count, result = trial.run(state, instance, 1 + number % sum(map(len, start.routes)))
            except _Fault as fault:
                called = f"instance {instance.name}" if number >= ROUNDS else f"{instance.customers} customers"
                return f"{who} {fault}, {called}, seed {number}.", None
            except NeuralnsError as error:
                return str(error), None
            except Exception as error:
                return f"{who}: {_source_line(error, source)} ({type(error).__name__}: {error}).", None
            spent, calls = spent + took, calls + count
            found.append(result)
        if found[0] != found[1]:
            return f"{who} {trial.differs} when it is called again with the same seed.", None
    if seconds is not None:
        _end_in(0.0)
    return None, 1e6 * spent / calls


def _rounds(own: list[str]) -> Iterator[tuple[int, Instance, Solution]]:
    """Yield number, instance and start of each round: small instances, then some rounds of each of the user's own."""
    for number in range(ROUNDS):
        instance = _instance(number)
        yield number, instance, random_tours(instance, number)
    for index, name in enumerate(own):
        instance = read(name)
        start = build(instance)
        for extra in range(OWN_ROUNDS):
            yield ROUNDS + index * OWN_ROUNDS + extra, instance, start


def _end_in(seconds: float) -> None:
    """Have this process end after so many seconds, unless it is told 0 before."""
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_REAL, seconds)
    elif seconds > 0:
        timer = threading.Timer(seconds, os._exit, (NO_ANSWER,))
        timer.daemon = True
        timer.start()


class _OperatorTrial:
    """An operator applied once, its partners doing the rest of the step."""

    differs = "finds other routes"
    runs_compiled = True

    def __init__(self, entry: Operator, python: bool) -> None:
        self._entry = entry
        self._destroy, self._repair = operator("random-node"), operator("greedy")
        self._apply: Callable[..., None] = _uncompiled(entry) if python else entry.apply
        _ = self._destroy.compiled, self._repair.compiled, python or entry.compiled

    def run(self, state: State, instance: Instance, quota: int) -> tuple[float, int, Any]:
        phase = self._entry.phase
        if phase != "destroy":
            self._destroy.apply(state, quota)
        if phase == "improve":
            self._repair.apply(state)
            touch(state)
        cost, begin = state.cost, time.perf_counter()
        self._apply(*(state, quota)[: 2 if phase == "destroy" else 1])
        spent = time.perf_counter() - begin
        _expect_contract(self._entry, state, instance, quota)
        if phase == "destroy":
            self._repair.apply(state)
        _expect_routes(state, instance)
        if phase == "improve" and state.cost > cost and not np.isclose(state.cost, cost):
            raise _Fault(f"made routes of cost {cost:g} dearer, {state.cost:g}")
        return spent, 1, routes_of(state)


class _SelectorTrial:
    """A selector that chooses some pairs in a row, all of them accepted."""

    differs = "makes other choices"

    def __init__(self, source: Path, module: Any, name: str, python: bool) -> None:
        self._source, self._name, self._python = source, name, python
        self._selector = self._made(module)
        self.runs_compiled = not isinstance(self._selector, Controller)
        own = type(self._selector)
        # What cannot be compiled is refused uncompiled as well.
        compiled = self._selector.functions()
        self._choose: Any = own.choose if python else compiled[0]
        self._update: Any = own.update if python else compiled[1]
        self._portfolio: Portfolio = make_portfolio("own", self._selector.made_for() or CHOICES)
        for entry in self._portfolio.operators:
            _ = entry.compiled

    def _made(self, module: Any) -> Selector:
        instances, classes = selectors_in(module)
        if self._name in instances:
            return instances[self._name]
        try:
            return classes[self._name]()
        except TypeError as error:
            raise InputError(
                f"{self._source}: selector {self._name!r} cannot be made without arguments ({error})."
            ) from None

    def run(self, state: State, instance: Instance, quota: int) -> tuple[float, int, Any]:
        # One in Python may remember what it was told before: each time a new one is asked.
        selector = self._selector if self.runs_compiled else self._made(run_python_file(self._source))
        portfolio, status = self._portfolio, state.status
        memory: Any = new_memory_of(selector, portfolio, instance.customers, instance)
        seen, kept = (_Plain(state), _Plain(memory)) if self._python else (state, memory)
        names = [tuple(entry.name for entry in part) for part in (portfolio.destroys, portfolio.repairs)]
        status.start = status.current = status.best = state.cost
        status.quota = quota
        choices, spent = [], 0.0
        controller = selector.begin() if isinstance(selector, Controller) else None
        counts, gains = np.zeros((4, *map(len, names)), np.int64), np.zeros([*map(len, names)])

        def view(change: float) -> View:
            return View(
                instance, portfolio, iteration, (quota, quota), status.left, float(PAIRS), status.start,
                status.current, status.best, change, status.temperature, status.acceptance, 0, counts[0], counts[1],
                counts[2], counts[3], gains, counts[0].astype(np.float64), lambda: solution_of(state, instance),
            )  # fmt: skip

        for iteration in range(PAIRS):
            status.iteration, status.left = iteration, 1.0 - iteration / PAIRS
            begin, before = time.perf_counter(), state.cost
            if controller is not None:
                setting = controller.control(view(0.0))
                if setting is not None and setting.weights is not None:
                    set_weights(memory, weights_of(selector.name, portfolio, setting.weights))
            destroy = self._chosen(self._choose(kept, seen, DESTROY), "destroy", names[0])
            spent += time.perf_counter() - begin
            portfolio.destroys[destroy].apply(state, quota)
            begin = time.perf_counter()
            repair = self._chosen(self._choose(kept, seen, REPAIR), "repair", names[1])
            spent += time.perf_counter() - begin
            portfolio.repairs[repair].apply(state)
            close_empty_routes(state)
            checkpoint(state)
            cost = state.cost
            outcome = BEST if cost < status.best else BETTER if cost < before else ACCEPTED
            status.current, status.best, status.candidate = cost, min(cost, status.best), cost
            begin = time.perf_counter()
            self._update(kept, destroy, repair, outcome, cost - before)
            if controller is not None:
                counts[:], gains[:] = 0, 0.0
                counts[: outcome + 1, destroy, repair] = 1
                gains[destroy, repair] = max(0.0, before - cost)
                controller.observe(view(cost - before))
            spent += time.perf_counter() - begin
            choices.append((destroy, repair))
        _expect_routes(state, instance)
        return spent, PAIRS, choices

    def _chosen(self, choice: Any, phase: str, names: tuple[str, ...]) -> int:
        if not 0 <= choice < len(names):
            raise _Fault(f"chose {phase} operator {choice}, but there are 0 to {len(names) - 1}")
        return int(choice)


class _Entries(np.ndarray):
    """An array as functions read it that are not compiled: its entries are Python's numbers, which never overflow."""

    def __getitem__(self, index: Any) -> Any:
        found = super().__getitem__(index)
        return found.item() if isinstance(found, np.generic) else found


class _Plain(Struct):
    """A state or memory as functions see it that are not compiled; those of the toolkit take it, too."""

    __slots__ = ()

    def __init__(self, struct: Struct) -> None:
        for name in Struct.__slots__:
            object.__setattr__(self, name, getattr(struct, name))

    def __getattr__(self, name: str) -> Any:
        found = super().__getattr__(name)
        if isinstance(found, Struct):
            return _Plain(found)
        return found.view(_Entries) if isinstance(found, np.ndarray) else found


def _uncompiled(entry: Operator) -> Callable[..., None]:
    def apply(state: State, *arguments: Any) -> None:
        entry.function(_Plain(state), *arguments, *entry.arguments)

    return apply


def _line_of_numpy_random(source: Path) -> int | None:
    for node in ast.walk(ast.parse(source.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Attribute) and ast.unparse(node) in ("np.random", "numpy.random"):
            return node.lineno
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("numpy.random"):
            return node.lineno
    return None


def _prepare(rounds: list[tuple[int, Instance, Solution]]) -> None:
    """Compile or load what the rounds need beside what is tested."""
    for number, instance, start in [rounds[0], *rounds[ROUNDS::OWN_ROUNDS]]:
        state = new_state(instance, number, history=True, solution=start)
        checkpoint(state)
        operator("random-node").apply(state, 1)
        operator("greedy").apply(state)
        touch(state)
        close_empty_routes(state)
        routes_of(state)


def _source_line(error: Exception, source: Path) -> str:
    """Return the last line of the user's file that an exception came through."""
    frames = traceback.extract_tb(error.__traceback__)
    lines = [frame.lineno for frame in frames if Path(frame.filename).resolve() == source.resolve()]
    return f"{source}, line {lines[-1]}" if lines else str(source)


def _expect_contract(entry: Operator, state: State, instance: Instance, quota: int) -> None:
    if state.fault != NOTHING_WRONG:
        what = {"destroy": "removed", "repair": "inserted", "improve": "moved"}[entry.phase]
        raise _Fault(
            f"{what} customer {state.fault_node}, which cannot be {what} (twice, or at a position off the route?)"
        )
    if entry.phase == "destroy" and state.n_removed != quota:
        raise _Fault(f"removed {state.n_removed} customers, but its quota was {quota}")
    if entry.phase != "destroy" and state.n_removed > 0 and not instance.may_leave_out:
        raise _Fault(f"left {state.n_removed} customers on the removal list")


def _expect_routes(state: State, instance: Instance) -> None:
    solution = solution_of(state, instance)
    faults = solution.broken_rules() if instance.may_leave_out else solution.faults()
    if faults:
        raise _Fault(f"left routes that break a rule ({faults[0].rstrip('.')})")
    if not np.isclose(solution.cost, state.cost):
        raise _Fault(f"left a state of cost {state.cost:g}, but its routes cost {solution.cost:g}")


def _instance(number: int) -> Instance:
    """Return a small instance: one customer and more, tight and loose, with points alone or an asymmetric matrix."""
    rng = np.random.default_rng(number)
    customers = 1 + number % 30
    demands = np.r_[0.0, rng.integers(0, 11, customers)]
    capacity = max(1.0, demands.max()) * (1.0 + 6.0 * rng.random())
    points = rng.integers(0, 3 if number % 5 == 0 else 100, (customers + 1, 2)).astype(float)
    matrix = rng.integers(1, 50, (customers + 1, customers + 1)).astype(float) if number % 4 == 0 else None
    return Instance("small", demands, capacity, points, matrix)
