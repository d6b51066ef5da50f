"""VROOM's JSON, read: jobs, shipments, vehicles and matrices as an instance that has the same best routes."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from math import inf
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from neuralns.errors import InputError, InputWarning
from neuralns.problem.distances import Floats
from neuralns.problem.fleet import ALWAYS, Depot, Profile, Shipment, VehicleType
from neuralns.problem.formats.spreadsheet import SPEED
from neuralns.problem.formats.text import FilePath, naming, parts_ignored, refuse_unsupported
from neuralns.problem.formats.vroom_input import (
    ANY_TIME,
    Place,
    Task,
    Vehicle,
    VroomInput,
    VroomVehicleType,
    Window,
    parse_vroom,
)
from neuralns.problem.great_circle import great_circle, in_plane
from neuralns.problem.instance import Instance
from neuralns.problem.solution import Solution


@dataclass(frozen=True)
class VroomProblem:
    """An instance, and what its nodes and types are called in VROOM's JSON.

    Attributes
    ----------
    instance
        What to solve.
    tasks
        The task of each customer, that of node 1 first.
    left_out
        Tasks for which no vehicle has the skills, the room and the hours; the instance is without them.
    vehicles
        The vehicles of each type of the instance.
    travel, distances
        By type, the seconds on the way from node to node, and the metres, None where nobody knows them.
    sites
        A number for each node: nodes at the same place have the same one, so that there is no setup between them.
    whole
        Whether the input's times are whole seconds, so that those of the answer are.
    straight
        What matrices do not say and great circles stand in for, in words; None if they say all.
    start
        The routes of the vehicles' steps, to start a search from; None where there are none.
    notes
        Sentences that whoever gave the input should know.
    """

    instance: Instance
    tasks: tuple[Task, ...]
    left_out: tuple[Task, ...]
    vehicles: tuple[tuple[Vehicle, ...], ...]
    travel: tuple[Floats, ...]
    distances: tuple[Floats | None, ...]
    sites: npt.NDArray[np.int64]
    whole: bool
    straight: str | None
    start: Solution | None
    notes: tuple[str, ...]


def read_vroom(
    content: str | dict[str, Any],
    lenient: bool = False,
    *,
    source: FilePath = "problem",
    ignore: Collection[str] = (),
    speed: float | None = None,
) -> VroomProblem:
    """Return the problem that VROOM's input states.

    Parameters
    ----------
    content
        The text of the input, or the object that it stands for.
    lenient
        Go on without all keys that are not understood, and say so in the notes; left out, they are refused by name.
    source
        What to call the input in errors: its file.
    ignore
        Keys to go on without.
    speed
        Kilometres an hour where there are no matrices and great circles stand in for roads; 40 if left out.
    """
    if speed is not None and not 0 < speed < inf:
        raise InputError(f"speed {speed:g} must be a number of km/h above 0.")
    ignore = (ignore,) if isinstance(ignore, str) else ignore
    for part in parts_ignored(ignore):
        raise InputError(f"{source}: {part} cannot be left out of VROOM's JSON.")
    stated = parse_vroom(source, content, "steps" in {key.casefold() for key in ignore})
    notes = []
    if not lenient:
        refuse_unsupported(source, stated.unknown, ignore)
    elif stated.unknown:
        notes.append(
            f"{source}: what is not understood is left out: {', '.join(each.what for each in stated.unknown)}."
        )
    vehicle_types: dict[VroomVehicleType, list[Vehicle]] = {}
    for vehicle in stated.vehicles:
        vehicle_types.setdefault(vehicle.vehicle_type, []).append(vehicle)
    served: list[tuple[Task, ...]] = []
    refused: list[tuple[Task, ...]] = []
    for request in stated.requests:
        somebody = any(all(vehicle_type.can_serve(task) for task in request) for vehicle_type in vehicle_types)
        (served if somebody else refused).append(request)
    left_out = [task for request in refused for task in request]
    if left_out:
        names = ", ".join(task.name for task in left_out)
        notes.append(f"{source}: no vehicle has the skills, the capacity and the hours for {names}.")
    if not served:
        raise InputError(f"{source}: there is no job or shipment that a vehicle could serve.")
    layout = _Layout(source, stated, [task for request in served for task in request], vehicle_types, speed or SPEED)
    measures = [layout.measure(vehicle_type, vehicles[0].id) for vehicle_type, vehicles in vehicle_types.items()]
    straight = layout.straight
    if straight is not None:
        notes.append(
            f"{source}: {straight}, so distances are great circles, travelled at {layout.speed:g} km/h; VROOM asks a "
            "routing server for them."
        )
    with naming(source):
        instance = _instance(source, stated, served, vehicle_types, layout, measures)
    start = _start(source, instance, layout.tasks, vehicle_types)
    times = [time for task in layout.tasks for time in (task.setup, task.service, *sum(task.windows, ()))]
    times += [time for vehicle_type in vehicle_types for time in vehicle_type.shift if time < inf]
    tables = [table for profile in stated.matrices.values() for table in profile.values()]
    return VroomProblem(
        instance,
        tuple(layout.tasks),
        tuple(left_out),
        tuple(tuple(vehicles) for vehicles in vehicle_types.values()),
        tuple(measure.travel for measure in measures),
        tuple(measure.metres for measure in measures),
        layout.sites,
        all(float(time).is_integer() for time in times) and all((table % 1 == 0).all() for table in tables),
        straight,
        start,
        tuple(notes),
    )


def read_vroom_text(path: FilePath, text: str, ignore: Collection[str] = ()) -> Instance:
    """Read an instance from the text of a file with VROOM's input; what should be known of it becomes warnings."""
    problem = read_vroom(text, source=path, ignore=ignore)
    notes = problem.notes
    if problem.start is not None:
        notes += (f"{path}: steps of vehicles are where a search starts, and no part of an instance.",)
    for note in notes:
        warnings.warn(note, InputWarning, stacklevel=2)
    return problem.instance


