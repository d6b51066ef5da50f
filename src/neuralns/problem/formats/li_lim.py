"""Li and Lim's format of instances, read: vehicles and their capacity, then a table of pickups and deliveries."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from neuralns.errors import InputError
from neuralns.problem.fleet import Shipment
from neuralns.problem.formats.text import (
    FilePath,
    check_rows,
    check_service,
    check_windows,
    finite,
    naming,
    parts_ignored,
    rows,
    vehicle_number,
)
from neuralns.problem.instance import Instance

WIDTH = 9
"""Number, x, y, amount, earliest, latest, service, and the partners: where it is picked up, where it is delivered."""


class Half(NamedTuple):
    """A pickup or a delivery as a file has it: its line and number, the amount, and the numbers of its partners."""

    line: int
    number: int
    amount: float
    pickup: int
    delivery: int


def is_li_lim(text: str) -> bool:
    """Tell whether a text begins with a row of three numbers, followed by one of nine.

    >>> is_li_lim("25 200 1\\n0 40 50 0 0 1236 0 0 0\\n")
    True
    """
    first = rows(text[:1000])[:2]
    return [len(words) for _, words in first] == [3, WIDTH] and all(
        re.match(r"[-+]?\.?\d[^,;]*$", word, re.ASCII) for _, words in first for word in words
    )


def read_li_lim(path: FilePath, text: str, ignore: Collection[str] = ()) -> Instance:
    """Read Li and Lim's format; the speed on its first line counts for nothing, as in their files.

    The number of vehicles is the most routes, unless ``ignore`` names ``vehicles``; with ``windows`` ignored, times and
    vehicles are left out.
    """
    (line, fleet), *table = rows(text)
    _, capacity, _ = (finite(path, line, word) for word in fleet)
    if capacity <= 0:
        raise InputError(f"{path}, line {line}: capacity {fleet[1]} must be above 0.")
    check_rows(path, "the table", table, len(table), WIDTH, first_id=0)
    halves = [
        Half(at, number, float(words[3]), *(partner(path, at, word) for word in words[7:]))
        for number, (at, words) in enumerate(table)
    ]
    parts = parts_ignored(ignore)
    rules: dict[str, Any] = {}
    if not parts:
        rules["vehicles"] = vehicle_number(path, line, fleet[0])
    if "windows" not in parts:
        check_windows(path, table, 4)
        check_service(path, table, 6)
        rules["windows"] = [[float(words[4]), float(words[5])] for _, words in table]
        rules["service"] = [float(words[6]) for _, words in table]
    places = [[float(x), float(y)] for _, (_, x, y, *_) in table]
    shipments = paired(path, halves, {number: number for number in range(1, len(table))})
    with naming(path):
        return Instance(Path(path).stem, None, capacity, places, shipments=shipments, **rules)


def partner(path: FilePath, line: int, word: str) -> int:
    """Return the number of a partner, 0 for none."""
    if not re.fullmatch(r"\d{1,9}", word, re.ASCII):
        raise InputError(f"{path}, line {line}: partner {word[:40]!r} is not a node's number, nor 0 for none.")
    return int(word)


def paired(path: FilePath, halves: Sequence[Half], nodes: Mapping[int, int]) -> list[Shipment]:
    """Return the shipments that halves make; ``nodes`` are those of the customers, by their numbers in the file."""
    by_number = {half.number: half for half in halves}
    found = []
    for half in halves:
        where = f"{path}, line {half.line}"
        if half.number not in nodes:
            if half.amount or half.pickup or half.delivery:
                raise InputError(f"{where}: the depot has a partner or an amount, but must have none.")
            continue
        if bool(half.pickup) == bool(half.delivery):
            raise InputError(
                f"{where}: customer {half.number} has {'two partners' if half.pickup else 'no partner'}; a pickup "
                "names its delivery, and a delivery its pickup."
            )
        other = by_number.get(half.pickup or half.delivery)
        if other is None or other.number not in nodes:
            raise InputError(
                f"{where}: partner {half.pickup or half.delivery} of customer {half.number} is no customer."
            )
        if (other.delivery if half.pickup else other.pickup) != half.number:
            raise InputError(
                f"{where}: customer {half.number} names {other.number} as its partner, which does not name it in "
                f"return (line {other.line})."
            )
        if half.amount != -other.amount or (half.amount if half.pickup else other.amount) > 0:
            raise InputError(
                f"{where}: amount {half.amount:.10g} of customer {half.number} does not fit that of its partner "
                f"{other.number}, {other.amount:.10g} (line {other.line}); what is picked up is delivered, as an "
                "amount below 0."
            )
        if half.delivery:
            found.append(Shipment(nodes[half.number], nodes[other.number], half.amount))
    return found
