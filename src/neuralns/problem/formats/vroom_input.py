"""VROOM's input, checked: its tasks, vehicles and matrices, as the file states them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import inf
from typing import Any

import numpy as np

from neuralns.errors import InputError
from neuralns.problem.distances import Floats
from neuralns.problem.formats.text import FilePath, Unsupported

KNOWN = {
    "the problem": {"jobs", "shipments", "vehicles", "matrices", "matrix"},
    "job": {
        "id", "location", "location_index", "setup", "service", "delivery", "pickup", "amount", "skills", "priority",
        "time_windows", "description",
    },
    "shipment": {"pickup", "delivery", "amount", "skills", "priority"},
    "step": {"id", "location", "location_index", "setup", "service", "time_windows", "description"},
    "vehicle": {
        "id", "profile", "start", "start_index", "end", "end_index", "capacity", "costs", "skills", "type",
        "time_window", "speed_factor", "max_tasks", "max_travel_time", "max_distance", "description", "steps",
    },
    "visit": {"type", "id"},
    "costs": {"fixed", "per_hour", "per_task_hour", "per_km"},
    "matrices": {"durations", "distances", "costs"},
}  # fmt: skip
"""The keys that are understood, by the object that they stand in."""
TASKS = ("job", "pickup", "delivery")
"""Kinds of tasks."""
LARGEST_EXACT = 1e15
"""Numbers below it are kept to the second and to the metre."""

Window = tuple[float, float]
Amounts = tuple[float, ...]
ANY_TIME: Window = (0.0, inf)


@dataclass(frozen=True)
class Place:
    """Where something is: longitude and latitude, a row of the matrices, or both."""

    location: tuple[float, float] | None
    index: int | None

    def written(self) -> dict[str, Any]:
        """Return the place as it stood in the input."""
        place: dict[str, Any] = {} if self.location is None else {"location": list(self.location)}
        return place if self.index is None else place | {"location_index": self.index}


@dataclass(frozen=True)
class Task:
    """A job, or one end of a shipment."""

    kind: str
    id: int
    place: Place
    setup: float
    service: float
    delivery: Amounts
    pickup: Amounts
    skills: frozenset[str]
    priority: int
    windows: tuple[Window, ...]
    description: str | None

    @property
    def name(self) -> str:
        """What to call it: no two tasks of a kind have the same number."""
        return f"{self.kind} {self.id}"


@dataclass(frozen=True)
class Costs:
    """What a vehicle costs: once it is used, for an hour and a kilometre on the way, and for an hour of work."""

    fixed: float
    per_hour: float
    per_task_hour: float
    per_km: float


@dataclass(frozen=True)
class VroomVehicleType:
    """All that tells vehicles apart, but for their numbers and descriptions."""

    profile: str
    start: Place | None
    end: Place | None
    capacity: Amounts
    costs: Costs
    skills: frozenset[str]
    shift: Window
    speed_factor: float
    max_tasks: int | None
    max_travel_time: float | None
    max_distance: float | None

    def can_serve(self, task: Task) -> bool:
        """Whether it has the skills, the room and the hours for a task, with nothing else to do."""
        room = all(
            max(out, back) <= most for out, back, most in zip(task.delivery, task.pickup, self.capacity, strict=True)
        )
        first, last = self.shift
        hours = any(opens + task.setup <= last and closes >= first for opens, closes in task.windows)
        return task.skills <= self.skills and room and (hours or not task.windows)


@dataclass(frozen=True)
class Vehicle:
    """A vehicle by its number; its steps are the names of the tasks that its route is to start with."""

    id: int
    description: str | None
    vehicle_type: VroomVehicleType
    steps: tuple[str, ...] = ()


@dataclass(frozen=True)
class VroomInput:
    """What a file states; requests are jobs alone, and shipments as a pickup and a delivery."""

    requests: tuple[tuple[Task, ...], ...]
    vehicles: tuple[Vehicle, ...]
    matrices: dict[str, dict[str, Floats]]
    dimensions: int
    unknown: tuple[Unsupported, ...]

    @property
    def places(self) -> Iterator[tuple[str, Place]]:
        """All places, and what is there."""
        for request in self.requests:
            yield from ((task.name, task.place) for task in request)
        for vehicle in self.vehicles:
            ends = (("the start", vehicle.vehicle_type.start), ("the end", vehicle.vehicle_type.end))
            yield from ((f"{what} of vehicle {vehicle.id}", place) for what, place in ends if place is not None)


def is_vroom(text: str) -> bool:
    """Tell whether a text is VROOM's input: an object with vehicles, and jobs or shipments."""
    if not text.lstrip().startswith("{") or '"vehicles"' not in text:
        return False
    try:
        data = json.loads(text)
    except (RecursionError, ValueError):
        # Our own form names itself; of others, what is wrong is said when they are read.
        return '"format"' not in text and ('"jobs"' in text or '"shipments"' in text)
    return (
        isinstance(data, dict) and "format" not in data and "vehicles" in data and bool({"jobs", "shipments"} & {*data})
    )


