"""Reading and writing of instances and solutions: VRPLIB, Solomon, CVRPLIB ``.sol``, and a JSON form of our own."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from neuralns.errors import InputError
from neuralns.files import write_text
from neuralns.problem.distances import ROUNDINGS, Floats, Rounding, rounding_named
from neuralns.problem.instance import Instance
from neuralns.problem.solution import Solution

INSTANCE_FORM = "neuralns-instance"
SOLUTION_FORM = "neuralns-solution"
FORM_VERSION = 1

ROUNDED_FAMILIES = re.compile(r"^([ABEFMPX]-n\d+-k\d+|XML100_|(Leuven|Antwerp|Ghent|Brussels|Flanders)\d)")
"""Names of CVRPLIB families whose published costs are for distances rounded to the nearest integer."""

SAID_IN_COMMENT = re.compile(rf"rounding ({'|'.join(ROUNDINGS)}), vehicle cost (\d+(?:\.\d+)?(?:e[+-]\d+)?)", re.ASCII)
"""The comment in which VRPLIB files that we write keep what the format has no line for."""

Row = tuple[int, list[str]]
"""A line of a section: its number in the file and its words."""


def read_instance(path: str | os.PathLike[str], rounding: str | None = None) -> Instance:
    """Read an instance file: VRPLIB, Solomon or JSON, told apart by its content.

    Parameters
    ----------
    path
        The file.
    rounding
        Rounding convention; left out, the one that the published costs of the instance's family use: ``round`` for
        CVRPLIB's A, B, E, F, M, P, X, XML100 and Belgium sets, what the file says for JSON, ``none`` for all others.
    """
    text = _read_text(path)
    if text.lstrip().startswith("{"):
        instance = instance_from_json(_parse_json(path, text), str(path))
    elif re.search(r"^[^\S\n]*CUST\b", text, re.MULTILINE) and "_SECTION" not in text:
        instance = _read_solomon(path, text)
    else:
        instance = _read_vrplib(path, text)
    return instance if rounding is None else instance.with_rounding(rounding)


def write_instance(instance: Instance, path: str | os.PathLike[str]) -> None:
    """Write an instance in JSON, or in VRPLIB's format if the file name ends with ``.vrp``."""
    if Path(path).suffix == ".vrp":
        write_text(path, _to_vrplib(instance))
    else:
        write_text(path, json.dumps(instance_to_json(instance)) + "\n")


def read_solution(instance: Instance, path: str | os.PathLike[str]) -> Solution:
    """Read routes from a ``.sol`` or JSON file; the solution is not checked (see `Solution.faults`)."""
    text = _read_text(path)
    if text.lstrip().startswith("{"):
        data = _parse_json(path, text)
        _expect_form(path, data, SOLUTION_FORM)
        routes = data.get("routes")
        if not isinstance(routes, list) or not all(
            isinstance(route, list) and all(type(customer) is int for customer in route) for route in routes
        ):
            raise InputError(f"{path}: 'routes' must be a list of lists of customer numbers.")
        return Solution(instance, routes)

    from vrplib.parse import parse_solution

    found = [(number, " ".join(line.split())) for number, line in enumerate(text.splitlines(), 1) if "Route" in line]
    if not found:
        raise InputError(f"{path}: no line 'Route #1: ...' found; is this a solution file?")
    for number, line in found:
        if not re.fullmatch(r"Route ?#? ?\d* ?:( ?\d{1,9}\b)*", line):
            raise InputError(f"{path}, line {number}: {line[:60]!r} is not a route ('Route #1: 4 2 7').")
    routes_only = "\n".join(line for _, line in found)
    return Solution(instance, parse_solution(routes_only)["routes"])


def write_solution(solution: Solution, path: str | os.PathLike[str]) -> None:
    """Write a solution as CVRPLIB ``.sol``, or as JSON if the file name ends with ``.json``."""
    if Path(path).suffix == ".json":
        write_text(path, json.dumps(solution_to_json(solution)) + "\n")
        return
    lines = [f"Route #{number}: {' '.join(map(str, route))}" for number, route in enumerate(solution.routes, 1)]
    cost = solution.cost
    lines.append(f"Cost {int(cost) if cost == int(cost) else repr(cost)}")
    write_text(path, "\n".join(lines) + "\n")


