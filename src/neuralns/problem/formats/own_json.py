"""The JSON form of instances and solutions, our own: nothing that an instance or a solution holds is lost in it."""

from __future__ import annotations

import inspect
import json
import math
import re
from collections.abc import Callable, Collection, Mapping
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from neuralns.errors import InputError
from neuralns.problem.distances import rounding_named
from neuralns.problem.fleet import Depot, Group, Profile, Shipment, VehicleType
from neuralns.problem.formats.schema import violation
from neuralns.problem.formats.text import FilePath, Unsupported, naming, parts_ignored, plain, refuse_unsupported
from neuralns.problem.instance import Instance
from neuralns.problem.route_cost import named_cost
from neuralns.problem.solution import Solution

INSTANCE_FORM = "neuralns-instance"
SOLUTION_FORM = "neuralns-solution"
FORM_VERSION = 1
INSTANCE_FIELDS = (
    "format", "version", "name", "capacity", "rounding", "vehicle_cost", "best_known",
    "demands", "coordinates", "matrix", "windows", "service", "durations", "vehicles", "max_duration", "max_distance",
    "distance_cost", "duration_cost", "names", "clock",
    "fleet", "depots", "deliveries", "pickups", "openings", "release", "prizes", "groups", "skills", "shipments",
    "backhauls", "profiles", "route_costs",
)  # fmt: skip
"""The fields of an instance, which ``instance.schema.json`` describes."""
OPTIONAL: dict[str, Any] = {
    "windows": None, "service": None, "durations": None, "vehicles": None, "max_duration": None, "max_distance": None,
    "distance_cost": 1.0, "duration_cost": 0.0, "names": None, "clock": None,
    "deliveries": None, "pickups": None, "openings": None, "release": None, "prizes": None, "skills": None,
    "backhauls": False,
}  # fmt: skip
"""Fields that are written only where they say something, and what leaving them out means."""
LISTS: dict[str, Callable[..., Any]] = {
    "fleet": VehicleType,
    "depots": Depot,
    "groups": Group,
    "shipments": Shipment,
    "profiles": Profile,
    "route_costs": named_cost,
}
"""Fields that are lists of objects, and what makes their parts of them."""
OF_FLEET = ("capacity", "vehicle_cost", "vehicles", "max_duration", "max_distance", "distance_cost", "duration_cost")
"""Fields that a fleet stands for."""
CHECKED = ("deliveries", "pickups", "openings", "release", "prizes", "skills", "backhauls")
"""Fields that are held against the schema when they are read, as the lists of objects are; `Instance` judges others."""
SOLUTION_FIELDS = ("format", "version", "instance", "cost", "rounding", "vehicle_cost", "routes", "vehicles")
"""The fields of a solution."""


@cache
def instance_schema() -> dict[str, Any]:
    """Return the JSON schema (draft 2020-12) of our form of instances."""
    text = files("neuralns.problem.formats").joinpath("instance.schema.json").read_text(encoding="utf-8")
    return dict(json.loads(text))


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


def check_json_instance(path: FilePath, text: str, ignore: Collection[str] = ()) -> None:
    """Refuse the text of a JSON file that does not keep to the schema, with the path of the field and its value."""
    ignored = {key.casefold() for key in ignore}
    data = {key: value for key, value in _parse(path, text).items() if key.casefold() not in ignored}
    if (found := violation(data, instance_schema())) is not None:
        raise InputError(f"{path}: {found}.")


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
    return Solution(instance, routes, _types_of(instance, path, data.get("vehicles"), len(routes)))


def json_solution_text(solution: Solution) -> str:
    """Return the text of a JSON file with a solution."""
    return json.dumps(solution_to_json(solution)) + "\n"


def is_own_json_instance(text: str) -> bool:
    """Tell whether a text is an instance in our form."""
    return _is_form(text, INSTANCE_FORM)


def is_own_json_solution(text: str) -> bool:
    """Tell whether a text is a solution in our form."""
    return _is_form(text, SOLUTION_FORM)


def _is_form(text: str, form: str) -> bool:
    try:
        data = json.loads(text) if is_json(text) else None
    except (RecursionError, ValueError):
        return False
    return isinstance(data, dict) and data.get("format") == form


def instance_to_json(instance: Instance) -> dict[str, Any]:
    """Return the JSON form of an instance; what no file can hold, a function of one's own, is refused."""
    data: dict[str, Any] = {
        "format": INSTANCE_FORM,
        "version": FORM_VERSION,
        "name": instance.name,
        "capacity": plain(instance.capacity),
        "rounding": instance.rounding,
        "vehicle_cost": plain(instance.vehicle_cost),
        "best_known": None if instance.best_known is None else plain(instance.best_known),
    }
    if instance.deliveries is None and instance.pickups is None and instance.shipments is None:
        data["demands"] = _written(instance.demands)
    if instance.coordinates is not None:
        data["coordinates"] = _written(instance.coordinates)
    if instance.matrix is not None:
        data["matrix"] = _written(instance.matrix)
    for field, default in OPTIONAL.items():
        value = getattr(instance, field)
        if value is not None and (default is None or value != default):
            flat = field in ("deliveries", "pickups") and value.shape[1] == 1
            data[field] = _written(value[:, 0] if flat else value)
    for field, make in LISTS.items():
        for part in getattr(instance, field) or ():
            data.setdefault(field, []).append(_part_written(instance, part, make))
    return {key: value for key, value in data.items() if instance.fleet is None or key not in OF_FLEET}


