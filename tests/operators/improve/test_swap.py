"""Swap and SWAP*: hand-made cases."""

from __future__ import annotations

from helpers import plane
from improvements import improved, touch_all
from neuralns import Instance, Solution
from neuralns.operators.registry import operator
from neuralns.routes.evaluate import total_violations
from neuralns.routes.journal import checkpoint
from prices import at_prices

# East and west, with one customer of the other side in the middle of each route; no room for more.
SIDES = [(0.0, 0.0), (10.0, 1.0), (-20.0, 1.0), (30.0, 1.0), (-10.0, -1.0), (20.0, -1.0), (-30.0, -1.0)]


def test_swap_exchanges_two_customers_on_the_wrong_routes() -> None:
    found = improved(plane(SIDES, [[1, 2, 3], [4, 5, 6]], capacity=3), "swap")
    assert {frozenset(route) for route in found} == {frozenset({1, 3, 5}), frozenset({2, 4, 6})}


def test_swap_exchanges_two_customers_of_one_route() -> None:
    solution = plane([(0, 0), (10, 0), (20, 5), (30, 0), (40, 0), (20, -40)], [[4, 2, 3, 1, 5]])
    assert improved(solution, "swap") != set(solution.routes)


def test_swap_star_puts_each_where_it_costs_least() -> None:
    # 2 goes to the end of the western route, not to the position of 5.
    found = improved(plane(SIDES, [[2, 1, 3], [4, 6, 5]], capacity=3), "swap-star")
    assert {frozenset(route) for route in found} == {frozenset({1, 3, 5}), frozenset({2, 4, 6})}


def test_swap_star_keeps_loads() -> None:
    # The eastern route would need 12 of 11 with any customer of the other, the western one 13 with customer 2.
    full = Instance("full", [0, 1, 9, 1, 2, 2, 2], 11, SIDES)
    assert improved(Solution(full, [[2, 1, 3], [4, 6, 5]]), "swap-star") == {(2, 1, 3), (4, 6, 5)}


def test_swap_star_counts_what_overloads_cost_less() -> None:
    # 9 and 7 of 8, on the shortest routes: only longer ones keep the capacity.
    rows = [(0.0, 0.0), (1.0, 1.0), (2.0, 1.0), (3.0, 1.0), (1.0, -1.0), (2.0, -1.0), (3.0, -1.0)]
    instance = Instance("two rows", [0, 2, 3, 4, 2, 1, 4], 8, rows, windows=[[0, 999]] * 7)
    state = at_prices(Solution(instance, [[1, 2, 3], [4, 5, 6]]))
    checkpoint(state)
    touch_all(state)
    operator("swap-star").apply(state)
    assert total_violations(state)[0] == 0
