"""Instances, solutions and timetables as JSON for the page."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from neuralns.problem.formats.spreadsheet import degrees_of
from neuralns.problem.formats.vroom import VroomProblem
from neuralns.problem.instance import Instance
from neuralns.problem.solution import Solution
from neuralns.problem.variant import in_words
from neuralns.studio.request import Request


def number(value: float | None) -> float | None:
    """Return a number as JSON has it, which knows neither infinities nor what is not a number."""
    return None if value is None or not math.isfinite(value) else round(float(value), 6)


def describe_instance(request: Request) -> dict[str, Any]:
    """Return what a page draws of an instance; nodes on the globe are longitudes and latitudes."""
    instance = request.instance
    degrees = degrees_by_node(request)
    points = instance.coordinates.tolist() if degrees is None and instance.coordinates is not None else degrees
    return {
        "name": instance.name,
        "variant": in_words(instance),
        "customers": instance.customers,
        "capacity": number(instance.capacity),
        "kind": "plane" if degrees is None else "geo",
        "nodes": None if points is None else [[number(x), number(y)] for x, y in points],
        "depots": list(instance.depot_nodes),
        "labels": None if instance.names is None else list(instance.names),
        "demands": [number(value) for value in instance.demands.tolist()],
        "windows": [_windows(instance, node) for node in range(len(instance.demands))] if instance.timed else None,
        "services": [number(value) for value in instance.services.tolist()],
        "shipments": [[each.pickup, each.delivery] for each in instance.shipments or ()],
        "vehicles": [instance.type_name(index) for index in range(len(instance.types))],
        "types": [
            {
                "name": instance.type_name(index),
                "start": vehicle_type.start,
                "end": vehicle_type.end,
                "capacity": [number(amount) for amount in vehicle_type.capacity],
            }
            for index, vehicle_type in enumerate(instance.types)
        ],
        "clock": instance.clock,
        "best_known": number(instance.best_known),
        "vroom": request.vroom is not None,
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


def describe_timetable(solution: Solution) -> dict[str, Any]:
    """Return when each route is where, and with what on board."""
    instance = solution.instance
    pickups = {each.pickup for each in instance.shipments or ()}
    deliveries = {each.delivery for each in instance.shipments or ()}
    picked = np.asarray(instance.amounts[1].any(axis=1))
    routes = []
    for index, (plan, vehicle_type) in enumerate(zip(solution.schedules, solution.vehicles, strict=True)):
        stops = [] if plan.start is None else [_depot(instance, plan.start, None, plan.departure, plan.loads[0])]
        for stop in plan.stops:
            what = (
                "pickup" if stop.node in pickups or (picked[stop.node] and stop.node not in deliveries) else "customer"
            )
            stops.append(
                {
                    "node": stop.node,
                    "label": instance.label(stop.node),
                    "kind": "delivery" if stop.node in deliveries else what,
                    "arrival": number(stop.arrival),
                    "waiting": number(stop.waiting),
                    "start": number(stop.start),
                    "service": number(stop.departure - stop.start),
                    "departure": number(stop.departure),
                    "load": number(stop.load),
                    "window": _window(instance, stop.node) if instance.timed else None,
                }
            )
        if plan.end is not None:
            stops.append(_depot(instance, plan.end, plan.arrival, None, plan.stops[-1].load if plan.stops else 0.0))
        routes.append(
            {
                "vehicle": instance.type_name(vehicle_type),
                "cost": number(solution.route_cost(index)),
                "distance": number(solution.lengths[index]),
                "duration": number(plan.duration),
                "load": number(plan.most_loaded[0]),
                "stops": stops,
            }
        )
    return {"clock": instance.clock, "timed": instance.timed, "cost": number(solution.cost), "routes": routes}


def degrees_by_node(request: Request) -> list[list[float]] | None:
    """Return the longitude and latitude of every node, where all have them."""
    if request.vroom is not None:
        return _degrees_of_vroom(request.vroom)
    if request.text is None:
        return None
    found = degrees_of(request.instance.name, request.text, request.ignore)
    return None if found is None else found.tolist()


def _degrees_of_vroom(problem: VroomProblem) -> list[list[float]] | None:
    instance = problem.instance
    places = dict(enumerate((task.place for task in problem.tasks), 1))
    for vehicle_type, vehicles in zip(instance.types, problem.vehicles, strict=True):
        for node, place in (
            (vehicle_type.start, vehicles[0].vehicle_type.start),
            (vehicle_type.end, vehicles[0].vehicle_type.end),
        ):
            if node is not None and place is not None:
                places[node] = place
    found: list[list[float]] = []
    for node in range(len(instance.demands)):
        # A node that is nowhere is drawn where the first task is.
        place = places.get(node, places[1])
        if place.location is None or abs(place.location[1]) > 90 or abs(place.location[0]) > 180:
            return None
        found.append(list(place.location))
    return found


def _windows(instance: Instance, node: int) -> list[Any] | None:
    """Return the window of a node, or a list of them where it has several."""
    if node in (instance.openings or {}):
        return [[number(opens), number(closes)] for opens, closes in instance.windows_of(node)]
    return _window(instance, node)


def _window(instance: Instance, node: int) -> list[float | None] | None:
    opens, closes = float(instance.earliest[node]), float(instance.latest[node])
    return None if opens <= 0 and math.isinf(closes) else [number(opens), number(closes)]


def _depot(
    instance: Instance, node: int, arrival: float | None, departure: float | None, load: float
) -> dict[str, Any]:
    return {
        "node": node,
        "label": instance.label(node),
        "kind": "depot",
        "arrival": None if arrival is None else number(arrival),
        "waiting": 0.0,
        "start": None,
        "service": 0.0,
        "departure": None if departure is None else number(departure),
        "load": number(load),
        "window": _window(instance, node) if instance.timed else None,
    }
