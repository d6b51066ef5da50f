"""VRPLIB's format of instances, read: TSPLIB's lines and sections, with demands and a capacity.

What else there is to a fleet and its customers is as in PyVRP's dialect of the format.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from neuralns.errors import AdvisedError, InputError
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
    published_rounding,
    refuse_unsupported,
    vehicle_number,
)
from neuralns.problem.formats.vrplib_fleet import (
    VEHICLE_SECTIONS,
    Nodes,
    Section,
    Specification,
    limit_of,
    read_fleet,
    read_groups,
)
from neuralns.problem.instance import MATRIX_LIMIT, PARTS, Instance

SAID_IN_COMMENT = re.compile(rf"rounding ({'|'.join(ROUNDINGS)}), vehicle cost (\d+(?:\.\d+)?(?:e[+-]\d+)?)", re.ASCII)
"""The comment in which VRPLIB files that we write keep what the format has no line for."""

REQUESTS = "PICKUP_AND_DELIVERY"
"""The section of shipments, with the windows and services of their halves; the one of files of type PDPTW."""
TYPES = (
    *("CVRP", "ACVRP", "DCVRP", "VRPTW", "CVRPTW", "TSP", "ATSP", "HFVRP", "HFVRPTW", "MDVRP", "MDVRPTW", "PCVRP"),
    *("PCVRPTW", "VRPB", "VRPBTW", "VRPMPD", "VRPMPDTW", "VRPSPD", "VRPSPDTW", "SDVRPTW", "GVRP", "PDPTW"),
)
EXPECTED = {"MDVRP": "VEHICLES_DEPOT", "VRPB": "BACKHAUL", "SDVRPTW": "VEHICLES_ALLOWED_CLIENTS"}
EXPECTED |= {f"{variant}TW": section for variant, section in EXPECTED.items() if not variant.endswith("TW")}
EXPECTED |= {"PDPTW": REQUESTS, "GVRP": "MUTUALLY_EXCLUSIVE_GROUP"}
"""Sections without which files of a type say too little; those of windows are expected by the type's end, TW."""
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
    stated_type = optional("TYPE", "CVRP")
    problem = stated_type.value.upper()
    if problem not in TYPES:
        if "TYPE" not in dropped:
            fault = (
                f"{path}, line {stated_type.line}: problem type {problem!r} is not supported, only {', '.join(TYPES)}"
            )
            raise AdvisedError(fault, "--ignore TYPE reads it as a CVRP", ("TYPE",))
        problem = "CVRP"
    dimension = _whole(path, "DIMENSION", needed("DIMENSION"))
    refuse_unsupported(path, _unsupported(specifications, found, problem), dropped)
    if problem != "PDPTW":
        found.pop(REQUESTS, None)
    if "LINEHAUL" in found:
        if "DEMAND" in found:
            raise InputError(f"{path}, line {found['LINEHAUL'].line}: LINEHAUL_SECTION beside DEMAND_SECTION.")
        found["DEMAND"] = found.pop("LINEHAUL")
    for key in sorted(specifications.keys() & found.keys()):
        raise InputError(f"{path}, line {found[key].line}: {key} is given twice.")
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
    has_demands = "DEMAND" in sections or not (one_tour or REQUESTS in sections)
    for name, width, there in (("DEMAND", _width(sections.get("DEMAND")), has_demands), ("NODE_COORD", 3, has_points)):
        if there and name not in sections:
            raise InputError(f"{path}: section {name}_SECTION is missing.")
        if there:
            check_rows(path, f"{name}_SECTION", sections[name], dimension, width, first_id=1)
    depots = _depots(path, sections.get("DEPOT", []), dimension)
    # The first depot becomes node 0, and others the last nodes; the customers keep the order of the file.
    customers = sorted(set(range(dimension)) - set(depots))
    order = [depots[0], *customers, *depots[1:]]
    nodes = Nodes(order, len(depots))

    capacity: float | None = None
    if "CAPACITY" in specifications or not (one_tour or "CAPACITY" in sections):
        load = needed("CAPACITY")
        capacity = finite(path, load.line, load.value)
        if capacity <= 0:
            raise InputError(f"{path}, line {load.line}: capacity {load.value} must be above 0.")
    elif "CAPACITY" not in sections:
        capacity = 1.0
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
    rules = _rules(path, specifications, found, nodes, ignored)
    if problem.startswith("VRPB") and "BACKHAUL" in found:
        rules["backhauls"] = True
    if one_tour and "vehicles" not in ignored:
        rules["vehicles"] = 1
    if "TYPE" not in dropped:
        expected = {EXPECTED[problem]} if problem in EXPECTED else set()
        if problem.endswith("TW") and problem != "PDPTW" and "windows" not in ignored:
            expected.add("TIME_WINDOW")
        for section in sorted(expected - found.keys() - dropped):
            raise InputError(f"{path}: section {section}_SECTION is missing.")
    name = " ".join(optional("NAME", "").value.split()) or Path(path).stem
    # TSPLIB defines EUC_2D as rounded; files of vehicle routing do not always mean that.
    whole = one_tour and weight_type == "EUC_2D"
    rounding: Rounding = "round" if whole else published_rounding(name, "windows" in rules)
    if said := SAID_IN_COMMENT.fullmatch(optional("COMMENT", "").value):
        rounding = rounding_named(said[1])
        rules.setdefault("vehicle_cost", float(said[2]))
        if rounding == "dimacs" and "windows" in ignored and "TIME_WINDOW" in found:
            rounding = "none"
    if weight_type == "FLOOR_2D":
        rounding = "trunc"
    if len(depots) > 1:
        if "VEHICLES_DEPOT" not in found:
            raise InputError(
                f"{path}, line {found['DEPOT'].line}: {len(depots)} depots, but no VEHICLES_DEPOT_SECTION says which "
                "vehicle belongs where."
            )
        rules["depots"] = [Depot()] * len(depots)
    if found.keys() & VEHICLE_SECTIONS.keys():
        rules |= _fleet(path, specifications, found, nodes, rules, capacity, ignored)
        capacity = None
    with naming(path):
        return Instance(name, capacity=capacity, coordinates=points, matrix=matrix, rounding=rounding, **rules)


