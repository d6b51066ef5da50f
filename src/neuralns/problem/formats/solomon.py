"""Solomon's format of instances, read: a number of vehicles, a capacity, and one table of customers."""

from __future__ import annotations

import re
from collections.abc import Collection

import numpy as np

from neuralns.errors import InputError
from neuralns.problem.formats.text import (
    FilePath,
    Unsupported,
    check_demands,
    check_rows,
    finite,
    naming,
    refuse_unsupported,
    rows,
)
from neuralns.problem.instance import Instance


def is_solomon(text: str) -> bool:
    """Tell whether a text has the header of Solomon's table, and no section of VRPLIB's."""
    return re.search(r"^[^\S\n]*CUST\b", text, re.MULTILINE) is not None and "_SECTION" not in text


def read_solomon(path: FilePath, text: str, ignore: Collection[str] = ()) -> Instance:
    """Read Solomon's format as a CVRP.

    A number of vehicles below that of the customers, time windows and service times are refused unless ``ignore`` names
    them as ``vehicles`` and ``windows``.
    """
    lines = rows(text)
    header = next(place for place, (_, words) in enumerate(lines) if re.match(r"CUST\b", words[0]))
    above = next((place for place, (_, words) in enumerate(lines[:header]) if words == ["NUMBER", "CAPACITY"]), None)
    if above is None or above < 2:
        raise InputError(f"{path}: lines NAME, 'VEHICLE' and 'NUMBER CAPACITY' are missing above the customer table.")
    line, fleet = lines[above + 1]
    if len(fleet) != 2:
        raise InputError(f"{path}, line {line}: {' '.join(fleet)[:60]!r} is not a number of vehicles and a capacity.")
    vehicles, capacity = (finite(path, line, word) for word in fleet)
    table = lines[header + 1 :]
    check_rows(path, "the customer table", table, len(table), 7, first_id=0)
    if not table:
        raise InputError(f"{path}, line {lines[header][0]}: the customer table is empty.")
    check_demands(path, table, 3, capacity)
    numbers = np.array([[float(word) for word in words] for _, words in table])
    unsupported = []
    # As many vehicles as customers are never too few.
    if vehicles < len(table) - 1:
        unsupported.append(Unsupported(line, f"the number of vehicles, {vehicles:g},", "vehicles"))
    for row in np.flatnonzero(numbers[:, 4:].any(axis=1))[:1]:
        unsupported.append(Unsupported(table[row][0], "a time window or service time", "windows"))
    with naming(path):
        instance = Instance(" ".join(lines[0][1]), numbers[:, 3], capacity, numbers[:, 1:3])
    refuse_unsupported(path, unsupported, ignore)
    return instance
