"""``neuralns info``: what an instance holds."""

import json
import math

from rich.table import Table

from neuralns.cli import options
from neuralns.cli.printing import plain_console


def info(
    instance: options.InstanceName,
    rounding: options.Rounding = None,
    customers: options.Customers = None,
    vehicle_cost: options.VehicleCost = None,
    ignore: options.Ignore = None,
    as_json: options.AsJson = False,
) -> None:
    """Describe an instance.

    Examples:

        neuralns info X-n101-k25

        neuralns info my.vrp --json
    """
    from neuralns.plot import format_cost
    from neuralns.problem.bundled import read

    problem = read(instance, rounding, customers, vehicle_cost, ignore or ())
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
    if as_json:
        print(json.dumps(facts))
        return
    table = Table(box=None, show_header=False, pad_edge=False)
    for name, value in facts.items():
        if value is None:
            text = "not known"
        elif isinstance(value, list):
            text = f"{value[0]:g} to {value[1]:g}"
        else:
            text = format_cost(value) if isinstance(value, float) else str(value)
        table.add_row(name.replace("_", " "), text)
    plain_console().print(table)