def _fleet(
    path: FilePath,
    specifications: Mapping[str, Specification],
    found: Mapping[str, Section],
    nodes: Nodes,
    rules: dict[str, Any],
    capacity: float | None,
    ignored: Collection[str],
) -> dict[str, Any]:
    """Return the types of vehicles, and what customers need of them; what is said of all vehicles goes over to them."""
    names = {"vehicle_cost": "fixed_cost"} | {name: name for name in ("distance_cost", "max_distance", "max_duration")}
    usual = {name: rules.pop(rule) for rule, name in names.items() if rule in rules}
    if capacity is not None:
        usual["capacity"] = (capacity,)
    rules.pop("vehicles", None)
    given = specifications.get("VEHICLES")
    number = None if given is None else vehicle_number(path, given.line, given.value)
    fleet, needs = read_fleet(path, found, usual, number, nodes)
    if "windows" in ignored:
        fleet = [replace(vehicle_type, max_duration=None) for vehicle_type in fleet]
    if ignored:
        fleet = [replace(vehicle_type, available=None) for vehicle_type in fleet]
    return {"fleet": fleet, "skills": needs or None}


def _unsupported(
    specifications: Mapping[str, Specification], sections: Mapping[str, Section], problem: str
) -> list[Unsupported]:
    """Return the keys and sections that may change the problem and that are not read, by line."""
    keys, names = NEEDED_KEYS | RULE_KEYS | WITHOUT_MEANING, NEEDED_SECTIONS | RULE_SECTIONS | WITHOUT_MEANING
    # Elsewhere that section's columns mean other things.
    names |= {REQUESTS} if problem == "PDPTW" else set()
    found = [Unsupported(given.line, key, key) for key, given in specifications.items() if key not in keys]
    found += [Unsupported(at.line, f"{name}_SECTION", name) for name, at in sections.items() if name not in names]
    return sorted(found)


