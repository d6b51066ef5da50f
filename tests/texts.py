"""Small files of every format that is read, all of the same shape: three customers and two routes."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np

from neuralns import Instance, Solution
from neuralns.problem.formats.own_json import instance_to_json, solution_to_json

EUCLIDEAN = """NAME : tiny
COMMENT : three customers
TYPE : CVRP
DIMENSION : 4
EDGE_WEIGHT_TYPE : EUC_2D
CAPACITY : 10
NODE_COORD_SECTION
1 0 0
2 3 4
3 6 8
4 0 5.5
DEMAND_SECTION
1 0
2 4
3 5
4 6
DEPOT_SECTION
1
-1
EOF
"""
EXPLICIT = """NAME : tiny
TYPE : CVRP
DIMENSION : 4
EDGE_WEIGHT_TYPE : EXPLICIT
EDGE_WEIGHT_FORMAT : LOWER_ROW
CAPACITY : 10
EDGE_WEIGHT_SECTION
5
10 5
6 4 7
DEMAND_SECTION
1 0
2 4
3 5
4 6
DEPOT_SECTION
1
-1
EOF
"""
SOLOMON = """R104

VEHICLE
NUMBER     CAPACITY
  25         200

CUSTOMER
CUST NO.  XCOORD.   YCOORD.    DEMAND   READY TIME  DUE DATE   SERVICE   TIME

    0      35         35          0          0       230          0
    1      41         49         10          0       204         10
    2      35.5       17          7          0       202         10
    3      55         45         13.25       0       197         10
"""
TIMED = """NAME : timed
TYPE : CVRPTW
DIMENSION : 4
VEHICLES : 2
CAPACITY : 10
SERVICE_TIME : 5
EDGE_WEIGHT_TYPE : EUC_2D
NODE_COORD_SECTION
1 0 0
2 3 4
3 6 8
4 0 5.5
DEMAND_SECTION
1 0
2 4
3 5
4 6
TIME_WINDOW_SECTION
1 0 100
2 10 20.5
3 0 60
4 30 90
DEPOT_SECTION
1
-1
EOF
"""
WITHOUT_TIMES = re.sub(r"( +\d+){3}$", "  0  0  0", SOLOMON, flags=re.MULTILINE)
POINTS = [[0.0, 0.0], [3.0, 4.0], [6.0, 8.0], [0.0, 5.5]]
TINY = Instance("tiny", [0, 4, 5, 6], 10, POINTS, vehicle_cost=2.5, best_known=40)
FULL = Instance(
    "full",
    [0, 4, 5, 60],
    10,
    POINTS,
    rounding="dimacs",
    vehicle_cost=2.5,
    windows=[[0.0, 100.0], [10.0, 20.5], [-3.0, 60.0], [30.0, 90.0]],
    service=[0, 5, 1 / 3, 0],
    vehicles=2,
    max_duration=80,
    max_distance=70.5,
)
NAMED = replace(
    FULL, names=("depot", "Ada", "Ben", "Cleo"), durations=np.ones((4, 4)), distance_cost=0.5, duration_cost=2.0
)
SERVED = Solution(TINY, [[1, 2], [3]])
INSTANCES = {
    "vrplib": EUCLIDEAN,
    "explicit": EXPLICIT,
    "solomon": WITHOUT_TIMES,
    "solomon-windows": SOLOMON,
    "vrplib-windows": TIMED,
    "json": json.dumps(instance_to_json(TINY), indent=1),
    "json-windows": json.dumps(instance_to_json(NAMED), indent=1),
}
SOLUTIONS = {
    "sol": "Route #1: 1 2\nRoute #2: 3\nCost 36\n",
    "json": json.dumps(solution_to_json(SERVED), indent=1),
}


def written(folder: Path, text: str, name: str = "tiny.vrp") -> Path:
    """Write a text into a folder and return the file."""
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def assert_same(one: Instance, other: Instance) -> None:
    """Two instances hold the same, number by number."""
    assert (one.name, one.capacity, one.rounding) == (other.name, other.capacity, other.rounding)
    for field in (
        "vehicle_cost",
        "vehicles",
        "max_duration",
        "max_distance",
        "distance_cost",
        "duration_cost",
        "names",
    ):
        assert getattr(one, field) == getattr(other, field), field
    for field in ("demands", "coordinates", "matrix", "windows", "service", "durations"):
        mine, theirs = getattr(one, field), getattr(other, field)
        assert (mine is None) == (theirs is None), field
        if mine is not None:
            np.testing.assert_array_equal(mine, theirs, field)
