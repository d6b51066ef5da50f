"""A table as spreadsheets save it: columns found by name, and cells that say where they are when they are refused."""

from __future__ import annotations

import csv
import io
import os
import re
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timedelta
from math import isfinite
from pathlib import Path
from typing import Any

import numpy as np

from neuralns.errors import InputError
from neuralns.problem.clock import MIDNIGHT
from neuralns.problem.formats.text import FilePath, HeldText, Unsupported, read_text, refuse_unsupported
from neuralns.problem.values import LARGEST_NUMBER

Moment = float | timedelta | datetime
"""A time as a cell gives it: minutes, a time of day, or a date with a time."""
Columns = Mapping[str, Sequence[str]]
"""What a table may hold, and the names of columns that mean it, the best first."""
Span = tuple[Moment | None, Moment | None]
"""From when until when; None for any time."""

EARLIEST = (
    "earliest", "open", "opens", "opening", "start", "begin", "ready", "ready_time", "from", "window_start",
    "tw_start", "time_window_start",
)  # fmt: skip
LATEST = (
    "latest", "close", "closes", "closing", "end", "due", "due_date", "due_time", "until", "to", "window_end",
    "tw_end", "time_window_end",
)  # fmt: skip
HARMLESS = (
    "address", "street", "city", "town", "zip", "zip_code", "postcode", "postal_code", "country", "region", "state",
    "note", "notes", "comment", "comments", "remark", "remarks", "phone", "telephone", "mobile", "email", "e_mail",
    "mail", "contact", "person", "company", "description", "url", "website", "nr", "no", "index",
)  # fmt: skip
"""Columns that change nothing."""
MOST = 9
"""So many columns of a kind there may be: ``capacity``, ``capacity 2`` ... ``capacity 9``."""
YES, NO = ("yes", "y", "true", "1", "x"), ("", "no", "n", "false", "0")
_NUMBER = r"[+-]?\d+(\.\d*)?([eE][+-]?\d+)?"
_UNITS = r"\s*[(\[](min|mins|minutes|km|kilometres|hh:mm|hh:mm:ss)[)\]]\s*$"


def column_name(header: str) -> str:
    """Return a column's name as it is compared: small letters, words joined, and our own unit left out.

    >>> column_name(" Service Time (min)")
    'service_time'
    """
    return re.sub(r"[^\w]+", "_", re.sub(_UNITS, "", header.casefold())).strip("_")


def numbered(columns: Columns) -> Columns:
    """Return columns of which there may be several, each with its number, which the first may leave out.

    >>> numbered({"load": ("load",)})["load"], numbered({"load": ("load",)})["load_2"]
    (('load', 'load_1'), ('load_2',))
    """
    first = {what: (*names, *(f"{name}_1" for name in names)) for what, names in columns.items()}
    others = {
        of_number(what, number): tuple(f"{name}_{number}" for name in names)
        for number in range(2, MOST + 1)
        for what, names in columns.items()
    }
    return first | others


def of_number(column: str, number: int) -> str:
    """Return what the column of a number is called.

    >>> of_number("capacity", 1), of_number("capacity", 2)
    ('capacity', 'capacity_2')
    """
    return column if number == 1 else f"{column}_{number}"


def separator_of(text: str) -> str | None:
    """Return what separates the cells of a table's first line: a tab, a semicolon or a comma; None if nothing does."""
    line = re.sub(r'"[^"]*"', "", text.lstrip("\n\r").partition("\n")[0])
    return next((mark for mark in "\t;," if mark in line), None)


def as_file(name: str, table: Any) -> FilePath:
    """Return a file as it is, and a table in memory, such as a DataFrame of pandas, as its text in CSV.

    Labels of its rows and columns that are numbers alone say nothing.
    """
    if isinstance(table, str | os.PathLike):
        return table
    if not callable(getattr(table, "to_csv", None)):
        raise InputError(f"{name}: {table!r:.60} is neither a file nor a table that can be written as CSV (to_csv).")
    rows, columns = (list(getattr(table, side, ())) for side in ("index", "columns"))
    label = getattr(getattr(table, "index", None), "name", None) or "name"
    text = table.to_csv(index=_says_something(rows), header=_says_something(columns), index_label=label)
    return HeldText(name, text)