def instance_to_json(instance: Instance) -> dict[str, Any]:
    """Return the JSON form of an instance."""
    data: dict[str, Any] = {
        "format": INSTANCE_FORM,
        "version": FORM_VERSION,
        "name": instance.name,
        "capacity": _plain(instance.capacity),
        "rounding": instance.rounding,
        "vehicle_cost": _plain(instance.vehicle_cost),
        "best_known": None if instance.best_known is None else _plain(instance.best_known),
        "demands": [_plain(value) for value in instance.demands],
    }
    if instance.coordinates is not None:
        data["coordinates"] = [[_plain(x), _plain(y)] for x, y in instance.coordinates]
    if instance.matrix is not None:
        data["matrix"] = [[_plain(value) for value in row] for row in instance.matrix]
    return data


def instance_from_json(data: dict[str, Any], source: str) -> Instance:
    """Return the instance that a JSON form describes; ``source`` names it in errors."""
    _expect_form(source, data, INSTANCE_FORM)
    for field in ("demands", "capacity"):
        if field not in data:
            raise InputError(f"{source}: field {field!r} is missing.")
    name, rounding = data.get("name", Path(source).stem), data.get("rounding", "none")
    if not isinstance(name, str) or not isinstance(rounding, str):
        raise InputError(f"{source}: fields 'name' and 'rounding' must be text.")
    try:
        return Instance(
            name,
            data["demands"],
            data["capacity"],
            data.get("coordinates"),
            data.get("matrix"),
            rounding_named(rounding),
            data.get("vehicle_cost", 0.0),
            data.get("best_known"),
        )
    except InputError as error:
        raise InputError(f"{source}: {error}") from None


def solution_to_json(solution: Solution) -> dict[str, Any]:
    """Return the JSON form of a solution."""
    return {
        "format": SOLUTION_FORM,
        "version": FORM_VERSION,
        "instance": solution.instance.name,
        "cost": solution.cost,
        "rounding": solution.instance.rounding,
        "vehicle_cost": solution.instance.vehicle_cost,
        "routes": [list(route) for route in solution.routes],
    }


def _plain(value: float) -> float | int:
    return int(value) if float(value).is_integer() and abs(value) < 2**53 else float(value)


def _read_text(path: str | os.PathLike[str]) -> str:
    try:
        return Path(path).read_bytes().decode("utf-8-sig", errors="replace")
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"{path}: cannot be read ({reason}).") from None


def _parse_json(path: str | os.PathLike[str], text: str) -> dict[str, Any]:
    try:
        data = json.loads(text)
    except json.JSONDecodeError as error:
        raise InputError(f"{path}, line {error.lineno}: not valid JSON ({error.msg}).") from None
    except (RecursionError, ValueError) as error:
        raise InputError(f"{path}: not valid JSON ({error}).") from None
    if not isinstance(data, dict):
        raise InputError(f"{path}: a JSON object is expected.")
    return data


def _expect_form(source: str | os.PathLike[str], data: dict[str, Any], form: str) -> None:
    if data.get("format") != form:
        raise InputError(f"{source}: 'format' is {data.get('format')!r}, expected {form!r}.")
    if data.get("version") != FORM_VERSION:
        raise InputError(f"{source}: version {data.get('version')!r} of the form is not known, only {FORM_VERSION}.")