def instance_from_json(data: dict[str, Any], source: str) -> Instance:
    """Return the instance that a JSON form describes; ``source`` names it in errors."""
    _expect_form(source, data, INSTANCE_FORM)
    given = {field for field, value in data.items() if value is not None}
    for field, others in (("demands", {"deliveries", "pickups", "shipments"}), ("capacity", {"fleet"})):
        if not given & {field, *others}:
            raise InputError(f"{source}: field {field!r} is missing.")
    name, rounding = data.get("name", Path(source).stem), data.get("rounding", "none")
    if not isinstance(name, str) or not isinstance(rounding, str):
        raise InputError(f"{source}: fields 'name' and 'rounding' must be text.")
    parts = {field: data[field] for field in OPTIONAL if data.get(field) is not None}
    with naming(source):
        for field in (*LISTS, *CHECKED):
            wrong = violation(data.get(field), instance_schema()["properties"][field], instance_schema(), field)
            if wrong is not None:
                raise InputError(f"{wrong}.")
        for field, make in LISTS.items():
            if data.get(field) is not None:
                parts[field] = [_part(f"{field}[{index}]", each, make) for index, each in enumerate(data[field])]
        if "windows" in parts:
            parts["windows"] = _with_open_ends(parts["windows"])
        if "openings" in parts:
            parts["openings"] = {int(node): _with_open_ends(spans) for node, spans in parts["openings"].items()}
        if "skills" in parts:
            parts["skills"] = {int(node): skills for node, skills in parts["skills"].items()}
        if "prizes" in parts:
            parts["prizes"] = [math.inf if prize is None else prize for prize in parts["prizes"]]
        return Instance(
            name,
            data.get("demands"),
            data.get("capacity"),
            data.get("coordinates"),
            data.get("matrix"),
            rounding_named(rounding),
            data.get("vehicle_cost", 0.0),
            data.get("best_known"),
            **parts,
        )


def solution_to_json(solution: Solution) -> dict[str, Any]:
    """Return the JSON form of a solution; types of vehicles are by name where each has one, by number from 0 if not."""
    instance = solution.instance
    data: dict[str, Any] = {
        "format": SOLUTION_FORM,
        "version": FORM_VERSION,
        "instance": instance.name,
        "cost": solution.cost,
        "rounding": instance.rounding,
        "vehicle_cost": instance.vehicle_cost,
        "routes": [list(route) for route in solution.routes],
    }
    if len(instance.types) > 1:
        names = [vehicle_type.name for vehicle_type in instance.types]
        named = all(names) and len(set(names)) == len(names)
        data["vehicles"] = [names[vehicle_type] if named else vehicle_type for vehicle_type in solution.vehicles]
    return data


def _types_of(instance: Instance, path: FilePath, given: Any, routes: int) -> list[int] | None:
    """Return the type of each route's vehicle, which a file gives by name or number; None if it gives none."""
    if given is None:
        return None
    if not isinstance(given, list) or len(given) != routes:
        raise InputError(f"{path}: 'vehicles' must be a list of {routes} vehicle types, one for each route.")
    names = {
        vehicle_type.name: number
        for number, vehicle_type in reversed(list(enumerate(instance.types)))
        if vehicle_type.name
    }
    found = []
    for index, each in enumerate(given):
        number = names.get(each) if isinstance(each, str) else each
        if type(number) is not int or not 0 <= number < len(instance.types):
            raise InputError(
                f"{path}: vehicles[{index}]: {each!r:.60} is neither the name of a vehicle type nor a number from 0 to "
                f"{len(instance.types) - 1}."
            )
        found.append(number)
    return found


def _part(where: str, entry: dict[str, Any], make: Callable[..., Any]) -> Any:
    """Return a part of an instance from its object, which keeps to the schema."""
    given = dict(entry)
    if given.get("shift") is not None:
        opens, closes = given["shift"]
        given["shift"] = (-math.inf if opens is None else opens, math.inf if closes is None else closes)
    with naming(where):
        return make(**given)


def _part_written(instance: Instance, part: Any, make: Callable[..., Any]) -> dict[str, Any]:
    """Return the object of a part of an instance, without what leaving it out means as well."""
    if make is named_cost:
        if part.parameters is None:
            raise InputError(f"{instance.name}: {part} is a function of your own, which no file can hold.")
        return {"name": part.name, "parameters": _written(part.parameters)}
    data = {}
    for field, known in inspect.signature(make).parameters.items():
        value = _written(getattr(part, field))
        if field in ("capacity", "amount") and isinstance(value, list) and len(value) == 1:
            (value,) = value
        if known.default is inspect.Parameter.empty or value != _written(known.default):
            data[field] = value
    return data


def _written(value: Any) -> Any:
    """Return a value as it is written, however deep in lists; null where there is no end."""
    if isinstance(value, np.ndarray | tuple | list):
        return [_written(each) for each in value]
    if isinstance(value, frozenset):
        return sorted(value)
    if isinstance(value, Mapping):
        return {str(key): _written(each) for key, each in value.items()}
    # Whole numbers of Python may be larger than numpy's.
    if value is None or isinstance(value, str | int):
        return value
    return None if np.isinf(value) else plain(value)


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
