"""VROOM's output: a solution's routes by the numbers of its input, each step with its time, work and load."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from math import floor
from typing import Any

import numpy as np

from neuralns.errors import InputError
from neuralns.files import write_text
from neuralns.problem.assignment import assign_types
from neuralns.problem.distances import Floats
from neuralns.problem.formats.text import FilePath, plain
from neuralns.problem.formats.vroom import VroomProblem
from neuralns.problem.formats.vroom_input import Task, Vehicle
from neuralns.problem.instance import Instance
from neuralns.problem.solution import Solution

GENERATOR = "neuralns"
"""Who wrote an answer; files of others are not written over."""
SUMS = ("cost", "delivery", "pickup", "amount", "setup", "service", "duration", "waiting_time", "priority", "distance")
"""What the summary adds up over the routes."""
SLACK = 1e-6
"""A part of a second that is blamed on the rounding of sums."""


def vroom_answer(
    problem: VroomProblem, solution: Solution, seconds: Mapping[str, float] | None = None
) -> dict[str, Any]:
    """Return a solution of a problem in the form of VROOM's output.

    Where all times of the input are whole seconds, so are those of the answer, cut as VROOM cuts them. What took how
    many ``seconds`` (``loading``, ``solving``, ``routing``) becomes its computing times, in milliseconds.
    """
    order = {vehicle.id: index for index, vehicle in enumerate(sum(problem.vehicles, ()))}
    drivers = _drivers(problem, solution)
    routes = [
        _route(problem, solution, number, vehicle_type, drivers[number])
        for number, vehicle_type in enumerate(solution.vehicles)
    ]
    routes.sort(key=lambda route: order[route["vehicle"]])
    served = {node for route in solution.routes for node in route}
    missing = [task for node, task in enumerate(problem.tasks, 1) if node not in served] + list(problem.left_out)
    summary: dict[str, Any] = {"cost": 0, "routes": len(routes), "unassigned": len(missing)}
    dimensions = len(problem.tasks[0].delivery)
    for key in SUMS:
        if key in ("delivery", "pickup", "amount"):
            if dimensions:
                summary[key] = _goods(np.array([route[key] for route in routes]).reshape(-1, dimensions).sum(axis=0))
        elif key != "distance" or all(key in route for route in routes):
            summary[key] = _rounded(sum(route[key] for route in routes))
    summary |= {"violations": [], "notes": list(problem.notes)}
    if seconds is not None:
        summary["computing_times"] = {name: round(1000 * value) for name, value in seconds.items()}
    return {
        "code": 0,
        "generator": GENERATOR,
        "summary": summary,
        "unassigned": [
            {"id": task.id, "type": task.kind, **task.place.written(), **_described(task.description)}
            for task in missing
        ],
        "routes": routes,
    }


def vroom_answer_text(problem: VroomProblem, solution: Solution, seconds: Mapping[str, float] | None = None) -> str:
    """Return the text of a file with VROOM's output."""
    return json.dumps(vroom_answer(problem, solution, seconds)) + "\n"


def write_vroom_answer(
    problem: VroomProblem, solution: Solution, path: FilePath, seconds: Mapping[str, float] | None = None
) -> None:
    """Write a solution as VROOM's output."""
    write_text(path, vroom_answer_text(problem, solution, seconds))


def is_vroom_answer(text: str) -> bool:
    """Tell whether a text is VROOM's output, whoever wrote it."""
    data = _loaded(text)
    return data is not None and "format" not in data and "code" in data and "routes" in data


def is_own_vroom_answer(text: str) -> bool:
    """Tell whether a text is VROOM's output that neuralns wrote."""
    data = _loaded(text)
    return data is not None and data.get("generator") == GENERATOR and "summary" in data


def read_vroom_answer(instance: Instance, path: FilePath, text: str) -> Solution:
    """Read the routes from VROOM's output; the instance is that of VROOM's input, whose nodes and types it named."""
    nodes = {instance.label(node): node for node in range(1, instance.customers + 1)}
    routes, vehicle_types = [], []
    try:
        for given in json.loads(text)["routes"]:
            vehicle_types.append(_type_of(instance, given["vehicle"]))
            tasks = (step for step in given["steps"] if step["type"] not in ("start", "end", "break"))
            routes.append([nodes[f"{step['type']} {step['id']}"] for step in tasks])
    except KeyError as error:
        raise InputError(f"{path}: {error.args[0]!r:.60} is missing, or not known to {instance.name}.") from None
    except TypeError:
        raise InputError(f"{path}: 'routes' must be a list of routes, each with a list of steps.") from None
    return Solution(instance, routes, vehicle_types)


def _type_of(instance: Instance, number: object) -> int:
    """Return the type of vehicles that has a vehicle, by the numbers in its name."""
    for index, vehicle_type in enumerate(instance.types):
        for first, last in re.findall(r"(\d+)(?:-(\d+))?", vehicle_type.name):
            if isinstance(number, int) and int(first) <= number <= int(last or first):
                return index
    raise KeyError(f"vehicle {number}")