def parse_vroom(source: FilePath, content: str | dict[str, Any], without_steps: bool = False) -> VroomInput:
    """Return what VROOM's input states, the steps of vehicles as well or not; ``source`` names it in errors."""
    text = content if isinstance(content, str) else ""
    data = _parsed(source, content) if isinstance(content, str) else content
    unknown: dict[tuple[str, str], Unsupported] = {}

    def part(what: str, part_type: str, value: Any, called: str = "") -> _Part:
        """Return an object of the file; from its number on it is called by it."""
        if not isinstance(value, dict):
            raise InputError(f"{source}: {what} must be a JSON object.")
        what = f"{called} {value['id']}" if called and type(value.get("id")) is int else what
        for key in value:
            # What is empty asks for nothing.
            if key not in KNOWN[part_type] and value[key] not in (None, [], {}):
                named = Unsupported(_line_of(text, key), f"{key!r:.60} of {what}", key)
                unknown.setdefault((part_type, key), named)
        return _Part(source, what, value)

    def parts(part_type: str) -> Iterator[_Part]:
        for number, value in enumerate(whole.listed(f"{part_type}s"), 1):
            yield part(f"entry {number} of {part_type}s", part_type, value, part_type)

    def steps(vehicle: Vehicle, visits: list[Any]) -> Iterator[str]:
        """Yield the tasks of a vehicle's steps; a break is none, and its ends are where it says."""
        for number, value in enumerate(visits):
            visit = part(f"step {number + 1} of vehicle {vehicle.id}", "visit", value)
            step_type, ends = visit.text("type"), {"start": 0, "end": len(visits) - 1}
            if step_type == "break":
                unknown.setdefault(
                    ("visit", "breaks"), Unsupported(_line_of(text, "steps"), f"'break' as {visit.what}", "breaks")
                )
            elif step_type in TASKS:
                yield f"{step_type} {visit.id()}"
            elif step_type not in ends:
                raise visit.refusal(f"type {step_type!r:.40} must be {', '.join(('start', *TASKS, 'break'))} or end")
            elif number != ends[step_type]:
                raise visit.refusal(f"{step_type} must be the {'first' if step_type == 'start' else 'last'} step")

    whole = part("the problem", "the problem", data)
    if data.get("matrix") and data.get("matrices"):
        raise InputError(f"{source}: 'matrix' and 'matrices' are given beside each other.")
    given = {"car": {"durations": data["matrix"]}} if data.get("matrix") else data.get("matrices") or {}
    if not isinstance(given, dict):
        raise InputError(f"{source}: matrices must be a JSON object.")
    matrices = {
        profile: part(f"profile {profile!r:.40} of matrices", "matrices", tables).matrices()
        for profile, tables in given.items()
    }
    trucks = list(parts("vehicle"))
    if not trucks:
        raise InputError(f"{source}: at least one vehicle is needed.")
    dimensions = max(len(truck.listed("capacity")) for truck in trucks)
    needs_index = bool(matrices)
    vehicles = []
    for truck in trucks:
        costs = part(f"costs of {truck.what}", "costs", truck.data.get("costs") or {})
        vehicle = _vehicle(truck, costs, dimensions, needs_index)
        visits = [] if without_steps else truck.listed("steps")
        vehicles.append(replace(vehicle, steps=tuple(steps(vehicle, visits))))
    requests: list[tuple[Task, ...]] = []
    for job in parts("job"):
        delivery, pickup = (job.amounts(key, dimensions) for key in ("delivery", "pickup"))
        if job.listed("amount") and (job.listed("delivery") or job.listed("pickup")):
            raise InputError(f"{job.what}: 'amount' is given beside 'delivery' or 'pickup'.")
        if job.listed("amount"):
            delivery = job.amounts("amount", dimensions)
        requests.append((_task(job, job, "job", delivery, pickup, needs_index),))
    for shipment in parts("shipment"):
        amount, nothing = shipment.amounts("amount", dimensions), (0.0,) * dimensions
        pair = []
        for task_type, loaded in (("pickup", False), ("delivery", True)):
            step = part(f"{task_type} of {shipment.what}", "step", shipment.data.get(task_type), task_type)
            goods = (amount, nothing) if loaded else (nothing, amount)
            pair.append(_task(step, shipment, task_type, *goods, needs_index))
        requests.append(tuple(pair))
    names = [task.name for request in requests for task in request] + [f"vehicle {each.id}" for each in vehicles]
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise InputError(f"{source}: {name} is there twice.")
        seen.add(name)
    planned: set[str] = set()
    for vehicle in vehicles:
        for name in vehicle.steps:
            if name not in seen or name in planned:
                what = "is in steps twice" if name in planned else "is not there"
                raise InputError(f"{source}: steps of vehicle {vehicle.id}: {name} {what}.")
            planned.add(name)
    return VroomInput(tuple(requests), tuple(vehicles), matrices, dimensions, tuple(unknown.values()))


