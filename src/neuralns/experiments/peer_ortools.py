"""OR-Tools' routing solver: an instance in its words, and its solution in ours."""

from __future__ import annotations

from datetime import timedelta
from itertools import pairwise
from typing import Any

import numpy as np

from neuralns.experiments.solver_runs import Plan
from neuralns.experiments.whole_numbers import WholeNumbers, WholeType, whole_numbers
from neuralns.problem.instance import Instance


def solve_ortools(instance: Instance, seconds: float, seed: int) -> Plan:
    """Run OR-Tools' routing solver: a first solution, then guided local search. It takes no seed.

    The first solution is by savings, with windows, limits, shipments or several types of vehicles by parallel cheapest
    insertion, as in its documentation.
    """
    from ortools.constraint_solver import pywrapcp, routing_enums_pb2

    told = whole_numbers(instance)
    owners = [number for number, vehicle_type in enumerate(told.types) for _ in range(vehicle_type.enough)]
    vehicle_types = [told.types[owner] for owner in owners]
    # One more node, no distance from anywhere, for routes that begin or end at a customer.
    nowhere = len(told.windows)
    manager = pywrapcp.RoutingIndexManager(
        nowhere + 1,
        len(vehicle_types),
        [nowhere if vehicle_type.start is None else vehicle_type.start for vehicle_type in vehicle_types],
        [nowhere if vehicle_type.end is None else vehicle_type.end for vehicle_type in vehicle_types],
    )
    routing = pywrapcp.RoutingModel(manager)
    _add_costs(routing, told, vehicle_types)
    _add_loads(routing, told, vehicle_types)
    _add_limits(routing, told, vehicle_types)
    if told.timed:
        _add_times(routing, manager, told, vehicle_types)
    _add_choices(routing, manager, instance, told, owners)
    _add_shipments(routing, manager, told)
    first = routing_enums_pb2.FirstSolutionStrategy
    bound = (
        told.timed or instance.general or any(vehicle_type.max_distance is not None for vehicle_type in vehicle_types)
    )
    parameters = pywrapcp.DefaultRoutingSearchParameters()
    parameters.first_solution_strategy = first.PARALLEL_CHEAPEST_INSERTION if bound else first.SAVINGS
    parameters.local_search_metaheuristic = routing_enums_pb2.LocalSearchMetaheuristic.GUIDED_LOCAL_SEARCH
    parameters.time_limit.FromTimedelta(timedelta(seconds=seconds))
    assignment = routing.SolveWithParameters(parameters)
    routes: list[list[int]] = []
    vehicles: list[int] = []
    for vehicle, owner in enumerate(owners if assignment else ()):
        index, route = assignment.Value(routing.NextVar(routing.Start(vehicle))), []
        while not routing.IsEnd(index):
            route.append(manager.IndexToNode(index))
            index = assignment.Value(routing.NextVar(index))
        if route:
            routes.append(route)
            vehicles.append(owner)
    return Plan(routes, vehicles)


def _add_costs(routing: Any, told: WholeNumbers, vehicle_types: list[WholeType]) -> None:
    prices: dict[tuple[int, int], int] = {}
    for vehicle, vehicle_type in enumerate(vehicle_types):
        key = (vehicle_type.profile, vehicle_type.distance_cost)
        if key not in prices:
            prices[key] = routing.RegisterTransitMatrix(
                _open(told.distances[vehicle_type.profile] * vehicle_type.distance_cost)
            )
        routing.SetArcCostEvaluatorOfVehicle(prices[key], vehicle)
        routing.SetFixedCostOfVehicle(vehicle_type.fixed_cost, vehicle)


def _add_loads(routing: Any, told: WholeNumbers, vehicle_types: list[WholeType]) -> None:
    """Tell of goods: what comes from the depot, or goes there, adds up; what is shipped is on board in between."""
    for dimension in range(told.deliveries.shape[1]):
        amounts = np.append(np.maximum(told.deliveries[:, dimension], told.pickups[:, dimension]), 0)
        for pickup, delivery, shipped in told.shipments:
            amounts[pickup], amounts[delivery] = shipped[dimension], -shipped[dimension]
        load = routing.RegisterUnaryTransitVector(amounts.tolist())
        limits = [vehicle_type.capacity[dimension] for vehicle_type in vehicle_types]
        routing.AddDimensionWithVehicleCapacity(load, 0, limits, True, f"load {dimension}")


