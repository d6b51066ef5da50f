"""VROOM (through ``pyvroom``): an instance in its words, and its solution in ours."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import numpy as np

from neuralns.experiments.solver_runs import Plan
from neuralns.experiments.whole_numbers import LARGEST_SUM, WholeNumbers, WholeType, whole_numbers
from neuralns.problem.instance import Instance


def solve_vroom(instance: Instance, seconds: float, seed: int) -> Plan:
    """Run VROOM at its highest exploration level; it takes no seed and may end early.

    Each vehicle is told apart, and each price of distance is a profile with costs of its own.
    """
    import vroom

    told = whole_numbers(instance)
    shrunk = _shrunk(told)
    problem = vroom.Input()
    for profile, price in sorted({(vehicle_type.profile, vehicle_type.distance_cost) for vehicle_type in told.types}):
        name = f"{profile} at {price}"
        problem.set_durations_matrix(name, (told.durations[profile] * told.timed).astype(np.uint32))
        problem.set_distances_matrix(name, told.distances[profile].astype(np.uint32))
        problem.set_costs_matrix(name, np.rint(told.distances[profile] * (price / shrunk)).astype(np.uint32))
    skills = {skill: number for number, skill in enumerate(sorted({*_all_skills(instance, told)}), 1)}
    owners = [number for number, vehicle_type in enumerate(told.types) for _ in range(vehicle_type.enough)]
    problem.add_vehicle(
        [_vehicle(vroom, told, told.types[owner], number, skills, shrunk) for number, owner in enumerate(owners)]
    )
    problem.add_job([_job(vroom, told, node, _needs(instance, skills, node)) for node in told.customers])
    for pickup, delivery, amount in told.shipments:
        problem.add_shipment(
            _step(vroom, told, pickup),
            _step(vroom, told, delivery),
            vroom.Amount(list(amount)),
            _needs(instance, skills, pickup) | _needs(instance, skills, delivery),
        )
    solution = problem.solve(exploration_level=5, nb_threads=1, timeout=timedelta(seconds=seconds))
    visits = solution.routes
    visits = visits[visits["type"].isin(["job", "pickup", "delivery"])]
    found = {int(number): group["id"].astype(int).tolist() for number, group in visits.groupby("vehicle_id", sort=True)}
    return Plan(list(found.values()), [owners[number] for number in found])


def _shrunk(told: WholeNumbers) -> float:
    """Return what to divide costs by so that their sum stays within what VROOM takes."""
    highest = max(
        float(told.distances[vehicle_type.profile].max()) * vehicle_type.distance_cost for vehicle_type in told.types
    )
    fixed = max(vehicle_type.fixed_cost for vehicle_type in told.types)
    return max(1.0, 4.0 * len(told.windows) * highest / LARGEST_SUM, 4.0 * fixed / LARGEST_SUM)


def _all_skills(instance: Instance, told: WholeNumbers) -> set[str]:
    needed = (instance.needs(node) for node in range(1, instance.customers + 1))
    return set().union(*needed, *(vehicle_type.skills for vehicle_type in told.types))


def _needs(instance: Instance, skills: dict[str, int], node: int) -> set[int]:
    return {skills[each] for each in instance.needs(node)}


def _vehicle(
    vroom: Any, told: WholeNumbers, vehicle_type: WholeType, number: int, skills: dict[str, int], shrunk: float
) -> Any:
    limits = {"max_distance": vehicle_type.max_distance, "max_tasks": vehicle_type.max_stops}
    return vroom.Vehicle(
        number,
        start=vehicle_type.start,
        end=vehicle_type.end,
        profile=f"{vehicle_type.profile} at {vehicle_type.distance_cost}",
        capacity=list(vehicle_type.capacity),
        skills={skills[each] for each in vehicle_type.skills},
        time_window=vroom.TimeWindow(vehicle_type.earliest, vehicle_type.latest) if told.timed else None,
        costs=vroom.VehicleCosts(fixed=round(vehicle_type.fixed_cost / shrunk)),
        **{name: limit for name, limit in limits.items() if limit is not None},
    )


def _times(vroom: Any, told: WholeNumbers, node: int) -> dict[str, Any]:
    if not told.timed:
        return {}
    windows = [vroom.TimeWindow(opens, closes) for opens, closes in told.windows[node]]
    return {"default_service": int(told.service[node]), "time_windows": windows}


def _job(vroom: Any, told: WholeNumbers, node: int, needs: set[int]) -> Any:
    return vroom.Job(
        node,
        location=node,
        delivery=told.deliveries[node].tolist(),
        pickup=told.pickups[node].tolist(),
        skills=needs,
        **_times(vroom, told, node),
    )


def _step(vroom: Any, told: WholeNumbers, node: int) -> Any:
    return vroom.ShipmentStep(node, location=node, **_times(vroom, told, node))
