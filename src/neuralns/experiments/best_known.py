"""Lists of best known solutions: a file ``best_known.csv`` beside instances, with fewest vehicles and their cost."""

from __future__ import annotations

import csv
import math
from pathlib import Path
from typing import NamedTuple

from neuralns.errors import InputError

FILE = "best_known.csv"
COLUMNS = ("instance", "vehicles", "cost")


class BestKnown(NamedTuple):
    """The fewest vehicles known, and the least cost with so many."""

    vehicles: int
    cost: float


def best_known_beside(instance: Path) -> BestKnown | None:
    """Return what the list in an instance's folder says about it, by the name of its file, if there is one."""
    return read_best_known(instance.parent / FILE).get(instance.stem) if (instance.parent / FILE).is_file() else None


def read_best_known(path: Path) -> dict[str, BestKnown]:
    """Read a list: columns ``instance``, ``vehicles`` and ``cost``; one without vehicles says nothing of them."""
    try:
        with open(path, newline="", encoding="utf-8-sig") as file:
            rows = list(csv.reader(file))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise InputError(f"{path}: cannot be read: {error}.") from None
    head = tuple(cell.strip() for cell in rows[0]) if rows else ()
    if head == ("instance", "best_known"):
        # A list of costs alone, which the solutions beside the instances tell.
        return {}
    if head != COLUMNS:
        raise InputError(f"{path}: its first line must be {','.join(COLUMNS)}.")
    found = {}
    for line, row in enumerate(rows[1:], 2):
        if not row:
            continue
        try:
            name, vehicles, cost = (cell.strip() for cell in row)
            found[name] = known = BestKnown(int(vehicles), float(cost))
        except ValueError:
            known = BestKnown(0, 0.0)
        if not (known.vehicles > 0 and 0 < known.cost < math.inf):
            raise InputError(
                f"{path}, line {line}: {','.join(row)!r:.60} is not a name, a number of vehicles and a cost."
            )
    return found
