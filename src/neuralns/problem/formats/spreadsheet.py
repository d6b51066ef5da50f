"""A spreadsheet of stops, read: one row a stop, some of them depots; with tables of vehicles and of durations."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import replace
from math import inf
from pathlib import Path
from typing import Any

import numpy as np

from neuralns.errors import AdvisedError, InputError
from neuralns.problem.distances import Floats, euclidean
from neuralns.problem.fleet import Profile, VehicleType
from neuralns.problem.formats.duration_table import read_durations
from neuralns.problem.formats.fleet import LIMITS, Vehicles, read_vehicles, vehicles_of_depots
from neuralns.problem.formats.sheet import HARMLESS, MOST, Sheet, Times, as_file, of_number, separator_of
from neuralns.problem.formats.stops import (
    COLUMNS,
    TIMES,
    Places,
    dimensions_of,
    find_places,
    read_depots,
    read_goods,
    read_groups,
    read_names,
    read_prizes,
    read_releases,
    read_services,
    read_spans,
    windows_of,
)
from neuralns.problem.formats.text import FilePath, naming
from neuralns.problem.great_circle import great_circle, in_plane
from neuralns.problem.instance import PARTS, Instance

SPEED = 40.0
"""Kilometres an hour where stops are given by latitude and longitude: a van in a town and around it."""


def is_spreadsheet(text: str) -> bool:
    """Tell whether a text begins with a row of separated cells, not all numbers, as files of other formats do not."""
    start = text.lstrip()
    first = start.partition("\n")[0]
    named = re.search(r"[^\s\d.,;+-]", first) is not None
    return named and separator_of(start) is not None and ":" not in first and "_SECTION" not in text


def read_spreadsheet_text(path: FilePath, text: str, ignore: Collection[str] = ()) -> Instance:
    """Read the text of a table of stops that says itself what vehicles carry."""
    return read_spreadsheet(path, ignore=ignore, text=text)


def read_spreadsheet(
    path: FilePath | Any,
    vehicles: FilePath | int | Any = None,
    *,
    capacity: float | None = None,
    matrix: FilePath | Any = None,
    speed: float | None = None,
    ignore: Collection[str] = (),
    text: str | None = None,
) -> Instance:
    """Read an instance from tables that a spreadsheet saved as CSV.

    Columns are found by their names, in any order: ``name``, ``x`` and ``y`` or ``lat`` and ``lon``, ``delivery``,
    ``pickup``, ``earliest``, ``latest``, ``service``, and usual words for them. One row is the depot, by its name, or
    several are by a column ``type``. All columns are in the page on spreadsheets. Each table may also be a DataFrame
    of pandas, or whatever else has ``columns`` and ``to_csv``.

    Parameters
    ----------
    path
        The table of stops.
    vehicles
        How many vehicles there are, or the table of them, one row a kind: ``vehicles``, ``capacity``, a shift's
        ``earliest`` and ``latest``, ``depot``, ``skills``, limits and costs. Limits and costs may stand in the depot's
        row instead.
    capacity
        What a vehicle carries, whatever the tables say.
    matrix
        A square table of the minutes from stop to stop; their distances as well, where stops have no places.
    speed
        Kilometres an hour, from which the minutes follow: 40 for latitudes and longitudes if left out. Beside ``x`` and
        ``y`` a unit takes one minute then.
    ignore
        Columns to go on without; ``windows`` (all that has to do with time) and ``vehicles``.
    text
        The text of the table of stops, if it has been read already.
    """
    path = as_file("stops", path)
    if isinstance(vehicles, np.integer):
        vehicles = int(vehicles)
    if vehicles is not None and not isinstance(vehicles, int):
        vehicles = as_file("vehicles", vehicles)
    if matrix is not None:
        matrix = as_file("durations", matrix)
    keys = {ignore.casefold()} if isinstance(ignore, str) else {key.casefold() for key in ignore}
    timed = (of_number(column, number) for column in TIMES for number in range(1, MOST + 1))
    left_out = keys | (set(timed) if "windows" in keys else set())
    sheet = Sheet(path, text, COLUMNS, HARMLESS, left_out)
    if len(sheet) < 2:
        raise InputError(f"{path}: a depot and at least one customer are needed, {len(sheet)} rows given.")
    places, times = find_places(sheet), Times()
    order = places.order
    names = read_names(sheet, order)
    spans, releases = [read_spans(sheet, row, times) for row in order], read_releases(sheet, places, times)
    fleet = _fleet(sheet, places, names, vehicles, capacity, times, left_out)
    goods, dimensions = read_goods(sheet, places), dimensions_of(sheet)
    _check_capacities(sheet, fleet, dimensions)
    depots, service = read_depots(sheet, places, dimensions), read_services(sheet, places)
    prizes = read_prizes(sheet, places, goods.shipments)
    single = depots is None and len(fleet) == 1 and fleet[0].ordinary and dimensions <= 1
    speeds = {each.speed for each in fleet}
    if len(speeds) == 1 and None not in speeds:
        (speed,) = speeds
    coordinates, distances, durations = _travel(sheet, order, names, matrix, speed)
    own = sorted(each for each in speeds if each not in (None, speed))
    if own and matrix is not None:
        raise InputError(f"{matrix}: durations are given, and speeds of vehicles as well; leave one of them out.")
    windows, openings = windows_of(sheet, places, spans, fleet[0].shift if single else (None, None), times)
    skills = {node: needed for node, row in places.visits if (needed := sheet.words(row, "skills"))}
    more: dict[str, Any] = {
        "openings": openings,
        "release": [times.minutes(each, 0.0) for each in releases] if any(releases) else None,
        "skills": skills,
        "prizes": prizes,
        "groups": read_groups(sheet, places, prizes),
        "shipments": goods.shipments,
        "depots": depots,
        "profiles": [_profile(coordinates, distances, each) for each in own],
    }
    if dimensions > 1 or goods.pickups.any() or goods.shipments or goods.backhauls:
        more |= {"deliveries": goods.deliveries, "pickups": goods.pickups, "backhauls": goods.backhauls}
    with naming(path):
        instance = Instance(
            " ".join(Path(path).stem.split()),
            None if "deliveries" in more else goods.deliveries[:, 0],
            coordinates=coordinates,
            matrix=distances,
            windows=windows,
            service=service,
            durations=durations,
            names=names,
            clock=times.clock,
            **(_scalars(fleet[0]) if single else {"fleet": [_type(each, dimensions, own, times) for each in fleet]}),
            **more,
        )
    return instance.without(*(part for part in PARTS if part in keys))


def _fleet(
    sheet: Sheet,
    places: Places,
    names: Sequence[str] | None,
    vehicles: FilePath | int | None,
    capacity: float | None,
    times: Times,
    ignore: Collection[str],
) -> list[Vehicles]:
    """Return the vehicles: of their table, of the depots' rows, or of which only the number is given."""
    said = vehicles_of_depots(sheet, places.depots)
    several = len(said) > 1
    if isinstance(vehicles, int):
        if several:
            raise AdvisedError(
                f"{sheet.path}: {vehicles} vehicles are given, but not at which of {len(said)} depots",
                "give a table --vehicles with a column 'depot'",
            )
        fleet = [replace(said[0], number=vehicles)]
    elif vehicles is None:
        fleet = said
    else:
        for column in (*LIMITS, "vehicles") if several else ():
            if column in sheet:
                raise InputError(
                    f"{sheet.path}: column {sheet.header(column)!r:.60} describes vehicles, and so does {vehicles}; "
                    "leave one of them out."
                )
        depots = {str(node) if names is None else names[node]: node for node in places.depots.values()}
        fleet = read_vehicles(vehicles, times, depots, ignore)
        # With one depot, what the table leaves out may stand in its row.
        fleet = fleet if several else [each.before(said[0]) for each in fleet]
    return fleet if capacity is None else [each.carrying(capacity) for each in fleet]


