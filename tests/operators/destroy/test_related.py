"""Related-based operators on hand-made cases."""

from __future__ import annotations

import pytest
from numba import njit

from helpers import outcomes, plane, timed_line
from neuralns import Instance, Solution
from neuralns.operators.registry import operator
from neuralns.routes import tables
from neuralns.routes.edits import insert, remove
from neuralns.routes.history import remember
from neuralns.routes.journal import checkpoint
from neuralns.routes.transfer import new_state, routes_of

TWO_GROUPS = plane(
    [(0, 0), (10, 0), (11, 0), (10, 1), (-10, 0), (-11, 0), (-10, -1)],
    [[1, 4], [2, 5], [3, 6]],
)


def test_proximity_removes_what_is_near_to_the_removed() -> None:
    seen = outcomes("proximity", TWO_GROUPS, 3, seeds=2000)
    together = seen[1, 2, 3] + seen[4, 5, 6]
    # Both picks stay in the seed's group: rank below 2 of 5 left, then below 1 of 4 left.
    assert together / 2000 == pytest.approx((2 / 5) ** (1 / 6) * (1 / 4) ** (1 / 6), abs=0.04)


def test_proximity_ranks_all_customers_when_neighbour_lists_are_short(monkeypatch: pytest.MonkeyPatch) -> None:
    points = [(0.0, 0.0), (1.0, 0.0), (3.0, 1.0), (7.0, 0.0), (15.0, 2.0), (31.0, 0.0), (63.0, 5.0)]
    full = outcomes("proximity", plane(points, [[1, 2, 3], [4, 5, 6]]), 4, seeds=300)
    monkeypatch.setattr(tables, "FULL_NEIGHBOURS", 1)
    monkeypatch.setattr(tables, "SOME_NEIGHBOURS", 1)
    # Lists of neighbours are made once for an instance.
    short = plane(points, [[1, 2, 3], [4, 5, 6]])
    assert new_state(short.instance, 0).neighbours.shape == (7, 1)
    assert outcomes("proximity", short, 4, seeds=300) == full


def test_cluster_removes_one_of_the_two_components_of_a_route() -> None:
    # The longest edge of the spanning tree of route 1 lies between 2 and 3; a single route, quota 2.
    solution = plane([(0, 0), (10, 0), (11, 0), (20, 0), (21, 0)], [[1, 3, 2, 4]])
    assert set(outcomes("cluster", solution, 2)) == {(1, 2), (3, 4)}


def test_cluster_goes_on_with_the_route_nearest_to_a_removed_customer() -> None:
    # [1, 2] and [3, 4] lie side by side, [5, 6] far off with 1 its nearest customer. Each splits into single ones.
    solution = plane([(0, 0), (5, 0), (6, 0), (5, 1), (6, 1), (-90, 0), (-91, 0)], [[1, 2], [3, 4], [5, 6]])
    near, far = {(1, 3), (1, 4), (2, 3), (2, 4)}, {(1, 5), (1, 6), (2, 5), (2, 6)}
    assert set(outcomes("cluster", solution, 2, seeds=400)) == near | far


def test_node_neighbourhood_is_the_smallest_square_around_a_customer() -> None:
    # Around 1 at (0, 0) of the plane: max(|Δx|, |Δy|) is 3 for 2, 4 for 3 (nearer by Euclid than 4), 3.5 for 4.
    solution = plane([(50, 50), (0, 0), (3, 3), (4, 0), (3.5, 3.5), (40, 40)], [[1, 2, 3, 4, 5]])
    seen = outcomes("node-neighbourhood", solution, 3, seeds=300)
    assert (1, 2, 4) in seen
    assert (1, 2, 3) not in seen or seen[1, 2, 3] < seen[1, 2, 4]
    for removed in seen:
        assert len(removed) == 3


def test_zone_removes_neighbours_in_the_plane() -> None:
    solution = plane([(0, 0), *[(float(place), 0.0) for place in range(1, 9)]], [list(range(1, 9))])
    seen = outcomes("zone", solution, 3, seeds=400)
    # On a line the customers inside any rectangle are consecutive.
    assert all(max(removed) - min(removed) == 2 for removed in seen)
    assert set(seen) == {(first, first + 1, first + 2) for first in range(1, 7)}


