"""The JSON form of instances and solutions, our own: nothing that an instance or a solution holds is lost in it."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Collection
from pathlib import Path
from typing import Any

import numpy as np

from neuralns.errors import InputError
from neuralns.problem.distances import rounding_named
from neuralns.problem.formats.text import FilePath, Unsupported, naming, parts_ignored, plain, refuse_unsupported
from neuralns.problem.instance import Instance
from neuralns.problem.solution import Solution

INSTANCE_FORM = "neuralns-instance"
SOLUTION_FORM = "neuralns-solution"
FORM_VERSION = 1
INSTANCE_FIELDS = (
    "format", "version", "name", "capacity", "rounding", "vehicle_cost", "best_known",
    "demands", "coordinates", "matrix", "windows", "service", "durations", "vehicles", "max_duration", "max_distance",
    "distance_cost", "duration_cost", "names", "clock",
)  # fmt: skip
"""The fields of an instance, which ``instance.schema.json`` describes."""
OPTIONAL: dict[str, float | None] = {
    "windows": None, "service": None, "durations": None, "vehicles": None, "max_duration": None, "max_distance": None,
    "distance_cost": 1.0, "duration_cost": 0.0, "names": None, "clock": None,
}  # fmt: skip
"""Fields that are written only where they say something, and what leaving them out means."""
SOLUTION_FIELDS = ("format", "version", "instance", "cost", "rounding", "vehicle_cost", "routes")
"""The fields of a solution."""


def is_json(text: str) -> bool:
    """Tell whether a text starts as a JSON object does."""
    return text.lstrip().startswith("{")


def read_json_instance(path: FilePath, text: str, ignore: Collection[str] = ()) -> Instance:
    """Read an instance from the text of a JSON file; fields that are not known are refused unless ignored.

    ``windows`` and ``vehicles`` are left out if ignored (see `Instance.without`).
    """
    data = _parse(path, text)
    _expect_form(path, data, INSTANCE_FORM)
    unknown = [Unsupported(_line_of(text, key), f"field {key!r}", key) for key in data if key not in INSTANCE_FIELDS]
    refuse_unsupported(path, unknown, ignore)
    return instance_from_json(data, str(path)).without(*parts_ignored(ignore))


def json_instance_text(instance: Instance) -> str:
    """Return the text of a JSON file with an instance."""
    return json.dumps(instance_to_json(instance)) + "\n"


def read_json_solution(instance: Instance, path: FilePath, text: str) -> Solution:
    """Read the routes from the text of a JSON file; cost and rounding follow from the instance."""
    data = _parse(path, text)
    _expect_form(path, data, SOLUTION_FORM)
    for key in data:
        if key not in SOLUTION_FIELDS:
            where = f", line {line}" if (line := _line_of(text, key)) else ""
            raise InputError(f"{path}{where}: field {key!r:.60} is not known, only {', '.join(SOLUTION_FIELDS)}.")
    routes = data.get("routes")
    if not isinstance(routes, list) or not all(
        isinstance(route, list) and all(type(customer) is int for customer in route) for route in routes
    ):
        raise InputError(f"{path}: 'routes' must be a list of lists of customer numbers.")
    return Solution(instance, routes)


def json_solution_text(solution: Solution) -> str:
    """Return the text of a JSON file with a solution."""
    return json.dumps(solution_to_json(solution)) + "\n"


def is_own_json_solution(text: str) -> bool:
    """Tell whether a text is a solution in our form."""
    try:
        data = json.loads(text)
    except (RecursionError, ValueError):
        return False
    return isinstance(data, dict) and data.get("format") == SOLUTION_FORM


def instance_to_json(instance: Instance) -> dict[str, Any]:
    """Return the JSON form of an instance."""
    data: dict[str, Any] = {
        "format": INSTANCE_FORM,
        "version": FORM_VERSION,
        "name": instance.name,
        "capacity": plain(instance.capacity),
        "rounding": instance.rounding,
        "vehicle_cost": plain(instance.vehicle_cost),
        "best_known": None if instance.best_known is None else plain(instance.best_known),
        "demands": [plain(value) for value in instance.demands],
    }
    if instance.coordinates is not None:
        data["coordinates"] = _written(instance.coordinates)
    if instance.matrix is not None:
        data["matrix"] = _written(instance.matrix)
    for field, default in OPTIONAL.items():
        value = getattr(instance, field)
        if value is not None and (default is None or value != default):
            data[field] = _written(value)
    return data


def instance_from_json(data: dict[str, Any], source: str) -> Instance:
    """Return the instance that a JSON form describes; ``source`` names it in errors."""
    _expect_form(source, data, INSTANCE_FORM)
    for field in ("demands", "capacity"):
        if field not in data:
            raise InputError(f"{source}: field {field!r} is missing.")
    name, rounding = data.get("name", Path(source).stem), data.get("rounding", "none")
    if not isinstance(name, str) or not isinstance(rounding, str):
        raise InputError(f"{source}: fields 'name' and 'rounding' must be text.")
    with naming(source):
        return Instance(
            name,
            data["demands"],
            data["capacity"],
            data.get("coordinates"),
            data.get("matrix"),
            rounding_named(rounding),
            data.get("vehicle_cost", 0.0),
            data.get("best_known"),
            **{field: data[field] for field in OPTIONAL if data.get(field) is not None and field != "windows"},
            windows=_with_open_ends(data.get("windows")),
        )


def solution_to_json(solution: Solution) -> dict[str, Any]:
    """Return the JSON form of a solution."""
    return {
        "format": SOLUTION_FORM,
        "version": FORM_VERSION,
        "instance": solution.instance.name,
        "cost": solution.cost,
        "rounding": solution.instance.rounding,
        "vehicle_cost": solution.instance.vehicle_cost,
        "routes": [list(route) for route in solution.routes],
    }


def _written(value: Any) -> Any:
    """Return numbers as they are written, however deep in lists; null where there is no end."""
    if isinstance(value, np.ndarray | tuple):
        return [_written(each) for each in value]
    return value if isinstance(value, str) else None if np.isinf(value) else plain(value)


def _with_open_ends(windows: Any) -> Any:
    """Return windows with null, as the end of one, for what it means."""
    if not isinstance(windows, list):
        return windows
    return [
        [window[0], math.inf] if isinstance(window, list) and len(window) == 2 and window[1] is None else window
        for window in windows
    ]


def _line_of(text: str, key: str) -> int:
    """Return the first line on which ``"key":`` stands, or 0 where the key is written with escapes."""
    found = re.search(rf'"{re.escape(key)}"\s*:', text)
    return 0 if found is None else text.count("\n", 0, found.start()) + 1


def _parse(path: FilePath, text: str) -> dict[str, Any]:
    try:
        data = json.loads(text)
    except json.JSONDecodeError as error:
        raise InputError(f"{path}, line {error.lineno}: not valid JSON ({error.msg}).") from None
    except (RecursionError, ValueError) as error:
        raise InputError(f"{path}: not valid JSON ({error}).") from None
    if not isinstance(data, dict):
        raise InputError(f"{path}: a JSON object is expected.")
    return data


def _expect_form(source: FilePath, data: dict[str, Any], form: str) -> None:
    if data.get("format") != form:
        raise InputError(f"{source}: 'format' is {data.get('format')!r}, expected {form!r}.")
    if data.get("version") != FORM_VERSION:
        raise InputError(f"{source}: version {data.get('version')!r} of the form is not known, only {FORM_VERSION}.")
