"""Cost of routes worked by hand, and a sentence for every broken rule."""

from __future__ import annotations

import pytest

from neuralns import InputError, Instance, MaxIterations, Solution, nearest_insertion, savings, solve

SQUARE = Instance("square", [0, 1, 1, 1], 2, [[0, 0], [0, 3], [4, 3], [4, 0]])
ONE_WAY = Instance("one-way", [0, 1, 1], 2, matrix=[[0, 1, 2], [3, 0, 4], [5, 6, 0]])


@pytest.mark.parametrize(
    ("instance", "routes", "cost"),
    [
        (SQUARE, [[1, 2], [3]], (3 + 4 + 5) + (4 + 4)),
        (SQUARE, [[1], [2], [3]], 6 + 10 + 8),
        (SQUARE.with_vehicle_cost(100), [[1, 2], [3]], 20 + 200),
        (ONE_WAY, [[1, 2]], 1 + 4 + 5),
        (ONE_WAY, [[2, 1]], 2 + 6 + 3),
        (ONE_WAY, [], 0),
    ],
)
def test_the_cost_is_the_length_plus_the_vehicles(instance: Instance, routes: list[list[int]], cost: float) -> None:
    assert Solution(instance, routes).cost == cost


def test_distances_are_rounded_before_they_are_summed() -> None:
    diagonal = Instance("diagonal", [0, 1, 1], 2, [[0, 0], [1, 1], [2, 2]], rounding="round")
    assert Solution(diagonal, [[1, 2]]).cost == 1 + 1 + 3


def test_empty_routes_are_dropped_and_cost_nothing() -> None:
    solution = Solution(SQUARE.with_vehicle_cost(100), [[], [1, 2], [], [3]])
    assert solution.routes == ((1, 2), (3,))
    assert solution.cost == 220


@pytest.mark.parametrize(
    ("routes", "faults"),
    [
        ([[1, 2], [3]], []),
        ([[1], [3]], ["customer 2 is not visited."]),
        ([[1, 2], [3, 1]], ["customer 1 is visited 2 times."]),
        ([[1, 1], [2], [3]], ["customer 1 is visited 2 times."]),
        ([[1, 2], [3], [4]], ["route 3 visits 4, but the customers are numbered 1 to 3."]),
        ([[1, 2], [0, 3]], ["route 2 visits 0, but the customers are numbered 1 to 3."]),
        ([[1, 2], [3, -1]], ["route 2 visits -1, but the customers are numbered 1 to 3."]),
        ([[1, 2, 3]], ["route 1 carries 3, above the capacity 2."]),
        ([], [f"customer {customer} is not visited." for customer in (1, 2, 3)]),
    ],
)
def test_every_broken_rule_gets_a_sentence(routes: list[list[int]], faults: list[str]) -> None:
    solution = Solution(SQUARE, routes)
    assert solution.faults() == faults
    assert solution.feasible == (not faults)


def test_the_rounding_of_fractional_sums_is_no_overload() -> None:
    tenths = Instance("tenths", [0, 0.1, 0.1, 0.1], 0.3, [[0, 0], [1, 0], [2, 0], [3, 0]])
    assert sum([0.1, 0.1, 0.1]) > 0.3
    assert Solution(tenths, [[1, 2, 3]]).feasible


def test_a_checked_solution_is_returned_as_it_is() -> None:
    solution = Solution(SQUARE, [[1, 2], [3]])
    assert solution.checked("start.sol") is solution


@pytest.mark.parametrize(
    ("routes", "sentence"),
    [
        ([[1], [3]], r"start\.sol does not fit square: customer 2 is not visited\.$"),
        ([[1, 1], [3]], r"start\.sol does not fit square: customer 1 is visited 2 times\. \(1 more fault\)$"),
        ([], r"start\.sol does not fit square: customer 1 is not visited\. \(2 more faults\)$"),
    ],
)
def test_a_checked_solution_with_faults_is_refused_by_the_first(routes: list[list[int]], sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        Solution(SQUARE, routes).checked("start.sol")


@pytest.mark.parametrize(("best_known", "gap"), [(None, None), (16.0, 25.0), (20.0, 0.0), (0.0, None)])
def test_the_gap_is_in_per_cent_above_the_best_known(best_known: float | None, gap: float | None) -> None:
    known = Instance("square", SQUARE.demands, 2, SQUARE.coordinates, best_known=best_known)
    assert Solution(known, [[1, 2], [3]]).gap == gap


def test_whole_numbers_are_never_overloaded_within_a_tolerance() -> None:
    heavy = Instance("heavy", [0, 2_000_000_000, 2_000_000_001], 4_000_000_000, [[0, 0], [1, 0], [2, 0]])
    assert Solution(heavy, [[1, 2]]).faults() == ["route 1 carries 4e+09, above the capacity 4e+09."]
    for start in (savings(heavy), nearest_insertion(heavy), solve(heavy, MaxIterations(200)).best):
        assert start.faults() == []
        assert len(start.routes) == 2


def test_it_prints_as_one_short_line() -> None:
    assert repr(Solution(SQUARE, [[1, 2], [3]])) == "<Solution of square: cost 20, 2 routes>"
    assert repr(Solution(SQUARE, [[1, 9]])) == "<Solution of square: no cost, 1 routes>"