@dataclass(frozen=True)
class _Measure:
    """How routes of a vehicle type are measured, and what that costs."""

    profile: int
    distance_cost: float
    duration_cost: float
    max_distance: float | None
    max_duration: float | None
    travel: Floats
    metres: Floats | None


class _Layout:
    """The nodes of the instance, and the ways between them for each vehicle type.

    A vehicle without a start begins nowhere: at a node of its own, no way from anywhere, where setups or costs of work
    have to be counted at the first task.
    """

    def __init__(
        self,
        source: FilePath,
        stated: VroomInput,
        tasks: Sequence[Task],
        vehicle_types: Collection[VroomVehicleType],
        speed: float,
    ) -> None:
        self.source, self.stated, self.tasks, self.speed = source, stated, list(tasks), speed
        self.timed = any(task.windows for task in tasks) or any(
            vehicle_type.shift != ANY_TIME for vehicle_type in vehicle_types
        )
        counted = (self.timed and any(task.setup for task in tasks)) or any(
            vehicle_type.costs.per_task_hour for vehicle_type in vehicle_types
        )
        self.nowhere = counted and any(vehicle_type.start is None for vehicle_type in vehicle_types)
        ends = (
            place
            for vehicle_type in vehicle_types
            for place in (vehicle_type.start, vehicle_type.end)
            if place is not None
        )
        depots = list({self.key(place): place for place in ends}.values())
        self.places: list[Place | None] = [depots[0], *(task.place for task in tasks), *depots[1:]]
        self.places += [None] * self.nowhere
        nodes = (0, *range(len(tasks) + 1, len(tasks) + len(depots)))
        self.depots: dict[object, int] = {self.key(place): node for place, node in zip(depots, nodes, strict=True)}
        keys = {key: number for number, key in enumerate(dict.fromkeys(map(self.key, self.places)))}
        self.sites = np.array([keys[self.key(place)] for place in self.places])
        nothing = [0.0] * (len(self.places) - len(tasks) - 1)
        setup = np.array([0.0, *(task.setup for task in tasks), *nothing])
        self.setup: Floats = np.where(self.sites[:, None] != self.sites[None, :], setup[None, :], 0.0)
        self.service: Floats = np.array([0.0, *(task.service for task in tasks), *nothing])
        self.missing: set[tuple[str, str]] = set()
        self.tables: dict[tuple[str, str], Floats] = {}
        self.profiles: dict[tuple[object, ...], Profile] = {}

    @property
    def straight(self) -> str | None:
        """What matrices do not say, in words."""
        without = sorted({profile for profile, _ in self.missing if not self.stated.matrices.get(profile)})
        parts = [f"no matrices are given for profile {' and '.join(map(_quoted, without))}"] if without else []
        parts += [
            f"matrices have no {what} of profile {_quoted(profile)}"
            for profile, what in sorted(self.missing)
            if profile not in without
        ]
        return ", and ".join(parts) or None

    def key(self, place: Place | None) -> object:
        """Return what tells a place from others."""
        return None if place is None else place.index if self.stated.matrices else place.location

    def start_of(self, vehicle_type: VroomVehicleType) -> int | None:
        """Return the node where routes of a vehicle type begin."""
        if vehicle_type.start is None:
            return len(self.places) - 1 if self.nowhere else None
        return self.depots[self.key(vehicle_type.start)]

    def end_of(self, vehicle_type: VroomVehicleType) -> int | None:
        """Return the node where routes of a vehicle type end."""
        return None if vehicle_type.end is None else self.depots[self.key(vehicle_type.end)]

    def windows_of(self, node: int) -> list[Window]:
        """Return when the service of a customer may begin after the setup, which the way there includes.

        If the vehicle comes from a task at the same place there is no setup: to be in time in both cases, windows
        of such tasks begin later by it and end when they do.
        """
        task, alone = self.tasks[node - 1], int((self.sites == self.sites[node]).sum()) == 1
        windows = [(opens + task.setup, closes + task.setup * alone) for opens, closes in task.windows]
        if any(opens > closes for opens, closes in windows):
            raise InputError(
                f"{task.name} has a window shorter than its setup {task.setup:.15g}, at a place where "
                "something else is, which is not supported yet."
            )
        return windows or [ANY_TIME]

    def table(self, profile: str, what: str, user: str) -> Floats:
        """Return the seconds, metres or costs from node to node: those of the matrices, else by great circles."""
        if (profile, what) in self.tables:
            return self.tables[profile, what]
        known = [place for place in self.places if place is not None]
        given = self.stated.matrices.get(profile, {}).get(what)
        if given is None:
            self.missing.add((profile, what))
            # Whole seconds, as from a routing server; a metre takes the same time everywhere.
            seconds = np.rint(3600 / self.speed * great_circle(*self._degrees(profile, user)))
            table = self.speed / 3.6 * seconds if what == "distances" else seconds
        else:
            for name, place in self.stated.places:
                if place.index is not None and place.index >= len(given):
                    raise InputError(
                        f"{self.source}: {name} is at index {place.index}, but {what} of profile {profile!r:.40} have "
                        f"{len(given)} rows."
                    )
            rows = np.array([place.index for place in known], dtype=np.int64)
            table = given[rows[:, None], rows[None, :]]
        found = self.tables[profile, what] = np.zeros((len(self.places), len(self.places)))
        found[: len(known), : len(known)] = table
        found.setflags(write=False)
        return found

    def travel(self, vehicle_type: VroomVehicleType, user: str) -> Floats:
        """Return the seconds from node to node, of vehicles as quick as those of a type."""
        usual = self.table(vehicle_type.profile, "durations", user)
        if vehicle_type.speed_factor == 1:
            return usual
        key = vehicle_type.profile, f"durations at {vehicle_type.speed_factor}"
        if key not in self.tables:
            self.tables[key] = usual / vehicle_type.speed_factor
        return self.tables[key]

    def _degrees(self, profile: str, user: str) -> tuple[Floats, Floats]:
        """Return the latitudes and longitudes of the nodes."""
        for name, place in self.stated.places:
            if place.location is None:
                raise InputError(
                    f"{self.source}: matrices do not have what {user} needs for profile {profile!r:.40}, and {name} "
                    "has no location to take it from."
                )
            east, north = place.location
            if abs(north) > 90 or abs(east) > 180:
                raise InputError(
                    f"{self.source}: location [{east:.15g}, {north:.15g}] of {name} is not a longitude and a latitude."
                )
        return self.points[:, 1], self.points[:, 0]

    @property
    def points(self) -> Floats:
        """Longitudes and latitudes of the nodes that are somewhere."""
        return np.array([place.location for place in self.places if place is not None], dtype=np.float64)

    def measure(self, vehicle_type: VroomVehicleType, number: int) -> _Measure:
        """Return how routes of a vehicle type, one of which has a number, are measured.

        What costs and what is limited has to be one sum over the legs: the seconds, the metres, or a mixture of them
        with costs of work. Only where no window lets vehicles wait, a route's duration is all on the way, and seconds
        and metres can be told apart.
        """
        user, costs, given = f"vehicle {number}", vehicle_type.costs, self.stated.matrices.get(vehicle_type.profile, {})
        travel, metres = self.travel(vehicle_type, user), None
        if not given or "distances" in given or costs.per_km or vehicle_type.max_distance is not None:
            metres = self.table(vehicle_type.profile, "distances", user)
        second, metre = costs.per_hour / 3600, costs.per_km / 1000
        if "costs" in given and (second, metre) != (1.0, 0.0):
            raise InputError(
                f"{self.source}: {user} has costs per hour or kilometre, and matrices have costs of its profile "
                f"{vehicle_type.profile!r:.40} too; leave one of them out."
            )
        plain = not costs.per_task_hour and "costs" not in given
        most_time, most_metres = vehicle_type.max_travel_time, vehicle_type.max_distance
        if plain and not given:
            pace = 3.6 / self.speed / vehicle_type.speed_factor
            bounds = [most_time, None if most_metres is None else most_metres * pace]
            most = min((bound for bound in bounds if bound is not None), default=None)
            profile = self.profile(vehicle_type, travel, travel, "seconds")
            return _Measure(profile, second + metre / pace, 0.0, most, None, travel, metres)
        if plain and not metre and most_metres is None:
            return _Measure(
                self.profile(vehicle_type, travel, travel, "seconds"), second, 0.0, most_time, None, travel, metres
            )
        if plain and metres is not None and not second and most_time is None:
            return _Measure(
                self.profile(vehicle_type, metres, travel, "metres"), metre, 0.0, most_metres, None, travel, metres
            )
        if most_time is None and most_metres is None:
            way = self.table(vehicle_type.profile, "costs", user) if "costs" in given else second * travel
            way = way if metres is None else way + metre * metres
            way = way + costs.per_task_hour / 3600 * (self.setup + self.service[None, :])
            rates = costs.per_hour, costs.per_km, costs.per_task_hour
            return _Measure(
                self.profile(vehicle_type, way, travel, "mixed", *rates), 1.0, 0.0, None, None, travel, metres
            )
        if plain and metres is not None and not self.timed:
            profile = self.profile(vehicle_type, metres, travel, "both")
            return _Measure(profile, metre, second, most_metres, most_time, travel, metres)
        raise InputError(
            f"{self.source}: {'max_travel_time' if most_metres is None else 'max_distance'} of {user} is not supported "
            f"yet together with its costs{' and with windows' if self.timed else ''}; it has to limit what the costs "
            "count."
        )

    def profile(self, vehicle_type: VroomVehicleType, way: Floats, travel: Floats, *what: object) -> int:
        """Return the number of the profile with these ways, whose durations include setups where time plays a part."""
        key = (vehicle_type.profile, vehicle_type.speed_factor, *what)
        if key not in self.profiles:
            durations = travel + self.setup if self.timed and self.setup.any() else travel
            needed = durations is not way and (self.timed or what == ("both",))
            # Tables that nobody can change are not copied.
            for table in (way, durations):
                table.setflags(write=False)
            self.profiles[key] = Profile(way, durations if needed else None, name=vehicle_type.profile)
        return list(self.profiles).index(key)


