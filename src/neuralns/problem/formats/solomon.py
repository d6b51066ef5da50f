"""Solomon's format of instances, read: vehicles, their capacity, and one table of customers with their windows."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Any

import numpy as np

from neuralns.errors import InputError
from neuralns.problem.formats.text import (
    FilePath,
    check_demands,
    check_rows,
    check_service,
    check_windows,
    finite,
    naming,
    parts_ignored,
    published_rounding,
    rows,
    vehicle_number,
)
from neuralns.problem.instance import Instance


def is_solomon(text: str) -> bool:
    """Tell whether a text has the header of Solomon's table, and no section of VRPLIB's."""
    return re.search(r"^[^\S\n]*CUST\b", text, re.MULTILINE) is not None and "_SECTION" not in text


def read_solomon(path: FilePath, text: str, ignore: Collection[str] = ()) -> Instance:
    """Read Solomon's format, which Gehring and Homberger use too.

    The number of vehicles is the most routes, unless ``ignore`` names ``vehicles``. With ``windows`` ignored, times and
    vehicles are left out; where a file's times are all 0, it has none.
    """
    lines = rows(text)
    header = next(index for index, (_, words) in enumerate(lines) if re.match(r"CUST\b", words[0]))
    above = next((index for index, (_, words) in enumerate(lines[:header]) if words == ["NUMBER", "CAPACITY"]), None)
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
    check_demands(path, table, 3)
    numbers = np.array([[float(word) for word in words] for _, words in table])
    parts = parts_ignored(ignore)
    rules: dict[str, Any] = {}
    if not parts:
        rules["vehicles"] = vehicle_number(path, line, fleet[0])
    if "windows" not in parts and numbers[:, 4:].any():
        check_windows(path, table, 4)
        check_service(path, table, 6)
        rules |= {"windows": numbers[:, 4:6], "service": numbers[:, 6]}
    name = " ".join(lines[0][1])
    rounding = published_rounding(name, "windows" in rules)
    with naming(path):
        return Instance(name, numbers[:, 3], capacity, numbers[:, 1:3], rounding=rounding, **rules)
