"""Greedy-based operators on hand-made cases."""

from __future__ import annotations

import pytest

from helpers import on_a_line, outcomes, plane, timed_line
from neuralns import Instance, Solution


def test_worst_node_takes_gains_in_order_by_the_rank_rule() -> None:
    # Singleton routes at distances 1, 2, 3, 4: gains 2, 4, 6, 8. P(rank r) = ((r+1)/4)^(1/3) − (r/4)^(1/3).
    _, solution = on_a_line([1], [2], [3], [4], places=[1.0, 2.0, 3.0, 4.0])
    seen = outcomes("worst-node", solution, 1, seeds=4000)
    expected = [((rank + 1) / 4) ** (1 / 3) - (rank / 4) ** (1 / 3) for rank in range(4)]
    assert [seen[customer,] / 4000 for customer in (4, 3, 2, 1)] == pytest.approx(expected, abs=0.03)


def test_worst_node_recomputes_gains_after_each_removal() -> None:
    # Gains: 3 saves 2.5 + 11.5 − 9 = 5, 4 saves 4.5, 1 saves 4, 2 nothing while it lies on the way to 3, then 18.
    solution = plane([(0, 0), (0, 2), (9, 0), (11.5, 0), (0, 2.25)], [[2, 3], [1], [4]])
    assert outcomes("worst-node", solution, 2, seeds=500).most_common(1)[0][0] == (2, 3)


def test_neighbourhood_takes_the_largest_drop_of_a_routes_mean_arc() -> None:
    # Route A: 0 → 1 (2,0) → 2 (4,0) → 0, length 8, mean 8/3. Without 2: length 4 over 2 arcs, mean 2, drop 2/3.
    # Without 1: 8 over 2 arcs, mean 4, drop −4/3. Route B: 3 at (0,1): mean 1, drop 1. So 3 goes first, then 2, then 1.
    solution = plane([(0, 0), (2, 0), (4, 0), (0, 1)], [[1, 2], [3]])
    assert set(outcomes("neighbourhood", solution, 1, seeds=5)) == {(3,)}
    assert set(outcomes("neighbourhood", solution, 2, seeds=5)) == {(2, 3)}


def test_greedy_route_empties_the_shortest_routes_and_cuts_the_last_from_its_start() -> None:
    # Lengths: [1] 20, [2, 3] 4, [4, 5] 12.
    solution = plane([(0, 0), (10, 0), (0, 1), (0, 2), (0, -3), (0, -6)], [[1], [2, 3], [4, 5]])
    assert set(outcomes("greedy-route", solution, 2, seeds=5)) == {(2, 3)}
    assert set(outcomes("greedy-route", solution, 3, seeds=5)) == {(2, 3, 4)}
    assert set(outcomes("greedy-route", solution, 5, seeds=5)) == {(1, 2, 3, 4, 5)}


def test_worst_load_ranks_by_gain_demand_and_size_of_the_route() -> None:
    instance = Instance("loads", [0, 1, 1, 4], 10, [[0, 0], [5, 0], [10, 0], [0, 1]])
    solution = Solution(instance, [[1, 2], [3]])
    # Gains: 1 saves 0, 2 saves 10, 3 saves 2: mean 4. Scores: 1: 0 + 1/2 + 3/4; 2: 10/4 + 1/2 + 3/4; 3: 2/4 + 2 + 3/2.
    # So 3 (4.0) stands before 2 (3.75) and 1 (1.25).
    seen = outcomes("worst-load", solution, 1, seeds=3000)
    expected = [((rank + 1) / 3) ** (1 / 3) - (rank / 3) ** (1 / 3) for rank in range(3)]
    assert [seen[customer,] / 3000 for customer in (3, 2, 1)] == pytest.approx(expected, abs=0.03)


@pytest.mark.parametrize("name", ["worst-node", "worst-load"])
@pytest.mark.parametrize("determinism", [1.0, 3.0, 1000.0])
def test_the_determinism_is_a_parameter(name: str, determinism: float) -> None:
    # Singleton routes at distances 1 to 4: by cost, and by cost, demand and size, the farthest comes first.
    _, solution = on_a_line([1], [2], [3], [4], places=[1.0, 2.0, 3.0, 4.0])
    seen = outcomes(f"{name}:determinism={determinism}", solution, 1, seeds=2000)
    expected = [((rank + 1) / 4) ** (1 / determinism) - (rank / 4) ** (1 / determinism) for rank in range(4)]
    assert [seen[customer,] / 2000 for customer in (4, 3, 2, 1)] == pytest.approx(expected, abs=0.04)


def test_worst_time_ranks_by_gain_and_by_time_between_arrival_and_opening() -> None:
    # On routes of their own at 1 to 4: gains 2, 4, 6, 8. Reached at 1, 2, 3, 4: on time, 20 early, 3 and 4 after 0.
    solution = timed_line([(1, 99), (22, 99), (0, 99), (0, 99)], [[1], [2], [3], [4]])
    assert not solution.broken_rules()
    # Means 5 and 27/4. Scores: 2/5; 4/5 + 20/6.75; 6/5 + 3/6.75; 8/5 + 4/6.75: so 2, 4, 3, 1.
    seen = outcomes("worst-time", solution, 1, seeds=3000)
    expected = [((rank + 1) / 4) ** (1 / 3) - (rank / 4) ** (1 / 3) for rank in range(4)]
    assert [seen[customer,] / 3000 for customer in (2, 4, 3, 1)] == pytest.approx(expected, abs=0.03)


def test_worst_time_without_windows_ranks_by_gain() -> None:
    _, solution = on_a_line([1], [2], [3], [4], places=[4.0, 1.0, 3.0, 2.0])
    seen = outcomes("worst-time:determinism=1000", solution, 2, seeds=50)
    assert seen[1, 3] > 45
