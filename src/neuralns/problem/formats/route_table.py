"""Routes as a table for spreadsheets, read and written: who is visited when, one row a stop."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterable

import numpy as np

from neuralns.errors import InputError
from neuralns.problem.distances import Floats
from neuralns.problem.formats.sheet import (
    Columns,
    Sheet,
    cell_text,
    column_name,
    numbered,
    of_number,
    separator_of,
    text_cell,
)  # fmt: skip
from neuralns.problem.formats.text import FilePath
from neuralns.problem.instance import Instance
from neuralns.problem.solution import Solution

ALWAYS = ("route", "stop", "name", "arrival", "departure", "load")
"""Columns that every table has; those of vehicles, of amounts and of further dimensions are written where needed."""
COLUMNS: Columns = {
    **{name: (name,) for name in ALWAYS[:-1]},
    "vehicle": ("vehicle",),
    **numbered({name: (name,) for name in ("delivery", "pickup", "load")}),
}
UNSERVED, SKIPPED = "unserved", "skipped"
"""What stands for a route where a customer is on none, though it has to be, or because it need not be."""


def is_route_table(text: str) -> bool:
    """Tell whether a text begins with the header of a table of routes."""
    first = text.lstrip().partition("\n")[0]
    names = [column_name(cell) for cell in first.split(separator_of(first) or ",")]
    return "route" in names and "name" in names


def is_own_route_table(text: str) -> bool:
    """Tell whether a text begins as a table that we wrote does."""
    columns = text.lstrip().partition("\n")[0].strip().split(",")
    return columns[0] == "route" and {*ALWAYS} <= {*columns} <= {column.replace("_", " ") for column in COLUMNS}


def read_route_table(instance: Instance, path: FilePath, text: str) -> Solution:
    """Read routes by the names and numbers of their stops; times and loads follow from the instance.

    Names are as `text_cell` writes them. The type of a route's vehicle stands in any of its rows; types that are not
    given are those that cost least.
    """
    sheet = Sheet(path, text, COLUMNS, (), ())
    nodes = {instance.label(node): node for node in range(len(instance.demands))}
    vehicle_types = {label: vehicle_type for vehicle_type, label in enumerate(_type_labels(instance))}
    routes: dict[str, list[tuple[float, int]]] = {}
    vehicles: dict[str, int] = {}
    left_out = False
    for index in range(len(sheet)):
        route = sheet.text(index, "route")
        name, vehicle = (cell_text(sheet.text(index, column)) for column in ("name", "vehicle"))
        if not route or route in (UNSERVED, SKIPPED):
            left_out |= bool(route)
            continue
        if name not in nodes:
            raise sheet.refusal(index, "name", f"{name!r:.60} is no stop of {instance.name}")
        routes.setdefault(route, []).append((sheet.number(index, "stop") or 0.0, nodes[name]))
        if vehicle and vehicle not in vehicle_types:
            raise sheet.refusal(index, "vehicle", f"{vehicle!r:.60} is no type of vehicle of {instance.name}")
        if vehicle and vehicles.setdefault(route, vehicle_types[vehicle]) != vehicle_types[vehicle]:
            raise sheet.refusal(index, "vehicle", f"{vehicle!r:.60} is another vehicle than before")
    if not routes and not left_out:
        raise InputError(f"{path}: no row belongs to a route.")
    for route in (route for route in routes if vehicles and route not in vehicles):
        raise InputError(f"{path}: route {route!r:.60} has no vehicle, but others have.")
    # Stops without numbers stay in the order of their rows.
    ordered = (sorted(stops, key=lambda stop: stop[0]) for stops in routes.values())
    depots = set(instance.depot_nodes)
    visits = [[node for _, node in stops if node not in depots] for stops in ordered]
    return Solution(instance, visits, [vehicles[route] for route in routes] if vehicles else None)


def route_table_text(solution: Solution) -> str:
    """Return the text of a table of routes, each from its depot and back to it, and of who is not served.

    Times are as the instance's clock shows them, to the minute; they are left out where the instance has none. The load
    is what is on the vehicle when it leaves. Names that begin as a formula have an apostrophe before them.
    """
    instance, text = solution.instance, io.StringIO()
    labels, dimensions = _type_labels(instance), range(1, instance.dimensions + 1)
    down, up = instance.amounts
    vehicles = len(labels) > 1 or bool(instance.types[0].name)
    amounts = len(dimensions) > 1 or bool(up.any()) or instance.shipments is not None
    loads = [of_number("load", dimension).replace("_", " ") for dimension in dimensions]
    moved = [
        of_number(what, dimension).replace("_", " ") for what in ("delivery", "pickup") for dimension in dimensions
    ]
    columns = ["route", *["vehicle"] * vehicles, "stop", "name", "arrival", "departure", *moved * amounts, *loads]
    table = csv.DictWriter(text, columns, restval="", extrasaction="ignore", lineterminator="\n")
    table.writeheader()

    def label(node: int) -> str:
        return text_cell(instance.label(node))

    has_times = instance.timed or instance.durations is not None or instance.service is not None

    def at(time: float) -> str:
        return instance.at(time, exact=False) if has_times else ""

    def numbers(names: Iterable[str], values: Iterable[float]) -> dict[str, str]:
        # Sums of fractions that cancel out are nothing.
        return {name: f"{round(value, 9) + 0.0:.10g}" for name, value in zip(names, values, strict=True)}

    def at_stop(node: int) -> Floats:
        shipped = np.broadcast_to(instance.shipped(node), len(dimensions))
        return np.concatenate([down[node] + np.maximum(-shipped, 0), up[node] + np.maximum(shipped, 0)])

    for number, (plan, vehicle_type) in enumerate(zip(solution.schedules, solution.vehicles, strict=True), 1):
        which = {"route": number, "vehicle": text_cell(labels[vehicle_type])}
        if plan.start is not None:
            first = {"stop": 0, "name": label(plan.start), "departure": at(plan.departure)}
            table.writerow({**which, **first, **numbers(loads, plan.loads)})
        for position, stop in enumerate(plan.stops, 1):
            here = {"stop": position, "name": label(stop.node)}
            times = {"arrival": at(stop.arrival), "departure": at(stop.departure)}
            goods = {**numbers(moved, at_stop(stop.node).tolist()), **numbers(loads, stop.loads)}
            table.writerow({**which, **here, **times, **goods})
        if plan.end is not None:
            last = {"stop": len(plan.stops) + 1, "name": label(plan.end), "arrival": at(plan.arrival)}
            table.writerow({**which, **last, **numbers(loads, plan.stops[-1].loads)})
    for customer in solution.unserved:
        table.writerow({"route": UNSERVED, "name": label(customer)})
    for customer in sorted({*solution.skipped} - {*solution.unserved}):
        table.writerow({"route": SKIPPED, "name": label(customer)})
    return text.getvalue()


def _type_labels(instance: Instance) -> list[str]:
    """Return what to call the types of vehicles, each its own."""
    names = [instance.type_name(vehicle_type) for vehicle_type in range(len(instance.types))]
    counts = Counter(names)
    return [name if counts[name] == 1 else f"{name} ({vehicle_type})" for vehicle_type, name in enumerate(names, 1)]