def _says_something(labels: Sequence[object]) -> bool:
    return not all(isinstance(each, int | np.integer) for each in labels)


def text_cell(text: str) -> str:
    """Return a text as a cell that no spreadsheet takes for a formula: those that begin as one have ``'`` before them.

    Numbers stay as they are. `cell_text` gives the text back.

    >>> text_cell("=1+1"), text_cell("-5"), text_cell("Main St. 5"), cell_text(text_cell("'=x"))
    ("'=1+1", '-5', 'Main St. 5', "'=x")
    """
    return f"'{text}" if _is_formula(text) else text


def cell_text(cell: str) -> str:
    """Return the text of a cell that `text_cell` made."""
    return cell[1:] if cell.startswith("'") and _is_formula(cell) else cell


def _is_formula(text: str) -> bool:
    """Tell whether a text begins as a formula, those left out that we have put before it, or that were there."""
    plain = text.lstrip("'")
    return plain.startswith(("=", "+", "-", "@", "\t", "\r")) and not re.fullmatch(_NUMBER, plain)


def cells(path: FilePath, text: str | None = None) -> list[tuple[int, list[str]]]:
    """Return the rows of a table that hold anything, with their numbers as a spreadsheet counts them."""
    text = read_text(path) if text is None else text
    if "\ufffd" in text and not isinstance(path, HeldText):
        # Older spreadsheets save in the encoding of Western Windows.
        text = Path(path).read_bytes().decode("cp1252", errors="replace")
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator_of(text) or ",", strict=True)
    found: list[tuple[int, list[str]]] = []
    number = 0
    try:
        for number, row in enumerate(reader, 1):
            stripped = list(map(str.strip, row))
            if any(stripped):
                found.append((number, stripped))
    except csv.Error as error:
        raise InputError(f"{path}, row {number + 1}: not valid CSV ({error}).") from None
    return found


def parse_number(cell: str, decimal_comma: bool) -> float:
    """Return the number in a cell; a ValueError says why there is none.

    >>> parse_number("2,5", decimal_comma=True)
    2.5
    """
    word = cell.replace(",", ".") if decimal_comma and "." not in cell else cell
    try:
        # Python also takes digits of other scripts and underscores between digits for numbers.
        value = float(word if word.isascii() and "_" not in word else "")
    except ValueError:
        raise ValueError("is not a number") from None
    if not isfinite(value):
        raise ValueError("is not a finite number")
    if abs(value) > LARGEST_NUMBER:
        raise ValueError("is too large to compute with")
    return value


def parse_duration(cell: str, decimal_comma: bool) -> float:
    """Return the minutes in a cell: a number, or ``00:15``; a ValueError says why there are none.

    >>> parse_duration("01:30", decimal_comma=False)
    90.0
    """
    span = _time_of_day(cell)
    return parse_number(cell, decimal_comma) if span is None else _minutes(span)


