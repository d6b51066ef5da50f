"""Other solvers, each as one function: an instance, seconds and a seed in, routes out.

Each runs on one thread. Solvers that compute with whole numbers get distances and demands multiplied by a power of ten
where the instance has decimals; the routes that come back are costed by our own code in any case.
"""

from __future__ import annotations

import importlib.util
import math
from datetime import timedelta
from typing import Any

import numpy as np
import numpy.typing as npt

from neuralns.errors import InputError
from neuralns.experiments.solver_runs import Solver
from neuralns.problem.instance import Instance

Routes = list[list[int]]
Whole = npt.NDArray[np.int64]


def solve_neuralns(instance: Instance, seconds: float, seed: int) -> Routes:
    """Run neuralns with its defaults."""
    from neuralns.search.solve import solve
    from neuralns.search.stopping import MaxTime

    return solve(instance, MaxTime(seconds), seed=seed).routes


def solve_pyvrp(instance: Instance, seconds: float, seed: int) -> Routes:
    """Run PyVRP (iterated local search in C++) with its defaults."""
    import pyvrp
    from pyvrp.stop import MaxRuntime

    distances, demands, capacity = _whole_numbers(instance)
    points = instance.points
    data = pyvrp.ProblemData(
        [pyvrp.Location(float(x), float(y)) for x, y in points],
        [pyvrp.Client(node, delivery=[int(demands[node])]) for node in range(1, len(points))],
        [pyvrp.Depot(0)],
        [pyvrp.VehicleType(_fleet(instance), capacity=[capacity])],
        [distances],
        [np.zeros_like(distances)],
    )
    result = pyvrp.solve(data, MaxRuntime(seconds), seed=seed, collect_stats=False, display=False)
    if not result.best.is_feasible():
        return []
    return [[client.location for client in _visits(route, data)] for route in result.best.routes()]


def _visits(route: Any, data: Any) -> list[Any]:
    return [data.client(activity.idx) for activity in route.schedule() if activity.is_client()]


def solve_hgs(instance: Instance, seconds: float, seed: int) -> Routes:
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
        "num_vehicles": _fleet(instance),
        "depot": 0,
    }
    parameters = hygese.AlgorithmParameters(timeLimit=seconds, seed=seed)
    result = hygese.Solver(parameters=parameters, verbose=False).solve_cvrp(data)
    return [[int(customer) for customer in route] for route in result.routes]


def solve_ortools(instance: Instance, seconds: float, seed: int) -> Routes:
    """Run OR-Tools' routing solver: savings, then guided local search. It takes no seed."""
    from ortools.constraint_solver import pywrapcp, routing_enums_pb2

    distances, demands, capacity = _whole_numbers(instance)
    vehicles = _fleet(instance)
    manager = pywrapcp.RoutingIndexManager(len(demands), vehicles, 0)
    routing = pywrapcp.RoutingModel(manager)
    routing.SetArcCostEvaluatorOfAllVehicles(routing.RegisterTransitMatrix(distances.tolist()))
    load = routing.RegisterUnaryTransitVector(demands.tolist())
    routing.AddDimensionWithVehicleCapacity(load, 0, [capacity] * vehicles, True, "load")
    parameters = pywrapcp.DefaultRoutingSearchParameters()
    parameters.first_solution_strategy = routing_enums_pb2.FirstSolutionStrategy.SAVINGS
    parameters.local_search_metaheuristic = routing_enums_pb2.LocalSearchMetaheuristic.GUIDED_LOCAL_SEARCH
    parameters.time_limit.FromTimedelta(timedelta(seconds=seconds))
    assignment = routing.SolveWithParameters(parameters)
    routes: Routes = []
    for vehicle in range(vehicles if assignment else 0):
        node, route = routing.Start(vehicle), []
        while not routing.IsEnd(node):
            route.append(manager.IndexToNode(node))
            node = assignment.Value(routing.NextVar(node))
        routes.append(route[1:])
    return [route for route in routes if route]


def solve_vroom(instance: Instance, seconds: float, seed: int) -> Routes:
    """Run VROOM at its highest exploration level; it takes no seed and may end early."""
    import vroom

    distances, demands, capacity = _whole_numbers(instance)
    problem = vroom.Input()
    problem.set_durations_matrix("car", distances.astype(np.uint32))
    problem.add_vehicle(
        [vroom.Vehicle(number, start=0, end=0, capacity=[capacity]) for number in range(_fleet(instance))]
    )
    problem.add_job([vroom.Job(node, location=node, delivery=[int(demands[node])]) for node in range(1, len(demands))])
    solution = problem.solve(exploration_level=5, nb_threads=1, timeout=timedelta(seconds=seconds))
    visits = solution.routes
    jobs = visits[visits["type"] == "job"]
    return [group["id"].astype(int).tolist() for _, group in jobs.groupby("vehicle_id", sort=True)]


PEERS: dict[str, tuple[str | None, Solver]] = {
    "neuralns": (None, solve_neuralns),
    "PyVRP": ("pyvrp", solve_pyvrp),
    "HGS-CVRP": ("hygese", solve_hgs),
    "OR-Tools": ("ortools", solve_ortools),
    "VROOM": ("vroom", solve_vroom),
}
"""Solvers by name, with the module that must be installed for each."""


def installed_peers() -> list[str]:
    """Return the names of the solvers that can run here."""
    return [name for name, (module, _) in PEERS.items() if module is None or importlib.util.find_spec(module)]


def _fleet(instance: Instance) -> int:
    """Vehicles to offer: a fifth more than the total demand needs, and five."""
    return min(instance.customers, math.ceil(1.2 * float(instance.demands.sum()) / instance.capacity) + 5)


def _whole_numbers(instance: Instance) -> tuple[Whole, Whole, int]:
    """Return distances, demands and capacity as whole numbers, scaled where they have decimals."""
    if instance.distances is None:
        raise InputError(f"{instance.name}: too large for a matrix of distances, which other solvers are given.")
    distances = instance.distances.copy()
    np.fill_diagonal(distances, 0.0)
    scale = 1.0 if np.array_equal(distances, np.rint(distances)) else 1000.0
    weights = np.append(instance.demands, instance.capacity)
    unit = 1.0 if np.array_equal(weights, np.rint(weights)) else 1000.0
    # Loads are rounded up and the capacity down, so that what fits there fits here.
    demands = np.ceil(unit * instance.demands - 1e-6).astype(np.int64)
    return np.rint(scale * distances).astype(np.int64), demands, int(unit * instance.capacity)
