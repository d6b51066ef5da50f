"""``neuralns info``: what an instance holds."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

from rich.table import Table

from neuralns.cli import options
from neuralns.cli.printing import objective_of, plain_console

if TYPE_CHECKING:
    from neuralns.problem.instance import Instance

TRIANGLE_LIMIT = 600
"""Most nodes for which all triangles are looked at; the time grows with their third power."""


def info(
    instance: options.InstanceName,
    rounding: options.Rounding = None,
    customers: options.Customers = None,
    vehicle_cost: options.VehicleCost = None,
    ignore: options.Ignore = None,
    vehicles: options.Vehicles = None,
    capacity: options.Capacity = None,
    matrix: options.Matrix = None,
    speed: options.Speed = None,
    as_json: options.AsJson = False,
) -> None:
    """Describe an instance.

    Examples:

        neuralns info X-n101-k25

        neuralns info my.vrp --json

        neuralns info stops.csv --vehicles fleet.csv
    """
    from neuralns.plot import format_cost

    problem = options.read_problem(
        instance, rounding, customers, vehicle_cost, ignore or (), vehicles, capacity, matrix, speed
    )
    demand = float(problem.demands.sum())
    facts: dict[str, object] = {
        "instance": problem.name,
        "customers": problem.customers,
        "capacity": problem.capacity,
        "total_demand": demand,
        "least_vehicles": max(1, math.ceil(demand / problem.capacity - 1e-9)),
        "distances": "matrix" if problem.matrix is not None else "Euclidean",
        "rounding": problem.rounding,
        "vehicle_cost": problem.vehicle_cost,
        "best_known": problem.best_known,
    }
    if problem.coordinates is not None:
        (left, low), (right, high) = problem.coordinates.min(axis=0), problem.coordinates.max(axis=0)
        facts["x_range"], facts["y_range"] = [float(left), float(right)], [float(low), float(high)]
    facts |= _rules(problem)
    if as_json:
        print(json.dumps(facts))
        return
    table = Table(box=None, show_header=False, pad_edge=False)
    for name, value in facts.items():
        if value is None:
            text = "not known"
        elif isinstance(value, list):
            show = problem.at if name == "horizon" else "{:g}".format
            text = " to ".join("any" if bound is None else show(bound) for bound in value)
        elif name in ("windows", "window_width"):
            text = f"{100 * value:.0f} % of the {'customers' if name == 'windows' else 'horizon'}"  # type: ignore[operator]
        elif isinstance(value, bool):
            text = "yes" if value else "no"
        else:
            text = format_cost(value) if isinstance(value, float) else str(value)
        table.add_row(name.replace("_", " "), text)
    plain_console().print(table)


def _rules(problem: Instance) -> dict[str, Any]:
    """Return what an instance has beside demands and a capacity, and how tight its windows are."""
    import numpy as np

    from neuralns.problem.distances import triangle_excess

    facts: dict[str, Any] = {}
    if problem.windows is not None:
        opens, closes = problem.windows[0].tolist()
        # A window counts if it is narrower than the horizon, and only that part of it which lies within.
        begin, end = np.clip(problem.windows[1:], opens, closes).T
        narrow = (begin > opens) | (end < closes)
        facts["horizon"] = [opens, closes if math.isfinite(closes) else None]
        facts["windows"] = float(narrow.mean())
        if math.isfinite(closes) and closes > opens and narrow.any():
            facts["window_width"] = float((end - begin)[narrow].mean()) / (closes - opens)
    if problem.service is not None:
        facts["mean_service"] = float(problem.service[1:].mean())
    if problem.durations is not None:
        facts["durations"] = "matrix"
    for what in ("vehicles", "max_duration", "max_distance"):
        if getattr(problem, what) is not None:
            facts[what] = getattr(problem, what)
    if facts or objective_of(problem) != "distance":
        facts["objective"] = objective_of(problem)
    if problem.unservable:
        facts["unservable"] = len(problem.unservable)
    given = {"distances": None if problem.matrix is None else problem.distances, "durations": problem.durations}
    for what, table in given.items():
        if table is not None and len(table) <= TRIANGLE_LIMIT:
            facts[f"{what}_obey_triangles"] = triangle_excess(table) <= 1e-9 * float(table.max())
    return facts
