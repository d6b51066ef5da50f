"""Applying operators: what they promise, and what a wrong choice or a broken promise is called."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers import WASTEFUL, on_a_line, random_instances, solution_in, started
from neuralns import Instance, OperatorError, Solution, make_portfolio, portfolio_named
from neuralns.operators.contract import (
    BAD_DESTROY_CHOICE,
    BAD_REPAIR_CHOICE,
    FINE,
    IMPROVE_LEFT_OUT,
    IMPROVE_OPENED,
    IMPROVE_OVERLOADED,
    LEFT_OUT,
    OVERLOADED,
    TOO_MANY_ROUTES,
    WRONG_DESTROY,
    WRONG_IMPROVE,
    WRONG_QUOTA,
    WRONG_REPAIR,
    apply_destroy,
    apply_improve,
    apply_repair,
    broken_contract,
)
from neuralns.operators.registry import Operator, operator, operators
from neuralns.operators.toolkit import insert, open_route
from neuralns.routes.edits import NOT_REMOVABLE, TABLE_FULL, remove
from neuralns.routes.history import remember
from neuralns.routes.journal import checkpoint
from neuralns.routes.transfer import State, new_state

PORTFOLIO = portfolio_named("greedy-route,zone,greedy,regret-2,or-opt,2-opt")
# Other tests register operators of their own.
BUILT_IN = [entry for entry in operators() if entry.function.__module__.startswith("neuralns.")]
DESTROYS = [entry.name for entry in BUILT_IN if entry.phase == "destroy"]
REPAIRS = [entry.name for entry in BUILT_IN if entry.phase == "repair"]
IMPROVES = [entry.name for entry in BUILT_IN if entry.phase == "improve"]


@pytest.mark.parametrize("choice", [-1, 2, 31, 32, np.iinfo(np.int64).min, np.iinfo(np.int64).max])
def test_a_choice_beyond_the_portfolio_is_refused_and_changes_nothing(choice: int) -> None:
    state, start = on_a_line([1, 2], [3], places=[1.0, 5.0, -2.0])
    checkpoint(state)
    assert apply_destroy(state, PORTFOLIO.tables, choice, 1) == BAD_DESTROY_CHOICE
    assert solution_in(state, start.instance) == start
    remove(state, 3)
    assert apply_repair(state, PORTFOLIO.tables, choice) == BAD_REPAIR_CHOICE
    assert (state.fault_node, state.n_removed) == (0, 1)


def test_operators_are_applied_by_their_place_in_the_portfolio() -> None:
    state, start = on_a_line([1, 2], [3], places=[1.0, 5.0, -2.0])
    checkpoint(state)
    # The route of customer 3 is the shorter one.
    assert apply_destroy(state, PORTFOLIO.tables, 0, 1) == FINE
    assert solution_in(state, start.instance).routes == ((1, 2),)
    assert apply_repair(state, PORTFOLIO.tables, 0) == FINE
    assert solution_in(state, start.instance).feasible


def test_customers_removed_before_count_against_the_quota() -> None:
    state, _ = on_a_line([1, 2], [3], places=[1.0, 5.0, -2.0])
    checkpoint(state)
    remove(state, 1)
    remove(state, 2)
    assert apply_destroy(state, PORTFOLIO.tables, 0, 1) == WRONG_QUOTA
    assert (state.fault_node, state.n_removed) == (0, 2)


def some_state(removed: int, node: int, fault: int = 0) -> State:
    state, _ = on_a_line([1, 2], [3], places=[1.0, 5.0, -2.0])
    state.n_removed, state.fault_node, state.fault = removed, node, fault
    return state


@pytest.mark.parametrize(
    ("status", "choice", "sentence"),
    [
        (BAD_DESTROY_CHOICE, 7, "selector 'mine' chose destroy operator 7, which does not exist."),
        (BAD_REPAIR_CHOICE, -1, "selector 'mine' chose repair operator -1, which does not exist."),
        (WRONG_QUOTA, 1, "operator 'zone' removed 3 customers, but its quota was 4."),
        (WRONG_DESTROY, 0, "operator 'greedy-route' removed customer 9, which is not on a route (removed twice?)."),
        (WRONG_REPAIR, 1, "operator 'regret-2' inserted customer 9 twice, or at a position off the route."),
        (LEFT_OUT, 0, "operator 'greedy' left 3 customers on the removal list."),
        (OVERLOADED, 1, "operator 'regret-2' overloaded a route."),
        (TOO_MANY_ROUTES, 1, "operator 'regret-2' opened 2 routes, but vehicles are 4."),
        (WRONG_IMPROVE, 1, "operator '2-opt' moved customer 9 in a way that cannot be."),
        (IMPROVE_LEFT_OUT, 0, "operator 'or-opt' left 3 customers on the removal list."),
        (IMPROVE_OVERLOADED, 1, "operator '2-opt' overloaded a route."),
        (IMPROVE_OPENED, 0, "operator 'or-opt' opened 2 routes, but vehicles are 4."),
    ],
)
def test_each_broken_promise_has_a_sentence(status: int, choice: int, sentence: str) -> None:
    error = broken_contract(status, PORTFOLIO, "mine", choice, 4, some_state(removed=3, node=9))
    with pytest.raises(OperatorError, match=f"^{re.escape(sentence)}$"):
        raise error


def test_more_customers_than_a_search_was_made_for_have_a_sentence() -> None:
    error = broken_contract(WRONG_REPAIR, PORTFOLIO, "mine", 0, 4, some_state(3, 9, TABLE_FULL))
    assert str(error) == "operator 'greedy' was given 3 customers, more than the search was made for."


def idle(state, quota):
    """Remove nobody."""


def twice(state, quota):
    """Remove one customer again and again."""
    for _ in range(quota):
        remove(state, 3)


def leave(state):
    """Insert nobody."""


def astray(state):
    """Insert customers after themselves."""
    insert(state, state.removed[0], 0, state.removed[0])


def together(state):
    """Insert everybody into one route."""
    slot = state.route[1]
    while state.n_removed > 0:
        insert(state, state.removed[0], slot, 0)


def forget(state):
    """Remove a customer and leave it so."""
    remove(state, 1)


def repeat(state):
    """Remove a customer twice."""
    remove(state, 1)
    remove(state, 1)


def crowd(state):
    """Move a customer to the route of another one, whether there is room or not."""
    remove(state, 3)
    insert(state, 3, state.route[1], 0)


def split(state):
    """Give a customer a route of its own, whether there is a vehicle or not."""
    remove(state, 1)
    insert(state, 1, open_route(state), 0)


BROKEN = make_portfolio(
    "broken",
    [
        *(Operator(function.__name__, "destroy", "own", function) for function in (idle, twice)),
        *(Operator(function.__name__, "repair", "own", function) for function in (leave, astray, together)),
        *(
            Operator(function.__name__, "improve", "own", function, parameters=(("share", 1.0),))
            for function in (forget, repeat, crowd, split)
        ),
    ],
)


@pytest.mark.parametrize(("choice", "code", "removed"), [(0, WRONG_QUOTA, 0), (1, WRONG_DESTROY, 2)])
def test_a_destroy_operator_that_breaks_its_promise_is_found(choice: int, code: int, removed: int) -> None:
    state, _ = on_a_line([1, 2], [3], places=[1.0, 5.0, -2.0])
    checkpoint(state)
    assert apply_destroy(state, BROKEN.tables, choice, 2) == code
    assert state.n_removed == removed
    assert state.fault == (NOT_REMOVABLE if code == WRONG_DESTROY else 0)


@pytest.mark.parametrize(("choice", "code"), [(0, LEFT_OUT), (1, WRONG_REPAIR), (2, OVERLOADED)])
def test_a_repair_operator_that_breaks_its_promise_is_found(choice: int, code: int) -> None:
    state, _ = on_a_line([1, 2], [3], places=[1.0, 5.0, -2.0])
    checkpoint(state)
    remove(state, 3)
    # The route of the others has no room left.
    state.demand[3] = 99.5
    assert apply_repair(state, BROKEN.tables, choice) == code


@pytest.mark.parametrize(
    ("choice", "code"),
    [(0, IMPROVE_LEFT_OUT), (1, WRONG_IMPROVE), (2, IMPROVE_OVERLOADED), (3, IMPROVE_OPENED)],
)
def test_an_improve_operator_that_breaks_its_promise_is_found(choice: int, code: int) -> None:
    state, _ = on_a_line([1, 2], [3], places=[1.0, 5.0, -2.0])
    checkpoint(state)
    state.demand[3], state.vehicles = 99.5, 2
    assert apply_improve(state, BROKEN.tables, choice) == code


def test_more_routes_than_vehicles_are_found() -> None:
    instance = Instance("line", [0, 1, 1], 2, [[0, 0], [1, 0], [2, 0]], vehicles=1)
    state = new_state(instance, 0, solution=Solution(instance, [[1, 2]]))
    checkpoint(state)
    remove(state, 2)
    assert apply_repair(state, make_portfolio("wasteful", ["zone", WASTEFUL]).tables, 0) == TOO_MANY_ROUTES


# --- What every operator keeps. --------------------------------------------------------------------------------------


def cycle(instance: Instance, seed: int, quota: int, destroy: str, repair: str) -> None:
    state, _ = started(instance, seed)
    for _ in range(3):
        checkpoint(state)
        operator(destroy).apply(state, quota)
        partial = solution_in(state, instance)
        taken = state.removed[: state.n_removed].tolist()
        assert state.fault == 0
        assert state.n_removed == quota == len(set(taken))
        assert sorted([*taken, *(c for route in partial.routes for c in route)]) == list(
            range(1, instance.customers + 1)
        )
        assert state.n_routes == len(partial.routes)
        assert state.cost == pytest.approx(partial.cost, rel=1e-9, abs=1e-9)

        operator(repair).apply(state)
        remember(state)
        whole = solution_in(state, instance)
        assert (state.fault, state.n_removed) == (0, 0)
        assert whole.faults() == []
        loads = state.load[state.active[: state.n_active]]
        assert loads.max() <= instance.capacity * (1 + 1e-9)
        assert state.n_routes == len(whole.routes)
        assert state.cost == pytest.approx(whole.cost, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("destroy", DESTROYS)
@settings(deadline=None, max_examples=40)
@given(random_instances(), st.integers(0, 1000), st.data())
def test_a_destroy_operator_removes_exactly_its_quota(
    destroy: str, instance: Instance, seed: int, data: st.DataObject
) -> None:
    cycle(instance, seed, data.draw(st.integers(1, instance.customers)), destroy, "greedy")


@pytest.mark.parametrize("repair", REPAIRS)
@settings(deadline=None, max_examples=60)
@given(random_instances(), st.integers(0, 1000), st.data())
def test_a_repair_operator_serves_every_customer_once_within_capacity(
    repair: str, instance: Instance, seed: int, data: st.DataObject
) -> None:
    cycle(instance, seed, data.draw(st.integers(1, instance.customers)), "random-node", repair)


@pytest.mark.parametrize("name", [*DESTROYS, *REPAIRS, *IMPROVES])
def test_an_operator_tells_its_formula_and_reference(name: str) -> None:
    documentation = operator(name).function.__doc__ or ""
    assert operator(name).summary.endswith(".")
    assert any(character.isdigit() for character in documentation), "no year of a reference"
