"""CVRPLIB's solutions: what is read, what is written, and each refusal with its line."""

from __future__ import annotations

from pathlib import Path

import pytest

import texts
from neuralns import InputError, Instance, Solution, read_solution, write_solution
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
