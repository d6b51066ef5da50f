"""VRPLIB's format of instances, read and written: TSPLIB's lines and sections, with demands and a capacity.

What else there is to a fleet and its customers is as in PyVRP's dialect of the format.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from neuralns.errors import InputError
from neuralns.problem.distances import ROUNDINGS, TSPLIB_DISTANCES, Floats, Rounding, rounding_named
from neuralns.problem.fleet import Depot
from neuralns.problem.formats.li_lim import Half, paired, partner
from neuralns.problem.formats.text import (
    FilePath,
    Row,
    Unsupported,
    check_demands,
    check_rows,
    check_service,
    check_windows,
    finite,
    naming,
    numbers,
    parts_ignored,
    plain,
    published_rounding,
    refuse_unsupported,
    vehicle_number,
)
from neuralns.problem.formats.vrplib_fleet import VEHICLE_SECTIONS, Section, Specification, limit_of, read_fleet, read_groups
from neuralns.problem.instance import MATRIX_LIMIT, PARTS, Instance

SAID_IN_COMMENT = re.compile(rf"rounding ({'|'.join(ROUNDINGS)}), vehicle cost (\d+(?:\.\d+)?(?:e[+-]\d+)?)", re.ASCII)
"""The comment in which VRPLIB files that we write keep what the format has no line for."""

TYPES = (
    *("CVRP", "ACVRP", "DCVRP", "VRPTW", "CVRPTW", "TSP", "ATSP", "HFVRP", "HFVRPTW", "MDVRP", "MDVRPTW"),
    *("PCVRP", "PCVRPTW", "VRPB", "VRPBTW", "VRPMPD", "VRPMPDTW", "VRPSPD", "VRPSPDTW", "SDVRP", "SDVRPTW", "GVRP"),
    "PDPTW",
)
WEIGHT_TYPES = ("EUC_2D", "FLOOR_2D", *TSPLIB_DISTANCES, "EXPLICIT")
NEEDED_KEYS = frozenset(("DIMENSION", "CAPACITY", "EDGE_WEIGHT_TYPE", "EDGE_WEIGHT_FORMAT"))
NEEDED_SECTIONS = frozenset(("NODE_COORD", "DEMAND", "LINEHAUL", "DEPOT", "EDGE_WEIGHT", "CAPACITY", "VEHICLES_DEPOT"))
RULE_KEYS = frozenset((
    *("VEHICLES", "VEHICLES_MAX_DURATION", "VEHICLES_MAX_DISTANCE", "VEHICLES_FIXED_COST"),
    *("VEHICLES_UNIT_DISTANCE_COST", "DISTANCE", "SERVICE_TIME", "RELEASE_TIME"),
))  # fmt: skip
RULE_SECTIONS = frozenset((
    *("TIME_WINDOW", "SERVICE_TIME", "RELEASE_TIME", "BACKHAUL", "PRIZE", "MUTUALLY_EXCLUSIVE_GROUP"),
    *(VEHICLE_SECTIONS.keys() - NEEDED_SECTIONS),
))  # fmt: skip
"""Keys and sections that are honoured; rules may be ignored, and what every file needs may not."""
WITHOUT_MEANING = frozenset(("NAME", "COMMENT", "TYPE", "NODE_COORD_TYPE", "DISPLAY_DATA_TYPE", "DISPLAY_DATA"))
"""Keys and sections that change nothing about the problem; a type that is not known is refused on its own."""
REQUESTS = "PICKUP_AND_DELIVERY"
"""The section of shipments, with the windows and services of their halves; the one of files of type PDPTW."""


def read_vrplib(path: FilePath, text: str, ignore: Collection[str] = ()) -> Instance:
    """Read VRPLIB text; every refusal of a line names its number.

    What would change the problem and is not supported is refused, unless ``ignore`` names it; rules that it names are
    left out, and so are ``windows`` and ``vehicles`` (see `Instance.without`).
    """
    dropped = {key.upper().removesuffix("_SECTION") for key in ignore}
    specifications, found = _scan(path, text)
    for key in dropped:
        if key in RULE_KEYS:
            specifications.pop(key, None)
        if key in RULE_SECTIONS:
            found.pop(key, None)

    def needed(key: str) -> Specification:
        if key not in specifications:
            raise InputError(f"{path}: line '{key} : ...' is missing.")
        return specifications[key]

    def optional(key: str, value: str) -> Specification:
        return specifications.get(key, Specification(0, value))

    for key in sorted(dropped & (NEEDED_KEYS & specifications.keys() | NEEDED_SECTIONS & found.keys())):
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
    refuse_unsupported(path, _unsupported(specifications, found), dropped)
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
        check_demands(path, amounts, 1)
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

    ignored = parts_ignored(ignore)
    rules = _rules(path, specifications, found, order, ignored)
    if one_tour and "vehicles" not in ignored:
        rules["vehicles"] = 1
    if problem.endswith("TW") and "TIME_WINDOW" not in found and not dropped & {"TYPE", "TIME_WINDOW", "WINDOWS"}:
        raise InputError(f"{path}: section TIME_WINDOW_SECTION is missing.")
    name = " ".join(optional("NAME", "").value.split()) or Path(path).stem
    # TSPLIB defines EUC_2D as rounded; files of vehicle routing do not always mean that.
    whole = one_tour and weight_type == "EUC_2D"
    rounding: Rounding = "round" if whole else published_rounding(name, "windows" in rules)
    vehicle_cost = 0.0
    if said := SAID_IN_COMMENT.fullmatch(optional("COMMENT", "").value):
        rounding, vehicle_cost = rounding_named(said[1]), float(said[2])
        if rounding == "dimacs" and "windows" in ignored and "TIME_WINDOW" in found:
            rounding = "none"
    if weight_type == "FLOOR_2D":
        rounding = "trunc"
    with naming(path):
        return Instance(name, demands, capacity, points, matrix, rounding, vehicle_cost, **rules)


def vrplib_text(instance: Instance) -> str:
    """Return the text of a VRPLIB file; what the format has no place for is refused."""
    for what in _homeless(instance):
        raise InputError(f"{instance.name}: VRPLIB's format has no place for {what}; write a .json file instead.")
    said = f"rounding {instance.rounding}, vehicle cost {plain(instance.vehicle_cost)}"
    kind = "CVRP" if instance.windows is None else "CVRPTW"
    lines = [f"NAME : {instance.name}", f"COMMENT : {said}", f"TYPE : {kind}", f"DIMENSION : {len(instance.demands)}"]
    lines.append(f"CAPACITY : {plain(instance.capacity)}")
    for field, key in FLEET_KEYS.items():
        if (limit := getattr(instance, field)) is not None:
            lines.append(f"{key} : {plain(limit)}")
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
    if instance.windows is not None:
        lines.append("TIME_WINDOW_SECTION")
        lines += [f"{node} {plain(opens)} {plain(closes)}" for node, (opens, closes) in enumerate(instance.windows, 1)]
    if instance.service is not None:
        lines.append("SERVICE_TIME_SECTION")
        lines += [f"{node} {plain(time)}" for node, time in enumerate(instance.service, 1)]
    return "\n".join([*lines, "DEPOT_SECTION", "1", "-1", "EOF"]) + "\n"


def _homeless(instance: Instance) -> list[str]:
    """Return what an instance holds that VRPLIB's format cannot."""
    asked = {
        "travel times apart from distances": instance.durations is not None,
        "windows without an end": bool(np.isinf(instance.latest).any()) and instance.windows is not None,
        "a cost of distance": instance.distance_cost != 1.0,
        "a cost of duration": instance.duration_cost != 0.0,
        "names of customers": instance.names is not None,
    }
    return [what for what, there in asked.items() if there]