def _check_capacities(sheet: Sheet, fleet: Sequence[Vehicles], dimensions: int) -> None:
    """Refuse capacities without amounts, and amounts without capacities."""
    if not dimensions and any(value is not None for each in fleet for value in each.capacity):
        raise InputError(f"{sheet.path}: column 'demand' is missing, though vehicles have a capacity.")
    if dimensions and all(value is None for each in fleet for value in each.capacity[:1]):
        raise AdvisedError(
            f"{sheet.path}: demands are given, but no capacity",
            "give --capacity, a table --vehicles with a column 'capacity', or such a column with a value for the depot",
        )
    for each in fleet:
        if len(each.capacity) > dimensions > 0:
            raise InputError(
                f"{each.where}: vehicles have {len(each.capacity)} capacities, but stops have amounts in "
                f"{dimensions} dimension{'' if dimensions == 1 else 's'}."
            )
        for dimension in range(dimensions):
            if dimension >= len(each.capacity) or each.capacity[dimension] is None:
                column = of_number("capacity", dimension + 1).replace("_", " ")
                raise InputError(f"{each.where}: {column!r} is missing, though stops have amounts of that dimension.")


def _scalars(only: Vehicles) -> dict[str, Any]:
    """Return vehicles that are all alike as fields of an instance; without amounts nothing weighs anything."""
    return {
        "capacity": 1.0 if not only.capacity or only.capacity[0] is None else only.capacity[0],
        "vehicles": only.number,
        "vehicle_cost": only.cost or 0.0,
        "distance_cost": 1.0 if only.distance_cost is None else only.distance_cost,
        "duration_cost": (only.hour_cost or 0.0) / 60,
        "max_distance": only.max_distance,
        "max_duration": only.max_duration,
    }


