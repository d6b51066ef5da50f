"""Whole files of the forms that `texts` has not: tables, VROOM's problems and answers, settings and journals."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

import texts
from neuralns import Instance, make_portfolio, read_spreadsheet
from neuralns.experiments.batch import BatchRow
from neuralns.experiments.comparison import Point, SelectorRun
from neuralns.experiments.controllers import Group, log_of
from neuralns.experiments.jobs import Done, Job, JobStore
from neuralns.experiments.solver_runs import SolverRun
from neuralns.experiments.store import Store, rows_text
from neuralns.experiments.tune import TuningRun
from neuralns.problem.formats.own_json import instance_to_json
from neuralns.problem.formats.route_table import route_table_text
from neuralns.problem.formats.vroom import read_vroom
from neuralns.problem.formats.vroom_output import vroom_answer_text
from neuralns.problem.solution import Solution
from neuralns.selection.dials import Dials
from neuralns.selection.instance_features import INSTANCE_FEATURES
from neuralns.selection.search_features import SEARCH_FEATURES
from neuralns.selection.staged import STAGES

PLAIN_STOPS = """name;x;y;demand;vehicles;capacity
depot;0;0;;2;10
A;3;4;4;;
B;6;8,5;5;;
"""
STOPS = """name,type,lat,lon,delivery,pickup,delivery 2,windows,service,release,skills,prize,group,stock,stock 2,note
North,depot,52.52,13.40,,,,06:00-20:00,,,,,,90,40,
South,depot,52.40,13.30,,,,06:00-20:00,,,,,,,,
Bakery,,52.53,13.42,4,1,2,"8:00-10:00, 14:00-16:00",10,07:00,,,,,,ring twice
School,,52.48,13.45,5,,1,9:00-12:00,00:15,,crane,,,,,
Farm,,52.59,13.31,2,,,,20,,,40,,,,
Mill,,52.45,13.39,2,,,,5,,,,either,,,
Kiosk,,52.46,13.38,1,,,,5,,,,either,,,
"""
SHIPPED_STOPS = """name\ttype\tx\ty\tamount\tearliest\tlatest\tservice\tshipment
base\tdepot\t0\t0\t\t0\t600\t\t
Attic\tpickup\t5\t3\t3\t10\t300\t10\tpiano
Salon\tdelivery\t3\t6\t\t60\t500\t10\tpiano
Shop\tdelivery\t1\t8\t2,5\t\t\t5\t
"""
VEHICLES = """name,vehicles,capacity,capacity 2,depot,earliest,latest,max_km,max_stops,cost,cost per km,speed,skills
van,2,10,5,North,07:00,18:00,120,8,20,1,,
truck,any,30,12,South,,,,,60,1.5,30,crane
"""
MINUTES = """,depot,A,B
depot,0,5,10.5
A,5,0,6
B,11,6,0
"""
VROOM = {
    "vehicles": [
        {"id": 1, "start_index": 0, "end_index": 0, "capacity": [3], "skills": [7], "time_window": [28800, 43200]},
        {"id": 2, "start_index": 0, "capacity": [3], "costs": {"fixed": 600, "per_hour": 1800}, "max_tasks": 4},
    ],
    "jobs": [
        {
            "id": 11,
            "location_index": 1,
            "delivery": [1],
            "setup": 120,
            "service": 300,
            "time_windows": [[32400, 36000]],
        },
        {"id": 12, "location_index": 2, "delivery": [2], "service": 300, "skills": [7], "priority": 5},
        {"id": 13, "location_index": 3, "pickup": [1], "service": 300, "description": "ring twice"},
    ],
    "shipments": [
        {
            "amount": [2],
            "pickup": {"id": 21, "location_index": 3},
            "delivery": {"id": 21, "location_index": 2, "service": 60},
        }
    ],
    "matrices": {
        "car": {"durations": [[0, 2104, 197, 1299], [2103, 0, 2255, 3152], [197, 2256, 0, 1102], [1299, 3153, 1102, 0]]}
    },
}
PLACED_VROOM = {
    "vehicles": [{"id": 1, "start": [2.35, 48.86], "end": [2.35, 48.86], "speed_factor": 1.5, "capacity": [4]}],
    "jobs": [{"id": 1, "location": [2.37, 48.85], "amount": [1]}, {"id": 2, "location": [2.29, 48.86]}],
}
VROOM_PROBLEM = read_vroom(VROOM)
VROOM_ANSWER = vroom_answer_text(VROOM_PROBLEM, Solution(VROOM_PROBLEM.instance, [[1, 2]], [0]))
ROUTE_TABLES = {"table": route_table_text(texts.SERVED), "fleet-table": route_table_text(texts.DRIVEN)}
SOLVED = {
    # A matrix that is not symmetric, and a fleet that names no depot: forms of JSON that `texts` leaves out.
    "json-matrix": json.dumps(
        {
            **{key: value for key, value in instance_to_json(texts.FULL).items() if key != "coordinates"},
            "matrix": [[0, 3, 9, 4], [2.5, 0, 7, 8], [9, 6, 0, 5], [4, 8, 5.5, 0]],
        },
        indent=1,
    ),
}

PORTFOLIO = make_portfolio("own", ["random-node", "zone", "greedy"])
SETTING = json.dumps(
    {
        "portfolio": "own",
        "operators": list(PORTFOLIO.names),
        "dials": {Dials(PORTFOLIO).names[0]: 0.5, Dials(PORTFOLIO).names[-1]: -1.25},
        "card": {"instances": ["tiny"], "time": 1.0, "seed": 3},
    },
    indent=2,
)

# --- Journals: files to which runs add rows, and from which they go on. -----------------------------------------------

TABLES: dict[str, tuple[type, list[Any]]] = {
    "solver": (
        SolverRun,
        [SolverRun("tiny", 3, "neuralns", 10.0, seed, 36.5, 40.0, -8.75, 2, True, 10.25) for seed in (1, 2)],
    ),
    "compare": (
        SelectorRun,
        [SelectorRun("tiny", 3, "ucb", "1 s", seed, 50.0, 36.5, 1000, 1.0, 0.01) for seed in (1, 2)],
    ),
    "curves": (Point, [Point("tiny", "ucb", "1 s", 1, 0.5, 10 * number, 36.5) for number in (1, 2)]),
    "batch": (
        BatchRow,
        [
            BatchRow("a.vrp", "a", 3, 36.5, None, None, 2, 0, 0, 100, 1.0, "time", "none", "time=1", "", "0a1b"),
            BatchRow("b,\n.vrp", "", None, None, None, None, None, None, None, None, None, "", "", "", "no, file.", ""),
        ],
    ),
    "tune": (
        TuningRun,
        [TuningRun("halving", "0", "tiny", seed, 36.5, 0, 1000, 1.0, '{"a": 1}', "0a1b") for seed in (1, 2)],
    ),
}
"""Rows of each kind of table that runs add to."""
JOBS_CONDITIONS = {"quick": True}


def table_text(kind: str) -> str:
    """The text of a table with rows of a kind."""
    return rows_text(TABLES[kind][1])


def jobs_text() -> str:
    """The text of a journal of jobs."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "jobs")
        with JobStore(path, JOBS_CONDITIONS) as journal:
            for number in range(2):
                journal.add(Job("solve", {"seed": number}), Done({"cost": 3.5, "routes": [1, None, "a"]}, 0.5, 0.4))
            journal.add_call({"machine": "m", "cores": 2})
        return path.read_text(encoding="utf-8")


def controller_log(path: Path) -> Store[Any]:
    """The journal of a training of a controller."""
    return log_of(path, PORTFOLIO, 1.0, 1, "tiny")


def controller_row() -> dict[str, Any]:
    """A row of that journal."""
    width = len(Dials(PORTFOLIO).names)
    rows, search_features = np.zeros((1, len(STAGES), width)), np.zeros((1, len(STAGES), len(SEARCH_FEATURES)))
    features, searched = [0.5] * len(INSTANCE_FEATURES), search_features.tolist()
    centre = [0.0] * width
    return Group(0, "vrptw", 100, 1.0, features, centre, 10.0, False, rows.tolist(), searched, [9.5]).row


def _controller_text() -> str:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "log")
        with controller_log(path) as journal:
            journal.add(controller_row(), controller_row())
        return path.read_text(encoding="utf-8")


CONTROLLER_TEXT = _controller_text()


def spread(folder: Path) -> Instance:
    """Read the stops, vehicles and minutes of a folder; those that are not there are left out."""
    vehicles, minutes = folder / "vehicles.csv", folder / "minutes.csv"
    return read_spreadsheet(
        folder / "stops.csv",
        vehicles if vehicles.exists() else None,
        matrix=minutes if minutes.exists() else None,
    )