class Sheet:
    """A table with a header: what is in which row and column, by the names of ``columns``.

    Columns that are neither known nor harmless are refused by name, unless ``ignore`` names them.
    """

    def __init__(
        self, path: FilePath, text: str | None, columns: Columns, harmless: Collection[str], ignore: Collection[str]
    ) -> None:
        self.path = path
        text = read_text(path) if text is None else text
        table = cells(path, text)
        if not table:
            raise InputError(f"{path}: the table is empty.")
        self._comma = separator_of(text) != ","
        (line, self._headers), *self._table = table
        self._columns = self._find(line, columns, harmless, {column_name(key) for key in ignore})
        for number, row in self._table:
            if len(row) > len(self._headers):
                raise InputError(f"{path}, row {number}: {len(row)} cells, but the header has {len(self._headers)}.")

    def _find(self, line: int, columns: Columns, harmless: Collection[str], ignore: Collection[str]) -> dict[str, int]:
        """Return which column holds what."""
        found: dict[str, int] = {}
        names = [column_name(header) for header in self._headers]
        unknown = []
        for index, name in enumerate(names):
            what = next((what for what, words in columns.items() if name in words), None)
            if name in ignore or what in ignore:
                continue
            if what is None:
                if name and name not in harmless:
                    unknown.append(Unsupported(0, f"column {self._headers[index]!r:.60}", name))
            elif what not in found:
                found[what] = index
            elif what != "name":
                both = f"columns {self._headers[found[what]]!r:.60} and {self._headers[index]!r:.60}"
                raise InputError(f"{self.path}, row {line}: {both} both mean {what}.")
            elif columns[what].index(name) < columns[what].index(names[found[what]]):
                found[what] = index
        if unknown and not found:
            known = ", ".join(what for what in columns if not what[-1].isdecimal())
            raise InputError(f"{self.path}, row {line}: no column has a name that is known, such as {known}.")
        refuse_unsupported(self.path, unknown, ignore)
        return found

    def __contains__(self, column: str) -> bool:
        return column in self._columns

    def __len__(self) -> int:
        return len(self._table)

    def row(self, index: int) -> int:
        """Return the number of a row as a spreadsheet counts it."""
        return self._table[index][0]

    def header(self, column: str) -> str:
        """Return a column's name as the file writes it."""
        return self._headers[self._columns[column]] if column in self._columns else column

    def refusal(self, index: int, column: str, problem: str) -> InputError:
        """Return the refusal of a cell."""
        return InputError(f"{self.path}, row {self.row(index)}, column {self.header(column)!r:.60}: {problem}.")

    def text(self, index: int, column: str) -> str:
        """Return a cell; empty where the table has no such column."""
        column_index, row = self._columns.get(column), self._table[index][1]
        # A cell may hold several lines; names are one.
        return "" if column_index is None or column_index >= len(row) else " ".join(row[column_index].split())

    def number(self, index: int, column: str, least: float | None = 0.0) -> float | None:
        """Return the number in a cell, None if the cell is empty."""
        cell = self.text(index, column)
        if not cell:
            return None
        try:
            value = parse_number(cell, self._comma)
        except ValueError as error:
            raise self.refusal(index, column, f"{cell!r:.60} {error}") from None
        if least is not None and value < least:
            raise self.refusal(index, column, f"{cell!r:.60} must not be {_below(least)}")
        return value

    def needed(self, index: int, column: str, least: float | None = 0.0) -> float:
        """Return the number in a cell that must not be empty."""
        value = self.number(index, column, least)
        if value is None:
            raise self.refusal(index, column, "the cell is empty")
        return value

    def duration(self, index: int, column: str) -> float | None:
        """Return the minutes in a cell, which may be written as ``00:15``; None if the cell is empty."""
        span = _time_of_day(self.text(index, column))
        return self.number(index, column) if span is None else _minutes(span)

    def words(self, index: int, column: str) -> frozenset[str]:
        """Return what a cell lists, separated by commas or semicolons, in small letters."""
        listed = re.split("[,;]", self.text(index, column).casefold())
        return frozenset(word for part in listed if (word := part.strip()))

    def flag(self, index: int, column: str) -> bool:
        """Return whether a cell says yes; an empty one says no."""
        cell = self.text(index, column)
        if cell.casefold() not in YES + NO:
            raise self.refusal(index, column, f"{cell!r:.60} is neither yes nor no")
        return cell.casefold() in YES

    def moment(self, index: int, column: str, text: str) -> Moment:
        """Return the time that a text in a cell gives."""
        if (time := _time_of_day(text)) is not None:
            return time
        try:
            return parse_number(text, self._comma)
        except ValueError:
            pass
        try:
            # A date alone does not say when.
            return datetime.fromisoformat(text if len(text) > 10 else "")
        except ValueError:
            raise self.refusal(
                index, column, f"{text!r:.60} is not a time (minutes, 08:30 or 2026-03-02T08:30)"
            ) from None