def _read_vrplib(path: str | os.PathLike[str], text: str) -> Instance:
    """Read VRPLIB text: our scan checks every row and knows its line, `vrplib` parses what passed."""
    from vrplib.parse import parse_vrplib

    specifications, sections = _scan(path, text)

    def specification(key: str) -> str:
        if key not in specifications:
            raise InputError(f"{path}: line '{key} : ...' is missing.")
        return specifications[key][1]

    dimension = _whole(path, specifications, "DIMENSION", specification("DIMENSION"))
    weight_type = specification("EDGE_WEIGHT_TYPE").upper()
    capacity = specification("CAPACITY")
    if _finite(path, specifications["CAPACITY"][0], capacity) <= 0:
        raise InputError(f"{path}, line {specifications['CAPACITY'][0]}: capacity {capacity} must be above 0.")
    kind = specifications.get("TYPE", (0, "CVRP"))[1].upper()
    if kind != "CVRP":
        raise InputError(
            f"{path}, line {specifications['TYPE'][0]}: problem type {kind!r} is not supported, only CVRP."
        )
    if weight_type not in ("EUC_2D", "FLOOR_2D", "EXPLICIT"):
        raise InputError(
            f"{path}, line {specifications['EDGE_WEIGHT_TYPE'][0]}: EDGE_WEIGHT_TYPE {weight_type!r} is not known, "
            "only EUC_2D, FLOOR_2D and EXPLICIT."
        )

    widths = {"DEMAND": 2} | ({"NODE_COORD": 3} if weight_type != "EXPLICIT" or "NODE_COORD" in sections else {})
    for name, width in widths.items():
        if name not in sections:
            raise InputError(f"{path}: section {name}_SECTION is missing.")
        _check_rows(path, f"{name}_SECTION", sections[name], dimension, width, first_id=1)
    _check_demands(path, sections["DEMAND"], 1, float(capacity))
    depots = [word for _, words in sections.get("DEPOT", []) for word in words]
    if depots not in ([], ["1"], ["1", "-1"]):
        line = sections["DEPOT"][0][0]
        raise InputError(f"{path}, line {line}: depot {' '.join(depots)!r} is not supported; node 1 must be the depot.")

    matrix = None
    if weight_type == "EXPLICIT":
        if "EDGE_WEIGHT" not in sections:
            raise InputError(f"{path}: section EDGE_WEIGHT_SECTION is missing.")
        form = specification("EDGE_WEIGHT_FORMAT").upper()
        matrix = _matrix(path, form, specifications["EDGE_WEIGHT_FORMAT"][0], sections["EDGE_WEIGHT"], dimension)

    # Only what passed goes on: names and comments may hold words that vrplib takes for the end or a section.
    passed = [f"CAPACITY : {capacity}"]
    for section in widths:
        passed += [f"{section}_SECTION", *(" ".join(words) for _, words in sections[section])]
    data = parse_vrplib("\n".join(passed), compute_edge_weights=False)
    name = " ".join(specifications.get("NAME", (0, ""))[1].split()) or Path(path).stem
    rounding: Rounding = "round" if ROUNDED_FAMILIES.match(name) else "none"
    vehicle_cost = 0.0
    if said := SAID_IN_COMMENT.fullmatch(specifications.get("COMMENT", (0, ""))[1]):
        rounding, vehicle_cost = rounding_named(said[1]), float(said[2])
    if weight_type == "FLOOR_2D":
        rounding = "trunc"
    try:
        return Instance(name, data["demand"], data["capacity"], data.get("node_coord"), matrix, rounding, vehicle_cost)
    except InputError as error:
        raise InputError(f"{path}: {error}") from None


def _scan(path: str | os.PathLike[str], text: str) -> tuple[dict[str, tuple[int, str]], dict[str, list[Row]]]:
    """Split VRPLIB text into specifications and sections, with the line number of each entry."""
    specifications: dict[str, tuple[int, str]] = {}
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
            specifications[key] = (number, value.strip())
        elif section is not None:
            section.append((number, words))
        else:
            raise InputError(f"{path}, line {number}: {line.strip()[:60]!r} is neither 'KEY : value' nor a section.")
    return specifications, sections


def _check_rows(
    path: str | os.PathLike[str], name: str, rows: Sequence[Row], expected: int, width: int, first_id: int
) -> None:
    for place, (number, words) in enumerate(rows):
        for word in words:
            _finite(path, number, word)
        if len(words) != width:
            raise InputError(f"{path}, line {number}: {len(words)} numbers in {name}, {width} expected.")
        if float(words[0]) != place + first_id:
            raise InputError(f"{path}, line {number}: node {words[0]} in {name}, {place + first_id} expected.")
    if len(rows) != expected:
        where = f", line {rows[-1][0]}" if rows else ""
        what = "ends early" if len(rows) < expected else "is too long"
        raise InputError(f"{path}{where}: {name} {what}: {len(rows)} rows, {expected} expected.")


def _check_demands(path: str | os.PathLike[str], rows: Sequence[Row], column: int, capacity: float) -> None:
    for customer, (number, words) in enumerate(rows):
        demand = float(words[column])
        if demand < 0:
            raise InputError(f"{path}, line {number}: demand {demand:g} of customer {customer} is negative.")
        if demand > capacity:
            raise InputError(
                f"{path}, line {number}: demand {demand:g} of customer {customer} is above the capacity {capacity:g}."
            )