def test_route_neighbourhood_removes_the_closest_pair_across_two_near_routes() -> None:
    # Routes [1, 2] and [3, 4] are near each other, their closest customers 2 and 3; [5] is far from both.
    solution = plane([(0, 0), (10, 0), (10, 5), (10, 6), (10, 20), (-50, 0)], [[1, 2], [3, 4], [5]])
    seen = outcomes("route-neighbourhood", solution, 2, seeds=300)
    assert set(seen) == {(2, 3), (1, 5)}
    assert set(outcomes("route-neighbourhood", solution, 5, seeds=5)) == {(1, 2, 3, 4, 5)}


def test_pair_removes_customers_with_their_nearest() -> None:
    solution = plane([(0, 0), (10, 0), (11, 0), (0, 30), (0, 32)], [[1, 3], [2, 4]])
    assert set(outcomes("pair", solution, 2)) == {(1, 2), (3, 4)}
    assert set(outcomes("pair", solution, 3)) == {(1, 2, 3), (1, 2, 4), (1, 3, 4), (2, 3, 4)}


def test_historical_prefers_customers_whose_arcs_were_in_no_good_solution() -> None:
    solution = plane([(0, 0), (10, 0), (20, 0), (0, 10), (0, 20)], [[1, 2], [3, 4]])

    @njit
    def worsen(state):
        checkpoint(state)
        remove(state, 2)
        insert(state, 2, 1, 3)
        remember(state)

    counts = {1: 0, 2: 0, 3: 0, 4: 0}
    for seed in range(1000):
        state = new_state(solution.instance, seed, history=True, solution=solution)
        worsen(state)  # now [1] and [3, 2, 4]: arcs (1, 0), (3, 2) and (2, 4) are only in this dearer solution
        operator("historical").apply(state, 1)
        left = {customer for route in routes_of(state) for customer in route}
        counts[({1, 2, 3, 4} - left).pop()] += 1
    # Scores: 2 has two dear arcs, 1, 3 and 4 one each.
    assert counts[2] / 1000 == pytest.approx((1 / 4) ** (1 / 3), abs=0.05)


def test_shaw_prefers_near_customers_of_like_demand_on_the_same_route() -> None:
    # All three others are equally far from 1; 2 shares its route and demand, 3 its demand, 4 neither.
    points = [(0, 0), (10, 0), (10, 5), (10, -5), (15, 0)]
    instance = Instance("alike", [0, 1, 1, 1, 9], 20, points)
    solution = Solution(instance, [[1, 2], [3], [4]])
    partners: dict[int, int] = {2: 0, 3: 0, 4: 0}
    for removed, count in outcomes("shaw", solution, 2, seeds=3000).items():
        if 1 in removed:
            partners[removed[1]] += count
    assert partners[2] > partners[3] > 0
    assert partners[2] > partners[4]


def test_shaw_goes_on_when_no_neighbour_is_left() -> None:
    solution = plane([(0, 0), (1, 0), (2, 0)], [[1, 2]])
    assert set(outcomes("shaw", solution, 2, seeds=5)) == {(1, 2)}


@pytest.mark.parametrize("name", ["proximity", "shaw"])
@pytest.mark.parametrize("determinism", [1.0, 6.0, 1000.0])
def test_the_determinism_is_a_parameter(name: str, determinism: float) -> None:
    # 2 is the nearest to 1 and to 3, 1 to 2. Of two customers left the nearer one is taken with probability q.
    solution = plane([(0, 0), (1, 0), (2, 0), (9, 0)], [[1, 2, 3]])
    q = (1 / 2) ** (1 / determinism)
    seen = outcomes(f"{name}:determinism={determinism}", solution, 2, seeds=2000)
    found = [seen[pair] / 2000 for pair in ((1, 2), (1, 3), (2, 3))]
    assert found == pytest.approx([2 * q / 3, 2 * (1 - q) / 3, 1 / 3], abs=0.04)


