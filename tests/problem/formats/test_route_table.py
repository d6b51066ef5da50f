"""Routes as a table: written with their times, and read by the names of their stops."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from neuralns import InputError, Instance, Solution, read_solution, write_solution
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
