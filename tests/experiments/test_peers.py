"""Other solvers: each keeps every rule that it is told, in time that is hardly enough to start."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from neuralns import Instance
from neuralns.experiments.peers import PEERS, UNKNOWN, cannot_be_told, installed_peers, solver_for
from neuralns.experiments.solver_runs import as_plan
from neuralns.problem.fleet import Depot, Group, Profile, Shipment, VehicleType
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
    return Solution(instance, *as_plan(solver_for(name, objective)(instance, SECONDS, 1)))


@pytest.mark.parametrize("rule", rules(scattered()))
@pytest.mark.parametrize("name", PEERS)
def test_a_rule_that_would_be_broken_is_kept(name: str, rule: str) -> None:
    plain = scattered()
    ruled = replace(plain, **rules(plain)[rule])
    found = solved(name, ruled)
    assert found.faults() == []
    assert Solution(ruled, solved(name, plain).routes).faults()
    assert found.cost < Solution(plain, [[customer] for customer in range(1, 13)]).cost


def parts() -> dict[str, dict[str, Any]]:
    """What instances of nine customers may have beside demands, each in a way that matters."""
    plain = small()
    nodes = np.arange(10)
    deliveries = np.where(nodes % 3 == 0, 0.0, plain.demands)
    pickups = np.where(nodes % 3 == 0, plain.demands, 0.0)
    demands = {"demands": plain.demands}
    windows = np.tile([0.0, 400.0], (10, 1))
    half = float(plain.demands.sum()) / 2
    assert plain.distances is not None
    ships = [Shipment(k, k + 4, 5) for k in range(1, 5)]
    nothing = {"demands": None, "deliveries": np.append(np.zeros(9), 3.0)}
    return {
        "types": {**demands, "fleet": [VehicleType(half / 2, 3, 20, 1.5), VehicleType(half, 1, 50, 2)]},
        "depots": {
            "demands": np.where(nodes < 9, plain.demands, 0.0),
            "depots": [Depot(), Depot()],
            "fleet": [VehicleType(half, 1), VehicleType(half, None, start=9, end=9), VehicleType(half, 1, end=9)],
        },
        "open ends": {**demands, "fleet": [VehicleType(half, 2, end=None)]},
        "open starts": {**demands, "fleet": [VehicleType(half, 2, start=None)], "windows": windows},
        "stops": {**demands, "fleet": [VehicleType(half, max_stops=3)]},
        "shifts": {**demands, "fleet": [VehicleType(half, 5, shift=(10, 190)), VehicleType(half, 1, shift=(50, 300))]},
        "durations": {**demands, "fleet": [VehicleType(half, None, 5, 0.5, 0.3, max_duration=250)], "windows": windows},
        "dimensions": {
            "deliveries": np.column_stack([plain.demands, plain.demands[::-1] * (nodes > 0)]),
            "fleet": [VehicleType([half, half])],
        },
        "pickups": {"deliveries": deliveries, "pickups": pickups, "fleet": [VehicleType(half)]},
        "both at once": {"deliveries": plain.demands, "pickups": pickups, "fleet": [VehicleType(half)]},
        "backhauls": {"deliveries": deliveries, "pickups": pickups, "fleet": [VehicleType(half)], "backhauls": True},
        "several windows": {
            **demands, "capacity": half, "openings": {3: [(0, 10), (150, 160)], 4: [(20, 30), (200, 210), (300, 310)]},
            "windows": windows,
        },
        "release": {**demands, "capacity": half, "release": np.where(nodes > 6, 80.0, 0.0), "windows": 0.6 * windows},
        "prizes": {**demands, "capacity": half, "prizes": np.where((nodes % 2 == 0) & (nodes > 0), 40.5, np.inf)},
        "groups": {**demands, "capacity": half, "groups": [Group([1, 5, 9]), Group([2, 3], required=False)]},
        "groups with prizes": {
            **demands, "capacity": half, "groups": [Group([2, 4], required=False), Group([6, 8])],
            "prizes": np.where((nodes % 2 == 0) & (nodes > 0), 70.0, np.inf),
        },
        "skills": {
            **demands, "skills": {2: ["ice"], 5: ["ice"], 7: ["crane"]},
            "fleet": [VehicleType(half, skills=["ice"]), VehicleType(half, skills=["crane"], fixed_cost=10)],
        },
        "shipments": {"shipments": ships, **nothing, "fleet": [VehicleType(12.0)], "windows": windows},
        "optional shipments": {
            "shipments": ships, "demands": None, "deliveries": np.zeros(10), "pickups": np.append(np.zeros(9), 2.0),
            "fleet": [VehicleType(12.0, 2)], "prizes": np.where((nodes % 4 == 1) & (nodes < 9), 60.0, np.inf),
        },
        "profiles": {
            **demands, "profiles": [Profile(2 * plain.distances.T, plain.distances / 2)], "windows": windows,
            "fleet": [VehicleType(half), VehicleType(half, distance_cost=0.25, profile=1)],
        },
    }  # fmt: skip


def small() -> Instance:
    return scattered(9)


def with_part(part: str) -> Instance:
    plain = small()
    stated = parts()[part]
    if "capacity" not in stated:
        stated["capacity"] = None
    return Instance(part, stated.pop("demands", None), coordinates=plain.points, rounding="dimacs", **stated)


@pytest.mark.parametrize("part", parts())
@pytest.mark.parametrize("name", [name for name in PEERS if name not in ("neuralns", "HGS-CVRP")])
def test_parts_of_an_instance_are_kept(name: str, part: str) -> None:
    """The best of nine customers is soon found, so that all solvers agree if they were told the same."""
    instance = with_part(part)
    found = solved(name, instance)
    assert found.faults() == []
    assert found.cost <= 1.1 * solved("PyVRP", instance).cost
    assert solved("PyVRP", instance).cost <= 1.1 * found.cost


@pytest.mark.parametrize("part", parts())
def test_pyvrp_pays_what_we_pay(part: str) -> None:
    pyvrp = pytest.importorskip("pyvrp")
    from neuralns.experiments.peer_pyvrp import pyvrp_data, pyvrp_numbers, pyvrp_plan

    instance = with_part(part)
    told = pyvrp_numbers(instance)
    data, nodes = pyvrp_data(instance, told)
    result = pyvrp.solve(data, pyvrp.stop.MaxIterations(100), seed=1, display=False)
    assert result.cost() / told.cost_factor == pytest.approx(
        Solution(instance, *pyvrp_plan(result.best, told, nodes)).cost, abs=1e-9
    )


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