@dataclass(frozen=True)
class _Part:
    """A JSON object of a file, and what it is called in sentences."""

    source: FilePath
    what: str
    data: dict[str, Any]

    def refusal(self, sentence: str) -> InputError:
        return InputError(f"{self.source}: {self.what}: {sentence}.")

    def id(self) -> int:
        number = self.data.get("id")
        if type(number) is not int or not 0 <= number < 2**64:
            raise self.refusal(f"id {number!r:.40} must be a whole number from 0 to {2**64 - 1}")
        return number

    def number(self, key: str, default: float, least: float = 0.0, most: float = LARGEST_EXACT) -> float:
        value = self.data.get(key)
        return default if value is None else self.checked(key, value, least, most)

    def checked(self, key: str, value: Any, least: float = 0.0, most: float = LARGEST_EXACT) -> float:
        if type(value) not in (int, float) or not least <= value <= most:
            raise self.refusal(f"{key} {value!r:.40} must be a number from {least:.15g} to {most:.15g}")
        return float(value)

    def whole(self, key: str, most: int) -> int | None:
        value = self.data.get(key)
        if value is not None and (type(value) is not int or not 0 <= value <= most):
            raise self.refusal(f"{key} {value!r:.40} must be a whole number from 0 to {most}")
        return value

    def listed(self, key: str) -> list[Any]:
        value = self.data.get(key)
        if value is not None and not isinstance(value, list):
            raise self.refusal(f"{key} {value!r:.40} must be a list")
        return value or []

    def text(self, key: str) -> str | None:
        value = self.data.get(key)
        if value is not None and not isinstance(value, str):
            raise self.refusal(f"{key} {value!r:.40} must be text")
        return value

    def amounts(self, key: str, dimensions: int) -> Amounts:
        """Return amounts of goods; 0 of all if none are given."""
        values = self.listed(key)
        if values and len(values) != dimensions:
            raise self.refusal(f"{key} has {len(values)} amounts, but the capacities of vehicles have {dimensions}")
        return tuple(self.checked(key, value) for value in values) or (0.0,) * dimensions

    def skills(self) -> frozenset[str]:
        values = self.listed("skills")
        for value in values:
            if type(value) is not int:
                raise self.refusal(f"skill {value!r:.40} must be a whole number")
        return frozenset(map(str, values))

    def window(self, key: str, value: Any) -> Window:
        if not isinstance(value, list) or len(value) != 2:
            raise self.refusal(f"{key} {value!r:.40} must be a pair of times")
        opens, closes = (self.checked(key, each) for each in value)
        if opens > closes:
            raise self.refusal(f"the window {opens:.15g} to {closes:.15g} ends before it begins")
        return opens, closes

    def windows(self) -> tuple[Window, ...]:
        """Return the windows in order, those that touch as one; none if any time will do."""
        found: list[Window] = []
        for opens, closes in sorted(self.window("time_windows", value) for value in self.listed("time_windows")):
            if found and opens <= found[-1][1]:
                found[-1] = (found[-1][0], max(closes, found[-1][1]))
            else:
                found.append((opens, closes))
        return tuple(found)

    def place(self, key: str, needs_index: bool) -> Place | None:
        """Return where the part is, if it says so: by its row where there are matrices, by its location otherwise."""
        location, row = self.listed(key), "location_index" if key == "location" else f"{key}_index"
        index = self.whole(row, 10**6)
        if location and len(location) != 2:
            raise self.refusal(f"{key} {location!r:.40} must be longitude and latitude")
        if needs_index and index is None:
            if location:
                raise self.refusal(f"{row} is missing, and matrices are given")
            return None
        if not needs_index and not location:
            if index is not None:
                raise self.refusal(f"{row} is given, but no matrices are, and no {key}")
            return None
        if not location:
            return Place(None, index)
        east, north = (self.checked(key, each, -LARGEST_EXACT) for each in location)
        return Place((east, north), index)

    def matrices(self) -> dict[str, Floats]:
        found: dict[str, Floats] = {}
        for key, rows in self.data.items():
            if key not in KNOWN["matrices"] or rows is None:
                continue
            try:
                table = np.array(rows, dtype=np.float64)
            except (TypeError, ValueError, OverflowError):
                table = np.empty(0)
            if table.ndim != 2 or table.shape[0] != table.shape[1] or not table.size:
                raise self.refusal(f"{key} must be a square table of numbers")
            for row, column in np.argwhere(~((table >= 0) & (table <= LARGEST_EXACT)))[:1]:
                value = f"{table[row, column]:.15g} from {row} to {column}"
                raise self.refusal(f"{key} {value} must be a number from 0 to {LARGEST_EXACT:.15g}")
            found[key] = table
        return found


