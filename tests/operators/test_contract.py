"""Applying operators: what a wrong choice or a broken promise is called."""

from __future__ import annotations

import re

import numpy as np
import pytest

from helpers import on_a_line, solution_in
from neuralns import OperatorError, portfolio_named
from neuralns.operators.contract import (
    BAD_DESTROY_CHOICE,
    BAD_REPAIR_CHOICE,
    FINE,
    LEFT_OUT,
    OVERLOADED,
    WRONG_DESTROY,
    WRONG_QUOTA,
    WRONG_REPAIR,
    apply_destroy,
    apply_repair,
    broken_contract,
    circumstances,
)
from neuralns.operators.state import checkpoint, remove

PORTFOLIO = portfolio_named("greedy-route,zone,greedy,regret-2")


@pytest.mark.parametrize("choice", [-1, 2, 31, 32, np.iinfo(np.int64).min])
def test_a_choice_beyond_the_portfolio_is_refused_and_changes_nothing(choice: int) -> None:
    state, start = on_a_line([1, 2], [3], places=[1.0, 5.0, -2.0])
    checkpoint(state)
    assert apply_destroy(state, PORTFOLIO.tables, choice, 1) == BAD_DESTROY_CHOICE
    assert solution_in(state, start.instance) == start
    remove(state, 3)
    assert apply_repair(state, PORTFOLIO.tables, choice) == BAD_REPAIR_CHOICE
    assert circumstances(state) == (0, 1)


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
    assert circumstances(state) == (0, 2)


@pytest.mark.parametrize(
    ("status", "choice", "sentence"),
    [
        (BAD_DESTROY_CHOICE, 7, "selector 'mine' chose destroy operator 7, which does not exist."),
        (BAD_REPAIR_CHOICE, -1, "selector 'mine' chose repair operator -1, which does not exist."),
        (WRONG_QUOTA, 1, "operator 'zone' removed 3 customers, but its quota was 4."),
        (WRONG_DESTROY, 0, "operator 'greedy-route' removed customer 9, which is not on a route (removed twice?)."),
        (WRONG_REPAIR, 1, "operator 'regret-2' inserted customer 9 twice, or at a place off the route."),
        (LEFT_OUT, 0, "operator 'greedy' left 3 customers on the removal list."),
        (OVERLOADED, 1, "operator 'regret-2' overloaded a route."),
    ],
)
def test_each_broken_promise_has_a_sentence(status: int, choice: int, sentence: str) -> None:
    error = broken_contract(status, PORTFOLIO, "mine", choice, quota=4, node=9, removed=3)
    with pytest.raises(OperatorError, match=f"^{re.escape(sentence)}$"):
        raise error