def _type(vehicle_type: Vehicles, dimensions: int, speeds: Sequence[float], times: Times) -> VehicleType:
    """Return vehicles as one of several types; without amounts nothing weighs anything."""
    begin, end = vehicle_type.shift
    return VehicleType(
        [value or 0.0 for value in vehicle_type.capacity] if dimensions else [1.0],
        vehicle_type.number,
        vehicle_type.cost or 0.0,
        1.0 if vehicle_type.distance_cost is None else vehicle_type.distance_cost,
        (vehicle_type.hour_cost or 0.0) / 60,
        vehicle_type.start,
        vehicle_type.end,
        (times.minutes(begin, -inf), times.minutes(end, inf)),
        vehicle_type.max_distance,
        vehicle_type.max_duration,
        vehicle_type.max_stops,
        vehicle_type.skills,
        speeds.index(vehicle_type.speed) + 1 if vehicle_type.speed in speeds else 0,
        vehicle_type.name,
    )


def _travel(
    sheet: Sheet, order: Sequence[int], names: Sequence[str] | None, matrix: FilePath | None, speed: float | None
) -> tuple[Floats | None, Floats | None, Floats | None]:
    """Return points, distances and durations, each None where it follows from the others."""
    if speed is not None and not 0 < speed < inf:
        raise InputError(f"speed {speed:g} must be a number of km/h above 0.")
    if speed is not None and matrix is not None:
        raise InputError(f"{matrix}: durations are given, and a speed as well; leave one of them out.")
    for one, other in (("x", "y"), ("y", "x"), ("lat", "lon"), ("lon", "lat")):
        if one in sheet and other not in sheet:
            raise InputError(f"{sheet.path}: column {other!r} is missing beside {sheet.header(one)!r}.")
    if "x" in sheet and "lat" in sheet:
        raise AdvisedError(
            f"{sheet.path}: places are given by x and y, and by lat and lon",
            "--ignore x --ignore y drops two",
            ("x", "y"),
        )
    durations = None if matrix is None else read_durations(matrix, names, order)
    if "x" in sheet:
        points = np.array([[sheet.needed(row, side, least=None) for side in ("x", "y")] for row in order])
        return points, None, durations if speed is None else 60 / speed * euclidean(points)
    if "lat" in sheet:
        north, east = (np.array([_degrees(sheet, row, side) for row in order]) for side in ("lat", "lon"))
        distances = great_circle(north, east)
        return in_plane(north, east), distances, 60 / (speed or SPEED) * distances if durations is None else durations
    if durations is None:
        raise AdvisedError(
            f"{sheet.path}: columns 'x' and 'y' or 'lat' and 'lon' are missing", "--matrix FILE does without"
        )
    return None, durations, None


def degrees_of(path: FilePath, text: str, ignore: Collection[str] = ()) -> Floats | None:
    """Return the longitudes and latitudes of the nodes of a table of stops that has been read; None if it has none."""
    sheet = Sheet(path, text, COLUMNS, HARMLESS, [key.casefold() for key in ignore])
    if "lat" not in sheet:
        return None
    return np.array([[_degrees(sheet, row, side) for side in ("lon", "lat")] for row in find_places(sheet).order])


def _profile(points: Floats | None, distances: Floats | None, speed: float) -> Profile:
    """Return the way of vehicles with a speed of their own."""
    assert points is not None
    matrix = euclidean(points) if distances is None else distances
    return Profile(matrix, 60 / speed * matrix, f"{speed:.10g} km/h")


def _degrees(sheet: Sheet, index: int, side: str) -> float:
    value, most = sheet.needed(index, side, least=None), 90 if side == "lat" else 180
    if abs(value) > most:
        raise sheet.refusal(index, side, f"{sheet.text(index, side)!r:.60} is not between -{most} and {most}")
    return value
