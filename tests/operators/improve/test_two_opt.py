"""2-opt within routes, 2-opt* between them: hand-made cases."""

from __future__ import annotations

import pytest

from helpers import plane, timed_line
from improvements import improved


def test_two_opt_turns_a_crossing_round() -> None:
    # A square: 1 → 3 and 2 → 4 cross.
    solution = plane([(0, 0), (0, 10), (10, 10), (10, 0), (5, -1)], [[2, 1, 3, 4]])
    assert improved(solution, "2-opt") in ({(1, 2, 3, 4)}, {(4, 3, 2, 1)})


def test_two_opt_leaves_other_routes_alone() -> None:
    solution = plane([(0, 0), (10, 1), (10, -1), (20, -1), (20, 1)], [[1, 3], [2, 4]])
    assert improved(solution, "2-opt") == {(1, 3), (2, 4)}


def test_two_opt_star_exchanges_the_ends_of_routes_that_cross() -> None:
    solution = plane([(0, 0), (10, 5), (10, -5), (20, -5), (20, 5)], [[1, 3], [2, 4]], capacity=2)
    found = improved(solution, "2-opt-star")
    # Both are equally short.
    assert {frozenset(route) for route in found} in (
        {frozenset({1, 4}), frozenset({2, 3})},
        {frozenset({1, 2}), frozenset({3, 4})},
    )


def test_two_opt_star_joins_beginnings_where_that_is_better() -> None:
    # East and west, each route visits both sides.
    solution = plane([(0, 0), (10, 0), (-12, 0), (12, 0), (-10, 0)], [[1, 2], [3, 4]], capacity=2)
    found = improved(solution, "2-opt-star")
    assert {frozenset(route) for route in found} == {frozenset({1, 3}), frozenset({2, 4})}


def test_two_opt_star_makes_one_route_of_two() -> None:
    solution = plane([(0, 0), (10, 0), (11, 0)], [[1], [2]])
    assert {frozenset(route) for route in improved(solution, "2-opt-star")} == {frozenset({1, 2})}


def test_two_opt_star_keeps_loads() -> None:
    solution = plane([(0, 0), (10, 0), (11, 0)], [[1], [2]], capacity=1)
    assert improved(solution, "2-opt-star") == {(1,), (2,)}


@pytest.mark.parametrize(
    ("windows", "service", "expected"),
    [
        ([(1.0, 1.0), (2.0, 2.0)], [0, 0, 0], {(1, 2)}),
        ([(5.0, 6.0), (2.0, 2.0)], [0, 0, 0], {(2, 1)}),
        ([(1.0, 1.0), (2.0, 2.0)], [0, 1, 1], {(1,), (2,)}),
    ],
)
def test_two_opt_star_keeps_windows(
    windows: list[tuple[float, float]], service: list[float], expected: set[tuple[int, ...]]
) -> None:
    # Customers at 1 and 2 on a line: one route where it is on time.
    assert improved(timed_line(windows, [[1], [2]], service=service), "2-opt-star") == expected
