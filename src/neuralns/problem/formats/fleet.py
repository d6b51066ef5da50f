"""What a spreadsheet says of the vehicles, read: from a table of their own, or from the rows of the depots."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from neuralns.errors import InputError
from neuralns.problem.formats.sheet import (
    EARLIEST,
    HARMLESS,
    LATEST,
    MOST,
    Columns,
    Sheet,
    Span,
    Times,
    numbered,
    of_number,
)
from neuralns.problem.formats.text import FilePath
from neuralns.problem.values import MOST_COUNTED

LIMITS: Columns = {
    **numbered({"capacity": ("capacity", "max_load", "payload")}),
    "max_duration": ("max_duration", "max_time", "maximum_duration"),
    "max_distance": ("max_distance", "max_km", "maximum_distance"),
    "max_stops": ("max_stops", "max_customers", "maximum_stops"),
    "cost": ("vehicle_cost", "cost_per_vehicle", "fixed_cost", "cost"),
    "distance_cost": ("distance_cost", "cost_per_distance", "cost_per_km", "cost_per_unit"),
    "speed": ("speed", "speed_km_h", "kmh", "km_h"),
    "hour_cost": ("hour_cost", "cost_per_hour", "hourly_cost", "hourly_wage"),
}
"""Columns that say something of every vehicle."""
ENDS: Columns = {
    "depot": ("depot", "home", "based_at"),
    "start_depot": ("start_depot", "starts_at", "from_depot", "first_depot"),
    "end_depot": ("end_depot", "ends_at", "to_depot", "last_depot"),
}
COLUMNS: Columns = {
    "name": ("name", "vehicle", "id", "driver", "plate", "licence", "type", "kind"),
    "vehicles": ("vehicles", "number", "count", "quantity", "available"),
    "earliest": (*EARLIEST, "shift_start", "shift_earliest"),
    "latest": (*LATEST, "shift_end", "shift_latest"),
    "skills": ("skills", "skill", "can", "equipment"),
    **ENDS,
    **LIMITS,
}
NOWHERE = ("none", "open", "-")
"""What stands for a depot where routes begin or end at a customer."""
ANY = "any"
"""What stands for a number of vehicles where there are as many as needed."""


@dataclass(frozen=True)
class Vehicles:
    """What is known of vehicles that are alike; None where nothing is said, but for depots, where None is none."""

    capacity: tuple[float | None, ...] = ()
    number: int | None = None
    max_duration: float | None = None
    max_distance: float | None = None
    max_stops: int | None = None
    cost: float | None = None
    distance_cost: float | None = None
    hour_cost: float | None = None
    speed: float | None = None
    skills: frozenset[str] = frozenset()
    start: int | None = 0
    end: int | None = 0
    shift: Span = (None, None)
    name: str = ""
    where: str = field(default="", compare=False)

    @property
    def ordinary(self) -> bool:
        """Whether an instance of one depot and one vehicle type can say all this."""
        return (self.start, self.end, self.max_stops) == (0, 0, None) and not self.skills and len(self.capacity) <= 1

    def before(self, other: Vehicles) -> Vehicles:
        """Return these vehicles, completed by what only the other ones' row says."""
        said = {what: value for what, value in vars(other).items() if getattr(self, what) is None and what not in _WHO}
        capacity = self.capacity if any(value is not None for value in self.capacity) else other.capacity
        return replace(self, **said, capacity=capacity)

    def carrying(self, capacity: float) -> Vehicles:
        """Return these vehicles with another capacity of the first dimension."""
        return replace(self, capacity=(capacity, *self.capacity[1:]))


_WHO = ("skills", "start", "end", "shift", "name", "where")


def read_vehicles(path: FilePath, times: Times, depots: Mapping[str, int], ignore: Collection[str]) -> list[Vehicles]:
    """Return the vehicles of a table, rows that are alike but for their names as one; ``depots`` are nodes by name.

    Without numbers of vehicles every row is one, unless the only row has no name: it says of which kind the vehicles
    are, and there are as many as needed. Where there are several depots and no column names them, vehicles without a
    number are at each.
    """
    sheet = Sheet(path, None, COLUMNS, HARMLESS, ignore)
    if not len(sheet):
        raise InputError(f"{path}: no row describes a vehicle.")
    counted = any(sheet.text(index, "vehicles") for index in range(len(sheet)))
    one = None if counted or ("name" not in sheet and len(sheet) == 1) else 1
    rows = []
    for index in range(len(sheet)):
        if counted and not sheet.text(index, "vehicles"):
            raise sheet.refusal(index, "vehicles", "the cell is empty")
        row = replace(
            _limits(sheet, index),
            number=_number(sheet, index) if counted else one,
            shift=times.span(sheet, index),
            skills=sheet.words(index, "skills"),
            name=sheet.text(index, "name"),
        )
        rows += [replace(row, start=start, end=end) for start, end in _ends(sheet, index, depots, row)]
    return _together(rows)


