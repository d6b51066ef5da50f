"""Drivers: each makes an input from a seed, and checks that the package takes or refuses it as it should.

A check that raises anything is a finding; what the input was is then known to the byte.
"""

from __future__ import annotations

import json
import struct
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import texts
from fuzz.damage import ODD, damaged_text, flipped
from fuzz.outside import complaints, cost
from neuralns import (
    InputError,
    Instance,
    Operator,
    Solution,
    make_portfolio,
    random_tours,
    read,
    read_solution,
    savings,
)
from neuralns.experiments.solver_runs import SolverRun
from neuralns.experiments.store import read_rows, rows_text
from neuralns.operators.registry import operator, operators
from neuralns.routes.edits import close_empty_routes, undo
from neuralns.routes.history import remember
from neuralns.routes.journal import checkpoint
from neuralns.routes.layout import JOURNALLED
from neuralns.routes.transfer import new_state, routes_of
from neuralns.selection.names import selector_from
from neuralns.selection.policy_file import policy_bytes, read_policy
from policies import constant_policy, wheel_policy


@dataclass(frozen=True)
class Driver:
    """How inputs of a kind are made and checked; a check may use a file of its own."""

    make: Callable[[np.random.Generator], bytes]
    check: Callable[[bytes, Path], None]


# --- Instances and solutions. -----------------------------------------------------------------------------------------


def _check_instance(content: bytes, file: Path) -> None:
    file.write_bytes(content)
    try:
        instance = read(file)
    except InputError as error:
        _check_sentence(error)
        return
    assert np.isfinite(instance.points).all()
    if not (instance.timed or instance.max_distance is not None or instance.may_leave_out):
        assert not complaints(instance, savings(instance).routes)
    plan = Solution(instance, [[customer] for customer in range(1, instance.customers + 1)])
    assert plan.cost >= 0
    assert all(isinstance(fault, str) for fault in plan.faults())


def _check_solution(content: bytes, file: Path) -> None:
    file.write_bytes(content)
    try:
        solution = read_solution(texts.TINY, file)
    except InputError as error:
        _check_sentence(error)
        return
    assert bool(solution.faults()) == bool(complaints(texts.TINY, solution.routes))


def _check_driven(content: bytes, file: Path) -> None:
    file.write_bytes(content)
    try:
        solution = read_solution(texts.GENERAL, file)
    except InputError as error:
        _check_sentence(error)
        return
    assert len(solution.vehicles) == len(solution.routes)
    assert all(isinstance(fault, str) for fault in solution.faults())


def _check_sentence(error: InputError) -> None:
    assert str(error).endswith((".", "?")), str(error)


# --- Operators. -------------------------------------------------------------------------------------------------------

PARAMETERS = (-1.0, 0.0, 1e-3, 0.5, 1.0, 2.0, 10.0, 1e6)


def _make_seed(rng: np.random.Generator) -> bytes:
    return json.dumps({"seed": int(rng.integers(2**63))}).encode()


def random_instance(rng: np.random.Generator) -> Instance:
    """An instance of any kind: points or a matrix, whole or fractional demands, tight or loose capacity."""
    nodes = int(rng.choice([2, 3, 6, 12, 40])) + int(rng.integers(3))
    points = rng.integers(0, rng.choice([1, 5, 1000]) + 1, (nodes, 2)).astype(float)
    demands = rng.integers(0, 11, nodes) * rng.choice([1.0, 0.1, 1 / 3])
    demands[0] = 0.0
    capacity = max(float(demands.max()), 1e-3) * rng.choice([1.0, 1.5, 4.0, 100.0])
    matrix = rng.integers(0, 50, (nodes, nodes)).astype(float) if rng.random() < 0.3 else None
    rounding = str(rng.choice(["none", "round", "trunc", "dimacs"]))
    return Instance("drawn", demands, capacity, points, matrix, rounding, float(rng.choice([0, 100])))  # type: ignore[arg-type]


def _random_operator(rng: np.random.Generator, phase: str) -> Operator:
    names = [entry.name for entry in operators() if entry.phase == phase and entry.kind != "own"]
    chosen = operator(names[rng.integers(len(names))])
    if chosen.parameters and rng.random() < 0.5:
        name, _ = chosen.parameters[rng.integers(len(chosen.parameters))]
        return chosen.with_parameters(f"{name}={PARAMETERS[rng.integers(len(PARAMETERS))]}")
    return chosen


def _check_operators(content: bytes, file: Path) -> None:
    rng = np.random.default_rng(json.loads(content)["seed"])
    instance = random_instance(rng)
    state = new_state(instance, int(rng.integers(1000)), history=True, solution=random_tours(instance, 1))
    for _ in range(12):
        before = {field.name: np.copy(getattr(state, field.name)) for field in JOURNALLED}
        routes = routes_of(state)
        checkpoint(state)
        destroy, repair = _random_operator(rng, "destroy"), _random_operator(rng, "repair")
        quota = int(rng.integers(1, instance.customers + 1))
        destroy.apply(state, quota)
        what = f"{destroy.name} and {repair.name} with quota {quota}"
        gone = state.removed[: state.n_removed].tolist()
        assert state.fault == 0, what
        assert len(gone) == quota, what
        _check_routes(instance, state, gone, what)
        repair.apply(state)
        assert (state.fault, state.n_removed) == (0, 0), what
        _check_routes(instance, state, [], what)
        remember(state)
        if rng.random() < 0.5:
            undo(state)
            assert routes_of(state) == routes, what
            for name, value in before.items():
                assert np.array_equal(getattr(state, name), value), f"{what}: undo left another {name}"
        else:
            close_empty_routes(state)