def _unsupported(specifications: dict[str, Specification], sections: dict[str, Section]) -> list[Unsupported]:
    """Return the keys and sections that may change the problem and that are not read, by line."""
    keys, names = NEEDED_KEYS | RULE_KEYS | WITHOUT_MEANING, NEEDED_SECTIONS | RULE_SECTIONS | WITHOUT_MEANING
    found = [Unsupported(given.line, key, key) for key, given in specifications.items() if key not in keys]
    found += [Unsupported(at.line, f"{name}_SECTION", name) for name, at in sections.items() if name not in names]
    return sorted(found)


def _rules(
    path: FilePath,
    specifications: dict[str, Specification],
    sections: dict[str, Section],
    order: Sequence[int],
    ignored: Collection[str],
) -> dict[str, Any]:
    """Return the rules beside capacity, as an `Instance` takes them, but for the parts that are ignored."""
    left_out = {field for part in ignored for field in PARTS[part]}
    rules: dict[str, Any] = {}

    def column(name: str, width: int) -> list[Row]:
        check_rows(path, f"{name}_SECTION", sections[name].rows, len(order), width, first_id=1)
        return [sections[name].rows[node] for node in order]

    if "TIME_WINDOW" in sections and "windows" not in left_out:
        table = column("TIME_WINDOW", 3)
        check_windows(path, table, 1)
        rules["windows"] = [[float(opens), float(closes)] for _, (_, opens, closes) in table]
    served = "SERVICE_TIME" in sections or "SERVICE_TIME" in specifications
    if served and "service" not in left_out:
        if "SERVICE_TIME" in specifications:
            given = specifications["SERVICE_TIME"]
            if "SERVICE_TIME" in sections:
                raise InputError(f"{path}, line {sections['SERVICE_TIME'].line}: service times are given twice.")
            rules["service"] = [0.0] + [_limit(path, "SERVICE_TIME", given)] * (len(order) - 1)
        else:
            table = column("SERVICE_TIME", 2)
            check_service(path, table, 1)
            rules["service"] = [float(time) for _, (_, time) in table]
    if "VEHICLES" in specifications and "vehicles" not in left_out:
        fleet = specifications["VEHICLES"]
        rules["vehicles"] = vehicle_number(path, fleet.line, fleet.value)
    limits = [("max_duration", "VEHICLES_MAX_DURATION"), ("max_distance", "VEHICLES_MAX_DISTANCE")]
    # Christofides, Mingozzi and Toth's DISTANCE counts service times as well.
    limits.append(("max_duration" if served else "max_distance", "DISTANCE"))
    for field, key in limits:
        if key in specifications and field not in left_out:
            limit = _limit(path, key, specifications[key])
            rules[field] = min(limit, rules.get(field, limit))
    return rules


def _limit(path: FilePath, key: str, given: Specification) -> float:
    value = finite(path, given.line, given.value)
    if value < 0:
        raise InputError(f"{path}, line {given.line}: {key} {value:.10g} must not be negative.")
    return value


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
