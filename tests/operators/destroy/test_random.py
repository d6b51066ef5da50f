"""Random-based operators on hand-made cases."""

from __future__ import annotations

from itertools import combinations

import pytest

from helpers import outcomes, plane

FOUR = plane([(0, 0), (1, 0), (2, 0), (0, 1), (0, 2)], [[1, 2], [3], [4]])


def test_random_node_draws_every_set_of_customers_alike() -> None:
    seen = outcomes("random-node", FOUR, 2, seeds=1200)
    assert set(seen) == set(combinations([1, 2, 3, 4], 2))
    assert [seen[pair] for pair in sorted(seen)] == pytest.approx([200] * 6, abs=60)


def test_random_route_takes_whole_routes_and_cuts_the_last_from_its_start() -> None:
    # Two customers: the first route whole, or the two singletons, or a singleton and the start of the first route.
    seen = outcomes("random-route", FOUR, 2, seeds=900)
    assert set(seen) == {(1, 2), (1, 3), (1, 4), (3, 4)}
    assert seen[1, 2] == pytest.approx(300, abs=60)
    assert set(outcomes("random-route", FOUR, 1)) == {(1,), (3,), (4,)}