def _instance(
    source: FilePath,
    stated: VroomInput,
    requests: Sequence[Sequence[Task]],
    vehicle_types: dict[VroomVehicleType, list[Vehicle]],
    layout: _Layout,
    measures: Sequence[_Measure],
) -> Instance:
    tasks, nodes = layout.tasks, len(layout.places)
    own, *others = layout.profiles.values()
    fleet = [
        VehicleType(
            vehicle_type.capacity or 1.0,
            len(vehicles),
            fixed_cost=vehicle_type.costs.fixed,
            distance_cost=measure.distance_cost,
            duration_cost=measure.duration_cost,
            start=layout.start_of(vehicle_type),
            end=layout.end_of(vehicle_type),
            shift=vehicle_type.shift if vehicle_type.shift != ANY_TIME else ALWAYS,
            max_distance=measure.max_distance,
            max_duration=measure.max_duration,
            max_stops=vehicle_type.max_tasks,
            skills=vehicle_type.skills,
            profile=measure.profile,
            name=_called([vehicle.id for vehicle in vehicles]),
        )
        for (vehicle_type, vehicles), measure in zip(vehicle_types.items(), measures, strict=True)
    ]
    parts: dict[str, Any] = {"fleet": fleet, "profiles": others or None}
    deliveries, pickups = np.zeros((nodes, stated.dimensions or 1)), np.zeros((nodes, stated.dimensions or 1))
    shipments: list[Shipment] = []
    node = 1
    for request in requests:
        if len(request) == 2:
            shipments.append(Shipment(node, node + 1, request[0].pickup or 0.0))
        elif stated.dimensions:
            deliveries[node], pickups[node] = request[0].delivery, request[0].pickup
        node += len(request)
    if shipments or pickups.any() or stated.dimensions > 1:
        parts |= {"deliveries": deliveries, "pickups": pickups, "shipments": shipments or None}
    else:
        parts["demands"] = deliveries[:, 0]
    if layout.timed:
        openings = {node: layout.windows_of(node) for node in range(1, len(tasks) + 1)}
        hulls = {node: (spans[0][0], spans[-1][1]) for node, spans in openings.items()}
        parts |= {
            "windows": [hulls.get(node, ANY_TIME) for node in range(nodes)],
            "openings": {node: spans for node, spans in openings.items() if len(spans) > 1} or None,
            "service": layout.service,
        }
    # Where not all can be served, a shipment is two tasks, and more than a job.
    if any(task.priority for task in tasks) or (shipments and len(shipments) < len(requests)):
        parts["prizes"] = _prizes(requests, nodes, _dearest(fleet, [own, *others]))
    skills = {node: task.skills for node, task in enumerate(tasks, 1) if task.skills}
    depots = [node for node in range(nodes) if not 1 <= node <= len(tasks)]
    names = [f"depot {depots.index(node) + 1}" if len(depots) > 1 else "depot" for node in depots]
    return Instance(
        " ".join(Path(source).stem.split()),
        **parts,
        coordinates=_coordinates(layout),
        matrix=own.matrix,
        durations=own.durations,
        depots=[Depot()] * len(depots) if len(depots) > 1 else None,
        skills=skills or None,
        names=[names[0], *(task.name for task in tasks), *names[1:]],
    )


