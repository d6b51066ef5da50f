"""Unload: customers of routes that carry too much at a price move to others, or are exchanged."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from fleets import general_instances, two_parts, usable_types
from improvements import improved, touch_all
from neuralns import Instance, Solution
from neuralns.operators.registry import operator
from neuralns.routes.edits import NOTHING_WRONG
from neuralns.routes.evaluate import recompute, total_violations
from neuralns.routes.journal import checkpoint
from neuralns.routes.moves import relief
from neuralns.routes.transfer import State, routes_of
from prices import PRICES, at_prices

PARALLEL = [(0.0, 0.0), (1.0, 1.0), (2.0, 1.0), (3.0, 1.0), (1.0, -1.0), (2.0, -1.0), (3.0, -1.0)]


def two_rows(demands: list[int], capacity: int) -> Instance:
    """Two rows of three customers, with windows that all keep."""
    return Instance("two rows", [0, *demands], capacity, PARALLEL, windows=[[0, 999]] * 7)


def unloaded(solution: Solution) -> State:
    """The state that it leaves of routes all of whose customers count as touched."""
    state = at_prices(solution)
    checkpoint(state)
    touch_all(state)
    operator("unload").apply(state)
    return state


def test_a_customer_moves_to_a_route_with_room() -> None:
    state = unloaded(Solution(two_rows([2, 2, 2, 2, 2, 1], 7), [[1, 2, 3, 5], [4, 6]]))
    assert total_violations(state)[0] == 0
    assert sorted(map(len, routes_of(state))) == [3, 3]


def test_customers_are_exchanged_where_none_has_room_for_one_more() -> None:
    # 9 and 7 of 8: only 2 for 1 makes both full.
    state = unloaded(Solution(two_rows([2, 3, 4, 2, 1, 4], 8), [[1, 2, 3], [4, 5, 6]]))
    assert total_violations(state)[0] == 0
    assert sorted(map(len, routes_of(state))) == [3, 3]


def test_it_does_nothing_where_rules_are_hard_or_kept() -> None:
    routes = [[1, 5, 3], [4, 2, 6]]
    solution = Solution(two_rows([1] * 6, 3), routes)
    assert improved(solution, "unload") == set(map(tuple, routes))
    assert routes_of(unloaded(solution)) == routes


def test_relief_is_what_overloads_cost_less() -> None:
    state = at_prices(Solution(two_rows([2, 3, 4, 2, 1, 4], 8), [[1, 2, 3], [4, 5, 6]]))
    price = PRICES["load_price"]
    assert relief(state, 0, 1, 1, 5) == price
    assert relief(state, 0, 1, 1, 0) == 0.0
    assert relief(state, 0, 3, 1, 4) == 0.0
    assert relief(state, 0, 1, 1, 6) == -2 * price


@settings(deadline=None, max_examples=150)
@given(general_instances(most=12, least=3), st.integers(0, 1000))
def test_routes_that_break_rules_get_cheaper_and_the_books_stay_right(instance: Instance, seed: int) -> None:
    assume(not instance.shipments and not instance.groups)
    rng = np.random.default_rng(seed)
    routes = two_parts(instance, rng)
    vehicles = rng.choice(usable_types(instance), 2).tolist()
    state = at_prices(Solution(instance, routes, vehicles), seed)
    checkpoint(state)
    recompute(state)
    cost = state.cost
    touch_all(state)
    operator("unload").apply(state)
    assert state.fault == NOTHING_WRONG
    assert sorted(customer for route in routes_of(state) for customer in route) == sorted(routes[0] + routes[1])
    assert state.cost <= cost or state.cost == pytest.approx(cost, rel=1e-9)
    kept = state.cost
    recompute(state)
    assert state.cost == pytest.approx(kept, rel=1e-9, abs=1e-6)
