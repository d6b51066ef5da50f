"""Solomon's format of instances, read: a number of vehicles, a capacity, and one table of customers."""

from __future__ import annotations

import re
import warnings

import numpy as np

from neuralns.errors import InputError, InputWarning
from neuralns.problem.formats.text import FilePath, check_demands, check_rows, finite, naming, rows
from neuralns.problem.instance import Instance


def is_solomon(text: str) -> bool:
    """Tell whether a text has the header of Solomon's table, and no section of VRPLIB's."""
    return re.search(r"^[^\S\n]*CUST\b", text, re.MULTILINE) is not None and "_SECTION" not in text


def read_solomon(path: FilePath, text: str) -> Instance:
    """Read Solomon's format as a CVRP; an `InputWarning` says so where the file has times, which are not kept."""
    lines = rows(text)
    header = next(place for place, (_, words) in enumerate(lines) if re.match(r"CUST\b", words[0]))
    above = next((place for place, (_, words) in enumerate(lines[:header]) if words == ["NUMBER", "CAPACITY"]), None)
    if above is None or above < 2:
        raise InputError(f"{path}: lines NAME, 'VEHICLE' and 'NUMBER CAPACITY' are missing above the customer table.")
    line, fleet = lines[above + 1]
    if len(fleet) != 2:
        raise InputError(f"{path}, line {line}: {' '.join(fleet)[:60]!r} is not a number of vehicles and a capacity.")
    _, capacity = (finite(path, line, word) for word in fleet)
    table = lines[header + 1 :]
    check_rows(path, "the customer table", table, len(table), 7, first_id=0)
    if not table:
        raise InputError(f"{path}, line {lines[header][0]}: the customer table is empty.")
    check_demands(path, table, 3, capacity)
    numbers = np.array([[float(word) for word in words] for _, words in table])
    with naming(path):
        instance = Instance(" ".join(lines[0][1]), numbers[:, 3], capacity, numbers[:, 1:3])
    if numbers[:, 4:].any():
        warnings.warn(
            f"{path}: its time windows, service times and number of vehicles are not kept; it is solved as a CVRP.",
            InputWarning,
            stacklevel=4,  # the caller of `neuralns.read`
        )
    return instance
