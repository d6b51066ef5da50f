"""``neuralns info``: what an instance holds."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

from rich.table import Table

from neuralns.cli import options
from neuralns.cli.options_file import OptionsFile
from neuralns.cli.printing import objective_of, plain_console, print_rows

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
    options_file: OptionsFile = None,
) -> None:
    """Describe an instance.

    Examples:

        neuralns info X-n101-k25

        neuralns info my.vrp --json

        neuralns info stops.csv --vehicles fleet.csv
    """
    from neuralns.plot import format_cost
    from neuralns.problem.variant import in_words

    problem = options.read_problem(
        instance, rounding, customers, vehicle_cost, ignore or (), vehicles, capacity, matrix, speed
    )
    facts: dict[str, Any] = {
        "instance": problem.name,
        "variant": in_words(problem),
        "customers": problem.customers,
        **_goods(problem),
        "distances": "matrix" if problem.matrix is not None else "Euclidean",
        "rounding": problem.rounding,
        "vehicle_cost": problem.vehicle_cost,
        "best_known": problem.best_known,
    }
    if problem.fleet_matters:
        del facts["vehicle_cost"]
    if problem.coordinates is not None:
        (left, low), (right, high) = problem.coordinates.min(axis=0), problem.coordinates.max(axis=0)
        facts["x_range"], facts["y_range"] = [float(left), float(right)], [float(low), float(high)]
    facts |= _rules(problem)
    tables = {"fleet": _fleet(problem), "depots": _depots(problem)}
    if as_json:
        print(json.dumps(facts | {name: rows for name, rows in tables.items() if rows}))
        return
    table = Table(box=None, show_header=False, pad_edge=False)
    for name, value in facts.items():
        if value is None:
            text = "not known"
        elif name in ("total_delivery", "total_pickup"):
            text = ", ".join(map(format_cost, value))
        elif isinstance(value, list):
            show = problem.at if name == "horizon" else "{:g}".format
            text = " to ".join("any" if bound is None else show(bound) for bound in value)
        elif name in ("windows", "window_width"):
            text = f"{100 * value:.0f} % of the {'customers' if name == 'windows' else 'horizon'}"
        elif isinstance(value, bool):
            text = "yes" if value else "no"
        else:
            text = format_cost(value) if isinstance(value, float) else str(value)
        table.add_row(name.replace("_", " "), text)
    console = plain_console()
    console.print(table)
    for name, rows in tables.items():
        if rows:
            console.print()
            print_rows(console, {"fleet": "vehicle", "depots": "depot"}[name], _columns(problem, rows))


def _goods(problem: Instance) -> dict[str, Any]:
    """Return what vehicles carry in all, and what one carries where all are alike."""
    if not problem.general:
        demand = float(problem.demands.sum())
        least = max(1, math.ceil(demand / problem.capacity - 1e-9))
        return {"capacity": problem.capacity, "total_demand": demand, "least_vehicles": least}
    totals = {
        name: amounts.sum(axis=0).tolist()
        for name, amounts in zip(("total_delivery", "total_pickup"), problem.amounts, strict=True)
        if amounts.any()
    }
    return ({} if problem.fleet_matters else {"capacity": problem.capacity}) | totals


def _fleet(problem: Instance) -> list[dict[str, Any]]:
    """Return the types of vehicles where there is more to them than the instance itself says."""
    if not problem.fleet_matters:
        return []
    profiles = [None, *(profile.name or number for number, profile in enumerate(problem.profiles or (), 1))]
    return [
        {
            "name": problem.type_name(number),
            "number": vehicle_type.available,
            "capacity": list(vehicle_type.capacity),
            "fixed_cost": vehicle_type.fixed_cost,
            "distance_cost": vehicle_type.distance_cost,
            "duration_cost": vehicle_type.duration_cost,
            "start": None if vehicle_type.start is None else problem.label(vehicle_type.start),
            "end": None if vehicle_type.end is None else problem.label(vehicle_type.end),
            "shift": [time if math.isfinite(time) else None for time in vehicle_type.shift],
            "max_distance": vehicle_type.max_distance,
            "max_duration": vehicle_type.max_duration,
            "max_stops": vehicle_type.max_stops,
            "skills": sorted(vehicle_type.skills),
            "profile": profiles[vehicle_type.profile],
        }
        for number, vehicle_type in enumerate(problem.types)
    ]


def _depots(problem: Instance) -> list[dict[str, Any]]:
    """Return the depots where there are several, or something to the only one."""
    return [
        {
            "name": problem.label(node),
            "window": [time if math.isfinite(time) else None for time in problem.windows_of(node)[0]],
            "capacity": None if depot.capacity is None else list(depot.capacity),
            "opening_cost": depot.cost,
        }
        for node, depot in zip(problem.depot_nodes, problem.depots or (), strict=False)
    ]


USUAL: dict[str, Any] = {
    "fixed_cost": 0.0, "distance_cost": 1.0, "duration_cost": 0.0, "shift": [None, None], "skills": [],
    "window": [0.0, None], "opening_cost": 0.0,
}  # fmt: skip
"""What need not be said of types of vehicles and of depots, beside None."""


def _columns(problem: Instance, rows: list[dict[str, Any]]) -> list[dict[str, str]]:
    """Return rows as people read them, without what is as usual in all of them."""
    usual = dict(USUAL)
    if len(problem.depot_nodes) == 1:
        usual |= {"start": problem.label(0), "end": problem.label(0)}
    kept = [name for name in rows[0] if any(row[name] != usual.get(name) for row in rows)]
    return [{name: _shown(problem, name, row[name]) for name in kept} for row in rows]


def _shown(problem: Instance, name: str, value: Any) -> str:
    if value is None:
        return {"number": "any", "start": "none", "end": "none"}.get(name, "")
    if value == [None, None]:
        return "any"
    if name in ("shift", "window"):
        return " to ".join("any" if time is None else problem.at(time) for time in value)
    if isinstance(value, list):
        return ", ".join(each if isinstance(each, str) else f"{each:.10g}" for each in value)
    return f"{value:.10g}" if isinstance(value, float) else str(value)


def _rules(problem: Instance) -> dict[str, Any]:
    """Return what an instance has beside demands and a capacity, and how tight its windows are."""
    import numpy as np

    from neuralns.problem.distances import triangle_excess
    from neuralns.problem.variant import horizon_of, narrow_windows

    facts: dict[str, Any] = {}
    if problem.windows is not None:
        opens, closes = horizon_of(problem)
        # A window counts if it is narrower than the horizon, and only that part of it which lies within.
        spans = [np.clip(problem.windows_of(node), opens, closes) for node in range(1, problem.customers + 1)]
        widths, narrow = np.array([(span[:, 1] - span[:, 0]).sum() for span in spans]), narrow_windows(problem)
        facts["horizon"] = [opens, closes if math.isfinite(closes) else None]
        facts["windows"] = float(narrow.mean())
        if math.isfinite(closes) and closes > opens and narrow.any():
            facts["window_width"] = float(widths[narrow].mean()) / (closes - opens)
    if problem.service is not None:
        facts["mean_service"] = float(problem.service[1 : problem.customers + 1].mean())
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