def vehicles_of_depots(sheet: Sheet, depots: Mapping[int, int]) -> list[Vehicles]:
    """Return what the rows of depots say of their vehicles; ``depots`` are their nodes by row.

    Rows of customers may say the same as a depot's, or nothing.
    """
    for column in (*LIMITS, "vehicles"):
        said = [sheet.text(row, column) for row in depots]
        for index in range(len(sheet)):
            if (cell := sheet.text(index, column)) and cell not in said:
                raise sheet.refusal(
                    index, column, f"{cell!r:.60} is not in the row of a depot, where vehicles are described"
                )
    single = len(depots) == 1
    return [
        replace(
            _limits(sheet, row),
            number=_number(sheet, row),
            start=node,
            end=node,
            name=""
            if single
            else f"from {sheet.text(row, 'name')}"
            if "name" in sheet
            else f"from row {sheet.row(row)}",
        )
        for row, node in depots.items()
    ]


def _ends(sheet: Sheet, index: int, depots: Mapping[str, int], row: Vehicles) -> list[tuple[int | None, int | None]]:
    """Return where routes of a row begin and end."""
    if not any(column in sheet for column in ENDS) and len(depots) > 1:
        if row.number is not None:
            raise InputError(
                f"{sheet.path}: there are {len(depots)} depots, and no column 'depot' says where vehicles belong."
            )
        return [(node, node) for node in depots.values()]
    found: list[int | None] = []
    for column in ("start_depot", "end_depot"):
        column = column if sheet.text(index, column) else "depot"
        name = sheet.text(index, column)
        if not name:
            found.append(0)
        elif name in depots:
            found.append(depots[name])
        elif name.casefold() in NOWHERE:
            found.append(None)
        else:
            known = ", ".join(depots) if len(depots) <= 5 else f"{', '.join([*depots][:5])} ..."
            raise sheet.refusal(index, column, f"{name!r:.60} is no depot; there {_are(len(depots))} {known}")
    return [(found[0], found[1])]


def _together(rows: Sequence[Vehicles]) -> list[Vehicles]:
    """Return rows that are alike as one, with all their names."""
    alike: dict[Vehicles, list[Vehicles]] = {}
    for row in rows:
        alike.setdefault(replace(row, name="", number=None), []).append(row)
    found = []
    for members in alike.values():
        numbers = [row.number for row in members if row.number is not None]
        names = [*dict.fromkeys(row.name for row in members if row.name)]
        name = ", ".join(names[:2]) + (f" and {len(names) - 2} more" if len(names) > 2 else "")
        found.append(replace(members[0], number=sum(numbers) if len(numbers) == len(members) else None, name=name))
    return found


def _limits(sheet: Sheet, row: int) -> Vehicles:
    columns = [of_number("capacity", number) for number in range(1, MOST + 1)]
    known = [number for number, column in enumerate(columns, 1) if column in sheet]
    stops = _whole(sheet, row, "max_stops")
    return Vehicles(
        capacity=tuple(_above_zero(sheet, row, column) for column in columns[: max(known, default=0)]),
        max_duration=sheet.duration(row, "max_duration"),
        max_distance=sheet.number(row, "max_distance"),
        max_stops=stops,
        cost=sheet.number(row, "cost"),
        distance_cost=sheet.number(row, "distance_cost"),
        hour_cost=sheet.number(row, "hour_cost"),
        speed=_above_zero(sheet, row, "speed"),
        where=f"{sheet.path}, row {sheet.row(row)}",
    )


def _number(sheet: Sheet, index: int) -> int | None:
    return None if sheet.text(index, "vehicles").casefold() == ANY else _whole(sheet, index, "vehicles")


def _above_zero(sheet: Sheet, index: int, column: str) -> float | None:
    value = sheet.number(index, column)
    if value == 0:
        raise sheet.refusal(index, column, f"{sheet.text(index, column)!r:.60} must be above 0")
    return value


def _whole(sheet: Sheet, index: int, column: str) -> int | None:
    value = _above_zero(sheet, index, column)
    if value is None:
        return None
    if value != int(value):
        raise sheet.refusal(index, column, f"{sheet.text(index, column)!r:.60} is not a whole number")
    if value >= MOST_COUNTED:
        raise sheet.refusal(index, column, f"{sheet.text(index, column)!r:.60} is too large to compute with")
    return int(value)


def _are(number: int) -> str:
    return "is only" if number == 1 else "are"