def _check_routes(instance: Instance, state: Any, missing: list[int], what: str) -> None:
    routes = [route for route in routes_of(state) if len(route) > 0]
    assert not complaints(instance, routes, missing), what
    expected = cost(instance, routes)
    assert abs(state.cost - expected) <= 1e-9 * max(1.0, abs(expected)), f"{what}: {state.cost} is not {expected}"


# --- Policies. --------------------------------------------------------------------------------------------------------

_OPERATORS = "random-node,zone,greedy"
_POLICIES = (
    policy_bytes(constant_policy(_OPERATORS, [1, 2, 3])),
    policy_bytes(constant_policy(_OPERATORS, [1, 2, 3], "mlp", 5)),
    policy_bytes(wheel_policy(_OPERATORS, [1.0, 2.0, 3.0])),
)


def _make_policy(rng: np.random.Generator) -> bytes:
    content = _POLICIES[rng.integers(len(_POLICIES))]
    (length,) = struct.unpack("<Q", content[:8])
    header, numbers = content[8 : 8 + length], content[8 + length :]
    match rng.integers(4):
        case 0:
            return flipped(rng, content, 8)
        case 1:
            return content[: rng.integers(len(content))]
        case 2:
            header = damaged_text(rng, header.decode())
        case _:
            entries = json.loads(header)
            for _ in range(rng.integers(1, 3)):
                _change(rng, entries)
            header = json.dumps(entries).encode()
    return struct.pack("<Q", len(header)) + header + numbers


def _change(rng: np.random.Generator, entries: dict[str, Any]) -> None:
    """Change an entry of a tensor or of the card."""
    values: tuple[Any, ...] = (0, -1, 1 << 31, 1 << 62, 10**30, 1.5, True, None, "a", "F16", "I64", [], [0], {}, [[]])
    odd = (*values, *ODD)
    tensors = [key for key in entries if key != "__metadata__"]
    if rng.random() < 0.5 and tensors:
        place: Any = entries[tensors[rng.integers(len(tensors))]]
        if rng.random() < 0.5 and isinstance(place.get("shape"), list) and place["shape"]:
            place["shape"][rng.integers(len(place["shape"]))] = odd[rng.integers(len(values))]
            return
        place[list(place)[rng.integers(len(place))]] = odd[rng.integers(len(odd))]
        return
    card = json.loads(entries["__metadata__"]["neuralns"])
    place = card
    if rng.random() < 0.3 and isinstance(card.get("operators"), dict):
        place = card["operators"]
    names = [*place, "sizes", "instances", "scale", "setting", "graph", "nodes"]
    place[names[rng.integers(len(names))]] = odd[rng.integers(len(odd))]
    entries["__metadata__"]["neuralns"] = json.dumps(card)


def _check_policy(content: bytes, file: Path) -> None:
    file.write_bytes(content)
    instance = Instance("five", [0, 1, 1, 1, 1, 1], 3, [[0, 0], [0, 1], [1, 0], [2, 2], [3, 1], [4, 4]])
    try:
        policy = read_policy(file)
        selector = selector_from(policy, "fuzz.policy")
        portfolio = make_portfolio("own", [*policy.destroys, *policy.repairs])
        memory = selector.start(portfolio, instance.customers)
        doubts = selector.doubts(instance, (1, 2))
    except InputError as error:
        _check_sentence(error)
        return
    assert all(isinstance(doubt, str) for doubt in doubts)
    choose, _ = selector.functions()
    state = new_state(instance, 1, history=True, solution=random_tours(instance, 1))
    for phase, known in enumerate((policy.destroys, policy.repairs)):
        assert 0 <= choose(memory, state, phase) < len(known)


# --- Results. ---------------------------------------------------------------------------------------------------------

RESULTS = rows_text(SolverRun("tiny", 3, "neuralns", 10.0, seed, 36.5, 40.0, -8.75, 2, True, 10.25) for seed in (1, 2))


def _check_results(content: bytes, file: Path) -> None:
    file.write_bytes(content)
    try:
        rows = read_rows(file, SolverRun)
    except InputError as error:
        _check_sentence(error)
        return
    assert all(isinstance(row.seed, int) and isinstance(row.cost, float) for row in rows)


DRIVERS = {
    **{
        f"instance-{kind}": Driver(partial(damaged_text, text=text), _check_instance)
        for kind, text in texts.INSTANCES.items()
    },
    **{
        f"solution-{kind}": Driver(partial(damaged_text, text=text), _check_solution)
        for kind, text in texts.SOLUTIONS.items()
    },
    **{
        f"solution-fleet-{kind}": Driver(partial(damaged_text, text=text), _check_driven)
        for kind, text in texts.FLEET_SOLUTIONS.items()
    },
    "operators": Driver(_make_seed, _check_operators),
    "policy": Driver(_make_policy, _check_policy),
    "results": Driver(partial(damaged_text, text=RESULTS), _check_results),
}


def run(name: str, seed: int, file: Path) -> bytes:
    """Make the input of a seed and check it; return it."""
    content = DRIVERS[name].make(np.random.default_rng(seed))
    check(name, content, file)
    return content


def check(name: str, content: bytes, file: Path) -> None:
    """Check one input."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        DRIVERS[name].check(content, file)
