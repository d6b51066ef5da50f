"""Spreadsheets on the command line: solved, looked at and checked, with who is left out and why."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import neuralns.files
import neuralns.search.solve
from commands import invoke
from neuralns import InputError, Instance, MaxIterations, Result, Solution, read_solution, solve
from neuralns.problem.formats.spreadsheet import read_spreadsheet

STOPS = """name,x,y,demand,earliest,latest,service
depot,0,0,,08:00,17:00,
Bakery,30,40,4,08:30,10:00,10
School,60,80,5,,,00:15
Farm,0,55,6,09:00,16:00,
Quarry,0,10,60,,,
"""
WHY = "its demand 60 is above the capacity 10"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with stops and a fleet, in which commands run."""
    (tmp_path / "stops.csv").write_text(STOPS)
    (tmp_path / "fleet.csv").write_text("vehicles,capacity\n2,10\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def routes(monkeypatch: pytest.MonkeyPatch) -> list[list[int]]:
    """Routes that every search finds at once; a test may change them."""
    found: list[list[int]] = [[1, 2], [3]]

    def search(instance: Instance, *arguments: Any, objective: str = "distance", **options: Any) -> Result:
        best = Solution(instance.with_objective(objective), found)
        return replace(solve("E-n22-k4", MaxIterations(0)), best=best, initial=best)

    monkeypatch.setattr(neuralns.search.solve, "solve", search)
    return found


def test_stops_are_solved_and_their_times_written(folder: Path, routes: list[list[int]]) -> None:
    options = ("--vehicles", "fleet.csv", "--output", "routes.csv", "--plot-timetable", "day.png", "--quiet")
    outcome = invoke("solve", "stops.csv", *options)
    assert outcome.code == 0
    assert outcome.stderr.splitlines() == ["stops: 1 of 4 customers cannot be served:", f"  Quarry: {WHY}"]
    head, row, *rest = outcome.stdout.splitlines()
    assert head.split()[:5] == ["instance", "customers", "cost", "rounding", "objective"]
    assert row.split()[:5] == ["stops", "4", "310", "none", "distance"]
    assert [line.rstrip() for line in rest] == [
        "stops: 1 customer not served:",
        f"  Quarry: {WHY}",
        "routes written to routes.csv",
        "timetable written to day.png",
    ]
    assert (folder / "routes.csv").read_text().splitlines()[1:4] == [
        "1,0,depot,,08:00,9",
        "1,1,Bakery,08:50,09:00,5",
        "1,2,School,09:50,10:05,0",
    ]
    assert (folder / "day.png").read_bytes().startswith(b"\x89PNG")


def test_the_json_names_who_is_left_out_and_the_objective(folder: Path, routes: list[list[int]]) -> None:
    routes[:] = [[1, 2]]
    found = invoke("solve", "stops.csv", "--vehicles", 2, "--capacity", 10, "--objective", "duration", "--json").json
    assert found["unserved"] == [
        {"customer": 3, "name": "Farm", "reason": "no place was found for it on the routes of 2 vehicles"},
        {"customer": 4, "name": "Quarry", "reason": WHY},
    ]
    assert (found["objective"], found["cost"], found["feasible"]) == ("duration", 50 + 10 + 50 + 15 + 100, False)


def test_many_who_cannot_be_served_are_counted(folder: Path, routes: list[list[int]]) -> None:
    more = "".join(f"Quarry {number},0,10,60,,,\n" for number in range(1, 8))
    (folder / "stops.csv").write_text(STOPS + more)
    outcome = invoke("solve", "stops.csv", "--vehicles", "fleet.csv", "--quiet")
    assert outcome.stderr.splitlines() == [
        "stops: 8 of 11 customers cannot be served:",
        *(f"  Quarry{number}: {WHY}" for number in ("", " 1", " 2", " 3", " 4")),
        "  and 3 more",
    ]


def test_a_search_that_breaks_a_rule_gives_no_result(folder: Path, routes: list[list[int]]) -> None:
    routes[:] = [[2, 1], [3]]
    outcome = invoke("solve", "stops.csv", "--vehicles", "fleet.csv", "--output", "routes.csv", "--quiet")
    late = "route 1 reaches customer Bakery at 10:45, after its window, 08:30 to 10:00."
    assert (outcome.code, outcome.stderr.splitlines()[-1]) == (2, f"neuralns: stops: the search ended with {late}")
    assert not (folder / "routes.csv").exists()


def test_windows_can_be_ignored(folder: Path) -> None:
    (folder / "stops.csv").write_text(STOPS.replace("60,,,", "6,,,"))
    options = ("--capacity", 30, "--ignore", "windows", "--iterations", 50, "--quiet", "--json")
    found = invoke("solve", "stops.csv", *options).json
    assert (found["unserved"], sorted(customer for route in found["routes"] for customer in route)) == (
        [],
        [1, 2, 3, 4],
    )


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ("stops.csv", "stops.csv: demands are given, but no capacity; give --capacity, a table --vehicles with a "),
        ("stops.csv --capacity 1", f"stops: nobody can be served; of customer Bakery, {WHY.replace('60', '4')[:-2]}1."),
        ("stops.csv --vehicles none.csv", "none.csv: cannot be read (No such file or directory)."),
        ("none.csv --vehicles fleet.csv", "none.csv: cannot be read (No such file or directory)."),
        (
            "stops.csv --vehicles 0 --capacity 9",
            "stops.csv: stops: number of vehicles 0 must be a whole number above 0.",
        ),
        ("stops.csv --capacity -9", "stops.csv: stops: capacity -9 must be above 0."),
        ("stops.csv --capacity 9 --speed 0", "speed 0 must be a number of km/h above 0."),
        ("stops.csv --capacity 9 --matrix fleet.csv", "fleet.csv, row 2: the names at the left are not those on top, "),
        (
            "stops.csv --capacity 9 --objective time",
            "objective 'time' is not known; choose one of distance, vehicles, ",
        ),
        ("stops.csv --vehicles fleet.csv -o fleet.csv", "fleet.csv: this command reads or writes that file already"),
        ("stops.csv --capacity 9 -o stops.csv", "stops.csv: this command reads or writes that file already"),
        ("A-n32-k5 --vehicles fleet.csv", "A-n32-k5: --vehicles fleet.csv is for stops in a spreadsheet (CSV), which "),
        ("A-n32-k5 --matrix m.csv", "A-n32-k5: --matrix m.csv is for stops in a spreadsheet (CSV), which this is not."),
        ("A-n32-k5 --speed 40", "A-n32-k5: --speed 40 is for stops in a spreadsheet (CSV), which this is not."),
        ("A-n32-k5 --plot-timetable day.gif", "day.gif: a picture's name must end with .png, .pdf, .svg."),
        ("A-n32-k5 --capacity 0", "A-n32-k5: capacity 0 must be above 0."),
    ],
)
def test_what_cannot_be_used_is_refused_and_nothing_written(folder: Path, arguments: str, sentence: str) -> None:
    assert invoke("solve", *arguments.split()).refusal().startswith(sentence)
    assert sorted(os.listdir(folder)) == ["fleet.csv", "stops.csv"]


