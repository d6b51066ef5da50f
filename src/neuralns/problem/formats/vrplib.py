"""VRPLIB's format of instances, read and written: TSPLIB's lines and sections, with demands and a capacity."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from neuralns.errors import InputError
from neuralns.problem.distances import ROUNDINGS, Floats, Rounding, rounding_named
from neuralns.problem.formats.text import FilePath, Row, check_demands, check_rows, finite, naming, plain
from neuralns.problem.instance import Instance

ROUNDED_FAMILIES = re.compile(r"^([ABEFMPX]-n\d+-k\d+|XML100_|(Leuven|Antwerp|Ghent|Brussels|Flanders)\d)")
"""Names of CVRPLIB families whose published costs are for distances rounded to the nearest integer."""

SAID_IN_COMMENT = re.compile(rf"rounding ({'|'.join(ROUNDINGS)}), vehicle cost (\d+(?:\.\d+)?(?:e[+-]\d+)?)", re.ASCII)
"""The comment in which VRPLIB files that we write keep what the format has no line for."""


class Specification(NamedTuple):
    """A line ``KEY : value``: its number in the file and the value."""

    line: int
    value: str


def read_vrplib(path: FilePath, text: str) -> Instance:
    """Read VRPLIB text; every refusal of a line names its number."""
    specifications, sections = _scan(path, text)

    def needed(key: str) -> Specification:
        if key not in specifications:
            raise InputError(f"{path}: line '{key} : ...' is missing.")
        return specifications[key]

    def optional(key: str, value: str) -> Specification:
        return specifications.get(key, Specification(0, value))

    dimension = _whole(path, "DIMENSION", needed("DIMENSION"))
    weights, load, kind = needed("EDGE_WEIGHT_TYPE"), needed("CAPACITY"), optional("TYPE", "CVRP")
    capacity = finite(path, load.line, load.value)
    if capacity <= 0:
        raise InputError(f"{path}, line {load.line}: capacity {load.value} must be above 0.")
    if kind.value.upper() != "CVRP":
        raise InputError(f"{path}, line {kind.line}: problem type {kind.value.upper()!r} is not supported, only CVRP.")
    weight_type = weights.value.upper()
    if weight_type not in ("EUC_2D", "FLOOR_2D", "EXPLICIT"):
        raise InputError(
            f"{path}, line {weights.line}: EDGE_WEIGHT_TYPE {weight_type!r} is not known, "
            "only EUC_2D, FLOOR_2D and EXPLICIT."
        )

    # Coordinates beside a matrix are for pictures.
    has_points = weight_type != "EXPLICIT" or "NODE_COORD" in sections
    for name, width in (("DEMAND", 2), ("NODE_COORD", 3)) if has_points else (("DEMAND", 2),):
        if name not in sections:
            raise InputError(f"{path}: section {name}_SECTION is missing.")
        check_rows(path, f"{name}_SECTION", sections[name], dimension, width, first_id=1)
    check_demands(path, sections["DEMAND"], 1, capacity)
    depots = [word for _, words in sections.get("DEPOT", []) for word in words]
    if depots not in ([], ["1"], ["1", "-1"]):
        line = sections["DEPOT"][0][0]
        raise InputError(f"{path}, line {line}: depot {' '.join(depots)!r} is not supported; node 1 must be the depot.")

    demands = [float(words[1]) for _, words in sections["DEMAND"]]
    points = [[float(x), float(y)] for _, (_, x, y) in sections["NODE_COORD"]] if has_points else None
    matrix = None
    if weight_type == "EXPLICIT":
        if "EDGE_WEIGHT" not in sections:
            raise InputError(f"{path}: section EDGE_WEIGHT_SECTION is missing.")
        matrix = _matrix(path, needed("EDGE_WEIGHT_FORMAT"), sections["EDGE_WEIGHT"], dimension)

    name = " ".join(optional("NAME", "").value.split()) or Path(path).stem
    rounding: Rounding = "round" if ROUNDED_FAMILIES.match(name) else "none"
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


def _scan(path: FilePath, text: str) -> tuple[dict[str, Specification], dict[str, list[Row]]]:
    """Split VRPLIB text into specifications and sections, with the line number of each entry."""
    specifications: dict[str, Specification] = {}
    sections: dict[str, list[Row]] = {}
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
            section = sections[name] = []
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
    values = np.array([finite(path, line, word) for line, words in table for word in words])
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
