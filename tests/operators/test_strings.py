"""String removal on hand-made cases."""

from __future__ import annotations

from itertools import groupby

import pytest

from helpers import outcomes, plane
from neuralns import Solution

# Three routes of five customers side by side (1-5, 6-10, 11-15) and one far away (16-20).
ROWS = [(10.0 * place, 100.0 + row) for row in (0, 1, 2) for place in range(5)]
FAR = [(10.0 * place, -900.0) for place in range(5)]
FOUR_ROUTES = plane([(0, 0), *ROWS, *FAR], [list(range(start, start + 5)) for start in (1, 6, 11, 16)])


def runs_removed(solution: Solution, removed: tuple[int, ...]) -> list[int]:
    """For each route that lost customers, into how many runs of consecutive places they fall."""
    found = []
    for route in solution.routes:
        gone = [customer in removed for customer in route]
        if any(gone):
            found.append(sum(1 for taken, _ in groupby(gone) if taken))
    return found


def test_strings_are_consecutive_but_for_a_kept_middle() -> None:
    seen = outcomes("string", FOUR_ROUTES, 6, seeds=500)
    for removed in seen:
        assert all(runs <= 2 for runs in runs_removed(FOUR_ROUTES, removed)), removed
    split = sum(count for removed, count in seen.items() if 2 in runs_removed(FOUR_ROUTES, removed))
    assert 50 < split < 450


def test_strings_come_from_routes_near_the_seed() -> None:
    # Three strings have at least three customers, so a quota of three is met before the far route is reached.
    seen = outcomes("string", FOUR_ROUTES, 3, seeds=500)
    mixed = [removed for removed in seen if min(removed) <= 15 < max(removed)]
    from_far = sum(count for removed, count in seen.items() if max(removed) > 15)
    assert from_far / 500 == pytest.approx(1 / 4, abs=0.08)
    # A far seed whose own string is too short goes on with the nearest of the other routes.
    assert all(sum(customer > 15 for customer in removed) >= 1 for removed in mixed)


def test_a_single_customer_is_any_customer() -> None:
    seen = outcomes("string", FOUR_ROUTES, 1, seeds=2000)
    assert len(seen) == 20
    assert max(seen.values()) < 200


def test_a_quota_above_what_one_string_for_each_route_holds_is_met_by_another_seed() -> None:
    assert set(outcomes("string", FOUR_ROUTES, 20, seeds=5)) == {tuple(range(1, 21))}
