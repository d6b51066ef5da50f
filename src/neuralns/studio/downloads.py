"""Routes in the formats that people take away: for programs, for spreadsheets, for maps, and as pictures."""

from __future__ import annotations

import base64
import io
import json
from collections.abc import Callable
from typing import Any

from neuralns.errors import InputError
from neuralns.problem.formats.own_json import json_solution_text
from neuralns.problem.formats.route_table import route_table_text
from neuralns.problem.formats.sol import sol_text
from neuralns.problem.formats.vroom_output import vroom_answer_text
from neuralns.problem.solution import Solution
from neuralns.studio.describe import degrees_by_node, describe_timetable
from neuralns.studio.describe import number as finite
from neuralns.studio.request import Request


def make_download(request: Request, solution: Solution, name: str) -> tuple[str, str]:
    """Return routes in a format, base64 of a picture in pixels, and the type of that."""
    if name not in _FORMATS:
        raise InputError(f"format {name!r:.40} is not known; choose {', '.join(FORMATS)}.")
    media_type, make = _FORMATS[name]
    return make(request, solution), media_type


def _vroom(request: Request, solution: Solution) -> str:
    if request.vroom is None:
        raise InputError(f"{solution.instance.name}: did not come as VROOM's JSON, so there is no answer of that form.")
    return vroom_answer_text(request.vroom, solution, request.seconds)


def _geojson(request: Request, solution: Solution) -> str:
    degrees = degrees_by_node(request)
    if degrees is None:
        raise InputError(f"{solution.instance.name}: its places have no latitude and longitude.")
    instance = solution.instance
    features: list[dict[str, Any]] = []
    for number, (route, vehicle_type) in enumerate(zip(solution.routes, solution.vehicles, strict=True), 1):
        vehicle = instance.types[vehicle_type]
        ends = ([] if end is None else [end] for end in (vehicle.start, vehicle.end))
        first, last = ends
        line = [degrees[node] for node in (*first, *route, *last)]
        shape = {"type": "LineString", "coordinates": line if len(line) > 1 else line * 2}
        facts = {
            "route": number,
            "vehicle": instance.type_name(vehicle_type),
            "stops": [instance.label(node) for node in route],
            "cost": finite(solution.route_cost(number - 1)),
        }
        features.append({"type": "Feature", "geometry": shape, "properties": facts})
    served = {node: number for number, route in enumerate(solution.routes, 1) for node in route}
    for node, place in enumerate(degrees):
        depot = node in instance.depot_nodes
        facts = {"name": instance.label(node), "kind": "depot" if depot else "customer"}
        if not depot:
            facts["route"] = served.get(node)
        features.append({"type": "Feature", "geometry": {"type": "Point", "coordinates": place}, "properties": facts})
    return json.dumps({"type": "FeatureCollection", "features": features}, allow_nan=False) + "\n"


def _timetable(request: Request, solution: Solution) -> str:
    return json.dumps(describe_timetable(solution), allow_nan=False)


def _png(request: Request, solution: Solution) -> str:
    from neuralns import plot

    content = io.BytesIO()
    plot.routes(solution).savefig(content, format="png", dpi=150)
    return base64.b64encode(content.getvalue()).decode()


def _svg(request: Request, solution: Solution) -> str:
    from neuralns import plot

    return plot.to_svg(plot.routes(solution))


Maker = Callable[[Request, Solution], str]

_FORMATS: dict[str, tuple[str, Maker]] = {
    "sol": ("text/plain", lambda request, solution: sol_text(solution)),
    "json": ("application/json", lambda request, solution: json_solution_text(solution)),
    "csv": ("text/csv", lambda request, solution: route_table_text(solution)),
    "vroom": ("application/json", _vroom),
    "png": ("image/png", _png),
    "svg": ("image/svg+xml", _svg),
    "geojson": ("application/geo+json", _geojson),
    "timetable": ("application/json", _timetable),
}
FORMATS = tuple(_FORMATS)
MEDIA_TYPES = {name: media_type for name, (media_type, _) in _FORMATS.items()} | {"trace": "text/csv"}