def _add_limits(routing: Any, told: WholeNumbers, vehicle_types: list[WholeType]) -> None:
    """Tell of the longest that a route may be, and of the most stops on it."""
    farthest = [vehicle_type.max_distance for vehicle_type in vehicle_types]
    if any(limit is not None for limit in farthest):
        lengths = {vehicle_type.profile for vehicle_type in vehicle_types}
        by_profile = {each: routing.RegisterTransitMatrix(_open(told.distances[each])) for each in lengths}
        ever = max(int(told.distances[each].max(axis=1).sum()) for each in lengths)
        routing.AddDimensionWithVehicleTransitAndCapacity(
            [by_profile[vehicle_type.profile] for vehicle_type in vehicle_types],
            0,
            [ever if limit is None else limit for limit in farthest],
            True,
            "distance",
        )
    if any(vehicle_type.max_stops is not None for vehicle_type in vehicle_types):
        stops = len(told.windows)
        ones = routing.RegisterUnaryTransitVector([1] * (stops + 1))
        # The depot's departure counts as well.
        limits = [
            1 + (stops if vehicle_type.max_stops is None else vehicle_type.max_stops) for vehicle_type in vehicle_types
        ]
        routing.AddDimensionWithVehicleCapacity(ones, 0, limits, True, "stops")


def _add_times(routing: Any, manager: Any, told: WholeNumbers, vehicle_types: list[WholeType]) -> None:
    """Tell of travel and service times, of windows and shifts, and of what a route's duration costs and may be."""
    steps = {
        profile: routing.RegisterTransitMatrix(_open(told.durations[profile] + told.service[:, None]))
        for profile in {vehicle_type.profile for vehicle_type in vehicle_types}
    }
    latest = [vehicle_type.latest for vehicle_type in vehicle_types]
    routing.AddDimensionWithVehicleTransitAndCapacity(
        [steps[vehicle_type.profile] for vehicle_type in vehicle_types], told.horizon, latest, False, "time"
    )
    clock = routing.GetDimensionOrDie("time")
    for node in [*told.customers, *(end for pickup, delivery, _ in told.shipments for end in (pickup, delivery))]:
        moment = clock.CumulVar(manager.NodeToIndex(node))
        windows = told.windows[node]
        moment.SetRange(windows[0][0], min(windows[-1][1], told.horizon))
        for (_, closes), (opens, _) in pairwise(windows):
            moment.RemoveInterval(closes + 1, opens - 1)
    for vehicle, vehicle_type in enumerate(vehicle_types):
        clock.CumulVar(routing.Start(vehicle)).SetRange(vehicle_type.earliest, vehicle_type.leave_by)
        if vehicle_type.max_duration is not None:
            clock.SetSpanUpperBoundForVehicle(vehicle_type.max_duration, vehicle)
        if vehicle_type.duration_cost:
            clock.SetSpanCostCoefficientForVehicle(vehicle_type.duration_cost, vehicle)


def _add_choices(routing: Any, manager: Any, instance: Instance, told: WholeNumbers, owners: list[int]) -> None:
    """Tell who may be left out at what price, and which vehicles are able to serve whom."""
    grouped = {node for members, _ in told.groups for node in members}
    for members, required in told.groups:
        indices = [manager.NodeToIndex(node) for node in members]
        routing.AddDisjunction(indices, *(() if required else (0,)))
    deliveries = {delivery for _, delivery, _ in told.shipments}
    told_of = {*told.customers, *deliveries, *(pickup for pickup, _, _ in told.shipments)}
    for node in range(1, instance.customers + 1):
        index, prize = manager.NodeToIndex(node), told.prizes[node]
        if node not in told_of:
            routing.AddDisjunction([index], 0)
            routing.solver().Add(routing.ActiveVar(index) == 0)
        elif prize is not None and node not in grouped:
            # A shipment is left out as a whole, at the price of its pickup.
            routing.AddDisjunction([index], 0 if node in deliveries else prize)
        needs = instance.needs(node)
        if needs:
            able = [vehicle for vehicle, owner in enumerate(owners) if needs <= told.types[owner].skills]
            routing.VehicleVar(index).SetValues([-1, *able])
    # Depots that are no vehicle's are nodes to be visited otherwise.
    used = {node for vehicle_type in told.types for node in (vehicle_type.start, vehicle_type.end)}
    for node in (*instance.depot_nodes, len(told.windows)):
        if node not in used and not (node == len(told.windows) and None in used):
            index = manager.NodeToIndex(node)
            routing.AddDisjunction([index], 0)
            routing.solver().Add(routing.ActiveVar(index) == 0)


def _add_shipments(routing: Any, manager: Any, told: WholeNumbers) -> None:
    if not told.shipments:
        return
    solver = routing.solver()
    ordered = routing.RegisterUnaryTransitVector([1] * (len(told.windows) + 1))
    routing.AddDimension(ordered, 0, len(told.windows) + 1, True, "order")
    order = routing.GetDimensionOrDie("order")
    for pickup, delivery, _ in told.shipments:
        first, second = manager.NodeToIndex(pickup), manager.NodeToIndex(delivery)
        routing.AddPickupAndDelivery(first, second)
        solver.Add(routing.VehicleVar(first) == routing.VehicleVar(second))
        solver.Add(order.CumulVar(first) <= order.CumulVar(second))


def _open(matrix: Any) -> Any:
    """Return a matrix with one more node, no distance from anywhere."""
    return np.pad(matrix, ((0, 1), (0, 1))).tolist()
