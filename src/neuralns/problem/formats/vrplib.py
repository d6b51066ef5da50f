"""VRPLIB's format of instances, read and written: TSPLIB's lines and sections, with demands and a capacity."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from neuralns.errors import InputError
from neuralns.problem.distances import ROUNDINGS, TSPLIB_DISTANCES, Floats, Rounding, rounding_named
from neuralns.problem.formats.text import (
    FilePath,
    Row,
    Unsupported,
    check_demands,
    check_rows,
    finite,
    naming,
    numbers,
    plain,
    refuse_unsupported,
)
from neuralns.problem.instance import MATRIX_LIMIT, Instance

ROUNDED_FAMILIES = re.compile(r"^([ABEFMPX]-n\d+-k\d+|XML100_|(Leuven|Antwerp|Ghent|Brussels|Flanders)\d)")
"""Names of CVRPLIB families whose published costs are for distances rounded to the nearest integer."""

SAID_IN_COMMENT = re.compile(rf"rounding ({'|'.join(ROUNDINGS)}), vehicle cost (\d+(?:\.\d+)?(?:e[+-]\d+)?)", re.ASCII)
"""The comment in which VRPLIB files that we write keep what the format has no line for."""

TYPES = ("CVRP", "ACVRP", "TSP", "ATSP")
WEIGHT_TYPES = ("EUC_2D", "FLOOR_2D", *TSPLIB_DISTANCES, "EXPLICIT")
HONOURED = frozenset(
    ("DIMENSION", "CAPACITY", "EDGE_WEIGHT_TYPE", "EDGE_WEIGHT_FORMAT", "NODE_COORD", "DEMAND", "DEPOT", "EDGE_WEIGHT")
)
WITHOUT_MEANING = frozenset(("NAME", "COMMENT", "TYPE", "NODE_COORD_TYPE", "DISPLAY_DATA_TYPE", "DISPLAY_DATA"))
"""Keys and sections that change nothing about the problem; a type that is not known is refused on its own."""


class Specification(NamedTuple):
    """A line ``KEY : value``: its number in the file and the value."""

    line: int
    value: str


class Section(NamedTuple):
    """A section: the number of the line that opens it, and its rows."""

    line: int
    rows: list[Row]


def read_vrplib(path: FilePath, text: str, ignore: Collection[str] = ()) -> Instance:
    """Read VRPLIB text; every refusal of a line names its number.

    What would change the problem and is not supported is refused, unless ``ignore`` names it.
    """
    dropped = {key.upper().removesuffix("_SECTION") for key in ignore}
    specifications, found = _scan(path, text)

    def needed(key: str) -> Specification:
        if key not in specifications:
            raise InputError(f"{path}: line '{key} : ...' is missing.")
        return specifications[key]

    def optional(key: str, value: str) -> Specification:
        return specifications.get(key, Specification(0, value))

    for key in sorted(dropped & HONOURED & (specifications.keys() | found.keys())):
        raise InputError(f"{path}: {key} is honoured, and cannot be ignored.")
    kind = optional("TYPE", "CVRP")
    problem = kind.value.upper()
    if problem not in TYPES:
        if "TYPE" not in dropped:
            raise InputError(
                f"{path}, line {kind.line}: problem type {problem!r} is not supported, only {', '.join(TYPES)}; "
                "--ignore TYPE reads it as a CVRP."
            )
        problem = "CVRP"
    dimension = _whole(path, "DIMENSION", needed("DIMENSION"))
    refuse_unsupported(path, _unsupported(specifications, found, dimension - 1), dropped)
    sections = {name: section.rows for name, section in found.items()}
    one_tour = problem in ("TSP", "ATSP")
    weights = needed("EDGE_WEIGHT_TYPE")
    weight_type = weights.value.upper()
    if weight_type not in WEIGHT_TYPES:
        raise InputError(
            f"{path}, line {weights.line}: EDGE_WEIGHT_TYPE {weight_type!r} is not known, "
            f"only {', '.join(WEIGHT_TYPES)}."
        )
    if weight_type in TSPLIB_DISTANCES and dimension > MATRIX_LIMIT:
        raise InputError(
            f"{path}, line {weights.line}: EDGE_WEIGHT_TYPE {weight_type!r} needs a matrix of distances, "
            f"which is made for up to {MATRIX_LIMIT} nodes, not for {dimension}."
        )

    # Coordinates beside a matrix are for pictures.
    has_points = weight_type != "EXPLICIT" or "NODE_COORD" in sections
    has_demands = not one_tour or "DEMAND" in sections
    for name, width, there in (("DEMAND", 2, has_demands), ("NODE_COORD", 3, has_points)):
        if there and name not in sections:
            raise InputError(f"{path}: section {name}_SECTION is missing.")
        if there:
            check_rows(path, f"{name}_SECTION", sections[name], dimension, width, first_id=1)
    depot = _depot(path, sections.get("DEPOT", []), dimension)
    # The depot becomes node 0; the customers keep the order of the file.
    order = [depot, *(node for node in range(dimension) if node != depot)]

    capacity, demands = 1.0, [0.0] * dimension
    if not one_tour or "CAPACITY" in specifications:
        load = needed("CAPACITY")
        capacity = finite(path, load.line, load.value)
        if capacity <= 0:
            raise InputError(f"{path}, line {load.line}: capacity {load.value} must be above 0.")
    if has_demands:
        amounts = [sections["DEMAND"][node] for node in order]
        check_demands(path, amounts, 1, capacity)
        demands = [float(words[1]) for _, words in amounts]
    points = None
    if has_points:
        places = [sections["NODE_COORD"][node][1] for node in order]
        points = [[float(x), float(y)] for _, x, y in places]
    matrix = None
    if weight_type == "EXPLICIT":
        if "EDGE_WEIGHT" not in sections:
            raise InputError(f"{path}: section EDGE_WEIGHT_SECTION is missing.")
        matrix = _matrix(path, needed("EDGE_WEIGHT_FORMAT"), sections["EDGE_WEIGHT"], dimension)[np.ix_(order, order)]
    elif weight_type in TSPLIB_DISTANCES:
        matrix = TSPLIB_DISTANCES[weight_type](np.array(points).reshape(-1, 2))

    name = " ".join(optional("NAME", "").value.split()) or Path(path).stem
    # TSPLIB defines EUC_2D as rounded; files of vehicle routing do not always mean that.
    rounded = ROUNDED_FAMILIES.match(name) or (one_tour and weight_type == "EUC_2D")
    rounding: Rounding = "round" if rounded else "none"
    vehicle_cost = 0.0
    if said := SAID_IN_COMMENT.fullmatch(optional("COMMENT", "").value):
        rounding, vehicle_cost = rounding_named(said[1]), float(said[2])
    if weight_type == "FLOOR_2D":
        rounding = "trunc"
    with naming(path):
        return Instance(name, demands, capacity, points, matrix, rounding, vehicle_cost)


def vrplib_text(instance: Instance) -> str:
    """Return the text of a VRPLIB file."""
    said = f"rounding {instance.rounding}, vehicle cost {plain(instance.vehicle_cost)}"
    lines = [f"NAME : {instance.name}", f"COMMENT : {said}", "TYPE : CVRP", f"DIMENSION : {len(instance.demands)}"]
    lines.append(f"CAPACITY : {plain(instance.capacity)}")
    if instance.matrix is None:
        lines.append("EDGE_WEIGHT_TYPE : EUC_2D")
    else:
        lines += ["EDGE_WEIGHT_TYPE : EXPLICIT", "EDGE_WEIGHT_FORMAT : FULL_MATRIX", "EDGE_WEIGHT_SECTION"]
        lines += [" ".join(str(plain(value)) for value in row) for row in instance.matrix]
    if instance.coordinates is not None:
        lines.append("NODE_COORD_SECTION")
        lines += [f"{node} {plain(x)} {plain(y)}" for node, (x, y) in enumerate(instance.coordinates, 1)]
    lines.append("DEMAND_SECTION")
    lines += [f"{node} {plain(demand)}" for node, demand in enumerate(instance.demands, 1)]
    return "\n".join([*lines, "DEPOT_SECTION", "1", "-1", "EOF"]) + "\n"


def _unsupported(
    specifications: dict[str, Specification], sections: dict[str, Section], customers: int
) -> list[Unsupported]:
    """Return the keys and sections that may change the problem and that are not read, by line."""
    found = [Unsupported(given.line, key, key) for key, given in specifications.items()]
    found += [Unsupported(section.line, f"{name}_SECTION", name) for name, section in sections.items()]
    fleet = specifications.get("VEHICLES", Specification(0, "")).value
    # As many vehicles as customers are never too few.
    enough = {"VEHICLES"} if re.fullmatch(r"\d{1,9}", fleet, re.ASCII) and int(fleet) >= customers else set()
    return sorted(each for each in found if each.key not in HONOURED | WITHOUT_MEANING | enough)


def _depot(path: FilePath, table: Sequence[Row], nodes: int) -> int:
    """Return the place of the depot among the nodes of the file: the first node unless a section names another."""
    words = [word for _, row in table for word in row]
    if words[-1:] == ["-1"]:
        words.pop()
    if not words:
        return 0
    if len(words) > 1 or not re.fullmatch(r"\d{1,9}", words[0], re.ASCII) or not 1 <= int(words[0]) <= nodes:
        raise InputError(
            f"{path}, line {table[0][0]}: depot {' '.join(words)[:60]!r} must be one node from 1 to {nodes}."
        )
    return int(words[0]) - 1


def _scan(path: FilePath, text: str) -> tuple[dict[str, Specification], dict[str, Section]]:
    """Split VRPLIB text into specifications and sections, with the line number of each entry."""
    specifications: dict[str, Specification] = {}
    sections: dict[str, Section] = {}
    section: list[Row] | None = None
    for number, line in enumerate(text.splitlines(), 1):
        words = line.split()
        if not words:
            continue
        if words[0] == "EOF":
            break
        if words[0].rstrip(":").endswith("_SECTION"):
            name = words[0].rstrip(":").removesuffix("_SECTION")
            if name in sections:
                raise InputError(f"{path}, line {number}: section {name}_SECTION appears twice.")
            section = []
            sections[name] = Section(number, section)
        elif ":" in line:
            key, _, value = line.partition(":")
            if section is not None:
                raise InputError(f"{path}, line {number}: {line.strip()[:60]!r} stands inside a section.")
            key = key.strip().upper()
            if key in specifications and key != "COMMENT":
                raise InputError(f"{path}, line {number}: {key[:40]!r} is given twice.")
            specifications[key] = Specification(number, value.strip())
        elif section is not None:
            section.append((number, words))
        else:
            raise InputError(f"{path}, line {number}: {line.strip()[:60]!r} is neither 'KEY : value' nor a section.")
    return specifications, sections


def _whole(path: FilePath, key: str, given: Specification) -> int:
    if not re.fullmatch(r"\d{1,9}", given.value, re.ASCII):
        raise InputError(f"{path}, line {given.line}: {key} {given.value!r} is not a whole number.")
    return int(given.value)


def _matrix(path: FilePath, given: Specification, table: Sequence[Row], nodes: int) -> Floats:
    """Return the full matrix of an EDGE_WEIGHT_SECTION, a stream of numbers in one of TSPLIB's forms."""
    # The COL forms list a symmetric matrix's other triangle: the same stream as the opposite ROW form.
    same_stream = {
        "UPPER_COL": "LOWER_ROW",
        "LOWER_COL": "UPPER_ROW",
        "UPPER_DIAG_COL": "LOWER_DIAG_ROW",
        "LOWER_DIAG_COL": "UPPER_DIAG_ROW",
    }
    sizes = {
        "FULL_MATRIX": nodes * nodes,
        "LOWER_ROW": nodes * (nodes - 1) // 2,
        "UPPER_ROW": nodes * (nodes - 1) // 2,
        "LOWER_DIAG_ROW": nodes * (nodes + 1) // 2,
        "UPPER_DIAG_ROW": nodes * (nodes + 1) // 2,
    }
    form = given.value.upper()
    row_form = same_stream.get(form, form)
    if row_form not in sizes:
        raise InputError(
            f"{path}, line {given.line}: EDGE_WEIGHT_FORMAT {form!r} is not known, "
            f"only {', '.join([*sizes, *same_stream])}."
        )
    values = np.array([value for row in numbers(path, table) for value in row])
    if len(values) != sizes[row_form]:
        where = f", line {table[-1][0]}" if table else ""
        raise InputError(
            f"{path}{where}: EDGE_WEIGHT_SECTION has {len(values)} numbers, {sizes[row_form]} expected for {form} "
            f"and dimension {nodes}."
        )
    if row_form == "FULL_MATRIX":
        return values.reshape(nodes, nodes)
    matrix = np.zeros((nodes, nodes))
    diagonal = 0 if "DIAG" in row_form else 1
    if row_form.startswith("LOWER"):
        matrix[np.tril_indices(nodes, -diagonal)] = values
    else:
        matrix[np.triu_indices(nodes, diagonal)] = values
    return matrix + np.triu(matrix, 1).T + np.tril(matrix, -1).T