def test_vehicles_and_capacity_may_be_given_for_any_instance() -> None:
    facts = invoke("info", "A-n32-k5", "--vehicles", 5, "--capacity", 120, "--json").json
    assert (facts["vehicles"], facts["capacity"], facts["least_vehicles"], facts["best_known"]) == (5, 120, 4, None)


def test_info_tells_how_tight_the_windows_are(folder: Path) -> None:
    facts = invoke("info", "stops.csv", "--vehicles", "fleet.csv", "--json").json
    assert (facts["horizon"], facts["windows"]) == ([480, 1020], 0.5)
    assert facts["window_width"] == pytest.approx((90 + 420) / 2 / 540)
    assert (facts["mean_service"], facts["vehicles"], facts["unservable"]) == (6.25, 2, 1)
    lines = [
        " ".join(line.split()) for line in invoke("info", "stops.csv", "--vehicles", "fleet.csv").stdout.splitlines()
    ]
    assert {"horizon 08:00 to 17:00", "windows 50 % of the customers", "window width 47 % of the horizon"} <= {*lines}


@pytest.mark.parametrize(("minutes", "obeys"), [("0,5,9\n5,0,4\n9,4,0\n", True), ("0,5,10\n5,0,4\n9,4,0\n", False)])
def test_info_tells_whether_detours_pay(folder: Path, minutes: str, obeys: bool) -> None:
    (folder / "three.csv").write_text("name,x,y\ndepot,0,0\nA,1,1\nB,2,2\n")
    (folder / "minutes.csv").write_text(minutes)
    facts = invoke("info", "three.csv", "--matrix", "minutes.csv", "--json").json
    assert (facts["durations_obey_triangles"], "distances_obey_triangles" in facts) == (obeys, False)