def _vehicle(truck: _Part, costs: _Part, dimensions: int, needs_index: bool) -> Vehicle:
    start, end = (truck.place(key, needs_index) for key in ("start", "end"))
    if start is None and end is None:
        raise truck.refusal("it has neither a start nor an end")
    shift = truck.data.get("time_window")
    factor = truck.number("speed_factor", 1.0, 0.0, 5.0)
    if factor == 0:
        raise truck.refusal("speed_factor 0 must be above 0")
    truck.text("type")
    limits = [
        None if truck.data.get(key) is None else truck.number(key, 0.0) for key in ("max_travel_time", "max_distance")
    ]
    vehicle_type = VroomVehicleType(
        profile=truck.text("profile") or "car",
        start=start,
        end=end,
        capacity=truck.amounts("capacity", dimensions),
        costs=Costs(
            costs.number("fixed", 0.0),
            costs.number("per_hour", 3600.0),
            costs.number("per_task_hour", 0.0),
            costs.number("per_km", 0.0),
        ),
        skills=truck.skills(),
        shift=ANY_TIME if shift is None else truck.window("time_window", shift),
        speed_factor=factor,
        max_tasks=truck.whole("max_tasks", 10**9),
        max_travel_time=limits[0],
        max_distance=limits[1],
    )
    return Vehicle(truck.id(), truck.text("description"), vehicle_type)


def _task(step: _Part, request: _Part, task_type: str, delivery: Amounts, pickup: Amounts, needs_index: bool) -> Task:
    place = step.place("location", needs_index)
    if place is None:
        raise step.refusal(f"{'location_index' if needs_index else 'location'} is missing")
    return Task(
        task_type,
        step.id(),
        place,
        setup=step.number("setup", 0.0),
        service=step.number("service", 0.0),
        delivery=delivery,
        pickup=pickup,
        skills=request.skills(),
        priority=request.whole("priority", 100) or 0,
        windows=step.windows(),
        description=step.text("description"),
    )


def _parsed(source: FilePath, text: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise InputError(f"{source}, line {error.lineno}: not valid JSON ({error.msg}).") from None
    except (RecursionError, ValueError) as error:
        raise InputError(f"{source}: not valid JSON ({error}).") from None


def _line_of(text: str, key: str) -> int:
    found = re.search(rf'"{re.escape(key)}"\s*:', text)
    return 0 if found is None else text.count("\n", 0, found.start()) + 1
