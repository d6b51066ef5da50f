"""What PyVRP's dialect of VRPLIB's format says of vehicles and of groups of customers, read."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from neuralns.errors import InputError
from neuralns.problem.fleet import Group, VehicleType
from neuralns.problem.formats.sol import listed_vehicles
from neuralns.problem.formats.text import FilePath, Row, check_rows, finite, naming

VEHICLE_SECTIONS: dict[str, str] = {
    "CAPACITY": "capacity",
    "VEHICLES_DEPOT": "start",
    "VEHICLES_FIXED_COST": "fixed_cost",
    "VEHICLES_UNIT_DISTANCE_COST": "distance_cost",
    "VEHICLES_MAX_DISTANCE": "max_distance",
    "VEHICLES_MAX_DURATION": "max_duration",
    "VEHICLES_ALLOWED_CLIENTS": "skills",
}
"""Sections with a row for each vehicle, and what of its type they tell."""


class Specification(NamedTuple):
    """A line ``KEY : value``: its number in the file and the value."""

    line: int
    value: str


class Section(NamedTuple):
    """A section: the number of the line that opens it, and its rows."""

    line: int
    rows: list[Row]


@dataclass(frozen=True)
class Nodes:
    """Nodes of an instance: their indices in the file, and how many are depots, the first node and the last ones."""

    order: list[int]
    depot_count: int

    @cached_property
    def by_number(self) -> dict[int, int]:
        """The nodes by their numbers in the file."""
        return {index + 1: node for node, index in enumerate(self.order)}

    @property
    def customers(self) -> range:
        """The nodes of the customers."""
        return range(1, len(self.order) - self.depot_count + 1)

    def named(self, word: str) -> int:
        """Return the node of a number in the file."""
        if not re.fullmatch(r"\d{1,9}", word, re.ASCII) or not 1 <= int(word) <= len(self.order):
            raise InputError(f"node {word[:40]} does not exist; nodes are 1 to {len(self.order)}.")
        return self.by_number[int(word)]


def limit_of(path: FilePath, key: str, given: Specification) -> float:
    """Return the number that a line gives, which must not be negative."""
    value = finite(path, given.line, given.value)
    if value < 0:
        raise InputError(f"{path}, line {given.line}: {key} {value:.10g} must not be negative.")
    return value


def read_fleet(
    path: FilePath,
    sections: Mapping[str, Section],
    usual: Mapping[str, Any],
    vehicles: int | None,
    nodes: Nodes,
) -> tuple[list[VehicleType], dict[int, list[str]]]:
    """Return the types of vehicles, and the skills that nodes need: who may not be served by all needs one.

    Vehicles that are alike are of one type; where they do not stand next to each other, its name lists their numbers.
    ``usual`` is what the file says of all of them, ``vehicles`` their number if it says it.
    """
    found = {key: sections[key] for key in VEHICLE_SECTIONS if key in sections}
    count = vehicles if vehicles is not None else len(next(iter(found.values())).rows)
    rows: list[dict[str, Any]] = [dict(usual) for _ in range(count)]
    for key, section in found.items():
        ragged = key in ("VEHICLES_ALLOWED_CLIENTS", "CAPACITY")
        check_rows(path, f"{key}_SECTION", section.rows, count, None if ragged else 2, 1, "vehicle")
        for row, (line, words) in zip(rows, section.rows, strict=True):
            with naming(f"{path}, line {line}"):
                row[VEHICLE_SECTIONS[key]] = _value(key, words, nodes)
    alike: dict[tuple[Any, ...], list[int]] = {}
    for number, row in enumerate(rows, 1):
        alike.setdefault(tuple(row.items()), []).append(number)
    types = [dict(row) for row in alike]
    needs: dict[int, list[str]] = {}
    if "VEHICLES_ALLOWED_CLIENTS" in found:
        needs = _needs(path, found["VEHICLES_ALLOWED_CLIENTS"].line, types, nodes)
    apart = any(numbers[-1] - numbers[0] >= len(numbers) for numbers in alike.values())
    fleet = []
    for fields, numbers in zip(types, alike.values(), strict=True):
        name = listed_vehicles(numbers) if apart else ""
        with naming(f"{path}: vehicle {numbers[0]}"):
            fleet.append(VehicleType(**fields, end=fields.get("start", 0), available=len(numbers), name=name))
    return fleet, needs


def read_groups(path: FilePath, section: Section, nodes: Nodes) -> list[Group]:
    """Return the groups of which one member is to be served; those of one alone say nothing that is not so anyway."""
    check_rows(path, "MUTUALLY_EXCLUSIVE_GROUP_SECTION", section.rows, len(section.rows), None, 1, "group")
    groups = []
    for line, words in section.rows:
        with naming(f"{path}, line {line}"):
            members = [nodes.named(word) for word in words[1:]]
            for word, node in zip(words[1:], members, strict=True):
                if node not in nodes.customers:
                    raise InputError(f"node {word} of group {words[0]} is a depot.")
            groups.append(Group(members))
    return [group for group in groups if len(group.members) > 1]


def _value(key: str, words: Sequence[str], nodes: Nodes) -> Any:
    """Return what the row of a vehicle says."""
    if key == "VEHICLES_ALLOWED_CLIENTS":
        return frozenset(nodes.named(word) for word in words[1:])
    if key == "VEHICLES_DEPOT":
        node = nodes.named(words[1])
        if node in nodes.customers:
            raise InputError(f"vehicle {words[0]} belongs to node {words[1]}, which is no depot.")
        return node
    values = tuple(map(float, words[1:]))
    if not values:
        raise InputError(f"1 numbers in {key}_SECTION, 2 expected.")
    if min(values) < 0:
        raise InputError(f"{min(values):.10g} of vehicle {words[0]} in {key}_SECTION must not be negative.")
    return values if key == "CAPACITY" else values[0]


def _needs(path: FilePath, line: int, types: list[dict[str, Any]], nodes: Nodes) -> dict[int, list[str]]:
    """Return the skill that each customer needs who may not be served by all, and give it to the types that may."""
    allowed = [fields["skills"] for fields in types]
    names: dict[tuple[int, ...], str] = {}
    needs = {}
    for customer in nodes.customers:
        vehicle_types = tuple(vehicle_type for vehicle_type, members in enumerate(allowed) if customer in members)
        if not vehicle_types:
            number = nodes.order[customer] + 1
            raise InputError(f"{path}, line {line}: node {number} is allowed on no vehicle.")
        if len(vehicle_types) < len(types):
            needs[customer] = [names.setdefault(vehicle_types, f"site {len(names) + 1}")]
    for vehicle_type, fields in enumerate(types):
        fields["skills"] = [name for vehicle_types, name in names.items() if vehicle_type in vehicle_types]
    return needs