def _finite(path: str | os.PathLike[str], number: int, word: str) -> float:
    try:
        # Python also takes digits of other scripts and underscores between digits for numbers; no other reader does.
        value = float(word) if word.isascii() and "_" not in word else float("")
    except ValueError:
        raise InputError(f"{path}, line {number}: {word[:40]!r} is not a number.") from None
    if not np.isfinite(value):
        raise InputError(f"{path}, line {number}: {word[:40]!r} is not a finite number.")
    return value


def _whole(path: str | os.PathLike[str], specifications: dict[str, tuple[int, str]], key: str, value: str) -> int:
    if not re.fullmatch(r"\d{1,9}", value, re.ASCII):
        raise InputError(f"{path}, line {specifications[key][0]}: {key} {value!r} is not a whole number.")
    return int(value)


def _matrix(path: str | os.PathLike[str], form: str, line: int, rows: Sequence[Row], nodes: int) -> Floats:
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
    row_form = same_stream.get(form, form)
    if row_form not in sizes:
        raise InputError(
            f"{path}, line {line}: EDGE_WEIGHT_FORMAT {form!r} is not known, only {', '.join([*sizes, *same_stream])}."
        )
    values = np.array([_finite(path, number, word) for number, words in rows for word in words])
    if len(values) != sizes[row_form]:
        where = f", line {rows[-1][0]}" if rows else ""
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


def _read_solomon(path: str | os.PathLike[str], text: str) -> Instance:
    """Read Solomon's format; time windows and service times are read over, since the problem has no time.

    `vrplib` reads whole numbers only; here decimals are kept.
    """
    lines = [(number, line.split()) for number, line in enumerate(text.splitlines(), 1) if line.split()]
    header = next(place for place, (_, words) in enumerate(lines) if re.match(r"CUST\b", words[0]))
    above = next((place for place, (_, words) in enumerate(lines[:header]) if words == ["NUMBER", "CAPACITY"]), None)
    if above is None or above < 2:
        raise InputError(f"{path}: lines NAME, 'VEHICLE' and 'NUMBER CAPACITY' are missing above the customer table.")
    number, fleet = lines[above + 1]
    if len(fleet) != 2:
        raise InputError(f"{path}, line {number}: {' '.join(fleet)[:60]!r} is not a number of vehicles and a capacity.")
    capacity = [_finite(path, number, word) for word in fleet][1]
    rows = lines[header + 1 :]
    _check_rows(path, "the customer table", rows, len(rows), 7, first_id=0)
    if not rows:
        raise InputError(f"{path}, line {lines[header][0]}: the customer table is empty.")
    _check_demands(path, rows, 3, capacity)
    table = np.array([[float(word) for word in words] for _, words in rows])
    try:
        return Instance(" ".join(lines[0][1]), table[:, 3], capacity, table[:, 1:3])
    except InputError as error:
        raise InputError(f"{path}: {error}") from None


def _to_vrplib(instance: Instance) -> str:
    said = f"rounding {instance.rounding}, vehicle cost {_plain(instance.vehicle_cost)}"
    lines = [f"NAME : {instance.name}", f"COMMENT : {said}", "TYPE : CVRP", f"DIMENSION : {len(instance.demands)}"]
    lines.append(f"CAPACITY : {_plain(instance.capacity)}")
    if instance.matrix is None:
        lines.append("EDGE_WEIGHT_TYPE : EUC_2D")
    else:
        lines += ["EDGE_WEIGHT_TYPE : EXPLICIT", "EDGE_WEIGHT_FORMAT : FULL_MATRIX", "EDGE_WEIGHT_SECTION"]
        lines += [" ".join(str(_plain(value)) for value in row) for row in instance.matrix]
    if instance.coordinates is not None:
        lines.append("NODE_COORD_SECTION")
        lines += [f"{node} {_plain(x)} {_plain(y)}" for node, (x, y) in enumerate(instance.coordinates, 1)]
    lines.append("DEMAND_SECTION")
    lines += [f"{node} {_plain(demand)}" for node, demand in enumerate(instance.demands, 1)]
    return "\n".join([*lines, "DEPOT_SECTION", "1", "-1", "EOF"]) + "\n"