def test_history_ranks_alike_without_determinism() -> None:
    solution = plane([(0, 0), (10, 0), (20, 0), (0, 10), (0, 20)], [[1, 2], [3, 4]])
    seen = outcomes("historical:determinism=1", solution, 1, seeds=2000)
    assert [seen[customer,] for customer in (1, 2, 3, 4)] == pytest.approx([500] * 4, abs=90)


# --- Time. -----------------------------------------------------------------------------------------------------------


def test_shaw_prefers_customers_served_at_about_the_same_time() -> None:
    # 2 and 3 are as far from 1 and demand as much; 3 is served at the same time, 2, on the route of 1, much later.
    points = [(0, 0), (10, 0), (10, 5), (10, -5), (90, 90)]
    windows = [(0, 999), (50, 60), (400, 410), (50, 60), (0, 999)]
    alike = Instance("alike", [0, 1, 1, 1, 1], 20, points)
    timed = Instance("alike", [0, 1, 1, 1, 1], 20, points, windows=windows)
    share = {}
    for instance in (alike, timed):
        seen = outcomes("shaw", Solution(instance, [[1, 2], [3], [4]]), 2, seeds=2000)
        share[instance.timed] = seen[1, 2] / seen[1, 3]
    # Without windows the same route counts.
    assert share[False] > 1.5
    assert share[True] < 0.7


def test_shaw_weighs_time_a_third_of_distance() -> None:
    # 2 chooses 1, which is nearer than 3, and 3 chooses 1. From 1 on, 2 is served as much later as can be: half as far
    # as 3 it stands at 9/2 + 3 against 9 and comes first; as far as 3, at 9 + 3 against 9, it comes last.
    windows = [(0, 999), (50, 60), (400, 410), (50, 60)]
    for place, share in (((10, 10), 2 / 3), ((10, 20), 1 / 3)):
        instance = Instance("apart", [0, 1, 1, 1], 20, [(0, 0), (10, 0), place, (10, -20)], windows=windows)
        seen = outcomes("shaw:determinism=1000000", Solution(instance, [[1], [2], [3]]), 2, seeds=900)
        assert [seen[1, 2] / 900, seen[1, 3] / 900] == pytest.approx([share, 1 - share], abs=0.06)


def test_time_oriented_removes_those_served_at_about_the_same_time() -> None:
    # Served at 100, 200, 102, 202, 104, 204, by windows that open then.
    starts = [100, 200, 102, 202, 104, 204]
    solution = timed_line([(start, start + 50) for start in starts], [[customer] for customer in range(1, 7)])
    seen = outcomes("time-oriented:determinism=1000000", solution, 3, seeds=300)
    assert set(seen) == {(1, 3, 5), (2, 4, 6)}


def test_time_oriented_looks_at_the_nearest_customers() -> None:
    # The two nearest of each on the line, whenever they are served.
    starts = [100, 200, 102, 202, 104, 204]
    solution = timed_line([(start, start + 50) for start in starts], [[customer] for customer in range(1, 7)])
    seen = outcomes("time-oriented:determinism=1000000:near=2", solution, 3, seeds=300)
    assert all(max(removed) - min(removed) == 2 for removed in seen)
    # With one near customer a seed there is another seed for the third.
    assert all(len(removed) == 3 for removed in outcomes("time-oriented:near=1", solution, 3, seeds=50))
    assert all(len(removed) == 3 for removed in outcomes("time-oriented:near=-1", solution, 3, seeds=50))


def test_time_oriented_without_windows_goes_by_the_way_travelled() -> None:
    # Two routes out and back: their first customers after 10, their second after 20, their last after 30.
    solution = plane([(0, 0), (10, 0), (20, 0), (30, 0), (-10, 0), (-20, 0), (-30, 0)], [[1, 2, 3], [4, 5, 6]])
    seen = outcomes("time-oriented:determinism=1000000", solution, 2, seeds=300)
    assert set(seen) == {(1, 4), (2, 5), (3, 6)}
