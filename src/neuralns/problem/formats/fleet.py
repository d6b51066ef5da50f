"""What a spreadsheet says of the vehicles, read: from a table of their own, or from the row of the depot."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace

from neuralns.errors import InputError
from neuralns.problem.formats.sheet import EARLIEST, HARMLESS, LATEST, Columns, Moment, Sheet, Times
from neuralns.problem.formats.text import FilePath

LIMITS: Columns = {
    "capacity": ("capacity", "max_load", "payload"),
    "max_duration": ("max_duration", "max_time", "maximum_duration"),
    "max_distance": ("max_distance", "max_km", "maximum_distance"),
    "cost": ("vehicle_cost", "cost_per_vehicle", "fixed_cost", "cost"),
}
"""Columns that say something of every vehicle."""
COLUMNS: Columns = {
    "name": ("name", "vehicle", "id", "driver", "plate", "licence", "type", "kind"),
    "vehicles": ("vehicles", "number", "count", "quantity", "available"),
    "earliest": (*EARLIEST, "shift_start", "shift_earliest"),
    "latest": (*LATEST, "shift_end", "shift_latest"),
    **LIMITS,
}

Shift = tuple[Moment | None, Moment | None]
"""When vehicles leave at the earliest and are back at the latest."""


@dataclass(frozen=True)
class Fleet:
    """What is known of the vehicles, which are all of one kind; None where nothing is said."""

    capacity: float | None = None
    vehicles: int | None = None
    max_duration: float | None = None
    max_distance: float | None = None
    cost: float | None = None

    def before(self, other: Fleet) -> Fleet:
        """Return this fleet, completed by what only the other one says."""
        return replace(other, **{what: value for what, value in vars(self).items() if value is not None})


def read_fleet(path: FilePath, times: Times, ignore: Collection[str]) -> tuple[Fleet, Shift]:
    """Return the fleet of a table, and its shift.

    Without numbers of vehicles every row is one, unless the only row has no name: it says of which kind the vehicles
    are, and there are as many as needed.
    """
    sheet = Sheet(path, None, COLUMNS, HARMLESS, ignore)
    if not len(sheet):
        raise InputError(f"{path}: no row describes a vehicle.")
    _refuse_other_kinds(sheet, 0, (*LIMITS, "earliest", "latest"))
    numbers = [_whole(sheet, index) for index in range(len(sheet))]
    known = [number for number in numbers if number is not None]
    if known:
        for index in (index for index, number in enumerate(numbers) if number is None):
            raise sheet.refusal(index, "vehicles", "the cell is empty")
    counted = sum(known) or (len(sheet) if "name" in sheet or len(sheet) > 1 else None)
    begin, end = (times.read(sheet, 0, side) for side in ("earliest", "latest"))
    return replace(_limits(sheet, 0), vehicles=counted), (begin, end)


def fleet_of_depot(sheet: Sheet, depot: int) -> Fleet:
    """Return what the row of the depot says of the vehicles; other rows may say the same, or nothing."""
    _refuse_other_kinds(sheet, depot, (*LIMITS, "vehicles"), or_empty=True)
    return replace(_limits(sheet, depot), vehicles=_whole(sheet, depot))


def _refuse_other_kinds(sheet: Sheet, row: int, columns: Collection[str], or_empty: bool = False) -> None:
    for column in columns:
        first = sheet.text(row, column)
        for index in range(len(sheet)):
            cell = sheet.text(index, column)
            if cell != first and (cell or not or_empty):
                other = f"{first!r:.60} in row {sheet.row(row)}" if first else f"row {sheet.row(row)}, which is empty"
                raise sheet.refusal(
                    index, column, f"{cell!r:.60} is not as {other}; several kinds of vehicles are not supported yet"
                )


def _limits(sheet: Sheet, row: int) -> Fleet:
    return Fleet(
        capacity=_above_zero(sheet, row, "capacity"),
        max_duration=sheet.duration(row, "max_duration"),
        max_distance=sheet.number(row, "max_distance"),
        cost=sheet.number(row, "cost"),
    )


def _above_zero(sheet: Sheet, index: int, column: str) -> float | None:
    value = sheet.number(index, column)
    if value == 0:
        raise sheet.refusal(index, column, f"{sheet.text(index, column)!r:.60} must be above 0")
    return value


def _whole(sheet: Sheet, index: int) -> int | None:
    value = _above_zero(sheet, index, "vehicles")
    if value is None:
        return None
    if value != int(value):
        raise sheet.refusal(index, "vehicles", f"{sheet.text(index, 'vehicles')!r:.60} is not a whole number")
    return int(value)