def _loaded(text: str) -> dict[str, Any] | None:
    if not text.lstrip().startswith("{"):
        return None
    try:
        data = json.loads(text)
    except (RecursionError, ValueError):
        return None
    return data if isinstance(data, dict) else None


def _drivers(problem: VroomProblem, solution: Solution) -> list[Vehicle]:
    """Return the vehicle of each route: of those that are alike, the one whose steps have most of its tasks."""
    drivers: dict[int, Vehicle] = {}
    for vehicle_type, vehicles in enumerate(problem.vehicles):
        numbers = [number for number, other in enumerate(solution.vehicles) if other == vehicle_type]
        chosen = _by_steps(problem, vehicles, [solution.routes[number] for number in numbers])
        drivers |= {number: vehicles[index] for number, index in zip(numbers, chosen, strict=True)}
    return [drivers[number] for number in range(len(solution.vehicles))]


def _by_steps(problem: VroomProblem, vehicles: Sequence[Vehicle], routes: Sequence[Sequence[int]]) -> Sequence[int]:
    owners = {name: index for index, vehicle in enumerate(vehicles) for name in vehicle.steps}
    if not owners:
        return range(len(routes))
    shared = [Counter(owners.get(problem.tasks[node - 1].name) for node in route) for route in routes]
    numbers = [[number] for number in range(len(routes))]
    return assign_types(numbers, [1] * len(vehicles), lambda route, index: -shared[route[0]][index])


def _route(
    problem: VroomProblem, solution: Solution, number: int, vehicle_type: int, vehicle: Vehicle
) -> dict[str, Any]:
    """Return a route: it leaves when the solution says so, and does everything as soon as it can."""
    nodes, depots = solution.routes[number], solution.instance.types[vehicle_type]
    tasks = [problem.tasks[node - 1] for node in nodes]
    travel, metres = problem.travel[vehicle_type], problem.distances[vehicle_type]
    start, end = vehicle.vehicle_type.start, vehicle.vehicle_type.end
    # A route without a start begins at its first task, and one without an end ends at its last.
    stands: list[tuple[dict[str, Any], int | None, Task | None]] = [
        ({"type": "start", **(start or tasks[0].place).written()}, None if start is None else depots.start, None)
    ]
    for at, job in zip(nodes, tasks, strict=True):
        named = {"type": job.kind, "id": job.id, "job": job.id, **job.place.written()}
        stands.append((named | _described(job.description), at, job))
    stands.append(({"type": "end", **(end or tasks[-1].place).written()}, None if end is None else depots.end, None))

    deliveries, pickups = (np.array([getattr(task, what) for task in tasks]) for what in ("delivery", "pickup"))
    load = deliveries[[task.kind == "job" for task in tasks]].sum(axis=0)
    now, far = solution.schedules[number].departure, 0.0
    left, driven, before = _cut(problem, now), 0.0, None
    steps = []
    for what, node, task in stands:
        if before is not None and node is not None:
            now += float(travel[before, node])
            far += 0.0 if metres is None else float(metres[before, node])
        arrival, begin, setup, service = now, now, 0.0, 0.0
        if task is not None:
            begin, service = _opening(task, now), task.service
            setup = 0.0 if before is not None and problem.sites[before] == problem.sites[node] else task.setup
            load = load + task.pickup - task.delivery
        now = begin + setup + service
        # Events are cut to seconds, not what lies between them: so no step is late, and all adds up.
        arrived, begun = _cut(problem, arrival), _cut(problem, begin)
        driven, left = driven + arrived - left, _cut(problem, now)
        step = what | {
            "setup": plain(setup),
            "service": plain(service),
            "waiting_time": _rounded(begun - arrived),
            "arrival": arrived,
            "duration": _rounded(driven),
            "violations": [],
        }
        step |= {"load": _goods(load)} if load.size else {}
        steps.append(step if metres is None else step | {"distance": _cut(problem, far)})
        before = before if node is None else node
    route: dict[str, Any] = {"vehicle": vehicle.id, "cost": _cut(problem, solution.route_cost(number))}
    if load.size:
        route |= {"delivery": _goods(deliveries.sum(axis=0)), "pickup": _goods(pickups.sum(axis=0))}
        route["amount"] = route["delivery"]
    route |= {key: _rounded(sum(step[key] for step in steps)) for key in ("setup", "service", "waiting_time")}
    route |= {"duration": steps[-1]["duration"], "priority": sum(task.priority for task in tasks)}
    route |= {} if metres is None else {"distance": steps[-1]["distance"]}
    return route | {"steps": steps, "violations": []} | _described(vehicle.description)


def _opening(task: Task, now: float) -> float:
    """Return when a task begins for whoever is there at some time."""
    return next((max(opens, now) for opens, closes in task.windows if now <= closes + SLACK), now)


def _cut(problem: VroomProblem, value: float) -> float:
    """Return a time, a length or a cost as it is written."""
    return floor(value + SLACK) if problem.whole else _rounded(value)


def _rounded(value: float) -> float:
    return plain(round(value, 6))


def _goods(amounts: Floats) -> list[float]:
    return [plain(amount) for amount in amounts]


def _described(text: str | None) -> dict[str, str]:
    return {} if text is None else {"description": text}
