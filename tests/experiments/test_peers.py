"""Other solvers: each keeps every rule that it is told, in time that is hardly enough to start."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from neuralns import Instance
from neuralns.experiments.peers import PEERS, UNKNOWN, cannot_be_told, installed_peers, solver_for
from neuralns.problem.solution import Solution

SECONDS = 0.3


def scattered(customers: int = 12) -> Instance:
    """Customers around a depot in the middle, loads for two vehicles."""
    source = np.random.default_rng(7)
    points = np.vstack([[50.0, 50.0], source.integers(0, 100, (customers, 2))])
    demands = np.append(0, source.integers(1, 10, customers))
    return Instance("scattered", demands, float(demands.sum()), points, rounding="dimacs")


def in_turn(instance: Instance) -> dict[str, Any]:
    """Windows that open customer after customer, as they are numbered, and service that takes a while."""
    nodes = np.arange(instance.customers + 1)
    windows = np.column_stack([40.0 * nodes, 40.0 * nodes + 100.0])
    windows[0] = 0.0, 2000.0
    return {"windows": windows, "service": np.where(nodes > 0, 5.0, 0.0)}


def one_way(instance: Instance) -> dict[str, Any]:
    """Ways to customers with a smaller number take long, and everybody is to be back soon."""
    assert instance.distances is not None
    numbers = np.arange(instance.customers + 1)
    back = (numbers[:, None] > numbers[None, :]) & (numbers[None, :] > 0)
    windows = np.tile([0.0, 700.0], (len(numbers), 1))
    return {"durations": np.where(back, 400.0, instance.distances), "windows": windows}


def rules(instance: Instance) -> dict[str, dict[str, Any]]:
    """Rules that the shortest routes of the plain instance break."""
    return {
        "windows": in_turn(instance),
        "durations": one_way(instance),
        "max_duration": {"max_duration": 260.0},
        "max_distance": {"max_distance": 260.0},
        "vehicles": {**in_turn(instance), "vehicles": 4},
    }


def solved(name: str, instance: Instance, objective: str = "distance") -> Solution:
    if name not in installed_peers():
        pytest.skip(f"{name} is not installed")
    lack = cannot_be_told(name, instance, objective)
    if lack is not None:
        pytest.skip(f"{name} cannot be told of {lack}")
    return Solution(instance, solver_for(name, objective)(instance, SECONDS, 1))


@pytest.mark.parametrize("rule", rules(scattered()))
@pytest.mark.parametrize("name", PEERS)
def test_a_rule_that_would_be_broken_is_kept(name: str, rule: str) -> None:
    plain = scattered()
    ruled = replace(plain, **rules(plain)[rule])
    found = solved(name, ruled)
    assert found.faults() == []
    assert Solution(ruled, solved(name, plain).routes).faults()
    assert found.cost < Solution(plain, [[customer] for customer in range(1, 13)]).cost


@pytest.mark.parametrize("name", PEERS)
def test_distances_without_rounding_are_kept_in_time(name: str) -> None:
    plain = scattered().with_rounding("none")
    assert solved(name, replace(plain, **in_turn(plain))).faults() == []


@pytest.mark.parametrize("name", PEERS)
def test_vehicles_come_first_if_they_are_to(name: str) -> None:
    """Two clusters, whose windows overlap: one vehicle can do both, but the way between them is long."""
    side = np.array([[-100.0, 0.0], [-100.0, 1.0], [100.0, 0.0], [100.0, 1.0]])
    matrix = np.linalg.norm(np.vstack([[0, 0], side])[:, None] - np.vstack([[0, 0], side])[None], axis=2)
    matrix[1:3, 3:] = matrix[3:, 1:3] = 500.0
    windows = np.tile([0.0, 5000.0], (5, 1))
    instance = Instance("sides", [0, 1, 1, 1, 1], 4, matrix=matrix, rounding="round", windows=windows)
    assert len(solved(name, instance).routes) == 2
    fewest = solved(name, instance, "vehicles")
    assert (len(fewest.routes), fewest.faults()) == (1, [])


def test_what_solvers_cannot_be_told_is_said() -> None:
    plain = scattered()
    timed = replace(plain, **in_turn(plain))
    assert [name for name in PEERS if cannot_be_told(name, plain)] == []
    assert [name for name in PEERS if cannot_be_told(name, timed)] == ["HGS-CVRP"]
    assert cannot_be_told("VROOM", replace(plain, max_duration=300.0)) == "limits on durations"
    assert cannot_be_told("HGS-CVRP", plain, "vehicles") == "costs of vehicles"
    assert set(UNKNOWN) < set(PEERS)
