"""Instances and solutions as JSON for the page: places, demands, windows, timetables."""

from __future__ import annotations

import math
from typing import Any

from neuralns.problem.instance import Instance
from neuralns.problem.solution import Solution
from neuralns.studio.request import Request


def number(value: float) -> float | None:
    """Return a number as JSON has it, which knows neither infinities nor what is not a number."""
    return round(float(value), 6) if math.isfinite(value) else None


def describe_instance(request: Request) -> dict[str, Any]:
    """Return what a page draws of an instance."""
    instance = request.instance
    nodes, kind = _places(request)
    return {
        "name": instance.name,
        "variant": "",
        "customers": instance.customers,
        "capacity": number(instance.capacity),
        "kind": kind,
        "nodes": nodes,
        "depots": list(instance.depot_nodes),
        "labels": None if instance.names is None else list(instance.names),
        "demands": [number(value) for value in instance.demands.tolist()],
        "windows": [_window(instance, node) for node in range(len(instance.demands))] if instance.timed else None,
        "services": [number(value) for value in instance.services.tolist()],
        "shipments": [[each.pickup, each.delivery] for each in instance.shipments or ()],
        "vehicles": [instance.type_name(place) for place in range(len(instance.types))],
        "clock": instance.clock,
        "best_known": instance.best_known,
    }


def describe_solution(solution: Solution) -> dict[str, Any]:
    """Return the routes of a solution with their cost."""
    return {
        "cost": number(solution.cost),
        "routes": [list(route) for route in solution.routes],
        "vehicles": list(solution.vehicles),
        "unserved": list(solution.unserved),
        "skipped": list(solution.skipped),
    }


def _places(request: Request) -> tuple[list[list[float]] | None, str]:
    """Return where nodes are, and whether that is on the globe (longitude and latitude) or in a plane."""
    instance = request.instance
    if instance.coordinates is None:
        return None, "plane"
    return [[number(x) or 0.0, number(y) or 0.0] for x, y in instance.coordinates.tolist()], "plane"


def _window(instance: Instance, node: int) -> list[float | None] | None:
    opens, closes = float(instance.earliest[node]), float(instance.latest[node])
    return None if opens <= 0 and math.isinf(closes) else [number(opens), number(closes)]
