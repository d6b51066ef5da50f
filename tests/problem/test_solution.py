"""Cost of routes worked by hand, and a sentence for every broken rule."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from brute_force import keeps_every_rule, timed_instances
from neuralns import InputError, Instance, MaxIterations, Solution, nearest_insertion, savings, solve
from neuralns.problem.schedule import schedule

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


LINE = Instance(
    "line",
    [0, 1, 1, 1],
    3,
    [[0, 0], [3, 0], [6, 0], [0, 4]],
    windows=[[0, 40], [0, 10], [20, 25], [0, 40]],
    service=[0, 5, 5, 5],
)


def line(**changes: Any) -> Instance:
    return replace(LINE, **changes)


@pytest.mark.parametrize(
    ("changes", "routes", "faults"),
    [
        ({}, [[1, 2], [3]], []),
        ({}, [[2, 1], [3]], ["route 1 reaches customer 1 at 28, after its window, 0 to 10."]),
        (
            {"names": ("depot", "Ada", "Ben", "Cleo")},
            [[3], [2, 1]],
            ["route 2 reaches customer Ada at 28, after its window, 0 to 10."],
        ),
        (
            {"names": ("depot", "Ada", "Ben", "Cleo")},
            [[1, 2]],
            ["customer Cleo is not visited."],
        ),
        (
            {"names": ("depot", "Ada", "Ben", "Cleo")},
            [[1, 2], [3], [3]],
            ["customer Cleo is visited 2 times."],
        ),
        (
            {"windows": [[0, 30], [0, 10], [20, 25], [0, 30]]},
            [[1, 2], [3]],
            ["route 1 is back at 31, after the depot's window, 0 to 30."],
        ),
        ({"max_duration": 24}, [[1, 2], [3]], []),
        ({"max_duration": 23}, [[1, 2], [3]], ["route 1 takes 24, above 23."]),
        ({"max_distance": 12}, [[1, 2], [3]], []),
        ({"max_distance": 11}, [[1, 2], [3]], ["route 1 is 12 long, above 11."]),
        ({"vehicles": 2}, [[1, 2], [3]], []),
        ({"vehicles": 1}, [[1, 2], [3]], ["there are 2 routes, but 1 vehicle."]),
        (
            {"demands": [0, 1, 1, 5]},
            [[1, 2]],
            ["customer 3 is not visited: its demand 5 is above the capacity 3."],
        ),
        (
            {"capacity": 1, "max_distance": 11, "vehicles": 1},
            [[2, 1], [3], [3, 9]],
            [
                "route 1 carries 2, above the capacity 1.",
                "route 1 reaches customer 1 at 28, after its window, 0 to 10.",
                "route 1 is 12 long, above 11.",
                "route 3 visits 9, but the customers are numbered 1 to 3.",
                "customer 3 is visited 2 times.",
                "there are 3 routes, but 1 vehicle.",
            ],
        ),
    ],
)
def test_every_broken_rule_beside_capacity_gets_a_sentence(
    changes: dict[str, Any], routes: list[list[int]], faults: list[str]
) -> None:
    assert Solution(line(**changes), routes).faults() == faults


def test_the_rounding_of_sums_is_no_lateness() -> None:
    windows = [[0, 0.3]] * 5
    tenths = Instance("tenths", [0] * 5, 1, [[0, 0]] * 5, windows=windows, service=[0, 0.1, 0.1, 0.1, 0])
    assert schedule(tenths, [1, 2, 3, 4]).arrival > 0.3
    assert Solution(tenths, [[1, 2, 3, 4]]).feasible


def test_who_is_left_out_is_unserved_and_breaks_no_rule() -> None:
    solution = Solution(line(vehicles=1), [[1, 2]])
    assert (solution.unserved, solution.broken_rules()) == ((3,), [])
    assert not solution.feasible
    assert solution.checked("start.sol") is solution


def test_where_nobody_need_be_left_out_a_checked_solution_serves_all() -> None:
    with pytest.raises(InputError, match=r"start\.sol does not fit line: customer 3 is not visited\.$"):
        Solution(LINE.without("windows"), [[1, 2]]).checked("start.sol")
    with pytest.raises(InputError, match=r"does not fit line: route 1 reaches customer 1 at 28, after its window"):
        Solution(line(vehicles=1), [[2, 1]]).checked("start.sol")


def test_each_route_has_a_timetable_and_their_durations_add_up() -> None:
    solution = Solution(LINE, [[1, 2], [3]])
    assert [each.duration for each in solution.schedules] == [24, 13]
    assert solution.duration == 37
    assert solution.length == 12 + 8


@pytest.mark.parametrize(
    ("objective", "cost"),
    [("distance", 20), ("vehicles", 20), ("duration", 37), ("distance=2,duration=0.5,vehicles=100", 40 + 18.5 + 200)],
)
def test_the_objective_weighs_length_duration_and_vehicles(objective: str, cost: float) -> None:
    assert Solution(LINE.with_objective(objective), [[1, 2], [3]]).cost == cost


@settings(max_examples=200, deadline=None)
@given(timed_instances(), st.data())
def test_a_slow_judge_agrees_on_every_route(instance: Instance, data: st.DataObject) -> None:
    order = data.draw(st.permutations(range(1, instance.customers + 1)))
    cuts = sorted(data.draw(st.lists(st.integers(0, instance.customers), max_size=3)))
    routes = [order[start:end] for start, end in zip([0, *cuts], [*cuts, None], strict=True)]
    solution = Solution(instance, routes)
    faults = solution.faults()
    for number, route in enumerate(solution.routes, 1):
        assert keeps_every_rule(instance, route) == (not any(f"route {number} " in fault for fault in faults))
    few = instance.vehicles is None or len(solution.routes) <= instance.vehicles
    assert few == (not any("vehicle" in fault for fault in faults))
    assert solution.unserved == ()
    assert solution.feasible == (few and all(keeps_every_rule(instance, route) for route in solution.routes))


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
