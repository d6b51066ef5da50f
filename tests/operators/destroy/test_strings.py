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


def test_strings_of_one_customer_come_from_as_many_routes() -> None:
    for removed in outcomes("string:longest=1", FOUR_ROUTES, 4, seeds=100):
        assert sorted((customer - 1) // 5 for customer in removed) == [0, 1, 2, 3]
    whole = outcomes("string", FOUR_ROUTES, 4, seeds=100)
    assert any(len({(customer - 1) // 5 for customer in removed}) < 3 for removed in whole)


def test_a_share_of_the_strings_is_split() -> None:
    def share(name: str) -> float:
        seen = outcomes(name, FOUR_ROUTES, 4, seeds=1000)
        return sum(count for removed, count in seen.items() if 2 in runs_removed(FOUR_ROUTES, removed)) / 1000

    never, half, always = (share(f"string:split={split}") for split in (0, 0.5, 1))
    assert never == 0
    assert 0.1 < half < 0.9 * always


def test_as_many_customers_in_the_middle_are_kept_as_asked_for() -> None:
    # One route: a split string of two customers keeps one between them, or with certainty all that there are.
    one = plane([(0, 0), *[(float(place), 1.0) for place in range(1, 9)]], [list(range(1, 9))])
    few, many = (outcomes(f"string:longest=2:split=1:keep={keep}", one, 2, seeds=400) for keep in (0, 1))
    gaps = [{max(removed) - min(removed) for removed in seen if len(removed) == 2} for seen in (few, many)]
    assert 2 in gaps[0]
    assert 7 in gaps[1]
    split_few = sum(count for removed, count in few.items() if removed[1] - removed[0] == 2)
    split_many = sum(count for removed, count in many.items() if removed[1] - removed[0] == 7)
    assert split_few > 100
    assert split_many > 100
