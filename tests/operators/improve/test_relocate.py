"""Or-opt: hand-made cases."""

from __future__ import annotations

from helpers import plane
from improvements import improved
from neuralns import Solution


def test_a_customer_moves_to_the_route_that_passes_by() -> None:
    solution = plane([(0, 0), (10, 0), (20, 0), (0, 10), (11, 1)], [[1, 2], [3, 4]], capacity=3)
    assert {frozenset(route) for route in improved(solution, "or-opt")} == {frozenset({1, 2, 4}), frozenset({3})}


def test_stops_in_a_row_move_together_where_none_would_alone() -> None:
    # 3, 4 and 5 are a detour of 8 for the route of 1 and 2, which is far less than their way to 6; one of them alone is
    # a detour of 6, and its own route is hardly shorter without it.
    points = [(0.0, 0.0), (100.0, 0.0), (100.0, 30.0), (110.0, 14.0), (110.0, 15.0), (110.0, 16.0)]
    points += [(0.0, 50.0), (1.0, 50.0), (2.0, 50.0)]
    solution = plane(points, [[1, 2], [6, 7, 8, 3, 4, 5]], capacity=6)
    assert improved(solution, "or-opt:longest=1") == set(solution.routes)
    found = improved(solution, "or-opt")
    assert {frozenset(route) for route in found} == {frozenset({1, 2, 3, 4, 5}), frozenset({6, 7, 8})}


def test_a_customer_moves_on_its_own_route() -> None:
    solution = plane([(0, 0), (10, 0), (20, 0), (30, 0), (40, 0)], [[1, 4, 2, 3]])
    (route,) = improved(solution, "or-opt:longest=1")
    assert Solution(solution.instance, [route]).cost == 80


def test_nobody_moves_to_a_route_without_room() -> None:
    solution = plane([(0, 0), (10, 0), (20, 0), (0, 10), (11, 1)], [[1, 2], [3, 4]], capacity=2)
    assert improved(solution, "or-opt") == {(1, 2), (3, 4)}