def _start(
    source: FilePath, instance: Instance, tasks: Sequence[Task], vehicle_types: dict[VroomVehicleType, list[Vehicle]]
) -> Solution | None:
    """Return the routes that the steps of vehicles say; as VROOM does, such as break a rule are refused."""
    nodes = {task.name: node for node, task in enumerate(tasks, 1)}
    routes: list[tuple[Vehicle, list[int], int]] = []
    for vehicle_type, vehicles in enumerate(vehicle_types.values()):
        for vehicle in vehicles:
            for name in vehicle.steps:
                if name not in nodes:
                    raise InputError(f"{source}: steps of vehicle {vehicle.id}: no vehicle can serve {name}.")
            if vehicle.steps:
                routes.append((vehicle, [nodes[name] for name in vehicle.steps], vehicle_type))
    if not routes:
        return None
    found = Solution(instance, [route for _, route, _ in routes], [vehicle_type for _, _, vehicle_type in routes])
    if found.broken_rules():
        for vehicle, route, vehicle_type in routes:
            for fault in Solution(instance, [route], [vehicle_type]).broken_rules():
                raise InputError(f"{source}: steps of vehicle {vehicle.id}: {fault}")
    return found.checked(f"{source}: steps of vehicles")


def _quoted(profile: str) -> str:
    return f"{profile!r:.40}"


