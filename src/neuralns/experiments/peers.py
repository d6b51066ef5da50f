"""Other solvers, each as one function: an instance, seconds and a seed in, routes out.

Each runs on one thread and is told the instance in whole numbers (`whole_numbers`); the routes that come back are
checked and costed by our own code in any case.
"""

from __future__ import annotations

import importlib.util
from datetime import timedelta
from functools import partial
from typing import Any

import numpy as np

from neuralns.errors import InputError
from neuralns.experiments.solver_runs import Solver
from neuralns.experiments.whole_numbers import WholeNumbers, fleet, whole_numbers
from neuralns.problem.instance import Instance

Routes = list[list[int]]


def solve_neuralns(instance: Instance, seconds: float, seed: int, objective: str | None = None) -> Routes:
    """Run neuralns with its defaults."""
    from neuralns.search.solve import solve
    from neuralns.search.stopping import MaxTime

    return solve(instance, MaxTime(seconds), seed=seed, objective=objective).routes


def solve_pyvrp(instance: Instance, seconds: float, seed: int) -> Routes:
    """Run PyVRP (iterated local search in C++) with its defaults."""
    import pyvrp
    from pyvrp.stop import MaxRuntime

    told = whole_numbers(instance)
    limits = {"shift_duration": told.max_duration, "max_distance": told.max_distance}
    data = pyvrp.ProblemData(
        [pyvrp.Location(float(x), float(y)) for x, y in instance.points],
        [_pyvrp_client(pyvrp, told, node) for node in range(1, len(told.demands))],
        [pyvrp.Depot(0)],
        [
            pyvrp.VehicleType(
                told.vehicles,
                capacity=[told.capacity],
                fixed_cost=told.vehicle_cost,
                **({"tw_late": told.horizon} if told.timed else {}),
                **{name: limit for name, limit in limits.items() if limit is not None},
            )
        ],
        [told.distances],
        [told.durations if told.timed else np.zeros_like(told.durations)],
    )
    result = pyvrp.solve(data, MaxRuntime(seconds), seed=seed, collect_stats=False, display=False)
    return [[client.location for client in _visits(route, data)] for route in result.best.routes()]


def _pyvrp_client(pyvrp: Any, told: WholeNumbers, node: int) -> Any:
    times = {
        "service_duration": int(told.service[node]),
        "tw_early": int(told.earliest[node]),
        "tw_late": int(told.latest[node]),
    }
    return pyvrp.Client(node, delivery=[int(told.demands[node])], **(times if told.timed else {}))


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
        "num_vehicles": fleet(instance),
        "depot": 0,
    }
    parameters = hygese.AlgorithmParameters(timeLimit=seconds, seed=seed)
    result = hygese.Solver(parameters=parameters, verbose=False).solve_cvrp(data)
    return [[int(customer) for customer in route] for route in result.routes]


def solve_ortools(instance: Instance, seconds: float, seed: int) -> Routes:
    """Run OR-Tools' routing solver: a first solution, then guided local search. It takes no seed.

    The first solution is by savings, with windows or limits by parallel cheapest insertion, as in its documentation.
    """
    from ortools.constraint_solver import pywrapcp, routing_enums_pb2

    told = whole_numbers(instance)
    manager = pywrapcp.RoutingIndexManager(len(told.demands), told.vehicles, 0)
    routing = pywrapcp.RoutingModel(manager)
    length = routing.RegisterTransitMatrix(told.distances.tolist())
    routing.SetArcCostEvaluatorOfAllVehicles(length)
    routing.SetFixedCostOfAllVehicles(told.vehicle_cost)
    load = routing.RegisterUnaryTransitVector(told.demands.tolist())
    routing.AddDimensionWithVehicleCapacity(load, 0, [told.capacity] * told.vehicles, True, "load")
    if told.max_distance is not None:
        routing.AddDimension(length, 0, told.max_distance, True, "distance")
    if told.timed:
        _add_times(routing, manager, told)
    first = routing_enums_pb2.FirstSolutionStrategy
    bound = told.timed or told.max_distance is not None
    parameters = pywrapcp.DefaultRoutingSearchParameters()
    parameters.first_solution_strategy = first.PARALLEL_CHEAPEST_INSERTION if bound else first.SAVINGS
    parameters.local_search_metaheuristic = routing_enums_pb2.LocalSearchMetaheuristic.GUIDED_LOCAL_SEARCH
    parameters.time_limit.FromTimedelta(timedelta(seconds=seconds))
    assignment = routing.SolveWithParameters(parameters)
    routes: Routes = []
    for vehicle in range(told.vehicles if assignment else 0):
        node, route = routing.Start(vehicle), []
        while not routing.IsEnd(node):
            route.append(manager.IndexToNode(node))
            node = assignment.Value(routing.NextVar(node))
        routes.append(route[1:])
    return [route for route in routes if route]