def _rules(
    path: FilePath,
    specifications: Mapping[str, Specification],
    sections: Mapping[str, Section],
    nodes: Nodes,
    ignored: Collection[str],
) -> dict[str, Any]:
    """Return what a file says beside capacity, as an `Instance` takes it, but for the parts that are ignored."""
    left_out = {field for part in ignored for field in PARTS[part]}
    rules: dict[str, Any] = {}
    order, depots = nodes.order, nodes.depot_count

    def column(name: str, width: int) -> list[Row]:
        check_rows(path, f"{name}_SECTION", sections[name].rows, len(order), width, first_id=1)
        return [sections[name].rows[node] for node in order]

    def each(name: str, what: str) -> list[float] | None:
        """Numbers by node, of a section or of a line for all customers."""
        if name in sections:
            table = column(name, 2)
            for line, (node, value) in table:
                if float(value) < 0:
                    raise InputError(f"{path}, line {line}: {what} {value} of node {node} is negative.")
            return [float(words[1]) for _, words in table]
        if name in specifications:
            alone = limit_of(path, name, specifications[name])
            return [0.0, *[alone] * (len(order) - depots), *[0.0] * (depots - 1)]
        return None

    amounts: dict[str, list[list[float]]] = {}
    for field, name in (("deliveries", "DEMAND"), ("pickups", "BACKHAUL")):
        if name in sections:
            width = _width(sections[name].rows)
            table = column(name, width)
            check_demands(path, table, 1, depots, width - 1)
            amounts[field] = [[float(word) for word in words[1:]] for _, words in table]
    if amounts.keys() == {"deliveries"} and len(amounts["deliveries"][0]) == 1:
        rules["demands"] = [amount for (amount,) in amounts["deliveries"]]
    elif amounts:
        rules |= amounts
    elif REQUESTS not in sections:
        rules["demands"] = [0.0] * len(order)
    if "TIME_WINDOW" in sections and "windows" not in left_out:
        table = column("TIME_WINDOW", 3)
        check_windows(path, table, 1, depots)
        rules["windows"] = [[float(opens), float(closes)] for _, (_, opens, closes) in table]
    served = "SERVICE_TIME" in sections or "SERVICE_TIME" in specifications
    if served and "service" not in left_out:
        if "SERVICE_TIME" in sections:
            check_service(path, column("SERVICE_TIME", 2), 1, depots)
        rules["service"] = each("SERVICE_TIME", "service time")
    if "release" not in left_out and (release := each("RELEASE_TIME", "release time")) is not None:
        rules["release"] = release
    if (prizes := each("PRIZE", "prize")) is not None:
        rules["prizes"] = [prize or np.inf for prize in prizes]
    if REQUESTS in sections:
        rules |= _shipments(path, column(REQUESTS, 7), nodes, left_out)
    if "MUTUALLY_EXCLUSIVE_GROUP" in sections:
        rules["groups"] = read_groups(path, sections["MUTUALLY_EXCLUSIVE_GROUP"], nodes)
    if "VEHICLES" in specifications and "vehicles" not in left_out:
        fleet = specifications["VEHICLES"]
        rules["vehicles"] = vehicle_number(path, fleet.line, fleet.value)
    limits = [("max_duration", "VEHICLES_MAX_DURATION"), ("max_distance", "VEHICLES_MAX_DISTANCE")]
    # Christofides, Mingozzi and Toth's DISTANCE counts service times as well.
    limits.append(("max_duration" if served else "max_distance", "DISTANCE"))
    for field, key in limits:
        if key in specifications and field not in left_out:
            limit = limit_of(path, key, specifications[key])
            rules[field] = min(limit, rules.get(field, limit))
    for field, key in (("vehicle_cost", "VEHICLES_FIXED_COST"), ("distance_cost", "VEHICLES_UNIT_DISTANCE_COST")):
        if key in specifications:
            rules[field] = limit_of(path, key, specifications[key])
    return rules


def _shipments(path: FilePath, table: Sequence[Row], nodes: Nodes, left_out: Collection[str]) -> dict[str, Any]:
    """Return the shipments, and the windows and services of their halves."""
    halves = [
        Half(line, index + 1, float(words[1]), *(partner(path, line, word) for word in words[5:]))
        for index, (line, words) in zip(nodes.order, table, strict=True)
    ]
    customers = {number: node for number, node in nodes.by_number.items() if node in nodes.customers}
    found: dict[str, Any] = {"shipments": paired(path, halves, customers)}
    if "windows" not in left_out:
        check_windows(path, table, 2, nodes.depot_count)
        check_service(path, table, 4, nodes.depot_count)
        found["windows"] = [[float(words[2]), float(words[3])] for _, words in table]
        found["service"] = [float(words[4]) for _, words in table]
    return found


def _width(table: Sequence[Row] | None) -> int:
    """Return how many numbers the rows of a table of amounts have: the node's, and one for each dimension."""
    return max(2, len(table[0][1])) if table else 2


def _depots(path: FilePath, table: Sequence[Row], nodes: int) -> list[int]:
    """Return the indices of the depots among the nodes of the file: the first node unless a section names others."""
    words = [word for _, row in table for word in row]
    if words[-1:] == ["-1"]:
        words.pop()
    indices: dict[int, None] = {}
    for word in words:
        if not re.fullmatch(r"\d{1,9}", word, re.ASCII) or not 1 <= int(word) <= nodes:
            raise InputError(f"{path}, line {table[0][0]}: depot {word[:60]!r} must be a node from 1 to {nodes}.")
        if int(word) - 1 in indices:
            raise InputError(f"{path}, line {table[0][0]}: depot {word[:60]!r} is named twice.")
        indices[int(word) - 1] = None
    return list(indices) or [0]


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
