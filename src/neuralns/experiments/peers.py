"""Other solvers, each as one function: an instance, seconds and a seed in, routes out.

Each runs on one thread and is told the instance in whole numbers (`whole_numbers`); the routes that come back are
checked and costed by our own code in any case.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from functools import partial

import numpy as np

from neuralns.errors import InputError
from neuralns.experiments.executors import refuse_cut_short
from neuralns.experiments.peer_ortools import solve_ortools
from neuralns.experiments.peer_pyvrp import solve_pyvrp
from neuralns.experiments.peer_vroom import solve_vroom
from neuralns.experiments.solver_runs import Plan, Solver
from neuralns.experiments.whole_numbers import fleet
from neuralns.problem.instance import Instance


def solve_neuralns(instance: Instance, seconds: float, seed: int, objective: str | None = None) -> Plan:
    """Run neuralns with its defaults."""
    from neuralns.search.solve import solve
    from neuralns.search.stopping import MaxTime

    result = solve(instance, MaxTime(seconds), seed=seed, objective=objective)
    refuse_cut_short(result.stopped_by)
    return Plan(result.routes, list(result.best.vehicles))


def solve_hgs(instance: Instance, seconds: float, seed: int) -> Plan:
    """Run HGS-CVRP (hybrid genetic search in C++, through ``hygese``) with its defaults."""
    import hygese

    distances = instance.distances
    if distances is None:
        raise InputError(f"{instance.name}: too large for a matrix of distances, which HGS-CVRP is given.")
    data = {
        "x_coordinates": instance.points[:, 0],
        "y_coordinates": instance.points[:, 1],
        "distance_matrix": distances,
        "demands": instance.demands,
        "service_times": np.zeros(len(instance.demands)),
        "vehicle_capacity": instance.capacity,
        "num_vehicles": fleet(instance),
        "depot": 0,
    }
    parameters = hygese.AlgorithmParameters(timeLimit=seconds, seed=seed)
    result = hygese.Solver(parameters=parameters, verbose=False).solve_cvrp(data)
    return Plan([[int(customer) for customer in route] for route in result.routes])


PEERS: dict[str, tuple[str | None, Solver]] = {
    "neuralns": (None, solve_neuralns),
    "PyVRP": ("pyvrp", solve_pyvrp),
    "HGS-CVRP": ("hygese", solve_hgs),
    "OR-Tools": ("ortools", solve_ortools),
    "VROOM": ("vroom", solve_vroom),
}
"""Solvers by name, with the module that must be installed for each."""

PARTS: dict[str, Callable[[Instance], object]] = {
    "time windows": lambda instance: instance.windows is not None,
    "limits on durations": lambda instance: any(
        vehicle_type.max_duration is not None for vehicle_type in instance.types
    ),
    "limits on distances": lambda instance: any(
        vehicle_type.max_distance is not None for vehicle_type in instance.types
    ),
    "limits on stops": lambda instance: any(vehicle_type.max_stops is not None for vehicle_type in instance.types),
    "costs of vehicles": lambda instance: any(vehicle_type.fixed_cost > 0 for vehicle_type in instance.types),
    "costs of distance": lambda instance: any(vehicle_type.distance_cost != 1 for vehicle_type in instance.types),
    "costs of durations": lambda instance: any(vehicle_type.duration_cost > 0 for vehicle_type in instance.types),
    "several types of vehicles": lambda instance: len(instance.types) > 1,
    "several depots": lambda instance: len(instance.depot_nodes) > 1,
    "capacities of depots": lambda instance: any(depot.capacity is not None for depot in instance.depots or ()),
    "costs of depots": lambda instance: any(depot.cost > 0 for depot in instance.depots or ()),
    "open routes": lambda instance: any(
        None in (vehicle_type.start, vehicle_type.end) for vehicle_type in instance.types
    ),
    "shifts": lambda instance: (
        instance.fleet is not None and any(np.isfinite(vehicle_type.shift).any() for vehicle_type in instance.types)
    ),
    "several dimensions of goods": lambda instance: instance.dimensions > 1,
    "pickups": lambda instance: instance.pickups is not None,
    "pickups beside deliveries": lambda instance: all(amounts.any() for amounts in instance.amounts),
    "deliveries beside shipments": lambda instance: instance.shipments and instance.amounts[0].any(),
    "several windows": lambda instance: instance.openings,
    "several windows of shipments": lambda instance: any(
        len(instance.windows_of(node)) > 1 for each in instance.shipments or () for node in (each.pickup, each.delivery)
    ),
    "release times": lambda instance: instance.release is not None,
    "optional customers": lambda instance: instance.prizes is not None,
    "groups": lambda instance: instance.groups,
    "prizes in groups": lambda instance: any(instance.prize(node) > 0 for node in instance.group_of),
    "skills": lambda instance: instance.skills,
    "shipments": lambda instance: instance.shipments,
    "longest rides of shipments": lambda instance: instance.longest_rides,
    "limits on stops of shipments": lambda instance: instance.shipments and PARTS["limits on stops"](instance),
    "backhauls": lambda instance: instance.backhauls,
    "profiles": lambda instance: instance.profiles,
    "costs of routes": lambda instance: instance.route_costs,
}
"""What instances may have, by name, and whether one does."""

NOBODY = ("capacities of depots", "costs of depots", "costs of routes", "longest rides of shipments")
UNKNOWN: dict[str, tuple[str, ...]] = {
    "PyVRP": (*NOBODY, "several windows of shipments", "limits on stops of shipments"),
    "HGS-CVRP": tuple(PARTS),
    "OR-Tools": (
        *NOBODY,
        "release times",
        "pickups beside deliveries",
        "deliveries beside shipments",
        "prizes in groups",
        "backhauls",
    ),
    "VROOM": (
        *NOBODY,
        "limits on durations",
        "costs of durations",
        "release times",
        "optional customers",
        "groups",
        "backhauls",
    ),
}
"""What solvers cannot be told."""


def installed_peers() -> list[str]:
    """Return the names of the solvers that can run here."""
    return [name for name, (module, _) in PEERS.items() if module is None or importlib.util.find_spec(module)]


def cannot_be_told(solver: str, instance: Instance, objective: str = "distance") -> str | None:
    """Return the first thing that an instance or the objective has and a solver does not know, if there is one.

    >>> cannot_be_told("HGS-CVRP", Instance("one", [0, 1], 1, [[0, 0], [3, 4]], windows=[[0, 20], [8, 9]]))
    'time windows'
    """
    unknown = UNKNOWN.get(solver, ())
    if objective == "vehicles" and "costs of vehicles" in unknown:
        return "costs of vehicles"
    return next((what for what in unknown if PARTS[what](instance)), None)


def fewest_vehicles(solver: Solver, instance: Instance, seconds: float, seed: int) -> Plan | list[list[int]]:
    """Run a solver for the fewest vehicles, then cost: each vehicle costs more than all that it could save.

    A solution need never cost more than a route to each customer and back, which is the price.
    """
    nodes = np.arange(1, instance.customers + 1)
    price = 0.0
    for vehicle_type in instance.types:
        legs = np.zeros(len(nodes))
        if vehicle_type.start is not None:
            legs += instance.legs(np.full_like(nodes, vehicle_type.start), nodes, vehicle_type.profile)
        if vehicle_type.end is not None:
            legs += instance.legs(nodes, np.full_like(nodes, vehicle_type.end), vehicle_type.profile)
        price = max(price, vehicle_type.distance_cost * float(legs.sum()))
    return solver(instance.with_vehicle_cost(float(np.ceil(price))), seconds, seed)


def solver_for(name: str, objective: str) -> Solver:
    """Return a solver for an objective, ``distance`` or ``vehicles``."""
    solver = PEERS[name][1]
    if objective != "vehicles":
        return solver
    return partial(solver, objective=objective) if solver is solve_neuralns else partial(fewest_vehicles, solver)