def _add_times(routing: Any, manager: Any, told: WholeNumbers) -> None:
    """Tell OR-Tools of travel and service times, of windows, and of the longest that a route may take."""
    steps = routing.RegisterTransitMatrix((told.durations + told.service[:, None]).tolist())
    routing.AddDimension(steps, told.horizon, told.horizon, False, "time")
    clock = routing.GetDimensionOrDie("time")
    for node in range(1, len(told.demands)):
        latest = min(int(told.latest[node]), told.horizon)
        clock.CumulVar(manager.NodeToIndex(node)).SetRange(int(told.earliest[node]), latest)
    for vehicle in range(told.vehicles if told.max_duration is not None else 0):
        clock.SetSpanUpperBoundForVehicle(told.max_duration, vehicle)


def solve_vroom(instance: Instance, seconds: float, seed: int) -> Routes:
    """Run VROOM at its highest exploration level; it takes no seed and may end early."""
    import vroom

    told = whole_numbers(instance)
    problem = vroom.Input()
    problem.set_durations_matrix("car", told.durations.astype(np.uint32))
    problem.set_distances_matrix("car", told.distances.astype(np.uint32))
    problem.set_costs_matrix("car", told.distances.astype(np.uint32))
    problem.add_vehicle([_vroom_vehicle(vroom, told, number) for number in range(told.vehicles)])
    problem.add_job([_vroom_job(vroom, told, node) for node in range(1, len(told.demands))])
    solution = problem.solve(exploration_level=5, nb_threads=1, timeout=timedelta(seconds=seconds))
    visits = solution.routes
    jobs = visits[visits["type"] == "job"]
    return [group["id"].astype(int).tolist() for _, group in jobs.groupby("vehicle_id", sort=True)]


def _vroom_vehicle(vroom: Any, told: WholeNumbers, number: int) -> Any:
    limits = {} if told.max_distance is None else {"max_distance": told.max_distance}
    return vroom.Vehicle(
        number,
        start=0,
        end=0,
        capacity=[told.capacity],
        time_window=vroom.TimeWindow(0, told.horizon) if told.timed else None,
        costs=vroom.VehicleCosts(fixed=told.vehicle_cost),
        **limits,
    )


def _vroom_job(vroom: Any, told: WholeNumbers, node: int) -> Any:
    times = {
        "default_service": int(told.service[node]),
        "time_windows": [vroom.TimeWindow(int(told.earliest[node]), int(told.latest[node]))],
    }
    return vroom.Job(node, location=node, delivery=[int(told.demands[node])], **(times if told.timed else {}))


PEERS: dict[str, tuple[str | None, Solver]] = {
    "neuralns": (None, solve_neuralns),
    "PyVRP": ("pyvrp", solve_pyvrp),
    "HGS-CVRP": ("hygese", solve_hgs),
    "OR-Tools": ("ortools", solve_ortools),
    "VROOM": ("vroom", solve_vroom),
}
"""Solvers by name, with the module that must be installed for each."""

WINDOWS, DURATION, DISTANCE, FLEET = "time windows", "limits on durations", "limits on distances", "costs of vehicles"
UNKNOWN = {"HGS-CVRP": (WINDOWS, DURATION, DISTANCE, FLEET), "VROOM": (DURATION,)}
"""What solvers cannot be told."""


def installed_peers() -> list[str]:
    """Return the names of the solvers that can run here."""
    return [name for name, (module, _) in PEERS.items() if module is None or importlib.util.find_spec(module)]


def cannot_be_told(solver: str, instance: Instance, objective: str = "distance") -> str | None:
    """Return the first thing that an instance or the objective has and a solver does not know, if there is one.

    >>> cannot_be_told("HGS-CVRP", Instance("one", [0, 1], 1, [[0, 0], [3, 4]], windows=[[0, 20], [8, 9]]))
    'time windows'
    """
    has = {
        WINDOWS: instance.windows is not None,
        DURATION: instance.max_duration is not None,
        DISTANCE: instance.max_distance is not None,
        FLEET: instance.vehicle_cost > 0 or objective == "vehicles",
    }
    return next((what for what in UNKNOWN.get(solver, ()) if has[what]), None)


def fewest_vehicles(solver: Solver, instance: Instance, seconds: float, seed: int) -> Routes:
    """Run a solver for the fewest vehicles, then distance: each vehicle costs more than all that it could save.

    A solution need never be longer than a route to each customer and back, which is the cost.
    """
    nodes = np.arange(instance.customers + 1)
    depot = np.zeros_like(nodes)
    price = float(np.ceil((instance.legs(depot, nodes) + instance.legs(nodes, depot)).sum()))
    return solver(instance.with_vehicle_cost(price), seconds, seed)


def solver_for(name: str, objective: str) -> Solver:
    """Return a solver for an objective, ``distance`` or ``vehicles``."""
    solver = PEERS[name][1]
    if objective != "vehicles":
        return solver
    return partial(solver, objective=objective) if solver is solve_neuralns else partial(fewest_vehicles, solver)