class Times:
    """The times of one problem, which are all written one way; the first one says which."""

    def __init__(self) -> None:
        self._first: tuple[str, str] | None = None
        self._day: datetime | None = None
        self._mark = "T"

    def read(self, sheet: Sheet, index: int, column: str, part: str | None = None) -> Moment | None:
        """Return the time in a cell, or in a part of it; refuse it if it is written another way than the others."""
        cell = sheet.text(index, column) if part is None else part
        if not cell:
            return None
        moment = sheet.moment(index, column, cell)
        way = _way(moment)
        if self._first is None:
            self._first = way, f"{cell!r:.60} in {sheet.path}, row {sheet.row(index)}"
        elif way != self._first[0]:
            raise sheet.refusal(
                index, column, f"{cell!r:.60} is {way}, but {self._first[1]}, is {self._first[0]}; write all one way"
            )
        if isinstance(moment, datetime):
            self._mark = "T" if "T" in cell else " "
            self._day = moment if self._day is None else min(self._day, moment)
        return moment

    def span(self, sheet: Sheet, index: int, number: int = 1) -> Span:
        """Return the earliest and the latest time of a row."""
        earliest, latest = (of_number(side, number) for side in ("earliest", "latest"))
        return self.read(sheet, index, earliest), self.read(sheet, index, latest)

    def spans(self, sheet: Sheet, index: int, column: str) -> list[Span]:
        """Return what a cell such as ``8:00-10:00, 14:00-16:00`` lists."""
        found: list[Span] = []
        for each in filter(None, (part.strip() for part in re.split("[,;]", sheet.text(index, column)))):
            # A date has such strokes itself.
            sides = re.split(r"\s+(?:[-\u2013]|to|until)\s+|\s*\u2013\s*", each)
            sides = sides if len(sides) > 1 else re.split(r"\s*-\s*", each)
            if len(sides) != 2 or not all(sides):
                raise sheet.refusal(index, column, f"{each!r:.60} is no window such as 08:00-10:00")
            begin, end = (self.read(sheet, index, column, side) for side in sides)
            found.append((begin, end))
        return found

    @property
    def _begin(self) -> datetime | None:
        return None if self._day is None else self._day.replace(hour=0, minute=0, second=0, microsecond=0)

    @property
    def clock(self) -> str | None:
        """What minute 0 is called; None where times are plain minutes."""
        if self._begin is not None:
            return self._begin.isoformat(self._mark, "minutes")
        return MIDNIGHT if self._first is not None and self._first[0] == _way(timedelta()) else None

    def minutes(self, moment: Moment | None, otherwise: float) -> float:
        """Return a time that was read, in minutes after minute 0; call it once all times have been read."""
        if moment is None:
            return otherwise
        if isinstance(moment, datetime):
            assert self._begin is not None
            moment = moment - self._begin
        return _minutes(moment) if isinstance(moment, timedelta) else moment


def _way(moment: Moment) -> str:
    if isinstance(moment, datetime):
        return "a date with a time" if moment.tzinfo is None else "a date with a time and its zone"
    return "a time of day" if isinstance(moment, timedelta) else "a number of minutes"


def _time_of_day(cell: str) -> timedelta | None:
    found = re.fullmatch(r"([0-9]{1,3}):([0-5][0-9])(?::([0-5][0-9]))?", cell)
    if found is None:
        return None
    hours, minutes, seconds = (int(part or 0) for part in found.groups())
    return timedelta(hours=hours, minutes=minutes, seconds=seconds)


def _minutes(span: timedelta) -> float:
    return span / timedelta(minutes=1)


def _below(least: float) -> str:
    return "negative" if least == 0 else f"below {least:g}"
