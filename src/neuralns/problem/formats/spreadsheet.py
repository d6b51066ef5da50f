"""A spreadsheet of stops, read: one row a stop, one of them the depot; with tables of vehicles and of durations."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from math import inf, isfinite
from pathlib import Path

import numpy as np

from neuralns.errors import InputError
from neuralns.problem.clock import format_time
from neuralns.problem.distances import Floats, euclidean
from neuralns.problem.formats.duration_table import read_durations
from neuralns.problem.formats.fleet import LIMITS, Fleet, Shift, fleet_of_depot, read_fleet
from neuralns.problem.formats.own_json import is_json
from neuralns.problem.formats.sheet import EARLIEST, HARMLESS, LATEST, Columns, Sheet, Times, separator_of
from neuralns.problem.formats.solomon import is_solomon
from neuralns.problem.formats.text import FilePath, naming, read_text
from neuralns.problem.great_circle import great_circle, in_plane
from neuralns.problem.instance import PARTS, Instance

SPEED = 40.0
"""Kilometres an hour where stops are given by latitude and longitude: a van in a town and around it."""
COLUMNS: Columns = {
    "name": ("name", "customer", "stop", "id", "customer_id", "stop_id", "label"),
    "kind": ("type", "kind"),
    "x": ("x", "x_coord", "xcoord"),
    "y": ("y", "y_coord", "ycoord"),
    "lat": ("lat", "latitude"),
    "lon": ("lon", "lng", "long", "longitude"),
    "demand": ("demand", "quantity", "qty", "load", "amount"),
    "earliest": EARLIEST,
    "latest": LATEST,
    "service": ("service", "service_time", "service_duration", "duration"),
    "vehicles": ("vehicles",),
    **LIMITS,
}
"""What is known of a stop, and the columns that say it."""
DEPOTS = ("depot", "warehouse", "hub", "base")
CUSTOMERS = ("", "customer", "client", "stop", "delivery")

Window = tuple[float, float]


def is_spreadsheet(text: str) -> bool:
    """Tell whether a text begins with a row of separated cells, as files of other formats do not."""
    start = text.lstrip()
    return separator_of(start) is not None and ":" not in start.partition("\n")[0] and "_SECTION" not in text


def is_spreadsheet_file(path: FilePath) -> bool:
    """Tell whether a file is a spreadsheet: by its name, or else by its text."""
    if Path(path).suffix.lower() in (".csv", ".tsv"):
        return True
    if not Path(path).is_file():
        return False
    text = read_text(path)
    return is_spreadsheet(text) and not is_json(text) and not is_solomon(text)


def read_spreadsheet_text(path: FilePath, text: str, ignore: Collection[str] = ()) -> Instance:
    """Read the text of a table of stops that says itself what vehicles carry."""
    return read_spreadsheet(path, ignore=ignore, text=text)


def read_spreadsheet(
    path: FilePath,
    vehicles: FilePath | int | None = None,
    *,
    capacity: float | None = None,
    matrix: FilePath | None = None,
    speed: float | None = None,
    ignore: Collection[str] = (),
    text: str | None = None,
) -> Instance:
    """Read an instance from tables that a spreadsheet saved as CSV.

    Columns are found by their names, in any order: ``name``, ``x`` and ``y`` or ``lat`` and ``lon``, ``demand``,
    ``earliest``, ``latest``, ``service``, and usual words for them. One row is the depot, by its name or by a column
    ``type``.

    Parameters
    ----------
    path
        The table of stops.
    vehicles
        How many vehicles there are, or the table of them: ``vehicles``, ``capacity``, a shift's ``earliest`` and
        ``latest``, ``max_duration``, ``max_distance``, ``cost``. The same columns may stand in the depot's row instead.
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
    keys = {ignore.casefold()} if isinstance(ignore, str) else {key.casefold() for key in ignore}
    left_out = keys | ({"earliest", "latest", "service"} if "windows" in keys else set())
    sheet = Sheet(path, text, COLUMNS, HARMLESS, left_out)
    if len(sheet) < 2:
        raise InputError(f"{path}: a depot and at least one customer are needed, {len(sheet)} rows given.")
    depot = _depot(sheet)
    # The depot comes first, all others stay in their order.
    order = [depot, *(index for index in range(len(sheet)) if index != depot)]
    names = _names(sheet, order)
    fleet, times = fleet_of_depot(sheet, depot), Times()
    spans: list[Shift] = [(times.read(sheet, row, "earliest"), times.read(sheet, row, "latest")) for row in order]
    shift: Shift = (None, None)
    if isinstance(vehicles, int):
        fleet = Fleet(vehicles=vehicles).before(fleet)
    elif vehicles is not None:
        table, shift = read_fleet(vehicles, times, left_out)
        fleet = table.before(fleet)
    fleet = Fleet(capacity=capacity).before(fleet)
    demands, capacity = _loads(sheet, order, fleet.capacity)
    coordinates, distances, durations = _travel(sheet, order, names, matrix, speed)
    windows, service = _windows(sheet, order, spans, shift, times), _services(sheet, order)
    with naming(path):
        instance = Instance(
            " ".join(Path(path).stem.split()),
            demands,
            capacity,
            coordinates,
            distances,
            vehicle_cost=fleet.cost or 0.0,
            windows=windows,
            service=service,
            durations=durations,
            vehicles=fleet.vehicles,
            max_duration=fleet.max_duration,
            max_distance=fleet.max_distance,
            names=names,
            clock=times.clock,
        )
    return instance.without(*(part for part in PARTS if part in keys))


