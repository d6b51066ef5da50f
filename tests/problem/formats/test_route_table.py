"""Routes as a table: written with their times, and read by the names of their stops."""

from __future__ import annotations

import csv
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from neuralns import InputError, Instance, Solution, read_solution, write_solution
from neuralns.problem.fleet import Depot, Group, Shipment, VehicleType
from neuralns.problem.formats.detect import check_solution_path, is_own_solution

TIMED = Instance(
    "day",
    [0, 4, 5, 6],
    10,
    [[0.0, 0.0], [3.0, 4.0], [6.0, 8.0], [0.0, 5.5]],
    windows=[[480, 1020], [510, 600], [480, 1020], [540, 1020]],
    service=[0, 10, 15, 0],
    names=["depot", "Bakery", "School, old", "Farm"],
    clock="00:00",
)
TABLE = """route,stop,name,arrival,departure,load
1,0,depot,,08:25,9
1,1,Bakery,08:30,08:40,5
1,2,"School, old",08:45,09:00,0
1,3,depot,09:10,,0
unserved,,Farm,,,
"""


def test_routes_are_written_with_their_times_and_read_again(tmp_path: Path) -> None:
    path, solution = tmp_path / "routes.csv", Solution(TIMED, [[1, 2]])
    write_solution(solution, path)
    assert path.read_text() == TABLE
    assert read_solution(TIMED, path) == solution
    assert is_own_solution(path)
    check_solution_path(path)


def test_names_that_begin_as_a_formula_are_text_in_spreadsheets_and_are_read_again(tmp_path: Path) -> None:
    names = ("-depot", "=HYPERLINK(1)", "'+49 30", "-7")
    instance = replace(TIMED, names=names, fleet=(VehicleType(10, name="@van"), VehicleType(8, name="van")))
    path, solution = tmp_path / "routes.csv", Solution(instance, [[1, 2]], [0])
    write_solution(solution, path)
    rows = list(csv.DictReader(path.read_text().splitlines()))
    assert [row["name"] for row in rows] == ["'-depot", "'=HYPERLINK(1)", "''+49 30", "'-depot", "-7"]
    assert [row["vehicle"] for row in rows] == ["'@van"] * 4 + [""]
    assert read_solution(instance, path) == solution


def test_a_plan_without_routes_is_read_again(tmp_path: Path) -> None:
    write_solution(Solution(TIMED, []), tmp_path / "nobody.csv")
    assert read_solution(TIMED, tmp_path / "nobody.csv") == Solution(TIMED, [])


def test_an_instance_without_times_and_names_has_numbers_only(tmp_path: Path) -> None:
    plain = Instance("plain", [0, 4, 5], 10, [[0, 0], [3, 4], [6, 8]])
    write_solution(Solution(plain, [[2], [1]]), tmp_path / "routes.csv")
    rows = (tmp_path / "routes.csv").read_text().splitlines()
    assert rows[1:4] == ["1,0,0,,,5", "1,1,2,,,0", "1,2,0,,,0"]
    assert read_solution(plain, tmp_path / "routes.csv").routes == ((2,), (1,))


def test_stops_are_ordered_by_their_numbers_if_they_have_some(tmp_path: Path) -> None:
    path = tmp_path / "edited.csv"
    path.write_text("Route;Stop;Name\nvan;2;Bakery\nvan;1;Farm\n")
    assert read_solution(TIMED, path).routes == ((3, 1),)
    path.write_text("route,name\nvan,Bakery\nvan,Farm\n")
    assert read_solution(TIMED, path).routes == ((1, 3),)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (TABLE.replace("Bakery", "Bank"), "row 3, column 'name': 'Bank' is no stop of day."),
        (TABLE.replace("1,1,", "1,one,"), "row 3, column 'stop': 'one' is not a number."),
        ("route,name\n,Farm\n", "no row belongs to a route."),
    ],
)
def test_what_is_no_route_is_refused(tmp_path: Path, text: str, sentence: str) -> None:
    (tmp_path / "routes.csv").write_text(text)
    with pytest.raises(InputError, match=f"{re.escape(sentence)}$"):
        read_solution(TIMED, tmp_path / "routes.csv")


def test_a_table_that_is_not_ours_is_not_written_over(tmp_path: Path) -> None:
    (tmp_path / "stops.csv").write_text("name,x,y\n")
    with pytest.raises(InputError, match=r"exists and was not written by neuralns; choose another name\.$"):
        check_solution_path(tmp_path / "stops.csv")


