"""Small files of every format that is read, all of the same shape: three customers and two routes."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np

from neuralns import Instance, Solution
from neuralns.problem.fleet import Depot, Group, Profile, Shipment, VehicleType
from neuralns.problem.formats.own_json import instance_to_json, solution_to_json
from neuralns.problem.route_cost import balance_stops, overtime, tolls

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
LI_LIM = """2\t10\t1
0\t0\t0\t0\t0\t100\t0\t0\t0
1\t3\t4\t7.5\t10\t20\t5\t0\t3
2\t6\t8\t-2\t0\t60\t5\t4\t0
3\t0\t5.5\t-7.5\t30\t90\t0\t1\t0
4\t1\t1\t2\t0\t50\t5\t0\t2
"""
FLEET = """NAME : fleet
TYPE : MDVRPTW
DIMENSION : 5
VEHICLES : 3
SERVICE_TIME : 5
VEHICLES_MAX_DISTANCE : 80
EDGE_WEIGHT_TYPE : EUC_2D
NODE_COORD_SECTION
1 0 0
2 9 9
3 3 4
4 6 8
5 0 5.5
DEMAND_SECTION
1 0
2 0
3 4
4 0
5 2
BACKHAUL_SECTION
1 0
2 0
3 0
4 5
5 1.5
TIME_WINDOW_SECTION
1 0 100
2 10 90
3 10 20.5
4 0 60
5 30 90
RELEASE_TIME_SECTION
1 0
2 0
3 4
4 0
5 0
PRIZE_SECTION
1 0
2 0
3 0
4 12
5 7.5
MUTUALLY_EXCLUSIVE_GROUP_SECTION
1 3
2 4 5
CAPACITY_SECTION
1 10
2 6
3 10
VEHICLES_DEPOT_SECTION
1 1
2 2
3 1
VEHICLES_FIXED_COST_SECTION
1 100
2 50
3 100
VEHICLES_UNIT_DISTANCE_COST_SECTION
1 2
2 1.5
3 2
VEHICLES_MAX_DURATION_SECTION
1 90
2 70
3 90
VEHICLES_ALLOWED_CLIENTS_SECTION
1 3 4 5
2 4 5
3 3 4 5
DEPOT_SECTION
1
2
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
GENERAL = Instance(
    "general",
    coordinates=[*POINTS, [9.0, 9.0]],
    best_known=99,
    windows=[[0.0, 100.0], [10.0, 20.5], [0.0, 60.0], [30.0, np.inf], [5.0, 95.0]],
    service=[0, 5, 1 / 3, 0, 0],
    names=("north", "Ada", "Ben", "Cleo", "south"),
    fleet=[
        VehicleType((10, 2.5), 2, 100, 1.5, name="van", skills=["crane", "lift"], max_stops=2),
        VehicleType((6, 9), None, end=None, start=4, shift=(10, np.inf), max_distance=80, profile=1),
        VehicleType((8, 8), 1, end=4, start=None, shift=(-np.inf, 90.5)),
    ],
    depots=[Depot(), Depot((40, 50.5), 25)],
    deliveries=[[0.0, 0.0], [4.0, 1.0], [0.0, 0.0], [2.0, 1 / 3], [0.0, 0.0]],
    pickups=[[0, 0], [0, 0], [5, 0], [1, 1], [0, 0]],
    openings={2: [(0, 10), (20, 60)], 3: [(30, 40), (50, np.inf)]},
    release=[0, 4, 0, 0.5, 0],
    prizes=[np.inf, np.inf, 12, 7.5, np.inf],
    groups=[Group([2, 3], required=False, name="either")],
    skills={1: ["crane"], 3: ["lift", "crane"]},
    profiles=[Profile(np.ones((5, 5)), np.full((5, 5), 0.5), "slow"), Profile(np.ones((5, 5)))],
)
"""Nearly all that an instance can state; `SHIPPED` has the rest, which does not go together with it."""
SHIPPED = Instance(
    "shipped",
    capacity=10,
    coordinates=POINTS,
    vehicles=2,
    duration_cost=0.5,
    max_duration=90,
    deliveries=[0, 0, 3, 0],
    shipments=[Shipment(3, 1, 7.5)],
    route_costs=[overtime(after=60, cost=2), balance_stops(0.5), tolls([0.25])],
)
SERVED = Solution(TINY, [[1, 2], [3]])
DRIVEN = Solution(GENERAL, [[1], [3]], [0, 2])
INSTANCES = {
    "vrplib": EUCLIDEAN,
    "explicit": EXPLICIT,
    "solomon": WITHOUT_TIMES,
    "solomon-windows": SOLOMON,
    "vrplib-windows": TIMED,
    "json": json.dumps(instance_to_json(TINY), indent=1),
    "json-windows": json.dumps(instance_to_json(NAMED), indent=1),
    "li-lim": LI_LIM,
    "vrplib-fleet": FLEET,
    "json-fleet": json.dumps(instance_to_json(GENERAL), indent=1),
    "json-shipments": json.dumps(instance_to_json(SHIPPED), indent=1),
}
SOLUTIONS = {
    "sol": "Route #1: 1 2\nRoute #2: 3\nCost 36\n",
    "json": json.dumps(solution_to_json(SERVED), indent=1),
}
FLEET_SOLUTIONS = {
    "sol": "Route #1: 2\nRoute #2:\nRoute #3:\nRoute #4:\nRoute #5:\nRoute #6: 4\nCost 128.5\n",
    "json": json.dumps(solution_to_json(DRIVEN), indent=1),
}
"""Solutions of `GENERAL`, by vehicle: two of the first type, one for each customer of the second, one of the third."""


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
        "fleet",
        "depots",
        "openings",
        "groups",
        "skills",
        "shipments",
        "backhauls",
        "route_costs",
    ):
        assert getattr(one, field) == getattr(other, field), field
    arrays = ("demands", "coordinates", "matrix", "windows", "service", "durations", "deliveries", "pickups")
    pairs = [(field, getattr(one, field), getattr(other, field)) for field in (*arrays, "release", "prizes")]
    for mine, theirs in zip(one.profiles or (), other.profiles or (), strict=True):
        assert mine.name == theirs.name
        pairs += [(field, getattr(mine, field), getattr(theirs, field)) for field in ("matrix", "durations")]
    for field, first, second in pairs:
        assert (first is None) == (second is None), field
        if first is not None:
            np.testing.assert_array_equal(first, second, field)