def _depot(sheet: Sheet) -> int:
    """Return the row of the depot: the one that a column of kinds says, else the one of that name."""
    depots = []
    for index in range(len(sheet)):
        kind = sheet.text(index, "kind")
        if kind.casefold() in DEPOTS:
            depots.append(index)
        elif kind.casefold() not in CUSTOMERS:
            raise sheet.refusal(index, "kind", f"{kind!r:.60} is not supported yet, only depot and customer")
    depots = depots or [index for index in range(len(sheet)) if sheet.text(index, "name").casefold() == "depot"]
    if not depots:
        raise InputError(f"{sheet.path}: no row is the depot; name one 'depot', or add a column 'type' that says so.")
    if len(depots) > 1:
        rows = " and ".join(str(sheet.row(index)) for index in depots[:2])
        raise InputError(f"{sheet.path}: rows {rows} are both depots; several depots are not supported yet.")
    return depots[0]


def _names(sheet: Sheet, order: Sequence[int]) -> list[str] | None:
    if "name" not in sheet:
        return None
    rows: dict[str, int] = {}
    for index in order:
        name = sheet.text(index, "name")
        if not name:
            raise sheet.refusal(index, "name", "the cell is empty")
        if not name.isprintable():
            raise sheet.refusal(index, "name", f"{name!r:.60} must be text on one line")
        if name in rows:
            raise sheet.refusal(index, "name", f"{name!r:.60} is the name of row {rows[name]} as well")
        rows[name] = sheet.row(index)
    return list(rows)


def _loads(sheet: Sheet, order: Sequence[int], capacity: float | None) -> tuple[list[float], float]:
    """Return the demands and the capacity; without any, nothing weighs anything."""
    if "demand" not in sheet:
        if capacity is not None:
            raise InputError(f"{sheet.path}: column 'demand' is missing, though vehicles have a capacity.")
        return [0.0] * len(order), 1.0
    if capacity is None:
        raise InputError(
            f"{sheet.path}: demands are given, but no capacity; give --capacity, a table --vehicles with a column "
            "'capacity', or such a column with a value for the depot."
        )
    if sheet.number(order[0], "demand"):
        raise sheet.refusal(
            order[0], "demand", f"{sheet.text(order[0], 'demand')!r:.60} at the depot must be 0 or empty"
        )
    return [0.0, *(sheet.needed(index, "demand") for index in order[1:])], capacity


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
        raise InputError(
            f"{sheet.path}: places are given by x and y, and by lat and lon; --ignore x --ignore y drops two."
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
        raise InputError(f"{sheet.path}: columns 'x' and 'y' or 'lat' and 'lon' are missing, and no --matrix is given.")
    return None, durations, None


def _degrees(sheet: Sheet, index: int, side: str) -> float:
    value, most = sheet.needed(index, side, least=None), 90 if side == "lat" else 180
    if abs(value) > most:
        raise sheet.refusal(index, side, f"{sheet.text(index, side)!r:.60} is not between -{most} and {most}")
    return value


def _windows(
    sheet: Sheet, order: Sequence[int], spans: Sequence[Shift], shift: Shift, times: Times
) -> list[Window] | None:
    """Return the windows, the depot's cut to the shift of the vehicles; None if there are none."""
    opens = max(times.minutes(begin, -inf) for begin in (spans[0][0], shift[0]))
    closes = min(times.minutes(end, inf) for end in (spans[0][1], shift[1]))
    opens = opens if isfinite(opens) else 0.0
    windows = [(opens, closes)] + [(times.minutes(begin, opens), times.minutes(end, inf)) for begin, end in spans[1:]]
    for index, (begin, end) in zip(order, windows, strict=True):
        span = f"{format_time(begin, times.clock)} to {format_time(end, times.clock)}"
        if begin > end:
            raise sheet.refusal(index, "latest", f"the window {span} ends before it begins")
        if begin > closes or end < opens:
            day = f"{format_time(opens, times.clock)} to {format_time(closes, times.clock)}"
            raise sheet.refusal(index, "latest", f"the window {span} is outside the depot's, {day}")
    return windows if any(begin != 0 or end < inf for begin, end in windows) else None


def _services(sheet: Sheet, order: Sequence[int]) -> list[float] | None:
    service = [sheet.duration(index, "service") or 0.0 for index in order]
    if service[0]:
        cell = sheet.text(order[0], "service")
        raise sheet.refusal(order[0], "service", f"{cell!r:.60} at the depot is not supported yet")
    return service if any(service) else None