def test_a_table_of_routes_is_checked(folder: Path) -> None:
    (folder / "routes.csv").write_text("route,name\n1,School\n1,Bakery\n2,Farm\n")
    arguments = ("check", "stops.csv", "routes.csv", "--vehicles", "fleet.csv")
    outcome = invoke(*arguments, "--plot-timetable", "day.svg", "--plot", "map.svg")
    late = "route 1 reaches customer Bakery at 10:45, after its window, 08:30 to 10:00."
    assert (outcome.code, outcome.stdout.splitlines()) == (
        1,
        [
            "stops: not feasible, cost 310 (rounding none), 2 routes",
            f"  {late}",
            "stops: 1 customer not served:",
            f"  Quarry: {WHY}",
        ],
    )
    assert {"day.svg", "map.svg"} <= {*os.listdir(folder)}
    assert json.loads(invoke(*arguments, "--json").stdout)["faults"] == [late]


def test_leaving_somebody_out_is_a_fault_while_a_vehicle_is_left(folder: Path) -> None:
    (folder / "routes.csv").write_text("route,name\n1,Bakery\n1,School\n")
    arguments = ("check", "stops.csv", "routes.csv", "--capacity", 10, "--vehicles")
    outcome = invoke(*arguments, 2)
    assert outcome.code == 1
    assert outcome.stdout.splitlines()[1:] == [
        "  customer Farm is not visited.",
        "stops: 1 customer not served:",
        f"  Quarry: {WHY}",
    ]
    found = invoke(*arguments, 1, "--json").json
    assert [(each["name"], each["reason"]) for each in found["unserved"]] == [
        ("Farm", "it is on no route"),
        ("Quarry", WHY),
    ]


def test_what_was_written_can_be_read_again(folder: Path, routes: list[list[int]]) -> None:
    assert invoke("solve", "stops.csv", "--vehicles", "fleet.csv", "-o", "routes.csv").code == 0
    instance = read_spreadsheet("stops.csv", "fleet.csv")
    assert read_solution(instance, "routes.csv").routes == ((1, 2), (3,))
    assert invoke("solve", "stops.csv", "--vehicles", "fleet.csv", "-o", "routes.csv").code == 0


# --- Mixed fleets. ----------------------------------------------------------------------------------------------------

MIXED = """name,type,x,y,delivery,pickup,prize,skills
North,depot,0,0,,,,
A,,30,40,4,,,
B,,60,80,,5,,
C,,0,55,6,,30,
D,,0,10,1,,7.5,
E,,5,10,1,,,crane
South,depot,90,90,,,,
"""
TYPES = """name,number,capacity,depot,skills
truck,1,10,North,crane
van,2,8,South,
"""


