"""CVRPLIB's ``.sol`` format of solutions, read and written: a line for each route, and one for the cost.

Nodes are numbered as VRPLIB's files have them, but from 0, depots first; with one depot customers have the numbers of
the instance. Where vehicles differ, route k is that of vehicle k, and empty routes are those of vehicles that stay at
home; vehicles are numbered type by type, unless the types' names list their numbers.
"""

from __future__ import annotations

import re

from neuralns.errors import InputError
from neuralns.problem.formats.text import FilePath, rows
from neuralns.problem.instance import Instance
from neuralns.problem.solution import Solution

MARK = "Comment written by neuralns"
"""Last line of the files that we write, which readers of the format pass over: they are no best known solutions."""

MOST_NUMBERED = 100_000
"""More vehicles of a type than so many are as good as any number."""


def read_sol(instance: Instance, path: FilePath, text: str) -> Solution:
    """Read the lines that say ``Route``; what else a file holds, such as its cost, is read over."""
    found = [(line, route) for line, words in rows(text) if "Route" in (route := " ".join(words))]
    if not found:
        raise InputError(f"{path}: no line 'Route #1: ...' found; is this a solution file?")
    for line, route in found:
        if not re.fullmatch(r"Route ?#? ?\d* ?:( ?\d{1,9}\b)*", route):
            raise InputError(f"{path}, line {line}: {route[:60]!r} is not a route ('Route #1: 4 2 7').")
    routes = [[int(word) for word in route.partition(":")[2].split()] for _, route in found]
    lines = [line for line, _ in found]
    if (depots := len(instance.depot_nodes)) > 1:
        last = instance.customers + depots - 1
        for line, visited in zip(lines, routes, strict=True):
            for number in visited:
                if not depots <= number <= last:
                    raise InputError(
                        f"{path}, line {line}: {number} is no customer; behind {depots} depots customers are numbered "
                        f"{depots} to {last}."
                    )
        routes = [[number - depots + 1 for number in visited] for visited in routes]
    if len(instance.types) == 1:
        return Solution(instance, routes)
    vehicles = numbered_vehicles(instance)
    for line, visited in list(zip(lines, routes, strict=True))[len(vehicles) :]:
        if visited:
            raise InputError(f"{path}, line {line}: there are only {len(vehicles)} vehicles, one for each route.")
    driven = [(visited, vehicle_type) for visited, vehicle_type in zip(routes, vehicles, strict=False) if visited]
    return Solution(instance, [visited for visited, _ in driven], [vehicle_type for _, vehicle_type in driven])


def sol_text(solution: Solution) -> str:
    """Return the text of a ``.sol`` file."""
    instance = solution.instance
    shift = len(instance.depot_nodes) - 1
    routes = list(solution.routes) if len(instance.types) == 1 else _by_vehicle(solution)
    lines = [
        f"Route #{number}: {' '.join(str(customer + shift) for customer in route)}".rstrip()
        for number, route in enumerate(routes or [()], 1)
    ]
    cost = solution.cost
    lines.append(f"Cost {int(cost) if cost == int(cost) else repr(cost)}")
    return "\n".join([*lines, MARK]) + "\n"


def is_own_sol(text: str) -> bool:
    """Tell whether we wrote a ``.sol`` file."""
    return text.rstrip().endswith(MARK)


def numbered_vehicles(instance: Instance) -> list[int]:
    """Return the type of each vehicle, in the order of their numbers; of one with any number, one for each customer.

    >>> from neuralns.problem.fleet import VehicleType
    >>> fleet = [VehicleType(3, 2, name="1,3"), VehicleType(5, 1, name="2")]
    >>> numbered_vehicles(Instance("three", [0, 1], coordinates=[[0, 0], [1, 1]], fleet=fleet))
    [0, 1, 0]
    """
    counts = [
        instance.customers
        if vehicle_type.available is None or vehicle_type.available > MOST_NUMBERED
        else vehicle_type.available
        for vehicle_type in instance.types
    ]
    lists = [vehicle_numbers(vehicle_type.name) for vehicle_type in instance.types]
    by_number = {number: vehicle_type for vehicle_type, numbers in enumerate(lists) for number in numbers}
    if [len(numbers) for numbers in lists] == counts and sorted(by_number) == list(range(1, sum(counts) + 1)):
        return [vehicle_type for _, vehicle_type in sorted(by_number.items())]
    return [vehicle_type for vehicle_type, count in enumerate(counts) for _ in range(count)]


def vehicle_numbers(name: str) -> list[int]:
    """Return the numbers of vehicles that the name of their type lists, none if it says anything else.

    >>> vehicle_numbers("1,4-6"), vehicle_numbers("lorry")
    ([1, 4, 5, 6], [])
    """
    if not re.fullmatch(r"\d{1,6}(-\d{1,6})?(,\d{1,6}(-\d{1,6})?)*", name, re.ASCII):
        return []
    spans = [[int(number) for number in span.split("-")] for span in name.split(",")]
    return [number for span in spans for number in range(span[0], span[-1] + 1)]


def listed_vehicles(numbers: list[int]) -> str:
    """Return numbers of vehicles in order as the name of their type lists them.

    >>> listed_vehicles([1, 4, 5, 6])
    '1,4-6'
    """
    spans: list[list[int]] = []
    for number in numbers:
        if spans and number == spans[-1][-1] + 1:
            spans[-1] = [spans[-1][0], number]
        else:
            spans.append([number])
    return ",".join("-".join(map(str, span)) for span in spans)


def _by_vehicle(solution: Solution) -> list[tuple[int, ...]]:
    """Return the routes by number of vehicle, up to the last that is used."""
    vehicles = numbered_vehicles(solution.instance)
    indices: dict[int, list[int]] = {}
    for index, vehicle_type in enumerate(vehicles):
        indices.setdefault(vehicle_type, []).append(index)
    routes: list[tuple[int, ...]] = [()] * len(vehicles)
    for route, vehicle_type in zip(solution.routes, solution.vehicles, strict=True):
        if not indices.get(vehicle_type):
            raise InputError(
                f"{solution.instance.name}: more routes have vehicle {solution.instance.type_name(vehicle_type)} than "
                "there are, which a .sol file cannot say; write a .json file instead."
            )
        routes[indices[vehicle_type].pop(0)] = route
    while routes and not routes[-1]:
        routes.pop()
    return routes
