"""PyVRP (iterated local search in C++): an instance in its words, and its solution in ours."""

from __future__ import annotations

from typing import Any

import numpy as np

from neuralns.experiments.solver_runs import Plan
from neuralns.experiments.whole_numbers import WholeNumbers, WholeType, whole_numbers
from neuralns.problem.instance import Instance

LARGEST_SUM = 2.0**44
"""What it can add up; distances without rounding are then told in thousandths, as its own reader does (``exact``)."""


def pyvrp_numbers(instance: Instance) -> WholeNumbers:
    """Return an instance in whole numbers as from PyVRP's own reader: loads and times in units like distances."""
    return whole_numbers(instance, LARGEST_SUM, alike=True)


def solve_pyvrp(instance: Instance, seconds: float, seed: int) -> Plan:
    """Run PyVRP with its defaults."""
    import pyvrp
    from pyvrp.stop import MaxRuntime

    told = pyvrp_numbers(instance)
    data, nodes = pyvrp_data(instance, told)
    result = pyvrp.solve(data, MaxRuntime(seconds), seed=seed, collect_stats=False, display=False)
    return pyvrp_plan(result.best, told, nodes)


def pyvrp_plan(solution: Any, told: WholeNumbers, nodes: list[int]) -> Plan:
    """Return a solution of PyVRP in our words."""
    routes = solution.routes()
    return Plan([_stops(route, told, nodes) for route in routes], [route.vehicle_type() for route in routes])


def pyvrp_data(instance: Instance, told: WholeNumbers) -> tuple[Any, list[int]]:
    """Return an instance as PyVRP's data, and the customer that each of its clients stands for.

    A customer with several windows is a group of clients, and a limit on stops one more dimension of goods. A route
    that begins or ends at a customer does so at a depot that is no distance from anywhere. What a vehicle is not able
    to do, and a pickup before a delivery among backhauls, is too far away, as in PyVRP's own reader.
    """
    import pyvrp

    nodes = [node for node in told.customers for _ in told.windows[node]]
    copies: dict[int, list[int]] = {}
    for client, node in enumerate(nodes):
        copies.setdefault(node, []).append(client)
    groups = [(list(members), required) for members, required in told.groups if members]
    grouped = {node for members, _ in groups for node in members}
    groups += [
        ([node], told.prizes[node] is None)
        for node, clients in copies.items()
        if len(clients) > 1 and node not in grouped
    ]
    group_of = {node: number for number, (members, _) in enumerate(groups) for node in members}
    depots = list(instance.depot_nodes)
    nowhere = any(vehicle_type.start is None or vehicle_type.end is None for vehicle_type in told.types)
    places = instance.points.tolist() + [[0.0, 0.0]] * nowhere
    profiles: dict[tuple[int, frozenset[int]], int] = {}
    for vehicle_type in told.types:
        profiles.setdefault((vehicle_type.profile, _closed_to(instance, told, vehicle_type)), len(profiles))
    lengths = [_lengths(pyvrp, instance, told, profile, closed, nowhere) for profile, closed in profiles]
    durations = [_with_nowhere(told.durations[profile] * told.timed, nowhere) for profile, _ in profiles]
    counted = any(vehicle_type.max_stops is not None for vehicle_type in told.types)
    data = pyvrp.ProblemData(
        [pyvrp.Location(float(x), float(y)) for x, y in places],
        [
            _client(pyvrp, told, node, window, group_of.get(node), counted)
            for node in told.customers
            for window in told.windows[node]
        ],
        [pyvrp.Depot(node) for node in [*depots, *([len(instance.demands)] if nowhere else [])]],
        [
            _vehicle_type(
                pyvrp,
                told,
                vehicle_type,
                depots,
                profiles[vehicle_type.profile, _closed_to(instance, told, vehicle_type)],
                counted,
            )
            for vehicle_type in told.types
        ],
        lengths,
        durations,
        [
            pyvrp.ClientGroup([client for node in members for client in copies[node]], required)
            for members, required in groups
        ],
        [_shipment(pyvrp, told, *each) for each in told.shipments],
    )
    return data, nodes


