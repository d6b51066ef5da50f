"""A square table of the minutes from stop to stop, with or without their names around it, read."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from neuralns.errors import InputError
from neuralns.problem.distances import Floats
from neuralns.problem.formats.sheet import cells, parse_duration, separator_of
from neuralns.problem.formats.text import FilePath, read_text

Rows = list[tuple[int, list[str]]]


def read_durations(path: FilePath, names: Sequence[str] | None, order: Sequence[int]) -> Floats:
    """Return the minutes between the stops, the depot first.

    With names on top or at the left the table may hold more stops and in another order; without, its rows are those of
    the stops, of which ``order`` says the indices.
    """
    text = read_text(path)
    table = cells(path, text)
    tops, lefts, body, shift = _names_and_body(path, table)
    size = len(body)
    for row, values in body:
        if len(values) != size:
            raise InputError(f"{path}, row {row}: {len(values)} durations, but the table has {size} rows.")
    if tops is not None and len(tops) != size:
        raise InputError(f"{path}: {len(tops)} names on top do not fit {size} rows of durations.")
    if tops is None:
        if size != len(order):
            raise InputError(f"{path}: {size} rows of durations do not fit {len(order)} stops.")
        indices = list(order)
    elif names is None:
        raise InputError(f"{path}: the table names its stops, but the stops have no column 'name'.")
    elif lefts is not None and tops != lefts:
        row = next(row for (row, _), top, left in zip(body, tops, lefts, strict=True) if top != left)
        raise InputError(f"{path}, row {row}: the names at the left are not those on top, in that order.")
    else:
        found = {name: index for index, name in enumerate(tops)}
        for name in names:
            if name not in found:
                raise InputError(f"{path}: no column is named {name!r:.60}, as a stop is.")
        indices = [found[name] for name in names]
    matrix = _numbers(path, body, shift, separator_of(text) != ",")
    return matrix[np.ix_(indices, indices)]


def _names_and_body(path: FilePath, table: Rows) -> tuple[list[str] | None, list[str] | None, Rows, int]:
    """Return the names on top, those at the left, the rows of durations, and by how much these are moved to the right.

    The shape tells: one row more than columns are names on top, one column more names at the left; a square whose
    corner is no number has both.
    """
    if not table:
        raise InputError(f"{path}: the table is empty.")
    height, width = len(table), max(len(row) for _, row in table)
    corner = table[0][1][0]
    both = height == width and not _is_number(corner)
    top, left = both or height == width + 1, both or width == height + 1
    body = [(row, values[left:]) for row, values in table[top:]]
    lefts = [values[0] for _, values in table[top:]] if left else None
    tops = table[0][1][left:] if top else lefts
    return tops, lefts, body, int(left)


def _numbers(path: FilePath, body: Rows, shift: int, decimal_comma: bool) -> Floats:
    matrix = np.empty((len(body), len(body)))
    for index, (row, values) in enumerate(body):
        if (quick := _plain_numbers(values)) is not None:
            matrix[index] = quick
            continue
        for column, cell in enumerate(values):
            try:
                matrix[index, column] = value = parse_duration(cell, decimal_comma)
                if value < 0:
                    raise ValueError("must not be negative")
            except ValueError as error:
                where = f"{path}, row {row}, column {column + shift + 1}"
                raise InputError(f"{where}: {f'{cell!r:.60} {error}' if cell else 'the cell is empty'}.") from None
    return matrix


def _plain_numbers(values: list[str]) -> Floats | None:
    """Return a row that holds nothing but plain numbers, quickly; None for any other."""
    together = "".join(values)
    if not together.isascii() or "_" in together:
        return None
    try:
        numbers = np.array([float(value) for value in values])
    except ValueError:
        return None
    return numbers if np.isfinite(numbers).all() and (numbers >= 0).all() else None


def _is_number(cell: str) -> bool:
    try:
        parse_duration(cell, decimal_comma=True)
    except ValueError:
        return False
    return True