def _called(numbers: Sequence[int]) -> str:
    """Return what to call vehicles that are alike.

    >>> _called([1, 2, 3, 7])
    'vehicles 1-3, 7'
    """
    runs: list[list[int]] = []
    for number in sorted(numbers):
        if runs and runs[-1][-1] == number - 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    spans = ", ".join(f"{run[0]}-{run[-1]}" if len(run) > 1 else f"{run[0]}" for run in runs)
    return f"vehicle{'s' if len(numbers) > 1 else ''} {spans}"


def _coordinates(layout: _Layout) -> Floats | None:
    """Return where to draw the nodes, if all have a location; whoever is nowhere is drawn at the first depot."""
    if any(place is not None and place.location is None for place in layout.places):
        return None
    points = layout.points
    plane = in_plane(points[:, 1], points[:, 0])
    return np.vstack([plane, plane[:1]]) if layout.nowhere else plane


def _dearest(fleet: Sequence[VehicleType], profiles: Sequence[Profile]) -> float:
    """Return more than a task can cost."""
    found = 1.0
    for vehicle_type in fleet:
        profile = profiles[vehicle_type.profile]
        time = profile.matrix if profile.durations is None else profile.durations
        arc = vehicle_type.distance_cost * float(profile.matrix.max()) + vehicle_type.duration_cost * float(time.max())
        found = max(found, vehicle_type.fixed_cost + 2 * arc + 1)
    return found


def _prizes(requests: Sequence[Sequence[Task]], nodes: int, dearest: float) -> npt.NDArray[np.float64]:
    """Return what it costs to leave tasks out: priorities count first, then the number of tasks, then costs."""
    prizes, node, tasks = np.full(nodes, inf), 1, sum(map(len, requests))
    for request in requests:
        prizes[node : node + len(request)] = len(request) * dearest * (1 + (tasks + 1) * request[0].priority)
        node += len(request)
    return prizes