MIXED = Instance(
    "mixed",
    coordinates=[[0, 0], [0, 3], [0, 4], [0, 5], [9, 3], [9, 9], [9, 0]],
    deliveries=[0, 4, 1, 0, 0, 0.1, 0],
    pickups=[0, 0, 2, 0, 0, 0, 0],
    shipments=[Shipment(3, 4, 5)],
    fleet=[VehicleType(10, name="truck"), VehicleType(8, start=6, end=None, name="van"), VehicleType(9, end=6)],
    depots=[Depot(), Depot()],
    prizes=[*[np.inf] * 5, 7, np.inf],
    names=["North", "A", "B", "C", "D", "E", "South"],
)
MIXED_TABLE = """route,vehicle,stop,name,arrival,departure,delivery,pickup,load
1,truck,0,North,,,,,5
1,truck,1,A,,,4,0,1
1,truck,2,B,,,1,2,2
1,truck,3,North,,,,,2
2,van,0,South,,,,,0
2,van,1,C,,,0,5,5
2,van,2,D,,,5,0,0
skipped,,,E,,,,,
"""


def test_vehicles_depots_and_amounts_are_written_and_read_again(tmp_path: Path) -> None:
    path, solution = tmp_path / "routes.csv", Solution(MIXED, [[1, 2], [3, 4]], [0, 1])
    write_solution(solution, path)
    assert path.read_text() == MIXED_TABLE
    again = read_solution(MIXED, path)
    assert (again.routes, again.vehicles) == (solution.routes, (0, 1))
    assert is_own_solution(path)
    check_solution_path(path)


def test_a_type_without_a_name_has_its_number(tmp_path: Path) -> None:
    write_solution(Solution(MIXED, [[2]], [2]), tmp_path / "routes.csv")
    rows = (tmp_path / "routes.csv").read_text().splitlines()
    assert rows[1:4] == ["1,type 3,0,North,,,,,1", "1,type 3,1,B,,,1,2,2", "1,type 3,2,South,,,,,2"]
    assert rows[4:] == ["unserved,,,A,,,,,", "unserved,,,C,,,,,", "unserved,,,D,,,,,", "skipped,,,E,,,,,"]
    assert read_solution(MIXED, tmp_path / "routes.csv").vehicles == (2,)


def test_types_of_one_name_are_told_apart_by_numbers(tmp_path: Path) -> None:
    twins = Instance(
        "twins", [0, 1], None, [[0, 0], [1, 1]], fleet=[VehicleType(1, name="van"), VehicleType(2, name="van")]
    )
    write_solution(Solution(twins, [[1]], [1]), tmp_path / "routes.csv")
    assert (tmp_path / "routes.csv").read_text().splitlines()[2] == "1,van (2),1,1,,,0"
    assert read_solution(twins, tmp_path / "routes.csv").vehicles == (1,)


def test_every_dimension_has_a_load(tmp_path: Path) -> None:
    two = Instance(
        "two", None, None, [[0, 0], [1, 1]], deliveries=[[0.0, 0.0], [3.0, 0.5]], fleet=[VehicleType([5, 1])]
    )
    write_solution(Solution(two, [[1]]), tmp_path / "routes.csv")
    assert (tmp_path / "routes.csv").read_text().splitlines()[:3] == [
        "route,stop,name,arrival,departure,delivery,delivery 2,pickup,pickup 2,load,load 2",
        "1,0,0,,,,,,,3,0.5",
        "1,1,1,,,3,0.5,0,0,0,0",
    ]
    assert is_own_solution(tmp_path / "routes.csv")


def test_vehicles_that_are_not_given_are_the_cheapest(tmp_path: Path) -> None:
    (tmp_path / "routes.csv").write_text("route,name\n1,A\n")
    assert read_solution(MIXED, tmp_path / "routes.csv").vehicles == Solution(MIXED, [[1]]).vehicles


def test_a_group_that_is_left_out_is_unserved_once(tmp_path: Path) -> None:
    group = Instance("group", [0, 1, 1, 1], 3, [[0, 0]] * 4, groups=[Group([1, 2])])
    write_solution(Solution(group, [[3]]), tmp_path / "routes.csv")
    assert (tmp_path / "routes.csv").read_text().splitlines()[4:] == ["unserved,,1,,,", "skipped,,2,,,"]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("route,name,vehicle\n1,A,boat\n", "row 2, column 'vehicle': 'boat' is no type of vehicle of mixed."),
        ("route,name,vehicle\n1,A,van\n1,B,truck\n", "column 'vehicle': 'truck' is another vehicle than before."),
        ("route,name,vehicle\n1,A,van\n2,B,\n", "route '2' has no vehicle, but others have."),
    ],
)  # fmt: skip
def test_what_is_no_vehicle_is_refused(tmp_path: Path, text: str, sentence: str) -> None:
    (tmp_path / "routes.csv").write_text(text)
    with pytest.raises(InputError, match=f"{re.escape(sentence)}$"):
        read_solution(MIXED, tmp_path / "routes.csv")
