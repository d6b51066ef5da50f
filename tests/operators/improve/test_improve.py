"""What every improve operator promises, on instances of all kinds."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from brute_force import costly_instances, some_routes
from fleets import general_instances, some_general_routes
from helpers import journalled, random_instances
from improvements import touch_all
from neuralns import Instance, Solution, random_tours
from neuralns.operators.registry import operator, operators
from neuralns.routes.edits import NOTHING_WRONG, undo
from neuralns.routes.evaluate import recompute
from neuralns.routes.journal import checkpoint
from neuralns.routes.transfer import State, new_state, routes_of, solution_of

IMPROVES = [entry.name for entry in operators() if entry.phase == "improve"]


def books(state: State) -> list[list[int]]:
    """Vehicles and depots in use, and members of groups served."""
    return [entries.tolist() for entries in (state.used, state.depot_use, state.group_count)]


def expect_improvements(solution: Solution, seed: int) -> None:
    """Apply all operators in turn, all customers being touched: the routes keep the rules and get cheaper."""
    instance = solution.instance
    state = new_state(instance, seed, solution=solution)
    checkpoint(state)
    before, kept = journalled(state), books(state)
    routes = [tuple(route) for route in solution.routes]
    served = sorted(customer for route in routes for customer in route)
    for name in np.random.default_rng(seed).permutation(IMPROVES).tolist():
        cost, start = state.cost, solution_of(state, instance).cost
        touch_all(state)
        operator(name).apply(state)
        assert state.fault == NOTHING_WRONG
        assert state.n_removed == 0
        found = solution_of(state, instance)
        assert sorted(customer for route in found.routes for customer in route) == served
        assert found.broken_rules() == []
        assert state.cost <= cost
        assert found.cost - start == pytest.approx(state.cost - cost, rel=1e-9, abs=1e-6)
    cost, now = state.cost, books(state)
    recompute(state)
    assert state.cost == pytest.approx(cost, rel=1e-9, abs=1e-6)
    assert books(state) == now
    undo(state)
    assert journalled(state) == before
    assert books(state) == kept
    assert routes_of(state) == routes_of(new_state(instance, seed, solution=solution))


@settings(deadline=None, max_examples=100)
@given(random_instances(), st.integers(0, 1000))
def test_routes_of_customers_alone_stay_whole_and_get_cheaper(instance: Instance, seed: int) -> None:
    expect_improvements(random_tours(instance, seed), seed)


@settings(deadline=None, max_examples=150)
@given(costly_instances(most=10), st.integers(0, 1000))
def test_routes_with_windows_and_limits_keep_them_and_get_cheaper(instance: Instance, seed: int) -> None:
    expect_improvements(some_routes(instance, seed), seed)


@settings(deadline=None, max_examples=150)
@given(general_instances(most=10), st.integers(0, 1000))
def test_routes_of_fleets_keep_their_rules_and_get_cheaper(instance: Instance, seed: int) -> None:
    expect_improvements(some_general_routes(instance, seed), seed)
