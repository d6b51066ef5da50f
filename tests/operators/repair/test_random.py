"""Random-based repair operators on hand-made cases."""

from __future__ import annotations

import pytest

from helpers import plane, repairs_seen
from neuralns import Instance, Solution


def test_random_insertion_draws_routes_and_places_alike() -> None:
    solution = plane([(0, 0), (1, 0), (2, 0), (3, 0), (4, 0)], [[1, 2], [3], [4]], capacity=3)
    seen = repairs_seen(solution, [4], "random-insertion", 3000)
    expected = {(4, 1, 2): 1 / 6, (1, 4, 2): 1 / 6, (1, 2, 4): 1 / 6, (4, 3): 1 / 4, (3, 4): 1 / 4}
    for route, share in expected.items():
        found = sum(count for routes, count in seen.items() if route in routes)
        assert found / 3000 == pytest.approx(share, abs=0.03), route


def test_random_insertion_opens_a_route_only_where_there_is_no_room() -> None:
    instance = Instance("heavy", [0, 5, 5, 1], 6, [[0, 0], [1, 0], [2, 0], [3, 0]])
    solution = Solution(instance, [[1], [2], [3]])
    assert set(repairs_seen(solution, [2], "random-insertion", 50)) <= {
        frozenset({(1,), (2, 3)}), frozenset({(1,), (3, 2)})
    }  # fmt: skip
    full = Instance("full", [0, 5, 5, 2], 6, [[0, 0], [1, 0], [2, 0], [3, 0]])
    found = repairs_seen(Solution(full, [[1], [2], [3]]), [2], "random-insertion", 50)
    assert set(found) == {frozenset({(1,), (2,), (3,)})}