@pytest.fixture
def mixed(folder: Path, routes: list[list[int]]) -> Path:
    """The folder with a mixed fleet instead, of which a search finds three routes."""
    (folder / "stops.csv").write_text(MIXED)
    (folder / "fleet.csv").write_text(TYPES)
    routes[:] = [[1, 5], [2]]
    return folder


LOST = ["stops: 2 optional customers skipped, prizes of 37.5 lost:", "  C: 30", "  D: 7.5"]


def test_vehicles_and_prizes_lost_are_printed(mixed: Path) -> None:
    outcome = invoke("solve", "stops.csv", "--vehicles", "fleet.csv", "--output", "routes.csv", "--quiet")
    assert outcome.code == 0, outcome.stderr
    rest = [line.rstrip() for line in outcome.stdout.splitlines()[2:]]
    assert rest == ["stops: routes: 1 by truck, 1 by van", *LOST, "routes written to routes.csv"]
    rows = (mixed / "routes.csv").read_text().splitlines()
    assert rows[0] == "route,vehicle,stop,name,arrival,departure,delivery,pickup,load"
    assert (rows[1], rows[5], rows[-1]) == ("1,truck,0,North,,,,,5", "2,van,0,South,,,,,0", "skipped,,,D,,,,,")
    outcome = invoke("check", "stops.csv", "routes.csv", "--vehicles", "fleet.csv")
    assert (outcome.code, outcome.stdout.splitlines()[1:]) == (0, ["stops: routes: 1 by truck, 1 by van", *LOST])


def test_vehicles_and_prizes_lost_are_in_the_json(mixed: Path) -> None:
    found = invoke("solve", "stops.csv", "--vehicles", "fleet.csv", "--quiet", "--json").json
    assert (found["vehicles"], found["unserved"], found["objective"]) == (["truck", "van"], [], "distance")
    assert found["skipped"] == [
        {"customer": 3, "name": "C", "prize": 30},
        {"customer": 4, "name": "D", "prize": 7.5},
    ]


@pytest.mark.filterwarnings("default::neuralns.errors.InputWarning")
def test_routes_that_no_folder_takes_are_printed_with_all_there_is(
    mixed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*arguments: Any) -> None:
        raise InputError("routes.csv: cannot be written.")

    monkeypatch.setattr(neuralns.files, "write_or_rescue", full)
    outcome = invoke("solve", "stops.csv", "--vehicles", "fleet.csv", "--output", "routes.csv", "--quiet")
    assert (outcome.code, "cannot be written" in outcome.stderr) == (2, True)
    assert "1,truck,2,E,,,1,0,0" in [line.rstrip() for line in outcome.stdout.splitlines()]


def test_whom_only_a_used_up_type_can_serve_may_be_left_out(mixed: Path) -> None:
    (mixed / "routes.csv").write_text("route,name,vehicle\n1,A,truck\n2,B,van\n")
    arguments = ("check", "stops.csv", "routes.csv", "--vehicles", "fleet.csv")
    outcome = invoke(*arguments)
    assert (outcome.code, outcome.stdout.splitlines()[2:4]) == (
        0,
        ["stops: 1 customer not served:", "  E: it is on no route"],
    )
    (mixed / "routes.csv").write_text("route,name,vehicle\n1,A,van\n2,B,van\n")
    assert invoke(*arguments, "--json").stdout.count("customer E is not visited.") == 1


def test_who_is_left_out_of_a_mixed_fleet_is_told_so(mixed: Path, routes: list[list[int]]) -> None:
    routes[:] = [[1, 5]]
    found = invoke("solve", "stops.csv", "--vehicles", "fleet.csv", "--quiet", "--json").json
    assert found["unserved"] == [
        {"customer": 2, "name": "B", "reason": "no place was found for it on the routes of 3 vehicles"}
    ]
    (mixed / "fleet.csv").write_text(TYPES.replace("van,2", "van,any"))
    found = invoke("solve", "stops.csv", "--vehicles", "fleet.csv", "--quiet", "--json").json
    assert found["unserved"][0]["reason"] == "no place was found for it on any route"
