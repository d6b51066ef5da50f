"""CVRPLIB's solutions: what is read, what is written, and each refusal with its line."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

import texts
from neuralns import InputError, Instance, Solution, read_solution, write_solution
from neuralns.problem.fleet import Depot, VehicleType
from neuralns.problem.formats.detect import is_own_solution
from texts import written


def test_a_sol_file_is_written_as_cvrplib_has_them_with_a_last_line_that_says_by_whom(tmp_path: Path) -> None:
    write_solution(texts.SERVED, tmp_path / "out.sol")
    assert (tmp_path / "out.sol").read_text() == texts.SOLUTIONS["sol"] + "Comment written by neuralns\n"


@pytest.mark.parametrize(("form", "ours"), [("sol", False), ("json", True)])
def test_what_we_wrote_is_recognised(tmp_path: Path, form: str, ours: bool) -> None:
    assert is_own_solution(written(tmp_path, texts.SOLUTIONS[form], "a.sol")) == ours
    write_solution(texts.SERVED, tmp_path / f"b.{form}")
    assert is_own_solution(tmp_path / f"b.{form}")


def test_a_fractional_cost_is_written_in_full(tmp_path: Path) -> None:
    solution = Solution(Instance("pair", [0, 1], 1, [[0, 0], [1, 1]]), [[1]])
    write_solution(solution, tmp_path / "out.sol")
    cost = (tmp_path / "out.sol").read_text().splitlines()[-2]
    assert float(cost.removeprefix("Cost ")) == solution.cost


@pytest.mark.parametrize(
    "text",
    [
        "Route #1:\t1  2 \r\nRoute #2: 3\r\n",
        "Route 1: 1\xa02\nRoute:3\nTime 5 s",
        "Cost 3\nRoute #7: 1 2\nRoute #7 : 3",
        "Route # 1:1 2\n\n  Route#2: 003\nRoute #3:\n# a remark\nCost : 31.5",
    ],
)
def test_what_files_do_differently_makes_no_difference(tmp_path: Path, text: str) -> None:
    assert read_solution(texts.TINY, written(tmp_path, text, "a.sol")).routes == ((1, 2), (3,))


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "no line 'Route #1: ...' found"),
        ("Cost 5", "no line 'Route #1: ...' found"),
        ("Route #1: 1 2\nRoute #2: x", r"line 2: 'Route #2: x' is not a route"),
        ("Route #1 1 2", "line 1: 'Route #1 1 2' is not a route"),
        ("Route #1: 1234567890123", "line 1: 'Route #1: 1234567890123' is not a route"),
        ("Route #1: " + "9" * 5000, "line 1: 'Route #1: 9+' is not a route"),
        ("Route #1: 1 -2", "line 1: 'Route #1: 1 -2' is not a route"),
    ],
)
def test_a_broken_file_is_refused(tmp_path: Path, text: str, sentence: str) -> None:
    with pytest.raises(InputError, match=rf"a\.sol.*{sentence}"):
        read_solution(texts.TINY, written(tmp_path, text, "a.sol"))


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("Route #1: 1 2", "customer 3 is not visited."),
        ("Route #1: 1 2\nRoute #2: 3 1", "customer 1 is visited 2 times."),
        ("Route #1: 1 2\nRoute #2: 3 4", "route 2 visits 4, but the customers are numbered 1 to 3."),
        ("Route #1: 1\nRoute #2: 2 3", "route 2 carries 11, above the capacity 10."),
    ],
)
def test_routes_that_break_a_rule_are_read_and_found_at_fault(tmp_path: Path, text: str, fault: str) -> None:
    assert read_solution(texts.TINY, written(tmp_path, text, "a.sol")).faults() == [fault]


FLEET = Instance(
    "fleet",
    [0, 4, 5, 6, 0, 0],
    coordinates=[*texts.POINTS, [9.0, 9.0], [1.0, 1.0]],
    depots=[Depot(), Depot(), Depot()],
    fleet=[VehicleType(10, 2, 100, name="1,3"), VehicleType(6, 1, 50, start=4, end=4, name="2")],
)
"""Behind three depots the customers are 3, 4 and 5; the first type has the first and the third vehicle."""


def test_routes_are_those_of_numbered_vehicles_and_customers_follow_the_depots(tmp_path: Path) -> None:
    path = written(tmp_path, "Route #1:\nRoute #2: 5\nRoute #3: 4 3\nCost 1", "a.sol")
    solution = read_solution(FLEET, path)
    assert (solution.routes, solution.vehicles) == (((3,), (2, 1)), (1, 0))
    write_solution(solution, path)
    assert path.read_text().startswith("Route #1: 4 3\nRoute #2: 5\nCost ")
    assert set(zip(solution.routes, solution.vehicles, strict=True)) == {((3,), 1), ((2, 1), 0)}


def test_vehicles_without_listed_numbers_count_type_by_type(tmp_path: Path) -> None:
    types = tuple(replace(each, name=name) for each, name in zip(FLEET.types, ("van", "lorry"), strict=True))
    path = written(tmp_path, "Route #1:\nRoute #2: 5\nRoute #3: 4 3", "a.sol")
    assert read_solution(replace(FLEET, fleet=types), path).vehicles == (0, 1)
    # Of the first type there is one vehicle for each of the three customers, whoever lists them.
    types = (replace(FLEET.types[0], available=None), FLEET.types[1])
    assert read_solution(replace(FLEET, fleet=types, vehicles=None), path).vehicles == (0, 0)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("Route #1: 3\nRoute #2: 2", "line 2: 2 is no customer; behind 3 depots customers are numbered 3 to 5."),
        ("Route #1: 6", "line 1: 6 is no customer; behind 3 depots customers are numbered 3 to 5."),
        ("Route #1: 3\nRoute #2:\nRoute #3:\nRoute #4: 4", "line 4: there are only 3 vehicles, one for each route."),
    ],
)
def test_routes_that_no_vehicle_can_have_are_refused(tmp_path: Path, text: str, sentence: str) -> None:
    with pytest.raises(InputError, match=rf"a\.sol, {re.escape(sentence)}$"):
        read_solution(FLEET, written(tmp_path, text, "a.sol"))


def test_empty_routes_beyond_the_last_vehicle_say_nothing(tmp_path: Path) -> None:
    text = "Route #1: 3\nRoute #2:\nRoute #3:\nRoute #4:"
    assert read_solution(FLEET, written(tmp_path, text, "a.sol")).vehicles == (0,)


def test_more_routes_than_vehicles_cannot_be_written(tmp_path: Path) -> None:
    solution = Solution(FLEET, [[1], [2]], [1, 1])
    with pytest.raises(InputError, match=r"fleet: more routes have vehicle 2 than there are.*write a \.json file"):
        write_solution(solution, tmp_path / "out.sol")
    write_solution(solution, tmp_path / "out.json")
    assert read_solution(FLEET, tmp_path / "out.json") == solution


def test_a_solution_without_routes_comes_back(tmp_path: Path) -> None:
    write_solution(Solution(texts.TINY, []), tmp_path / "out.sol")
    assert read_solution(texts.TINY, tmp_path / "out.sol").routes == ()