def _client(
    pyvrp: Any, told: WholeNumbers, node: int, window: tuple[int, int], group: int | None, counted: bool
) -> Any:
    times = {
        "service_duration": int(told.service[node]),
        "tw_early": window[0],
        "tw_late": window[1],
        "release_time": int(told.release[node]),
    }
    prize = told.prizes[node]
    return pyvrp.Client(
        node,
        delivery=[*told.deliveries[node].tolist(), *([1] if counted else [])],
        pickup=[*told.pickups[node].tolist(), *([0] if counted else [])],
        prize=prize or 0,
        required=prize is None and group is None,
        group=group,
        **(times if told.timed else {}),
    )


def _shipment(pyvrp: Any, told: WholeNumbers, pickup: int, delivery: int, amount: tuple[int, ...]) -> Any:
    times: dict[str, int] = {}
    for what, node in (("pickup", pickup), ("delivery", delivery)):
        ((opens, closes),) = told.windows[node]
        times |= {f"{what}_tw_early": opens, f"{what}_tw_late": closes}
        times[f"{what}_service_duration"] = int(told.service[node])
    prize = told.prizes[pickup]
    return pyvrp.Shipment(
        pickup,
        delivery,
        amount=list(amount),
        prize=prize or 0,
        required=prize is None,
        **(times if told.timed else {}),
    )


def _vehicle_type(
    pyvrp: Any, told: WholeNumbers, vehicle_type: WholeType, depots: list[int], profile: int, counted: bool
) -> Any:
    limits = {"shift_duration": vehicle_type.max_duration, "max_distance": vehicle_type.max_distance}
    many = len(told.customers)
    return pyvrp.VehicleType(
        vehicle_type.vehicles,
        capacity=[
            *vehicle_type.capacity,
            *([many if vehicle_type.max_stops is None else vehicle_type.max_stops] if counted else []),
        ],
        start_depot=len(depots) if vehicle_type.start is None else depots.index(vehicle_type.start),
        end_depot=len(depots) if vehicle_type.end is None else depots.index(vehicle_type.end),
        fixed_cost=vehicle_type.fixed_cost,
        unit_distance_cost=vehicle_type.distance_cost,
        unit_duration_cost=vehicle_type.duration_cost,
        profile=profile,
        **(
            {"tw_early": vehicle_type.earliest, "start_late": vehicle_type.leave_by, "tw_late": vehicle_type.latest}
            if told.timed
            else {}
        ),
        **{name: limit for name, limit in limits.items() if limit is not None},
    )


def _closed_to(instance: Instance, told: WholeNumbers, vehicle_type: WholeType) -> frozenset[int]:
    """Return the customers that need what vehicles of a type are not able to do."""
    if not instance.skills:
        return frozenset()
    return frozenset(
        node for node in range(1, instance.customers + 1) if not instance.needs(node) <= vehicle_type.skills
    )


def _lengths(
    pyvrp: Any, instance: Instance, told: WholeNumbers, profile: int, closed: frozenset[int], nowhere: bool
) -> Any:
    from pyvrp.constants import MAX_VALUE

    lengths = _with_nowhere(told.distances[profile], nowhere)
    if instance.backhauls:
        back = np.flatnonzero(told.pickups.max(axis=1) > 0)
        others = np.flatnonzero(told.pickups.max(axis=1) == 0)
        ahead = np.setdiff1d(others, instance.depot_nodes)
        starts = np.array([*instance.depot_nodes, *([len(instance.demands)] if nowhere else [])])
        lengths[np.ix_(starts, back)] = MAX_VALUE
        lengths[np.ix_(back, ahead)] = MAX_VALUE
    if closed:
        far = sorted(closed)
        lengths[:, far] = MAX_VALUE
        lengths[far, :] = MAX_VALUE
        np.fill_diagonal(lengths, 0)
    return lengths


def _with_nowhere(matrix: Any, nowhere: bool) -> Any:
    return np.pad(matrix, ((0, 1), (0, 1))) if nowhere else matrix.copy()


def _stops(route: Any, told: WholeNumbers, nodes: list[int]) -> list[int]:
    stops = []
    for activity in route.schedule():
        if activity.is_client():
            stops.append(nodes[activity.idx])
        elif activity.is_shipment():
            pickup, delivery, _ = told.shipments[activity.idx]
            stops.append(pickup if activity.is_pickup() else delivery)
    return stops
